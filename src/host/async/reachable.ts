/**
 * Finds the objects that the code of every simulated process can reach: what the language and Node
 * put into `globalThis`, what the language hides behind its syntax (`%TypedArray%`, the prototypes
 * of iterators), what the builtin modules export that are loaded, and from each of these on its
 * properties, accessors and prototype.
 */
import http from 'node:http';
import https from 'node:https';
import nodeModule, { createRequire } from 'node:module';
import process from 'node:process';

const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;

/** By object, what it is called. */
export type NamedObjects = ReadonlyMap<object, string>;

/** Something that is kept if it is an object. */
type Named = readonly [value: unknown, name: string];

export type Property = readonly [key: PropertyKey, property: PropertyDescriptor];

const hostRequire = createRequire(import.meta.url);

/** What lock modules get of fencepost that all processes share, as `fencepost/redis`. */
const sharedExports: Map<object, string> = new Map();

/** From here on what can be reached from these exports counts as shared. */
export function shareExports(name: string, exports: object): void {
  sharedExports.set(exports, name);
}

/** Getters of what each process has for itself. */
const ownGetters: WeakSet<object> = new WeakSet();

/** Such a getter, for `own-process.ts`: another value in each process is no change. */
export function ofEachProcess<Get extends () => unknown>(get: Get): Get {
  ownGetters.add(get);
  return get;
}

/** Returns whether each process has its own there. */
export function isOfEachProcess({ get }: PropertyDescriptor): boolean {
  return get !== undefined && ownGetters.has(get);
}

/** All that can be reached from `roots`, which are named, and from all else that is shared. */
export function reachableObjects(roots: NamedObjects): NamedObjects {
  // Of those that are loaded; to load the others takes time, and some warn.
  const builtinExports = nodeModule.builtinModules
    .filter((name) => isLoadedBuiltin(name) && !/^(?:_|punycode|sys)/.test(name))
    .map((name): Named => [hostRequire(name), name]);
  return reachableFrom([...roots, ...hiddenObjects(), ...builtinExports, ...sharedExports]);
}

/** All that can be reached from some objects, these included. */
export function reachableFrom(roots: Iterable<Named>): NamedObjects {
  const found = new Map<object, string>();
  const queue: (readonly [object, string])[] = [];
  const reach = (value: unknown, nameIt: () => string): void => {
    // The content of memory is no property that is kept.
    if (!isObject(value) || found.has(value) || ArrayBuffer.isView(value)) return;
    const name = nameIt();
    found.set(value, name);
    queue.push([value, name]);
  };
  for (const [object, name] of roots) reach(object, () => name);
  // Prototypes last, since most have a better name: `events.prototype`.
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
      // Until a process puts its own in the place of a function, that is the function of all.
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

/** What only literals and syntax lead to. */
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
    ...Object.entries(functions).map(([name, one]): Named => [one.constructor, `%${name}%`]),
    ...Object.entries(iterators).map(
      ([name, one]): Named => [getPrototypeOf(one), `%${name}IteratorPrototype%`],
    ),
    [DOMException, 'DOMException'],
    [http.globalAgent, 'http.globalAgent'],
    [https.globalAgent, 'https.globalAgent'],
  ];
}

/** Whether a builtin module was loaded before. */
export function isLoadedBuiltin(name: string): boolean {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList');
  return Array.isArray(loaded) && loaded.includes(`NativeModule ${name}`);
}

/** Globals that are not of the language begin with a small letter, but for these. */
const GLOBAL_FUNCTIONS =
  /^(?:(?:set|clear)(?:Timeout|Interval|Immediate)|fetch|queueMicrotask|structuredClone|atob|btoa)$/;

/** Whether the walk goes on to a value: not to what Node or the program around keeps for itself. */
function isFollowed(object: object, key: PropertyKey, value: object): boolean {
  if (object === globalThis) {
    return typeof key === 'string' && (/^[A-Z]/.test(key) || GLOBAL_FUNCTIONS.test(key));
  }
  // Of `process` the listeners and the environment are each process's own; the rest, as the
  // streams of the console, is state of Node.
  if (object === process && /^(?:features|release|report)$/.test(String(key))) return true;
  if (object === process || object === console) return typeof value === 'function';
  // Every module that the thread loads is put there.
  if (object === nodeModule) return !['_cache', '_pathCache'].includes(String(key));
  // The thread's own port and data.
  return !['parentPort', 'workerData'].includes(String(key));
}

/** The own properties, but for one that Node changes as it goes. */
export function propertiesOf(target: object): readonly Property[] {
  const properties: Property[] = [];
  for (const key of ownKeys(target)) {
    // Node 20 and 22 keep there what an AsyncLocalStorage holds at the top of a thread.
    if (typeof key === 'symbol' && key.description === 'kResourceStore') continue;
    const property = getOwnPropertyDescriptor(target, key);
    if (property !== undefined) properties.push([key, property]);
  }
  return properties;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

/** `.cache`, or `[Symbol(cache)]`. */
export function nameOfKey(key: PropertyKey): string {
  return typeof key === 'symbol' ? `[${String(key)}]` : `.${String(key)}`;
}
