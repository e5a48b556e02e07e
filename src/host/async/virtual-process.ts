/**
 * Gives each incarnation of a simulated process its own copy of state that Node keeps once per
 * thread: the listeners and environment of `process`, replaced functions of `process` (as by
 * `signal-exit`) and `console`, properties defined on shared objects, and the defaults of `events`.
 * Each incarnation begins with the machine's initial state, and no other incarnation sees its
 * changes. Signals and the exit of the real process do not reach an incarnation.
 *
 * `process` remains one object, whose fields look up the current process. The defaults of `events`
 * cannot be replaced by accessors, so they are set while the code of a process runs.
 */
import diagnostics from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import nodeModule from 'node:module';
import process from 'node:process';
import { inspect } from 'node:util';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient, type CurrentProcess, noteImpure, outsideProcess } from './ambient.ts';
import { behindView } from './builtin-views.ts';
import { deepSiteOf } from './call-site.ts';
import { FOLDER, HOME } from './disk-reads.ts';
import { callerText } from './forbidden-apis.ts';
import { isAddition, OF_ALL, sharedName } from './global-objects.ts';
import { isFunction, type Patches } from './patches.ts';
import { NO_READER, printingTo, warningText } from './printing.ts';
import { isObject, ofEachProcess } from './reachable.ts';

/** The fields in which an emitter keeps its listeners. */
const FIELDS = ['_events', '_eventsCount', '_maxListeners'] as const;
type Listeners = Map<(typeof FIELDS)[number], unknown>;

interface Belongings {
  readonly listeners: Listeners;
  /** The initial environment. */
  readonly givenEnv: object;
  /** Null until the process changes its environment. */
  env: object | null;
  /** The defaults that the process has set. */
  readonly defaults: Map<Default, unknown>;
}

const belongings: WeakMap<CurrentProcess, Belongings> = new WeakMap();

function belongingsOf(current: CurrentProcess): Belongings {
  return entryOf(belongings, current, () => ({
    listeners: new Map(FIELDS.map((field) => [field, field === '_eventsCount' ? 0 : undefined])),
    givenEnv: givenEnv(),
    env: null,
    defaults: new Map(),
  }));
}

export function patchVirtualProcess(patches: Patches): void {
  patchListeners(patches);
  patchEnvironment(patches);
  patchReplaceable(patches);
  patchDefinitions(patches);
  patchFreezing(patches);
  patchChannels(patches);
  for (const key of PROCESS_VALUES) {
    const virtualValue = processValue(
      Reflect.get(process, key),
      key === 'title' ? () => 'node' : undefined,
    );
    patches.define(process, key, { ...virtualValue, enumerable: false });
  }
  // Modules that Node's loader has found belong to the thread and to other processes.
  for (const key of ['_cache', '_pathCache']) {
    const virtualValue = processValue(Reflect.get(nodeModule, key), () => Object.create(null));
    patches.define(nodeModule, key, virtualValue);
  }
}

/** `signal-exit` 3 and `cls-hooked` add the first two to `process`. */
const PROCESS_VALUES = [
  '__signal_exit_emitter__',
  'namespaces',
  'title',
  'noDeprecation',
  'throwDeprecation',
] as const;

/**
 * Lets each process replace functions of `process` and `console` for itself. Called again after the
 * refused calls are patched, because that creates new functions.
 */
export function patchReplaceable(patches: Patches): void {
  for (const owner of [process, console]) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const { value, configurable, enumerable = true } = property;
      if (!isFunction(value) || configurable !== true) continue;
      patches.define(owner, key, { ...processValue(value), enumerable });
    }
  }
}

/**
 * Describes a property that each process may replace for itself. Until then, the property has the
 * shared value, or the result of `initial`.
 */
export function processValue(
  real: unknown,
  initial?: (current: CurrentProcess) => unknown,
): PropertyDescriptor {
  let value = real;
  let values: WeakMap<CurrentProcess, { readonly value: unknown }> | null = null;
  return {
    get: ofEachProcess(() => {
      const { current } = ambient;
      if (current === null) return value;
      const replaced = values?.get(current);
      if (replaced !== undefined || initial === undefined) return replaced ? replaced.value : value;
      const made = { value: initial(current) };
      if (typeof made.value === 'object') values = (values ?? new WeakMap()).set(current, made);
      return made.value;
    }),
    set: (newValue: unknown): void => {
      const { current } = ambient;
      if (current === null) {
        value = newValue;
        return;
      }
      noteImpure();
      values ??= new WeakMap();
      values.set(current, { value: newValue });
    },
  };
}

