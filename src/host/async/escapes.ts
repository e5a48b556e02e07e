/**
 * Decides what leaves the simulated world: whatever waits for the real one, changes it or reads it.
 * A simulated process that calls such a thing gets an error that names the call, and its run fails
 * even where it catches that.
 */
import { AsyncResource, createHook } from 'node:async_hooks';
import fs from 'node:fs';
import process from 'node:process';
import { ambient, type Inhabitant } from './ambient.ts';
import {
  type CallSite,
  deepSiteOf,
  framesIn,
  isOfNode,
  isOfPackage,
  isUnderTest,
  packageOf,
  pathOf,
} from './call-site.ts';
import { type CallResult, inRealFolder, READS, readFromDisk } from './disk-reads.ts';
import { exitsOfNode, webAssembly } from './exits.ts';
import { isFunction, type Patches } from './patches.ts';
import { isPrint } from './printing.ts';
import { isObject } from './reachable.ts';

/** What is virtual: a process that connects where no server listens fails once it has spoken. */
export const CONNECTS: RegExp = /^(?:net\.|net\.Socket\.|tls\.)(?:connect|createConnection)$/;

/** Names are virtual where the scenario has hosts. */
export const LOOKS_UP: RegExp = /^dns\.(?:promises\.)?lookup$/;

/** What to do instead, by the call; the first row that matches counts. */
const WAYS_OUT: readonly (readonly [call: RegExp, wayOut: string])[] = [
  [/^net\.Server/, 'a server is added with `world.addServer`'],
  [LOOKS_UP, 'name a Redis in `hosts`; for another server, hand your code a fake client'],
  [
    /^(?:new )?(?:https?|http2|dgram|dns|fetch|WebSocket|EventSource)\b/,
    'only Redis is simulated, so hand your code a fake client',
  ],
  [
    /^fs\.(?:promises\.)?(?:read|exists|[fl]?stat|access|realpath)/,
    'read the file while the module is loaded, or hand your code a fake',
  ],
  [/^(?:new )?(?:fs|child_process|ChildProcess|cluster|worker_threads)\b/, 'hand your code a fake'],
  [/^process\.(?:exit|reallyExit|abort|kill)$/, 'throw an error, or inject the fault `crash`'],
  [
    /^crypto\.(?:pbkdf2|scrypt|hkdf|argon2)$|^zlib\.(?!create)[a-z]/,
    'use its form that ends in Sync',
  ],
  [/^crypto\.subtle\./, 'use `createHash` and `createHmac` of node:crypto'],
];

/** Changes something outside of this thread; code of users may have Node's own code call it. */
const ACTS =
  /^(?:new )?(?:fs|FileHandle|child_process|ChildProcess|cluster|worker_threads|dgram|process)\b/;

/** A simulated process called something that leaves the simulated world. */
class LeftTheWorld extends Error {
  override readonly name: string = 'LeftTheWorld';

  constructor({ name, mayRead }: Inhabitant, call: string, site: string) {
    const isLoading = mayRead && ACTS.test(call);
    const wayOut = isLoading
      ? 'a module may only read files while it is loaded'
      : WAYS_OUT.find(([calls]) => calls.test(call))?.[1];
    const hint = wayOut === undefined ? '' : `; ${wayOut}`;
    super(`${name} leaves the simulated world: ${call} at ${site}${hint}`);
  }
}

/** Closes every exit to simulated processes; to all others they stay open. */
export function patchExits(patches: Patches): void {
  for (const [target, name, keys] of exitsOfNode()) {
    const prefix = target === globalThis ? '' : `${name}.`;
    for (const key of keys) {
      const real: unknown = Reflect.get(target, key);
      if (typeof real !== 'function') continue;
      const own = guarded(real, `${prefix}${key}`);
      patches.set(target, key, own);
      const { prototype } = real;
      if (prototype?.constructor === real) patches.set(prototype, 'constructor', own);
    }
  }
  for (const read of [fs.realpath, fs.realpathSync]) patches.set(read, 'native', read);
  patchWebAssembly(patches);
}

/** Compiles at once what Node compiles on a thread of its own. */
function patchWebAssembly(patches: Patches): void {
  const target = webAssembly();
  const {
    Module,
    Instance,
  }: {
    Module?: new (code: unknown) => object;
    Instance?: new (module: object, imports: unknown) => object;
  } = target;
  if (Module === undefined || Instance === undefined) return;
  for (const key of ['compile', 'instantiate']) {
    const real: unknown = Reflect.get(target, key);
    const now = async (code: unknown, imports: unknown): Promise<object> => {
      const module = code instanceof Module ? code : new Module(code);
      if (key === 'compile') return module;
      const instance = new Instance(module, imports);
      return module === code ? instance : { module, instance };
    };
    patches.set(target, key, (...args: [unknown, unknown]) =>
      ambient.current === null && isFunction(real)
        ? Reflect.apply(real, target, args)
        : now(...args),
    );
  }
}

