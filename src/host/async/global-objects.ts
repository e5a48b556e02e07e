/**
 * The objects that no realm keeps apart: `globalThis`, what the language and Node put there, and
 * all that can be reached from these and from the builtin modules. All simulated processes share
 * them, so code that changes one while it is loaded or run fails with the name of the change, which
 * is undone before other code runs.
 *
 * The globals, each with its prototype, are compared after each run. To compare all else takes
 * about 2 ms, so that is done after each block of seeds (`walked` in `walk.ts`): an object
 * that a seed of the block has changed is compared after each run from then on.
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

// As they are before code under test could replace them.
const { get: read, getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;
const { defineProperty, deleteProperty, setPrototypeOf } = Reflect;
const { is } = Object;

/** An object as it was, its data apart from its accessors, since that is quicker to compare. */
interface KeptObject {
  readonly name: string;
  readonly target: object;
  readonly prototype: object | null;
  readonly wasExtensible: boolean;
  readonly keys: readonly PropertyKey[];
  readonly data: readonly Property[];
  readonly accessors: readonly Property[];
  /** What polyfills have put there since it was first kept: each realm may put its own. */
  readonly added: readonly Property[];
}

/** A change, which is undone. */
export interface SharedChange {
  /** `globalThis.cache`. */
  readonly name: string;
  readonly target: object;
  /** The property; null where the object itself was changed. */
  readonly key: PropertyKey | null;
}

/** Objects beyond the globals that were once found changed, by object what it is called. */
const watched: Map<object, string> = new Map();

/**
 * Kept as they are at one moment, to see what was changed since, and to put it back. A function or
 * a symbol that was added is no change, nor a frozen object of functions: every realm that loads
 * the same module would add the same, as polyfills do, and Bluebird with its classes of errors.
 */
export class GlobalObjects {
  private objects: readonly KeptObject[] = keptNow();
  /** All else that can be reached. */
  private others: readonly KeptObject[] = [];

  /** When the globals were last found as kept, as `Patches.restorations`; null in a later turn. */
  private foundAt: number | null = null;
  /** When the others were kept. */
  private othersAt: number | null = null;

  /** Takes the globals as they are now, whatever was changed since. */
  renew(): void {
    if (this.foundAt === Patches.restorations || this.objects.every(isAsKept)) return;
    this.objects = keptNow();
  }

  /** Takes all as it is now; the others only if globals were replaced since they were kept. */
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
   * The change of a global, `globalThis.cache`, once that is undone; null for none. What was there
   * comes first: `Map.prototype.get` must be itself again before a map is asked.
   */
  takeBack(): SharedChange | null {
    if (this.objects.every(isAsKept)) {
      this.noteFound();
      return null;
    }
    return undone(this.objects);
  }

  /** The same of all objects; those that were changed count as globals from here on. */
  takeBackAll(): SharedChange | null {
    const global = this.takeBack();
    const touched = this.others.filter((object) => !isAsKept(object));
    const change = undone(touched, ({ target, name }) => watched.set(target, name));
    this.keepAgain(touched);
    return global ?? change;
  }

  /** Loads a builtin module; one that changes others as it is loaded, as `domain` does, may. */
  admit(name: string, load: () => object): object {
    const asKept = [...this.objects, ...this.others].filter(isAsKept);
    const exports = load();
    this.keepAgain(asKept.filter((object) => !isAsKept(object)));
    if (this.othersAt !== null) this.keepOthers(reachableFrom([[exports, name]]));
    return exports;
  }

  /** Takes these as they are now. */
  private keepAgain(touched: readonly KeptObject[]): void {
    if (touched.length === 0) return;
    this.objects = keptNow();
    const others = touched.filter(
      ({ target }) => !this.objects.some((one) => one.target === target),
    );
    const kept = keptOf(new Map(others.map(({ target, name }) => [target, name])));
    this.others = [...this.others.filter((object) => !touched.includes(object)), ...kept];
  }

  /** Code that runs next in this turn, as the next seed does, need not compare again. */
  private noteFound(): void {
    if (this.foundAt === null) {
      inRealTurn(() => {
        this.foundAt = null;
      });
    }
    this.foundAt = Patches.restorations;
  }
}

/** About 100 µs for the globals, mostly once a run; what follows takes its time. */
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

/** Undoes what was changed and returns the first change; calls `onUndone` with each object. */
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

/** Makes an object what it was, with its former properties; the first that was changed, or gone. */
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
 * How a stack is printed, and how many lines it has: libraries change it for good, as Bluebird does
 * while it is loaded. Which functions find modules, as tools replace them that look on: no code
 * under test finds modules so. To put it back is enough.
 */
function isTuning(
  { name, target }: KeptObject,
  key: PropertyKey,
  now?: PropertyDescriptor,
): boolean {
  if (target === Error) return key === 'stackTraceLimit' || key === 'prepareStackTrace';
  return /^module\b/.test(name) && typeof now?.value === 'function';
}

/** Takes away what was added, unless that is no change; the first such property. */
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

function keptNow(): readonly KeptObject[] {
  // By name, so that which of two changes is named does not depend on which was found first.
  const others = [...watched].sort(([, a], [, b]) => (a < b ? -1 : 1));
  return keptOf(new Map([...globalObjects(), ...others]));
}

/** How each object was called when it was first kept, and which keys it had. */
const firstKept: WeakMap<object, Pick<KeptObject, 'name' | 'keys'>> = new WeakMap();

/** What an object that all simulated processes share is called; null for any other. */
export function sharedName(object: object): string | null {
  return firstKept.get(object)?.name ?? null;
}

/** The end of the error of a process that changes it. */
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

/** By object, what it is called. */
function globalObjects(): NamedObjects {
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

/** Those that all runs of the thread share. */
export const sharedState: GlobalObjects = new GlobalObjects();
