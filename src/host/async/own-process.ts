/**
 * What Node keeps once for the whole thread, and each start of a simulated process has for itself:
 * the listeners of `process`, its environment, what is put in the place of its functions, as
 * `signal-exit` does, and of those of `console`, what is defined anew in objects that all share,
 * and the defaults of `events`. All of it is as on the machine when a process starts; what it
 * changes, no other one sees, nor its next start, nor the next run. Signals and the end of the real
 * process reach none of them.
 *
 * `process` stays the one object that it is: its fields find out whose they are asked for. The
 * defaults of `events` cannot be replaced, so they are set while its code runs.
 */
import diagnostics from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import nodeModule from 'node:module';
import process from 'node:process';
import { inspect } from 'node:util';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, asNobody, type Inhabitant, noteImpure } from './ambient.ts';
import { behindView } from './builtin-views.ts';
import { deepSiteOf } from './call-site.ts';
import { FOLDER, HOME } from './disk-reads.ts';
import { callerText } from './escapes.ts';
import { isAddition, OF_ALL, sharedName } from './global-objects.ts';
import { isFunction, type Patches } from './patches.ts';
import { NO_READER, printingTo, warningText } from './printing.ts';
import { isObject, ofEachProcess } from './reachable.ts';

/** The fields in which an emitter keeps its listeners, and what they hold. */
const FIELDS = ['_events', '_eventsCount', '_maxListeners'] as const;
type Listeners = Map<(typeof FIELDS)[number], unknown>;

interface Belongings {
  readonly listeners: Listeners;
  /** As it began. */
  readonly givenEnv: object;
  /** Null until it changes something there. */
  env: object | null;
  /** Those that it has set. */
  readonly defaults: Map<Default, unknown>;
}

const belongings: WeakMap<Inhabitant, Belongings> = new WeakMap();

function belongingsOf(current: Inhabitant): Belongings {
  return entryOf(belongings, current, () => ({
    listeners: new Map(FIELDS.map((field) => [field, field === '_eventsCount' ? 0 : undefined])),
    givenEnv: givenEnv(),
    env: null,
    defaults: new Map(),
  }));
}

export function patchOwnProcess(patches: Patches): void {
  patchListeners(patches);
  patchEnvironment(patches);
  patchReplaceable(patches);
  patchDefinitions(patches);
  patchFreezing(patches);
  patchChannels(patches);
  for (const key of OWN_VALUES) {
    const own = ownValue(Reflect.get(process, key), key === 'title' ? () => 'node' : undefined);
    patches.define(process, key, { ...own, enumerable: false });
  }
  // What Node's own loader has found is that of the thread, and other processes'.
  for (const key of ['_cache', '_pathCache']) {
    const own = ownValue(Reflect.get(nodeModule, key), () => Object.create(null));
    patches.define(nodeModule, key, own);
  }
}

/** The first two are what `signal-exit` 3 and `cls-hooked` add to `process`. */
const OWN_VALUES = [
  '__signal_exit_emitter__',
  'namespaces',
  'title',
  'noDeprecation',
  'throwDeprecation',
] as const;

/**
 * Each process replaces a function of `process`, or of `console`, for itself; to be called once
 * they are virtual, and again once the exits are, which are functions anew.
 */
export function patchReplaceable(patches: Patches): void {
  for (const owner of [process, console]) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const { value, configurable, enumerable = true } = property;
      if (!isFunction(value) || configurable !== true) continue;
      patches.define(owner, key, { ...ownValue(value), enumerable });
    }
  }
}

/**
 * What stands there, until a process puts something else in its place, for itself; `initial` makes
 * what a process finds there first, if that is another value.
 */
export function ownValue(
  real: unknown,
  initial?: (current: Inhabitant) => unknown,
): PropertyDescriptor {
  let value = real;
  let own: WeakMap<Inhabitant, { readonly value: unknown }> | null = null;
  return {
    get: ofEachProcess(() => {
      const { current } = ambient;
      if (current === null) return value;
      const replaced = own?.get(current);
      if (replaced !== undefined || initial === undefined) return replaced ? replaced.value : value;
      const made = { value: initial(current) };
      if (typeof made.value === 'object') own = (own ?? new WeakMap()).set(current, made);
      return made.value;
    }),
    set: (given: unknown): void => {
      const { current } = ambient;
      if (current === null) {
        value = given;
        return;
      }
      noteImpure();
      own ??= new WeakMap();
      own.set(current, { value: given });
    },
  };
}

/**
 * What a process defines anew in an object that all share, as `signal-exit` 4, `graceful-fs` and
 * `reflect-metadata` do to be found by other copies of themselves, it has for itself. What is set
 * there without a definition cannot be told apart, and is refused by `GlobalObjects`.
 */
