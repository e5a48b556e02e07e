/**
 * Protects the objects that no realm isolates: the globals of the language and of Node, the builtin
 * modules, and everything reachable from these. All simulated processes share them, so code that
 * changes them fails. The error names the change, which is undone before other code runs.
 *
 * The globals and their prototypes are compared after each run. All other objects take about 2 ms
 * to compare, so they are compared after each block of seeds (`walked` in `walk.ts`). An object
 * found changed is compared after each run from then on.
 */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { inRealTurn } from './ambient.ts';
import { Patches } from './patches.ts';
import {
  isObject,
  isOfEachProcess,
  type NamedObjects,
  nameOfKey,
  type Property,
  propertiesOf,
  reachableFrom,
  reachableObjects,
} from './reachable.ts';

// The originals, before code under test could replace them.
const { get: read, getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;
const { defineProperty, deleteProperty, setPrototypeOf } = Reflect;
const { is } = Object;

/** A snapshot of an object. Data properties are listed separately because they compare faster. */
interface KeptObject {
  readonly name: string;
  readonly target: object;
  readonly prototype: object | null;
  readonly wasExtensible: boolean;
  readonly keys: readonly PropertyKey[];
  readonly data: readonly Property[];
  readonly accessors: readonly Property[];
  /** Properties added by polyfills since the first snapshot; each realm may add its own. */
  readonly added: readonly Property[];
}

/** A change, which has been undone. */
export interface SharedChange {
  /** For example `globalThis.cache`. */
  readonly name: string;
  readonly target: object;
  /** The property, or null if the object itself was changed. */
  readonly key: PropertyKey | null;
}

/** Objects other than the globals that have been found changed, with their names. */
const watched: Map<object, string> = new Map();

/**
 * Snapshots of the shared objects, used to find and undo changes. An added function, symbol, or
 * frozen object of functions is not a change, because polyfills add the same value in every realm.
 */
export class GlobalObjects {
  private objects: readonly KeptObject[] = keptNow();
  /** Snapshots of everything else that is reachable. */
  private others: readonly KeptObject[] = [];

  /** `Patches.restorations` when the globals were last found unchanged in this turn, or null. */
  private foundAt: number | null = null;
  /** `Patches.restorations` when the other objects were captured, or null if they never were. */
  private othersAt: number | null = null;

  /** Captures the globals as they are now, including any changes. */
  renew(): void {
    if (this.foundAt === Patches.restorations || this.objects.every(isAsKept)) return;
    this.objects = keptNow();
  }

  /** Captures the globals again, and the other objects if patches were restored since. */
  renewAll(): void {
    this.foundAt = null;
    this.renew();
    if (this.othersAt === Patches.restorations) return;
    this.othersAt = Patches.restorations;
    this.others = [];
    this.keepOthers(reachableObjects(globalObjects()));
  }

  private keepOthers(reachable: NamedObjects): void {
    const known = new Set([...this.objects, ...this.others].map(({ target }) => target));
    const others = [...reachable].filter(([object]) => !known.has(object));
    this.others = [...this.others, ...keptOf(new Map(others))];
  }

  /**
   * Undoes changes of globals and returns the first, or null. Restores properties before it deletes
   * added properties: `Map.prototype.get` must be the original before a map is used.
   */
  takeBack(): SharedChange | null {
    if (this.objects.every(isAsKept)) {
      this.noteFound();
      return null;
    }
    return undone(this.objects);
  }

  /** Like `takeBack`, for all objects. Changed objects are compared after each run from now on. */
  takeBackAll(): SharedChange | null {
    const global = this.takeBack();
    const touched = this.others.filter((object) => !isAsKept(object));
    const change = undone(touched, ({ target, name }) => watched.set(target, name));
    this.keepAgain(touched);
    return global ?? change;
  }

  /**
   * Loads a builtin module. Changes that the module makes to other objects, as `domain` does,
   * remain.
   */
  addIfNew(name: string, load: () => object): object {
    const asKept = [...this.objects, ...this.others].filter(isAsKept);
    const exports = load();
    this.keepAgain(asKept.filter((object) => !isAsKept(object)));
    if (this.othersAt !== null) this.keepOthers(reachableFrom([[exports, name]]));
    return exports;
  }

  private keepAgain(touched: readonly KeptObject[]): void {
    if (touched.length === 0) return;
    this.objects = keptNow();
    const others = touched.filter(
      ({ target }) => !this.objects.some((object) => object.target === target),
    );
    const kept = keptOf(new Map(others.map(({ target, name }) => [target, name])));
    this.others = [...this.others.filter((object) => !touched.includes(object)), ...kept];
  }

  /** Lets the next seed in this turn skip the comparison. */
  private noteFound(): void {
    if (this.foundAt === null) {
      inRealTurn(() => {
        this.foundAt = null;
      });
    }
    this.foundAt = Patches.restorations;
  }
}

/** Compares an object with its snapshot. Optimized for speed: about 100 µs for all globals. */
function isAsKept(object: KeptObject): boolean {
  const { target, prototype, wasExtensible, keys, data, accessors, added } = object;
  if (ownKeys(target).length !== keys.length) return false;
  if (getPrototypeOf(target) !== prototype || isExtensible(target) !== wasExtensible) return false;
  for (let at = 0; at < data.length; at += 1) {
    const property = data[at];
    if (property !== undefined && !is(read(target, property[0]), property[1].value)) return false;
  }
  for (const [key, before] of accessors) {
    if (!isSame(before, getOwnPropertyDescriptor(target, key))) return false;
  }
  for (const [key] of added) if (!isAddition({ value: read(target, key) })) return false;
  return true;
}

/** Undoes all changes and returns the first, or null. Calls `onUndone` with each changed object. */
function undone(
  objects: readonly KeptObject[],
  onUndone: (object: KeptObject) => void = () => {},
): SharedChange | null {
  let first: SharedChange | null = null;
  for (const undo of [putBack, takeAway]) {
    for (const object of objects) {
      const change = undo(object);
      if (change !== null) onUndone(object);
      first ??= change;
    }
  }
  return first;
}

/** Restores the prototype and existing properties. Returns the first change, or null. */
function putBack(object: KeptObject): SharedChange | null {
  const { name, target, prototype, wasExtensible, data, accessors, added } = object;
  let change: SharedChange | null = null;
  if (getPrototypeOf(target) !== prototype) {
    setPrototypeOf(target, prototype);
    change = { name: `the prototype of ${name}`, target, key: null };
  }
  if (isExtensible(target) !== wasExtensible) {
    change ??= { name: `the extensibility of ${name}`, target, key: null };
  }
  for (const properties of [data, accessors, added]) {
    for (const [key, before] of properties) {
      const now = getOwnPropertyDescriptor(target, key);
      if (isSame(before, now) || isLoaded(target, before, now)) continue;
      if (properties === added && now !== undefined && isAddition(now)) continue;
      defineProperty(target, key, before);
      if (!isTuning(object, key, now)) change ??= { name: `${name}${nameOfKey(key)}`, target, key };
    }
  }
  return change;
}

/**
 * Returns true for harmless changes, which are undone but not reported. Libraries such as Bluebird
 * change the format of stack traces. Instrumentation replaces the module loader of Node, which does
 * not load code under test.
 */
function isTuning(
  { name, target }: KeptObject,
  key: PropertyKey,
  now?: PropertyDescriptor,
): boolean {
  if (target === Error) return key === 'stackTraceLimit' || key === 'prepareStackTrace';
  return /^module\b/.test(name) && typeof now?.value === 'function';
}

/** Deletes added properties that count as changes; returns the first. */
function takeAway(object: KeptObject): SharedChange | null {
  const { name, target, keys } = object;
  let change: SharedChange | null = null;
  if (ownKeys(target).length === keys.length) return null;
  for (const [key, property] of propertiesOf(target)) {
    if (keys.includes(key) || isAddition(property) || isOfEachProcess(property)) continue;
    if (isOfNode(target, key)) continue;
    deleteProperty(target, key);
    if (!isTuning(object, key)) change ??= { name: `${name}${nameOfKey(key)}`, target, key };
  }
  return change;
}

/**
 * Returns true for properties that Node itself changes. It adds its HTTP dispatcher with the first
 * `Response`, and keeps the listeners of `process` in fields of `process`.
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

/** Returns true if Node replaced an accessor with the class that it loaded on first access. */
function isLoaded(
  target: object,
  { get }: PropertyDescriptor,
  now: PropertyDescriptor | undefined,
): boolean {
  if (get === undefined || now === undefined || now.value === undefined) return false;
  return Object.is(Reflect.apply(get, target, []), now.value);
}

function keptNow(): readonly KeptObject[] {
  // Sorted, so that the reported change does not depend on the order of discovery.
  const others = [...watched].sort(([, a], [, b]) => (a < b ? -1 : 1));
  return keptOf(new Map([...globalObjects(), ...others]));
}

/** Name and keys of each object at its first snapshot. */
const firstKept: WeakMap<object, Pick<KeptObject, 'name' | 'keys'>> = new WeakMap();

/** Returns the name of an object that all simulated processes share, or null. */
export function sharedName(object: object): string | null {
  return firstKept.get(object)?.name ?? null;
}

/** The end of the message about a process that changes a shared object. */
export const OF_ALL = 'which all simulated processes share';

function keptOf(objects: NamedObjects): readonly KeptObject[] {
  return [...objects].map(([target, name]) => {
    const properties = propertiesOf(target);
    const keys = ownKeys(target);
    const { keys: first }: Pick<KeptObject, 'keys'> = firstKept.get(target) ?? { keys };
    if (first === keys) firstKept.set(target, { name, keys });
    const kept: Record<'data' | 'accessors' | 'added', Property[]> = {
      data: [],
      accessors: [],
      added: [],
    };
    for (const [key, property] of properties) {
      if (isOfEachProcess(property) || isOfNode(target, key)) continue;
      if (first !== keys && !first.includes(key) && isAddition(property))
        kept.added.push([key, property]);
      else kept['value' in property ? 'data' : 'accessors'].push([key, property]);
    }
    const [prototype, wasExtensible] = [getPrototypeOf(target), isExtensible(target)];
    return { name, target, prototype, wasExtensible, keys, ...kept };
  });
}

function globalObjects(): NamedObjects {
  const found = new Map<object, string>([
    [globalThis, 'globalThis'],
    [console, 'console'],
    [crypto, 'crypto'],
    [performance, 'performance'],
    // Node 20 creates `Buffer` on first access.
    ...withPrototype('Buffer', Buffer),
    [process, 'process'],
    [process.argv, 'process.argv'],
    [process.execArgv, 'process.execArgv'],
  ]);
  for (const [key, { value }] of propertiesOf(globalThis)) {
    // The language's own globals, such as `Array` and `JSON`, begin with a capital letter.
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

function isSame(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  if (now === undefined) return false;
  return Object.is(before.value, now.value) && before.get === now.get && before.set === now.set;
}

/** Returns true for values that every realm would add with the same module, such as polyfills. */
export function isAddition({ value }: PropertyDescriptor): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (!isObject(value) || !Object.isFrozen(value)) return false;
  return propertiesOf(value).every(([, { value: part }]) => typeof part === 'function');
}

/** The objects that all runs of this thread share. */
export const sharedState: GlobalObjects = new GlobalObjects();
