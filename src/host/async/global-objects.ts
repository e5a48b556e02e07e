/**
 * What no realm keeps apart: `globalThis`, the objects that the language and Node put there, and
 * what the builtin modules export that code under test has taken in hand, each with its prototypes.
 * All simulated processes share them, so code that changes them while it is loaded or run is told
 * so, and the change is undone before anybody else runs.
 */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { inRealTurn } from './ambient.ts';
import { Patches } from './patches.ts';

/** Getters of what each process has for itself. */
const ownGetters: WeakSet<object> = new WeakSet();

/** Such a getter, for `own-process.ts`: another value in each process is no change. */
export function ofEachProcess<Get extends () => unknown>(get: Get): Get {
  ownGetters.add(get);
  return get;
}

type Property = readonly [key: PropertyKey, property: PropertyDescriptor];

/** An object as it was, its data apart from its accessors, since that is quicker to compare. */
interface KeptObject {
  readonly name: string;
  readonly target: object;
  readonly keys: ReadonlySet<PropertyKey>;
  readonly data: readonly Property[];
  readonly accessors: readonly Property[];
  /** What polyfills have put there since it was first kept: each realm may put its own. */
  readonly added: readonly Property[];
}

/**
 * Kept as they are at one moment, to see what was changed since, and to put it back. A function or
 * a symbol that was added is no change, nor a frozen object of functions: every realm that loads
 * the same module would add the same, as polyfills do, and Bluebird with its classes of errors.
 */
export class GlobalObjects {
  private objects: readonly KeptObject[] = keptNow();

  /** When they were last found as kept, as `Patches.restorations`; null in a later turn. */
  private foundAt: number | null = null;

  constructor() {
    keepModules();
  }

  /** Takes them as they are now, whatever was changed since. */
  renew(): void {
    if (this.foundAt === Patches.restorations || this.isAsKept) return;
    this.objects = keptNow();
    keepModules();
  }

  /**
   * The name of what was changed, `globalThis.cache`, once that is undone; null for nothing. What
   * was there comes first: `Map.prototype.get` must be itself again before a map is asked.
   */
  takeBack(): string | null {
    if (this.isAsKept) {
      this.noteFound();
      return null;
    }
    let change: string | null = null;
    for (const undo of [putBack, takeAway]) {
      for (const object of [...this.objects, ...inHand]) {
        const undone = undo(object);
        change ??= undone;
      }
    }
    return change;
  }

  /** Who runs next in this turn, as the next seed does, need not look again. */
  private noteFound(): void {
    if (this.foundAt === null) {
      inRealTurn(() => {
        this.foundAt = null;
      });
    }
    this.foundAt = Patches.restorations;
  }

  /** About 100 µs, mostly once a run; what follows takes its time. */
  private get isAsKept(): boolean {
    return areAsKept(this.objects) && areAsKept(inHand);
  }
}

function areAsKept(objects: readonly KeptObject[]): boolean {
  for (const { target, keys, data, accessors, added } of objects) {
    if (Reflect.ownKeys(target).length !== keys.size) return false;
    for (const [key, { value }] of data) {
      if (!Object.is(Reflect.get(target, key), value)) return false;
    }
    for (const [key, before] of accessors) {
      if (!isSame(before, Reflect.getOwnPropertyDescriptor(target, key))) return false;
    }
    for (const [key] of added) if (!isAddition({ value: Reflect.get(target, key) })) return false;
  }
  return true;
}

/** Of the builtin modules that code under test has taken in hand, by object what it is called. */
const ofModules: Map<object, string> = new Map();
let inHand: readonly KeptObject[] = [];

/**
 * What a builtin module exports, kept from here on. One that changes others as it is loaded, as
 * `domain` does, may do so.
 */
export function takeInHand(name: string, load: () => object): object {
  const wasAsKept = areAsKept(inHand);
  const exports = load();
  if (ofModules.has(exports)) return exports;
  const others = globalObjects();
  for (const [object, called] of partsOf(name, exports)) {
    if (!others.has(object) && !ofModules.has(object)) ofModules.set(object, called);
  }
  if (wasAsKept) keepModules();
  return exports;
}

/** Gives an object its former properties; the name of one that was another, or gone. */
function putBack(object: KeptObject): string | null {
  const { name, target, data, accessors, added } = object;
  let change: string | null = null;
  for (const properties of [data, accessors, added]) {
    for (const [key, before] of properties) {
      const now = Reflect.getOwnPropertyDescriptor(target, key);
      if (isSame(before, now) || isLoaded(target, before, now)) continue;
      if (properties === added && now !== undefined && isAddition(now)) continue;
      Reflect.defineProperty(target, key, before);
      if (!isTuning(object, key)) change ??= `${name}${nameOf(key)}`;
    }
  }
  return change;
}

/**
 * How a stack is told, and how many lines it has: libraries change it for good, as Bluebird does
 * while it is loaded. What the real process is called, and of what it warns. How files are read, as
 * `graceful-fs` does, and modules found, as tools do that look on: nobody under test reads files,
 * nor finds modules so. To put it back is enough.
 */
function isTuning({ name, target }: KeptObject, key: PropertyKey): boolean {
  if (target === process) return key === 'title' || key === 'noDeprecation';
  if (target === Error) return key === 'stackTraceLimit' || key === 'prepareStackTrace';
  return /^(?:fs|module)\b/.test(name);
}

