/**
 * What no realm keeps apart: `globalThis`, and the objects that the language and Node put there,
 * with their prototypes. All simulated processes share them, so code that changes them while it is
 * loaded or run is told so, and the change is undone before anybody else runs.
 */

import process from 'node:process';

type Property = readonly [key: PropertyKey, property: PropertyDescriptor];

/** An object as it was, its data apart from its accessors, since that is quicker to compare. */
interface KeptObject {
  readonly name: string;
  readonly target: object;
  readonly size: number;
  readonly data: readonly Property[];
  readonly accessors: readonly Property[];
}

/**
 * Kept as they are at one moment, to see what was changed since, and to put it back. A function or
 * a symbol that was added is no change, nor a frozen object of functions: every realm that loads
 * the same module would add the same, as polyfills do, and Bluebird with its classes of errors.
 */
export class GlobalObjects {
  private objects: readonly KeptObject[] = keptNow();

  /** Takes them as they are now, whatever was changed since. */
  renew(): void {
    if (!this.isAsKept) this.objects = keptNow();
  }

  /**
   * The name of what was changed, `globalThis.cache`, once that is undone; null for nothing. What
   * was there comes first: `Map.prototype.get` must be itself again before a map is asked.
   */
  takeBack(): string | null {
    if (this.isAsKept) return null;
    let change: string | null = null;
    for (const undo of [putBack, takeAway]) {
      for (const object of this.objects) {
        const undone = undo(object);
        change ??= undone;
      }
    }
    return change;
  }

  /** About 80 µs, twice a run; what follows takes its time. */
  private get isAsKept(): boolean {
    for (const { target, size, data, accessors } of this.objects) {
      if (Reflect.ownKeys(target).length !== size) return false;
      for (const [key, { value }] of data) {
        if (!Object.is(Reflect.get(target, key), value)) return false;
      }
      for (const [key, before] of accessors) {
        if (!isSame(before, Reflect.getOwnPropertyDescriptor(target, key))) return false;
      }
    }
    return true;
  }
}

/** Gives an object its former properties; the name of one that was another, or gone. */
function putBack({ name, target, data, accessors }: KeptObject): string | null {
  let change: string | null = null;
  for (const properties of [data, accessors]) {
    for (const [key, before] of properties) {
      const now = Reflect.getOwnPropertyDescriptor(target, key);
      if (isSame(before, now) || isLoaded(target, before, now)) continue;
      Reflect.defineProperty(target, key, before);
      if (!isTuning(target, key)) change ??= `${name}${nameOf(key)}`;
    }
  }
  return change;
}

/**
 * How many lines a stack has: libraries raise it for good, as Bluebird does while it is loaded. And
 * what the real process is called. To put it back is enough.
 */
function isTuning(target: object, key: PropertyKey): boolean {
  if (target === process) return key === 'title';
  return target === Error && key === 'stackTraceLimit';
}

/** Takes away what was added, unless that is no change; the name of one such property. */
function takeAway({ name, target, data, accessors }: KeptObject): string | null {
  const before = new Set([...data, ...accessors].map(([key]) => key));
  let change: string | null = null;
  for (const [key, property] of propertiesOf(target)) {
    if (before.has(key) || isAddition(property) || isOfNode(target, key)) continue;
    Reflect.deleteProperty(target, key);
    change ??= `${name}${nameOf(key)}`;
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
  ...['_events', '_eventsCount', '_maxListeners', '_exiting', 'domain'],
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
  return [...globalObjects()].map(([target, name]) => {
    const properties = propertiesOf(target);
    const data = properties.filter(
      ([key, property]) => 'value' in property && !isOfNode(target, key),
    );
    const accessors = properties.filter(([, property]) => !('value' in property));
    return { name, target, size: properties.length, data, accessors };
  });
}

/** By object, what it is called. */
function globalObjects(): ReadonlyMap<object, string> {
  const found = new Map<object, string>([
    [globalThis, 'globalThis'],
    [process, 'process'],
    [process.argv, 'process.argv'],
    [process.execArgv, 'process.execArgv'],
  ]);
  for (const [key, { value }] of propertiesOf(globalThis)) {
    // `Array`, `JSON`; what begins with a small letter is not of the language.
    if (typeof key !== 'string' || !/^[A-Z]/.test(key) || !isObject(value)) continue;
    if (!found.has(value)) found.set(value, key);
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, 'prototype')?.value;
    if (isObject(prototype) && !found.has(prototype)) found.set(prototype, `${key}.prototype`);
  }
  return found;
}

function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

function propertiesOf(target: object): readonly Property[] {
  return Reflect.ownKeys(target).flatMap((key) => {
    const property = Reflect.getOwnPropertyDescriptor(target, key);
    return property === undefined ? [] : [[key, property] as const];
  });
}

function isSame(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  if (now === undefined) return false;
  return Object.is(before.value, now.value) && before.get === now.get && before.set === now.set;
}

function isAddition({ value }: PropertyDescriptor): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (!isObject(value) || !Object.isFrozen(value)) return false;
  return propertiesOf(value).every(([, { value: part }]) => typeof part === 'function');
}

function nameOf(key: PropertyKey): string {
  return typeof key === 'symbol' ? `[${String(key)}]` : `.${String(key)}`;
}
