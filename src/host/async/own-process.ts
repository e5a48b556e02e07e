/**
 * What Node keeps once for the whole thread, and each start of a simulated process has for itself:
 * the listeners of `process`, its environment, what is put in the place of its functions, as
 * `signal-exit` does, and of those of `console`, and the defaults of `events`. All of it is as on the
 * machine when a process starts; what it changes, no other one sees, nor its next start, nor the
 * next run. Signals and the end of the real process reach none of them.
 *
 * `process` stays the one object that it is: its fields find out whose they are asked for. The defaults of `events` cannot be replaced, so they are set while its code runs.
 */
import { EventEmitter } from 'node:events';
import process from 'node:process';
import { ambient, asNobody, type Inhabitant, noteImpure } from './ambient.ts';
import { isFunction, type Patches } from './patches.ts';

/** The fields in which an emitter keeps its listeners, and what they hold. */
const FIELDS = ['_events', '_eventsCount', '_maxListeners'] as const;
type Listeners = Map<(typeof FIELDS)[number], unknown>;

function noListeners(): Listeners {
  return new Map(FIELDS.map((field) => [field, field === '_eventsCount' ? 0 : undefined]));
}

interface Belongings {
  readonly listeners: Listeners;
  /** Null until it changes something there. */
  env: object | null;
  /** By name, as `console.log`, what it has put in the place of something. */
  readonly replaced: Map<string, unknown>;
  /** The defaults of `events` that it has set. */
  readonly defaults: Map<string, unknown>;
}

const belongings: WeakMap<Inhabitant, Belongings> = new WeakMap();

function belongingsOf(current: Inhabitant): Belongings {
  const known = belongings.get(current);
  if (known !== undefined) return known;
  const none = { env: null, replaced: new Map(), defaults: new Map() };
  const made: Belongings = { listeners: noListeners(), ...none };
  belongings.set(current, made);
  return made;
}

export function patchOwnProcess(patches: Patches): void {
  patchListeners(patches);
  patchEnvironment(patches);
  patchReplaceable(patches);
  patches.define(process, ADDED, { ...ownValue(ADDED, undefined), enumerable: false });
}

/** What `signal-exit` 3 adds to `process`, to be found by other copies of itself. */
const ADDED = '__signal_exit_emitter__';

/**
 * Each process replaces a function of `process`, or of `console`, for itself; to be called once they
 * are virtual, and again once the exits are, which are functions anew.
 */
export function patchReplaceable(patches: Patches): void {
  const owners: readonly (readonly [name: string, owner: object])[] = [
    ['process', process],
    ['console', console],
  ];
  for (const [name, owner] of owners) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const { value, configurable, enumerable = true } = property;
      if (!isFunction(value) || configurable !== true) continue;
      patches.define(owner, key, { ...ownValue(`${name}.${key}`, value), enumerable });
    }
  }
}

let isAnyReplaced = false;

/** What stands there, until a process puts something else in its place, for itself. */
function ownValue(key: string, real: unknown): PropertyDescriptor {
  let value = real;
  return {
    get: function ofProcess(): unknown {
      const { current } = ambient;
      if (!isAnyReplaced || current === null) return value;
      const replaced = belongings.get(current)?.replaced;
      return replaced?.has(key) === true ? replaced.get(key) : value;
    },
    set: (given: unknown): void => {
      const { current } = ambient;
      if (current === null) {
        value = given;
        return;
      }
      noteImpure();
      isAnyReplaced = true;
      belongingsOf(current).replaced.set(key, given);
    },
  };
}

/** Emitted by Node itself while the code of a process runs. */
const EVENTS_OF_NODE: ReadonlySet<unknown> = new Set([
  ...['unhandledRejection', 'rejectionHandled', 'multipleResolves', 'warning'],
  ...['uncaughtException', 'uncaughtExceptionMonitor'],
]);

/** Of these, what the host itself listens to: it asks whose code went wrong. */
const FAILURES: ReadonlySet<unknown> = new Set(['unhandledRejection', 'uncaughtException']);

/** Whether the listeners of the real process are asked for, though a simulated one runs. */
let isReal = false;