/** The exports of a builtin module, of which simulated processes may call nothing. */
export function guardedModule(name: string, exports: object): object {
  const entries = Object.entries(exports).map(([key, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [key, value];
    const own = guarded(value, `${name}.${key}`);
    // To all others it is the class that it was.
    if (value.prototype?.constructor === value) value.prototype.constructor = own;
    return [key, own];
  });
  return Object.fromEntries(entries);
}

function guarded(real: object, call: string): object {
  return new Proxy(real, {
    apply(target, self, args): unknown {
      const given = ambient.current === null ? null : refuse(call, args);
      if (given !== null) return given.value;
      return typeof target === 'function' ? Reflect.apply(target, self, args) : undefined;
    },
    construct(target, args, newTarget): object {
      const given = ambient.current === null ? null : refuse(`new ${call}`, args);
      if (isObject(given?.value)) return given.value;
      return typeof target === 'function' ? Reflect.construct(target, args, newTarget) : {};
    },
  });
}

/** Throws, unless it is harmless; what it returns, if anything, stands for the call. */
function refuse(call: string, args: readonly unknown[]): CallResult | null {
  const { current } = ambient;
  if (current === null || isPrint(call, args) || current.mayCall(call)) return null;
  if (call === 'process.umask' && args.length === 0) return { value: 0o22 }; // it only asks
  const read = (isOfPackage: boolean): CallResult | null =>
    readFromDisk(call, args.map(inRealFolder), { isOfPackage, refuse });
  const given = current.mayRead ? read(false) : null;
  if (given !== null) return given;
  const site = deepSiteOf(refuse);
  const leaver = leaverIn(site);
  if (leaver.isMachinery && (!ACTS.test(call) || READS.test(call))) return null;
  // What vitest reports of its tests, by a timer of its own that comes while a process runs.
  if (call === 'process._send' && leaver.isOfVitest) return null;
  const ofPackage = leaver.isOfPackage ? read(true) : null;
  if (ofPackage !== null) return ofPackage;
  current.noteUnsimulated({ kind: 'builtin', what: call }, site);
  const error = new LeftTheWorld(current, call, leaver.text);
  current.fail(error);
  throw error;
}

/**
 * Node's own code that runs files, prints, ends a thread and, once, makes its reader of HTTP ready
 * for requests that are refused, and hooks: no part of what a program does.
 */
const MACHINERY =
  /node:internal\/(?:modules|console|main)\/|\b(?:lazyllhttp|updatePromiseHookMode)\b/;

/** The code that made a call, as far as the stack tells. */
interface Leaver {
  /** `lock.mjs:12:5`; in a package `node_modules/a/a.js:3:1, called from lock.mjs:12:5`. */
  readonly text: string;
  /** The code that called Node is in a package. */
  readonly isOfPackage: boolean;
  readonly isOfVitest: boolean;
  /** It was Node itself that called, to load a module or to print. */
  readonly isMachinery: boolean;
}

/** The place of the code that made a call. */
export function callerText(site: CallSite): string {
  return leaverIn(site).text;
}

const [{ file: HERE } = { file: '' }] = framesIn(new Error().stack ?? '');

function leaverIn({ stack = '' }: CallSite): Leaver {
  // Without who called `called`, and without guards that let the call through.
  const [, ...others] = framesIn(stack);
  const frames = others.filter(({ file }) => file !== HERE);
  const at = frames.findIndex((frame) => !isOfNode(frame));
  const isMachinery = frames
    .slice(0, at === -1 ? undefined : at)
    .some(({ line }) => MACHINERY.test(line));
  const theirs = frames.filter(isUnderTest);
  const [first] = theirs;
  if (first === undefined) {
    return { text: 'an unknown place', isOfPackage: false, isOfVitest: false, isMachinery };
  }
  const isOfVitest = packageOf(first) === 'vitest';
  const own = theirs.find((frame) => !isOfPackage(frame));
  const places = own === undefined || own === first ? [first] : [first, own];
  const text = places.map((frame) => `${pathOf(frame)}:${frame.place}`).join(', called from ');
  return { text, isOfPackage: isOfPackage(first), isOfVitest, isMachinery };
}

/*
 * The net below the exits: real work that a simulated process began by what was no exit, a timer
 * that was taken hold of before the globals were virtual, say. Nothing tells that while it happens
 * but a hook on every promise, which would slow each run down. So what the thread waits for is
 * counted before a run and after it; where there is more, the run is made again with that hook, and
 * only what a simulated process began by itself is its failure. All else is the thread's own: a
 * test runner, say, sets timers too.
 */

/** By their names, as Node counts them. */
type Work = ReadonlyMap<string, number>;

/** Before anybody replaced it. */
const activeResources: () => readonly string[] = process.getActiveResourcesInfo.bind(process);

/** What goes on beside simulated processes, or is theirs to do: jobs, turns of the loop, prints. */
const HARMLESS =
  /^(?:Immediate|TickObject|Microtask|PROMISE|MessagePort|(?:Write|Pipe|TTY|Shutdown)(?:Wrap)?)$/i;

/** What the thread waits for. */
export function realWork(): Work {
  const work = new Map<string, number>();
  for (const kind of activeResources()) {
    if (!HARMLESS.test(kind)) work.set(kind, (work.get(kind) ?? 0) + 1);
  }
  return work;
}

export function hasMore(after: Work, before: Work): boolean {
  for (const [kind, count] of after) if (count > (before.get(kind) ?? 0)) return true;
  return false;
}

/** From now on whoever begins real work fails, until what it returns is called. */
export function blameForRealWork(): () => void {
  const hook = createHook({ init: blame });
  hook.enable();
  return () => void hook.disable();
}

/** A resource that code makes, as virtual timers do, is no work. */
export function isRealWork(kind: string, resource: object): boolean {
  return !HARMLESS.test(kind) && !(resource instanceof AsyncResource);
}

function blame(_: number, kind: string, _trigger: number, resource: object): void {
  const { current } = ambient;
  if (current === null || !isRealWork(kind, resource)) return;
  const site = deepSiteOf(blame);
  const { text, isMachinery } = leaverIn(site);
  if (isMachinery) return;
  current.noteUnsimulated({ kind: 'builtin', what: `a real ${kind}` }, site);
  current.fail(new LeftTheWorld(current, `a real ${kind}`, text));
}