/**
 * Keeps properties that a process defines on shared objects private to that process. `signal-exit`
 * 4, `graceful-fs` and `reflect-metadata` define such properties. A plain assignment cannot be
 * attributed to a process, so `GlobalObjects` refuses it.
 */
function patchDefinitions(patches: Patches): void {
  const { defineProperty } = Object;
  type DefinedValues = WeakMap<CurrentProcess, PropertyDescriptor>;
  const defined = new Map<object, Map<PropertyKey, DefinedValues>>();
  const valuesOf = (target: object, key: PropertyKey): DefinedValues | undefined => {
    const known = defined.get(target)?.get(key);
    if (known !== undefined || Object.hasOwn(target, key)) return known;
    const values: DefinedValues = new WeakMap();
    defined.set(target, (defined.get(target) ?? new Map()).set(key, values));
    const descriptor = (): PropertyDescriptor =>
      ambient.current === null ? {} : (values.get(ambient.current) ?? {});
    patches.define(target, key, {
      get: ofEachProcess(function ofProcess(this: unknown): unknown {
        const { get, value } = descriptor();
        return get === undefined ? value : Reflect.apply(get, this, []);
      }),
      set(this: unknown, newValue: unknown): void {
        const { set, writable } = descriptor();
        if (set !== undefined) Reflect.apply(set, this, [newValue]);
        else if (writable !== true || ambient.current === null) return;
        else if (this === target) values.set(ambient.current, { value: newValue, writable });
        else defineProperty(this, key, { value: newValue, writable, ...INHERITED });
      },
      enumerable: false,
    });
    return values;
  };
  const define = (target: object, key: PropertyKey, property: PropertyDescriptor): object => {
    const { current } = ambient;
    if (current !== null && behindView(target) !== undefined) {
      // A proxy accepts only configurable properties here.
      return defineProperty(target, key, { ...property, configurable: true });
    }
    if (current === null || sharedName(target) === null)
      return defineProperty(target, key, property);
    if (isAddition(property) && !Object.hasOwn(target, key)) {
      // Configurable, because the next realm defines it again.
      return defineProperty(target, key, { ...property, configurable: true });
    }
    const values = valuesOf(target, key);
    if (values === undefined) return defineProperty(target, key, property);
    noteImpure();
    values.set(current, property);
    return target;
  };
  const { defineProperty: reflect } = Reflect;
  patches.set(Object, 'defineProperty', define);
  patches.set(Reflect, 'defineProperty', (...args: Parameters<typeof define>) => {
    const [target] = args;
    const isShared = ambient.current !== null && (sharedName(target) ?? behindView(target)) != null;
    return isShared ? define(...args) === target : reflect(...args);
  });
}

/** Refuses calls that make a shared object non-extensible, which cannot be undone. */
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
        return new Error(`it calls ${call} on ${name}, ${OF_ALL}; at ${place}`);
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

/** Attributes of a property that an inheriting object gets by assignment. */
const INHERITED = { configurable: true, enumerable: true };

/** Events that Node itself emits while the code of a process runs. */
const EVENTS_OF_NODE: ReadonlySet<unknown> = new Set([
  'unhandledRejection',
  'rejectionHandled',
  'multipleResolves',
  'warning',
  'uncaughtException',
  'uncaughtExceptionMonitor',
]);

/** Events that the host itself listens for, to find the process whose code failed. */
const FAILURES: ReadonlySet<unknown> = new Set(['unhandledRejection', 'uncaughtException']);

/** True while the real process's listeners are accessed although a simulated process runs. */
let isReal = false;

/**
 * Gives each process its own listeners of `process`. The listeners stay in fields of `process`,
 * where Node itself accesses them.
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
      set: (listener: unknown): void => {
        const { current } = ambient;
        if (current === null || isReal) ofMachine = listener;
        else belongingsOf(current).listeners.set(field, listener);
      },
    });
    patches.onRestored(() => Reflect.set(process, field, ofMachine));
  }
  const { emit } = process;
  patches.define(process, 'emit', {
    value: function emitOnProcess(this: unknown, ...args: unknown[]): unknown {
      const call = (): unknown => Reflect.apply(emit, this, args);
      const [event] = args;
      if (this !== process || ambient.current === null || !EVENTS_OF_NODE.has(event)) return call();
      if (event === 'warning') printWarning(args[1]);
      // Node also prints the warning, with details that differ between runs.
      const calm = (): unknown => printingTo(NO_READER, () => outsideProcess(call));
      const isHeard = FAILURES.has(event) ? byReal(call) : calm();
      return call() === true || isHeard;
    },
    writable: true,
    enumerable: false,
  });
}

/** Skips warnings that Node prints only once per thread, because the next run would lack them. */
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