/** Takes away what was added, unless that is no change; the name of one such property. */
function takeAway(object: KeptObject): string | null {
  const { name, target, keys } = object;
  let change: string | null = null;
  for (const [key, property] of propertiesOf(target)) {
    if (keys.has(key) || isAddition(property) || isOfEachProcess(property)) continue;
    if (isOfNode(target, key)) continue;
    Reflect.deleteProperty(target, key);
    if (!isTuning(object, key)) change ??= `${name}${nameOf(key)}`;
  }
  return change;
}

/**
 * Node puts what sends requests there once somebody makes a `Response`, as `pg` does, and keeps in
 * `process` who listens to it.
 */
function isOfNode(target: object, key: PropertyKey): boolean {
  if (target === process) return KEPT_BY_NODE.has(key);
  return (
    typeof key === 'symbol' && /^undici\.globalDispatcher\.\d+$/.test(Symbol.keyFor(key) ?? '')
  );
}

const KEPT_BY_NODE: ReadonlySet<PropertyKey> = new Set([
  '_events',
  '_eventsCount',
  '_maxListeners',
  '_exiting',
  'domain',
]);

/** Node loads some of its classes as they are first looked at, and then puts them in place. */
function isLoaded(
  target: object,
  { get }: PropertyDescriptor,
  now: PropertyDescriptor | undefined,
): boolean {
  if (get === undefined || now === undefined || now.value === undefined) return false;
  return Object.is(Reflect.apply(get, target, []), now.value);
}

function keepModules(): void {
  inHand = keptOf(ofModules);
}

function keptNow(): readonly KeptObject[] {
  return keptOf(globalObjects());
}

/** The keys that each object had when it was first kept. */
const firstKeys: WeakMap<object, ReadonlySet<PropertyKey>> = new WeakMap();

/** Whether all simulated processes share it. */
export function isSharedObject(object: object): boolean {
  return firstKeys.has(object);
}

function keptOf(objects: ReadonlyMap<object, string>): readonly KeptObject[] {
  return [...objects].map(([target, name]) => {
    const properties = propertiesOf(target);
    const keys = new Set(properties.map(([key]) => key));
    const first = firstKeys.get(target) ?? keys;
    firstKeys.set(target, first);
    const kept: Record<'data' | 'accessors' | 'added', Property[]> = {
      data: [],
      accessors: [],
      added: [],
    };
    for (const [key, property] of properties) {
      if (isOfEachProcess(property) || isOfNode(target, key)) continue;
      if (!first.has(key) && isAddition(property)) kept.added.push([key, property]);
      else kept['value' in property ? 'data' : 'accessors'].push([key, property]);
    }
    return { name, target, keys, ...kept };
  });
}

/** Whether each process has its own there. */
export function isOfEachProcess({ get }: PropertyDescriptor): boolean {
  return get !== undefined && ownGetters.has(get);
}

/** By object, what it is called. */
function globalObjects(): ReadonlyMap<object, string> {
  const found = new Map<object, string>([
    [globalThis, 'globalThis'],
    [console, 'console'],
    [crypto, 'crypto'],
    [performance, 'performance'],
    // Node 20 makes it as it is first looked at.
    ...withPrototype('Buffer', Buffer),
    [process, 'process'],
    [process.argv, 'process.argv'],
    [process.execArgv, 'process.execArgv'],
  ]);
  for (const [key, { value }] of propertiesOf(globalThis)) {
    // `Array`, `JSON`; what begins with a small letter is not of the language.
    if (typeof key !== 'string' || !/^[A-Z]/.test(key) || !isObject(value)) continue;
    for (const [object, name] of withPrototype(key, value)) {
      if (!found.has(object)) found.set(object, name);
    }
  }
  return found;
}

type Named = readonly [object: object, name: string];

function withPrototype(name: string, object: object): readonly Named[] {
  const prototype: unknown = Reflect.getOwnPropertyDescriptor(object, 'prototype')?.value;
  const itself: Named = [object, name];
  return isObject(prototype) ? [itself, [prototype, `${name}.prototype`]] : [itself];
}

/** What a module exports, with the classes in it and its groups of functions or constants. */
function partsOf(name: string, exports: object): readonly Named[] {
  const parts = propertiesOf(exports).flatMap(([key, { value }]) => {
    if (typeof key !== 'string' || !isObject(value) || Array.isArray(value)) return [];
    const isPart = typeof value === 'function' ? /^[A-Z]/.test(key) : !key.startsWith('_');
    return isPart ? withPrototype(`${name}.${key}`, value) : [];
  });
  return [...withPrototype(name, exports), ...parts];
}

function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

function propertiesOf(target: object): readonly Property[] {
  return Reflect.ownKeys(target).flatMap((key) => {
    // Node 20 and 22 keep there what an AsyncLocalStorage holds at the top of a thread.
    if (typeof key === 'symbol' && key.description === 'kResourceStore') return [];
    const property = Reflect.getOwnPropertyDescriptor(target, key);
    return property === undefined ? [] : [[key, property] as const];
  });
}

function isSame(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  if (now === undefined) return false;
  return Object.is(before.value, now.value) && before.get === now.get && before.set === now.set;
}

/** What every realm that loads the same module would add the same, as polyfills do. */
export function isAddition({ value }: PropertyDescriptor): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (!isObject(value) || !Object.isFrozen(value)) return false;
  return propertiesOf(value).every(([, { value: part }]) => typeof part === 'function');
}

function nameOf(key: PropertyKey): string {
  return typeof key === 'symbol' ? `[${String(key)}]` : `.${String(key)}`;
}