/**
 * Whoever asks `process` for its listeners asks its fields: methods of its own, those of
 * `EventEmitter.prototype`, and Node.
 */
function patchListeners(patches: Patches): void {
  for (const field of FIELDS) {
    let ofMachine: unknown = Reflect.get(process, field);
    patches.define(process, field, {
      get: function ofProcess(): unknown {
        const { current } = ambient;
        if (current === null || isReal) return ofMachine;
        noteImpure();
        return belongingsOf(current).listeners.get(field);
      },
      set: (given: unknown): void => {
        const { current } = ambient;
        if (current === null || isReal) ofMachine = given;
        else belongingsOf(current).listeners.set(field, given);
      },
    });
    patches.onRestored(() => Reflect.set(process, field, ofMachine));
  }
  const { emit } = process;
  patches.define(process, 'emit', {
    value: function ofProcess(this: unknown, ...args: unknown[]): unknown {
      const call = (): unknown => Reflect.apply(emit, this, args);
      const [event] = args;
      if (this !== process || ambient.current === null || !EVENTS_OF_NODE.has(event)) return call();
      const isHeard = FAILURES.has(event) ? byReal(call) : asNobody(call);
      return call() === true || isHeard;
    },
    ...{ writable: true, enumerable: false },
  });
}

function byReal(call: () => unknown): unknown {
  isReal = true;
  try {
    return call();
  } finally {
    isReal = false;
  }
}

function patchEnvironment(patches: Patches): void {
  const ofMachine = process.env;
  const now = (): object => {
    const { current } = ambient;
    const own = current === null ? null : (belongings.get(current)?.env ?? null);
    // Who reads after something was changed may read that.
    if (own !== null) noteImpure();
    return own ?? ofMachine;
  };
  const changeable = (): object => {
    const { current } = ambient;
    if (current === null) return ofMachine;
    noteImpure();
    const own = belongingsOf(current);
    own.env ??= { ...ofMachine };
    return own.env;
  };
  const env = new Proxy(ofMachine, {
    get: (_, key): unknown => Reflect.get(now(), key),
    has: (_, key) => Reflect.has(now(), key),
    ownKeys: () => Reflect.ownKeys(now()),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(now(), key),
    set: (_, key, value) => Reflect.set(changeable(), key, textOf(key, value)),
    deleteProperty: (_, key) => Reflect.deleteProperty(changeable(), key),
    defineProperty: (_, key, property) =>
      Reflect.set(changeable(), key, textOf(key, property.value)),
    preventExtensions: () => false,
  });
  patches.define(process, 'env', ownValue('process.env', env));
}

/** What a variable is set to becomes a text, and a symbol is neither name nor text. */
function textOf(key: PropertyKey, value: unknown): string {
  if (typeof key !== 'symbol' && typeof value !== 'symbol') return `${value}`;
  throw new TypeError('Cannot convert a Symbol value to a string');
}

const DEFAULTS = ['defaultMaxListeners', 'captureRejections'] as const;

let user: Inhabitant | null = null;
/** The defaults of the machine meanwhile. */
let defaults: readonly unknown[] = [];

/** Its code runs from here on, with what it has set as the defaults of `events`. */
export function takeDefaults(current: Inhabitant): void {
  if (user === current) return;
  giveBackDefaults();
  user = current;
  defaults = DEFAULTS.map((key) => Reflect.get(EventEmitter, key));
  for (const [key, value] of belongings.get(current)?.defaults ?? []) {
    Reflect.set(EventEmitter, key, value);
  }
}

/** Another text where one of the defaults of `events` is another. */
export function defaultsNow(): string {
  return DEFAULTS.map((key) => String(Reflect.get(EventEmitter, key))).join();
}

/** It runs no more. */
export function giveBackDefaults(): void {
  const owner = user;
  if (owner === null) return;
  DEFAULTS.forEach((key, at) => {
    const now: unknown = Reflect.get(EventEmitter, key);
    if (now === defaults[at]) belongings.get(owner)?.defaults.delete(key);
    else {
      belongingsOf(owner).defaults.set(key, now);
      Reflect.set(EventEmitter, key, defaults[at]);
    }
  });
  user = null;
}