function patchDefinitions(patches: Patches): void {
  const { defineProperty } = Object;
  type Own = WeakMap<Inhabitant, PropertyDescriptor>;
  const defined = new Map<object, Map<PropertyKey, Own>>();
  const ownOf = (target: object, key: PropertyKey): Own | undefined => {
    const known = defined.get(target)?.get(key);
    if (known !== undefined || Object.hasOwn(target, key)) return known;
    const own: Own = new WeakMap();
    defined.set(target, (defined.get(target) ?? new Map()).set(key, own));
    const descriptor = (): PropertyDescriptor =>
      ambient.current === null ? {} : (own.get(ambient.current) ?? {});
    patches.define(target, key, {
      get: ofEachProcess(function ofProcess(this: unknown): unknown {
        const { get, value } = descriptor();
        return get === undefined ? value : Reflect.apply(get, this, []);
      }),
      set(this: unknown, given: unknown): void {
        const { set, writable } = descriptor();
        if (set !== undefined) Reflect.apply(set, this, [given]);
        else if (writable !== true || ambient.current === null) return;
        else if (this === target) own.set(ambient.current, { value: given, writable });
        else defineProperty(this, key, { value: given, writable, ...INHERITED });
      },
      enumerable: false,
    });
    return own;
  };
  const define = (target: object, key: PropertyKey, property: PropertyDescriptor): object => {
    const { current } = ambient;
    if (current !== null && behindView(target) !== undefined) {
      // A proxy cannot take it otherwise.
      return defineProperty(target, key, { ...property, configurable: true });
    }
    if (current === null || sharedName(target) === null)
      return defineProperty(target, key, property);
    if (isAddition(property) && !Object.hasOwn(target, key)) {
      // The next realm defines it again.
      return defineProperty(target, key, { ...property, configurable: true });
    }
    const own = ownOf(target, key);
    if (own === undefined) return defineProperty(target, key, property);
    noteImpure();
    own.set(current, property);
    return target;
  };
  const { defineProperty: reflect } = Reflect;
  patches.set(Object, 'defineProperty', define);
  patches.set(Reflect, 'defineProperty', (...given: Parameters<typeof define>) => {
    const [target] = given;
    const isShared = ambient.current !== null && (sharedName(target) ?? behindView(target)) != null;
    return isShared ? define(...given) === target : reflect(...given);
  });
}

/** A shared object that is closed once cannot be opened again, so that is refused as it is done. */
function patchFreezing(patches: Patches): void {
  const close = (owner: object, key: string, call: string): void => {
    const real: unknown = Reflect.get(owner, key);
    if (!isFunction(real)) return;
    const closing = (target: unknown): unknown => {
      const { current } = ambient;
      const object = isObject(target) ? (behindView(target) ?? target) : null;
      const name = object === null || Object.isFrozen(object) ? null : sharedName(object);
      if (current === null || name === null) return real(target);
      const refused = (): Error => {
        const place = callerText(deepSiteOf(refused));
        return new Error(`it calls ${call} of ${name}, ${OF_ALL}; at ${place}`);
      };
      const error = refused();
      current.fail(error);
      throw error;
    };
    patches.set(owner, key, closing);
  };
  for (const key of ['freeze', 'seal', 'preventExtensions']) close(Object, key, `Object.${key}`);
  close(Reflect, 'preventExtensions', 'Reflect.preventExtensions');
}

/** What an object is given that inherits a property. */
const INHERITED = { configurable: true, enumerable: true };

/** Emitted by Node itself while the code of a process runs. */
const EVENTS_OF_NODE: ReadonlySet<unknown> = new Set([
  'unhandledRejection',
  'rejectionHandled',
  'multipleResolves',
  'warning',
  'uncaughtException',
  'uncaughtExceptionMonitor',
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
      get: ofEachProcess(() => {
        const { current } = ambient;
        if (current === null || isReal) return ofMachine;
        noteImpure();
        return belongingsOf(current).listeners.get(field);
      }),
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
    value: function emitOwn(this: unknown, ...args: unknown[]): unknown {
      const call = (): unknown => Reflect.apply(emit, this, args);
      const [event] = args;
      if (this !== process || ambient.current === null || !EVENTS_OF_NODE.has(event)) return call();
      if (event === 'warning') printWarning(args[1]);
      // Node prints a warning too, with what differs from run to run.
      const calm = (): unknown => printingTo(NO_READER, () => asNobody(call));
      const isHeard = FAILURES.has(event) ? byReal(call) : calm();
      return call() === true || isHeard;
    },
    writable: true,
    enumerable: false,
  });
}

/** What Node says once per thread is no part of a run: the next one would lack it. */
function printWarning(warning: unknown): void {
  const { current } = ambient;
  if (!(warning instanceof Error) || warning.name === 'ExperimentalWarning') return;
  if (warning.name !== 'DeprecationWarning' || !('code' in warning)) {
    current?.print(warningText(warning), 2);
  }
}

function byReal(call: () => unknown): unknown {
  isReal = true;
  try {
    return call();
  } finally {
    isReal = false;
  }
}

