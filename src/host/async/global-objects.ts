/**
 * Protects the objects that no realm isolates: `globalThis`, the objects that the language and Node
 * put there, and everything reachable from these and from the builtin modules. All simulated
 * processes share them, so code that changes one while loading or running fails. The error names
 * the change, which is undone before other code runs.
 *
 * The globals and their prototypes are compared after each run. Comparing everything else takes
 * about 2 ms, so it is done after each block of seeds (`walked` in `walk.ts`); an object that a
 * seed of the block changed is compared after each run from then on.
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
 * frozen object of functions is not a change: every realm that loads the same module would add the
 * same value. Polyfills do so, as does Bluebird with its error classes.
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

  /** Captures the globals as they are now, and the other objects if patches were restored since. */
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
   * Undoes changes of globals and returns the first, such as `globalThis.cache`, or null.
   * Properties in the snapshot are restored before added ones are deleted: `Map.prototype.get` must
   * be the original before a map is used.
   */
  takeBack(): SharedChange | null {
    if (this.objects.every(isAsKept)) {
      this.noteFound();
      return null;
    }
    return undone(this.objects);
  }

  /** Like `takeBack`, for all objects. Changed ones are compared after each run from now on. */
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

  /** Captures these objects again. */
  private keepAgain(touched: readonly KeptObject[]): void {
    if (touched.length === 0) return;
    this.objects = keptNow();
    const others = touched.filter(
      ({ target }) => !this.objects.some((object) => object.target === target),
    );
    const kept = keptOf(new Map(others.map(({ target, name }) => [target, name])));
    this.others = [...this.others.filter((object) => !touched.includes(object)), ...kept];
  }

  /**
   * Notes that the globals are unchanged, so that the next seed in this turn need not compare
   * again.
   */
  private noteFound(): void {
    if (this.foundAt === null) {
      inRealTurn(() => {
        this.foundAt = null;
      });
    }
    this.foundAt = Patches.restorations;
  }
}

/**
 * Compares an object with its snapshot. Written for speed: it takes about 100 µs for the globals,
 * usually once per run.
 */
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

/** Undoes all changes and returns the first one; calls `onUndone` with each changed object. */
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

/** Restores the prototype and the properties in the snapshot; returns the first change. */
function putBack(object: KeptObject): SharedChange | null {
  const { name, target, prototype, wasExtensible, data, accessors, added } = object;
  let change: SharedChange | null = null;
  if (getPrototypeOf(target) !== prototype) {
    setPrototypeOf(target, prototype);
    change = { name: `the prototype of ${name}`, target, key: null };
  }
  if (isExtensible(target) !== wasExtensible) {
    change ??= { name: `whether ${name} can be extended`, target, key: null };
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
 * Returns true for harmless changes, which are undone but not reported. Libraries change the format
 * and length of stack traces permanently, as Bluebird does while it is loaded. Instrumentation
 * replaces the functions that find modules, but no code under test finds modules through them.
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
 * Returns true for properties that Node itself changes: it adds the dispatcher of HTTP requests
 * when code such as `pg` first creates a `Response`, and keeps the listeners of `process` in fields
 * of `process`.
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
  // In sorted order, so that the change reported does not depend on which object was found first.
  const others = [...watched].sort(([, a], [, b]) => (a < b ? -1 : 1));
  return keptOf(new Map([...globalObjects(), ...others]));
}

/** Name and keys of each object at its first snapshot. */
const firstKept: WeakMap<object, Pick<KeptObject, 'name' | 'keys'>> = new WeakMap();

/** Returns the name of an object that all simulated processes share, or null for any other. */
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

/** Returns the global objects with their names. */
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

/**
 * Returns true for values that every realm that loads the same module would add, such as polyfills.
 */
export function isAddition({ value }: PropertyDescriptor): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (!isObject(value) || !Object.isFrozen(value)) return false;
  return propertiesOf(value).every(([, { value: part }]) => typeof part === 'function');
}

/** The objects that all runs of this thread share. */
export const sharedState: GlobalObjects = new GlobalObjects();