let ofMachine: NodeJS.ProcessEnv = process.env;

/** Variables of the machine that a process sees. `FENCEPOST_ENV` names more. */
const SEEN = ['NODE_ENV', 'DEBUG', 'NO_COLOR', 'FORCE_COLOR'];

/** Returns the initial environment of a process, the same on each machine. */
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
    const { env: processEnv, givenEnv } = belongingsOf(current);
    // Reads after a change may return the changed value.
    if (processEnv !== null) noteImpure();
    return processEnv ?? givenEnv;
  };
  const changeable = (): object => {
    const { current } = ambient;
    if (current === null) return ofMachine;
    noteImpure();
    const belongings = belongingsOf(current);
    belongings.env ??= { ...belongings.givenEnv };
    return belongings.env;
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
  patches.define(process, 'env', processValue(env));
}

/** Node converts the value of a variable to text, and refuses symbols as names and values. */
function textOf(key: PropertyKey, value: unknown): string {
  if (typeof key !== 'symbol' && typeof value !== 'symbol') return `${value}`;
  throw new TypeError('Cannot convert a Symbol value to a string');
}

/** Gives each process its own channels of `diagnostics_channel`, which Node keeps per thread. */
function patchChannels(patches: Patches): void {
  const { channel, tracingChannel } = diagnostics;
  type Name = string | symbol;
  const owns: WeakMap<CurrentProcess, Map<Name, diagnostics.Channel>> = new WeakMap();
  const channelOf = (name: Name): diagnostics.Channel => {
    const { current } = ambient;
    if (current === null || (typeof name !== 'string' && typeof name !== 'symbol')) {
      return channel(name);
    }
    noteImpure();
    const channels = entryOf(owns, current, () => new Map<Name, diagnostics.Channel>());
    // Bypasses Node's own registry, which watches its channels with a `FinalizationRegistry`. Node
    // 20 aborts if a worker thread ends while a callback of such a registry is pending.
    const fields = { _subscribers: undefined, _stores: undefined, name };
    return entryOf(channels, name, () =>
      Object.assign(Object.create(diagnostics.Channel.prototype), fields),
    );
  };
  type Listener = diagnostics.ChannelListener;
  const changes = {
    channel: channelOf,
    hasSubscribers: (name: Name) => channelOf(name).hasSubscribers,
    subscribe: (name: Name, listener: Listener) => channelOf(name).subscribe(listener),
    unsubscribe: (name: Name, listener: Listener) => channelOf(name).unsubscribe(listener),
    tracingChannel: (nameOrChannels: unknown): unknown => {
      const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
      const named = parts.map((part) => [part, channelOf(`tracing:${nameOrChannels}:${part}`)]);
      const channels =
        typeof nameOrChannels === 'string' ? Object.fromEntries(named) : nameOrChannels;
      return Reflect.apply(tracingChannel, diagnostics, [channels]);
    },
  };
  for (const [key, value] of Object.entries(changes)) patches.set(diagnostics, key, value);
}

/** A setting of Node that cannot be replaced by an accessor. */
type Default = readonly [owner: object, key: string];

const DEFAULTS: readonly Default[] = [
  [EventEmitter, 'defaultMaxListeners'],
  [EventEmitter, 'captureRejections'],
  ...Object.keys(inspect.defaultOptions).map((key): Default => [inspect.defaultOptions, key]),
];

let user: CurrentProcess | null = null;
/** The machine's defaults while a process runs. */
let defaults: readonly unknown[] = [];

function valuesOfDefaults(): readonly unknown[] {
  return DEFAULTS.map(([owner, key]) => Reflect.get(owner, key));
}

/** Installs the defaults that a process has set, before its code runs. */
export function takeDefaults(current: CurrentProcess): void {
  if (user === current) return;
  giveBackDefaults();
  user = current;
  defaults = valuesOfDefaults();
  for (const [[owner, key], value] of belongings.get(current)?.defaults ?? []) {
    Reflect.set(owner, key, value);
  }
}

/** Returns a text that changes whenever a default changes. */
export function defaultsNow(): string {
  return valuesOfDefaults().map(String).join();
}

/** Saves the defaults of the process that ran, and restores the machine's defaults. */
export function giveBackDefaults(): void {
  const owner = user;
  if (owner === null) return;
  const known = belongings.get(owner)?.defaults;
  DEFAULTS.forEach((property, at) => {
    const now: unknown = Reflect.get(...property);
    if (now === defaults[at]) known?.delete(property);
    else {
      belongingsOf(owner).defaults.set(property, now);
      Reflect.set(...property, defaults[at]);
    }
  });
  user = null;
}