/** The environment of the machine. */
let ofMachine: NodeJS.ProcessEnv = process.env;

/** Variables of the machine that a process sees: `FENCEPOST_ENV` names further ones. */
const SEEN = ['NODE_ENV', 'DEBUG', 'NO_COLOR', 'FORCE_COLOR'];

/** The environment that a process begins with, the same on each machine. */
function givenEnv(): object {
  const named = ofMachine['FENCEPOST_ENV']?.split(',') ?? [];
  const seen = [...SEEN, ...named].filter((name) => ofMachine[name] !== undefined);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME,
    USER: 'user',
    PWD: FOLDER,
    LANG: 'en_US.UTF-8',
    TZ: 'UTC',
    ...Object.fromEntries(seen.map((name) => [name, ofMachine[name]])),
  };
}

function patchEnvironment(patches: Patches): void {
  ofMachine = process.env;
  const now = (): object => {
    const { current } = ambient;
    if (current === null) return ofMachine;
    const { env: own, givenEnv } = belongingsOf(current);
    // Who reads after something was changed may read that.
    if (own !== null) noteImpure();
    return own ?? givenEnv;
  };
  const changeable = (): object => {
    const { current } = ambient;
    if (current === null) return ofMachine;
    noteImpure();
    const own = belongingsOf(current);
    own.env ??= { ...own.givenEnv };
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
  patches.define(process, 'env', ownValue(env));
}

/** What a variable is set to becomes a text, and a symbol is neither name nor text. */
function textOf(key: PropertyKey, value: unknown): string {
  if (typeof key !== 'symbol' && typeof value !== 'symbol') return `${value}`;
  throw new TypeError('Cannot convert a Symbol value to a string');
}

/**
 * The channels of `diagnostics_channel` are found by their names in the whole thread; each process
 * finds channels of its own.
 */
function patchChannels(patches: Patches): void {
  const { channel, tracingChannel } = diagnostics;
  type Name = string | symbol;
  const owns: WeakMap<Inhabitant, Map<Name, diagnostics.Channel>> = new WeakMap();
  const channelOf = (name: Name): diagnostics.Channel => {
    const { current } = ambient;
    if (current === null || (typeof name !== 'string' && typeof name !== 'symbol')) {
      return channel(name);
    }
    noteImpure();
    const own = entryOf(owns, current, () => new Map<Name, diagnostics.Channel>());
    return entryOf(own, name, () => Object.assign(channel(Symbol(String(name))), { name }));
  };
  type Listener = diagnostics.ChannelListener;
  const changes = {
    channel: channelOf,
    hasSubscribers: (name: Name) => channelOf(name).hasSubscribers,
    subscribe: (name: Name, listener: Listener) => channelOf(name).subscribe(listener),
    unsubscribe: (name: Name, listener: Listener) => channelOf(name).unsubscribe(listener),
    tracingChannel: (given: unknown): unknown => {
      const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
      const named = parts.map((part) => [part, channelOf(`tracing:${given}:${part}`)]);
      const channels = typeof given === 'string' ? Object.fromEntries(named) : given;
      return Reflect.apply(tracingChannel, diagnostics, [channels]);
    },
  };
  for (const [key, value] of Object.entries(changes)) patches.set(diagnostics, key, value);
}

/** A value that Node keeps, and that cannot be replaced by one of each process. */
type Default = readonly [owner: object, key: string];

const DEFAULTS: readonly Default[] = [
  [EventEmitter, 'defaultMaxListeners'],
  [EventEmitter, 'captureRejections'],
  ...Object.keys(inspect.defaultOptions).map((key): Default => [inspect.defaultOptions, key]),
];

let user: Inhabitant | null = null;
/** The defaults of the machine meanwhile. */
let defaults: readonly unknown[] = [];

function valuesOfDefaults(): readonly unknown[] {
  return DEFAULTS.map(([owner, key]) => Reflect.get(owner, key));
}

/** Its code runs from here on, with what it has set as the defaults. */
export function takeDefaults(current: Inhabitant): void {
  if (user === current) return;
  giveBackDefaults();
  user = current;
  defaults = valuesOfDefaults();
  for (const [[owner, key], value] of belongings.get(current)?.defaults ?? []) {
    Reflect.set(owner, key, value);
  }
}

/** Another text where one of the defaults is another. */
export function defaultsNow(): string {
  return valuesOfDefaults().map(String).join();
}

/** It runs no more. */
export function giveBackDefaults(): void {
  const owner = user;
  if (owner === null) return;
  const known = belongings.get(owner)?.defaults;
  DEFAULTS.forEach((one, at) => {
    const now: unknown = Reflect.get(...one);
    if (now === defaults[at]) known?.delete(one);
    else {
      belongingsOf(owner).defaults.set(one, now);
      Reflect.set(...one, defaults[at]);
    }
  });
  user = null;
}
