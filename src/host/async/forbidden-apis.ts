/**
 * Detects calls that leave the simulated world because they wait for, change or read the real
 * world. A simulated process that makes such a call gets an error, and the run fails even if the
 * process catches the error.
 */
import { AsyncResource, createHook } from 'node:async_hooks';
import fs from 'node:fs';
import process from 'node:process';
import { ambient, type CurrentProcess } from './ambient.ts';
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

/**
 * Virtual calls that connect. If no server listens, the run fails only when the process sends data.
 */
export const CONNECTS: RegExp = /^(?:net\.|net\.Socket\.|tls\.)(?:connect|createConnection)$/;

/** Name lookups, which are virtual if the scenario has hosts. */
export const LOOKS_UP: RegExp = /^dns\.(?:promises\.)?lookup$/;

/** Advice by call; the first matching row applies. */
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
    'use its synchronous form, whose name ends in Sync',
  ],
  [/^crypto\.subtle\./, 'use `createHash` and `createHmac` of node:crypto'],
];

/** Calls that change something outside this thread, possibly through Node's own code. */
const ACTS =
  /^(?:new )?(?:fs|FileHandle|child_process|ChildProcess|cluster|worker_threads|dgram|process)\b/;

/** Thrown when a simulated process calls something that leaves the simulated world. */
class LeftTheWorld extends Error {
  override readonly name: string = 'LeftTheWorld';

  constructor({ name, mayRead }: CurrentProcess, call: string, site: string) {
    const isLoading = mayRead && ACTS.test(call);
    const wayOut = isLoading
      ? 'a module may only read files while it is loaded'
      : WAYS_OUT.find(([calls]) => calls.test(call))?.[1];
    const hint = wayOut === undefined ? '' : `; ${wayOut}`;
    super(`${name} leaves the simulated world: ${call} at ${site}${hint}`);
  }
}

/** Refuses the calls of `exitsOfNode` to simulated processes; other code may still make them. */
export function patchExits(patches: Patches): void {
  for (const [target, name, keys] of exitsOfNode()) {
    const prefix = target === globalThis ? '' : `${name}.`;
    for (const key of keys) {
      const real: unknown = Reflect.get(target, key);
      if (typeof real !== 'function') continue;
      const guardedMethod = guarded(real, `${prefix}${key}`);
      patches.set(target, key, guardedMethod);
      const { prototype } = real;
      if (prototype?.constructor === real) patches.set(prototype, 'constructor', guardedMethod);
    }
  }
  for (const read of [fs.realpath, fs.realpathSync]) patches.set(read, 'native', read);
  patchWebAssembly(patches);
}

/** Compiles WebAssembly synchronously instead of on a background thread of Node. */
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

/** Returns the exports of a builtin module with every function refused to simulated processes. */
export function guardedModule(name: string, exports: object): object {
  const entries = Object.entries(exports).map(([key, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [key, value];
    const guardedClass = guarded(value, `${name}.${key}`);
    // Keeps the `constructor` of instances equal to the exported class.
    if (value.prototype?.constructor === value) value.prototype.constructor = guardedClass;
    return [key, guardedClass];
  });
  return Object.fromEntries(entries);
}

function guarded(real: object, call: string): object {
  return new Proxy(real, {
    apply(target, self, args): unknown {
      const result = ambient.current === null ? null : refuse(call, args);
      if (result !== null) return result.value;
      return typeof target === 'function' ? Reflect.apply(target, self, args) : undefined;
    },
    construct(target, args, newTarget): object {
      const result = ambient.current === null ? null : refuse(`new ${call}`, args);
      if (isObject(result?.value)) return result.value;
      return typeof target === 'function' ? Reflect.construct(target, args, newTarget) : {};
    },
  });
}

/**
 * Throws unless the call is harmless. Returns the result that replaces the call, or null if the
 * call may be made.
 */
function refuse(call: string, args: readonly unknown[]): CallResult | null {
  const { current } = ambient;
  if (current === null || isPrint(call, args) || current.mayCall(call)) return null;
  if (call === 'process.umask' && args.length === 0) return { value: 0o22 }; // only a query
  const read = (isOfPackage: boolean): CallResult | null =>
    readFromDisk(call, args.map(inRealFolder), { isOfPackage, refuse });
  const result = current.mayRead ? read(false) : null;
  if (result !== null) return result;
  const site = deepSiteOf(refuse);
  const leaver = leaverIn(site);
  if (leaver.isMachinery && (!ACTS.test(call) || READS.test(call))) return null;
  // vitest reports test results from its own timer, which may fire while a process runs.
  if (call === 'process._send' && leaver.isOfVitest) return null;
  const ofPackage = leaver.isOfPackage ? read(true) : null;
  if (ofPackage !== null) return ofPackage;
  current.noteUnsimulated({ kind: 'builtin', what: call }, site);
  const error = new LeftTheWorld(current, call, leaver.text);
  current.fail(error);
  throw error;
}

/**
 * Matches frames of work that Node does on its own: running files, printing, ending a thread,
 * updating hooks, or preparing its HTTP parser.
 */
const MACHINERY =
  /node:internal\/(?:modules|console|main)\/|\b(?:lazyllhttp|updatePromiseHookMode)\b/;

/** The code that made a call, as far as the stack shows it. */
interface Leaver {
  /** `lock.mjs:12:5`; in a package `node_modules/a/a.js:3:1, called from lock.mjs:12:5`. */
  readonly text: string;
  /** True if a package called Node. */
  readonly isOfPackage: boolean;
  readonly isOfVitest: boolean;
  /** True if Node itself made the call, for example to load a module or to print. */
  readonly isMachinery: boolean;
}

/** Returns the place of the code that made a call. */
export function callerText(site: CallSite): string {
  return leaverIn(site).text;
}

const [{ file: HERE } = { file: '' }] = framesIn(new Error().stack ?? '');

function leaverIn({ stack = '' }: CallSite): Leaver {
  // Skips the first frame, and the guards that passed the call on.
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
  const userFrame = theirs.find((frame) => !isOfPackage(frame));
  const places = userFrame === undefined || userFrame === first ? [first] : [first, userFrame];
  const text = places.map((frame) => `${pathOf(frame)}:${frame.place}`).join(', called from ');
  return { text, isOfPackage: isOfPackage(first), isOfVitest, isMachinery };
}

/*
 * A safety net for real work that no refused call reveals, such as a timer function saved before
 * the globals became virtual. A hook on every promise would detect such work, but slow each run
 * down. Therefore, the thread's active resources are counted before and after a run. If there are
 * more, the run is repeated with the hook, and fails only if a simulated process started the work.
 * A test runner, for example, sets timers too.
 */

/** Number of active resources by type. */
type Work = ReadonlyMap<string, number>;

/** The original function, saved before any code could replace it. */
const activeResources: () => readonly string[] = process.getActiveResourcesInfo.bind(process);

/** Matches resources that simulated processes may use: jobs, turns of the event loop, output. */
const HARMLESS =
  /^(?:Immediate|TickObject|Microtask|PROMISE|MessagePort|(?:Write|Pipe|TTY|Shutdown)(?:Wrap)?)$/i;

/** Counts the resources that the thread waits for. */
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

/** Makes real work fail the process that starts it, until the returned function is called. */
export function blameForRealWork(): () => void {
  const hook = createHook({ init: blame });
  hook.enable();
  return () => void hook.disable();
}

/**
 * Returns false for harmless resources, and for resources that JavaScript code creates, such as
 * virtual timers.
 */
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
