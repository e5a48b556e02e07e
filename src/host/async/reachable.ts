/**
 * Finds the objects that the code of every simulated process can reach. These are the globals of
 * the language and of Node, intrinsics behind syntax (`%TypedArray%`, iterator prototypes), the
 * exports of loaded builtin modules, and everything reachable from these by properties, accessors
 * and prototypes.
 */
import http from 'node:http';
import https from 'node:https';
import nodeModule, { createRequire } from 'node:module';
import process from 'node:process';

const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;

/** Names by object. */
export type NamedObjects = ReadonlyMap<object, string>;

/** A value that is recorded if it is an object. */
type Named = readonly [value: unknown, name: string];

export type Property = readonly [key: PropertyKey, property: PropertyDescriptor];

const hostRequire = createRequire(import.meta.url);

/** Exports that lock modules use and all processes share, such as those of `fencepost/redis`. */
const sharedExports: Map<object, string> = new Map();

/** Counts everything reachable from these exports as shared from now on. */
export function shareExports(name: string, exports: object): void {
  sharedExports.set(exports, name);
}

/** Getters whose values differ per process. */
const perProcessGetters: WeakSet<object> = new WeakSet();

/** Marks a getter whose value differs per process. Such a difference is not a change. */
export function ofEachProcess<Get extends () => unknown>(get: Get): Get {
  perProcessGetters.add(get);
  return get;
}

/** Returns true if each process has its own value for this property. */
export function isOfEachProcess({ get }: PropertyDescriptor): boolean {
  return get !== undefined && perProcessGetters.has(get);
}

/** Returns all objects reachable from the named `roots` and from other shared objects. */
export function reachableObjects(roots: NamedObjects): NamedObjects {
  // Only loaded modules: loading others takes time, and some print warnings.
  const builtinExports = nodeModule.builtinModules
    .filter((name) => isLoadedBuiltin(name) && !/^(?:_|punycode|sys)/.test(name))
    .map((name): Named => [hostRequire(name), name]);
  return reachableFrom([...roots, ...hiddenObjects(), ...builtinExports, ...sharedExports]);
}

/** Returns all objects reachable from `roots`, including the roots. */
export function reachableFrom(roots: Iterable<Named>): NamedObjects {
  const found = new Map<object, string>();
  const queue: (readonly [object, string])[] = [];
  const reach = (value: unknown, nameIt: () => string): void => {
    // Skips typed arrays: their elements are not properties to compare.
    if (!isObject(value) || found.has(value) || ArrayBuffer.isView(value)) return;
    const name = nameIt();
    found.set(value, name);
    queue.push([value, name]);
  };
  for (const [object, name] of roots) reach(object, () => name);
  // Prototypes come last, since most also have a better name, such as `events.prototype`.
  for (let at = 0, below = 0; at < queue.length || below < at; ) {
    const [object, name] = queue[at] ?? queue[below] ?? [];
    if (object === undefined) break;
    if (at === queue.length) {
      below += 1;
      reach(getPrototypeOf(object), () => `Object.getPrototypeOf(${name})`);
      continue;
    }
    at += 1;
    for (const [key, property] of propertiesOf(object)) {
      const { get, set } = property;
      // Until a process replaces such a function, the getter returns the shared function.
      const value = isOfEachProcess(property) ? get?.call(object) : property.value;
      const path = (): string => (object === globalThis ? String(key) : `${name}${nameOfKey(key)}`);
      if (isObject(value)) {
        if (isFollowed(object, key, value)) reach(value, path);
        continue;
      }
      if (get !== undefined) reach(get, () => `get ${path()}`);
      if (set !== undefined) reach(set, () => `set ${path()}`);
    }
  }
  return found;
}

/** Returns the objects that are reachable only through literals and syntax. */
function hiddenObjects(): readonly Named[] {
  const functions = {
    AsyncFunction: async () => {},
    GeneratorFunction: function* () {},
    AsyncGeneratorFunction: async function* () {},
  };
  const iterators = {
    Array: [][Symbol.iterator](),
    Map: new Map()[Symbol.iterator](),
    Set: new Set()[Symbol.iterator](),
    String: ''[Symbol.iterator](),
    RegExpString: ''.matchAll(/a/g),
    Segment: new Intl.Segmenter().segment('')[Symbol.iterator](),
  };
  return [
    [getPrototypeOf(Uint8Array), '%TypedArray%'],
    [getPrototypeOf(Object(getPrototypeOf(iterators.Array))), '%Iterator%.prototype'],
    ...Object.entries(functions).map(([name, sample]): Named => [sample.constructor, `%${name}%`]),
    ...Object.entries(iterators).map(
      ([name, iterator]): Named => [getPrototypeOf(iterator), `%${name}IteratorPrototype%`],
    ),
    [DOMException, 'DOMException'],
    [http.globalAgent, 'http.globalAgent'],
    [https.globalAgent, 'https.globalAgent'],
  ];
}

/** Returns true if a builtin module is already loaded. */
export function isLoadedBuiltin(name: string): boolean {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList');
  return Array.isArray(loaded) && loaded.includes(`NativeModule ${name}`);
}

/** Matches globals that are followed although they begin with a lower-case letter. */
const GLOBAL_FUNCTIONS =
  /^(?:(?:set|clear)(?:Timeout|Interval|Immediate)|fetch|queueMicrotask|structuredClone|atob|btoa)$/;

/** Returns false for state of Node and of the surrounding program. */
function isFollowed(object: object, key: PropertyKey, value: object): boolean {
  if (object === globalThis) {
    return typeof key === 'string' && (/^[A-Z]/.test(key) || GLOBAL_FUNCTIONS.test(key));
  }
  // The listeners and environment of `process` belong to each process. Other objects there, such as
  // the console's streams, are state of Node.
  if (object === process && /^(?:features|release|report)$/.test(String(key))) return true;
  if (object === process || object === console) return typeof value === 'function';
  // The two excluded caches hold every module that the thread loads.
  if (object === nodeModule) return !['_cache', '_pathCache'].includes(String(key));
  // Excludes the thread's own port and data.
  return !['parentPort', 'workerData'].includes(String(key));
}

/** Returns the own properties, except a property that Node itself changes. */
export function propertiesOf(target: object): readonly Property[] {
  const properties: Property[] = [];
  for (const key of ownKeys(target)) {
    // Node 20 and 22 keep the thread's top-level `AsyncLocalStorage` values here.
    if (typeof key === 'symbol' && key.description === 'kResourceStore') continue;
    const property = getOwnPropertyDescriptor(target, key);
    if (property !== undefined) properties.push([key, property]);
  }
  return properties;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

/** Returns `.cache`, or `[Symbol(cache)]`. */
export function nameOfKey(key: PropertyKey): string {
  return typeof key === 'symbol' ? `[${String(key)}]` : `.${String(key)}`;
}
