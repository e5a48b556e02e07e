/**
 * Lets code read the disk, and change nothing on it. While a module is loaded it may read any file.
 * A call with a callback or a promise reads at once and answers in a job of its own, so the code
 * that goes on then is still code of the same simulated process, in the order of its calls.
 * Packages may read their own files at any time.
 */
import fs from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { noteImpure } from './ambient.ts';
import { type AnyFunction, isFunction } from './patches.ts';

/** Stands for a call: the value that it returns. */
export interface CallResult {
  readonly value: unknown;
}

type Arguments = readonly unknown[];

const READERS =
  'access|exists|[fl]?stat|statfs|readFile|readdir|readlink|realpath|readv?|open|opendir|close|glob';
const READ_STREAMS = 'createReadStream|(?:File)?ReadStream';

/** Calls that change nothing, where their flags open a file to read it. */
export const READS: RegExp = new RegExp(
  `^(?:new )?fs\\.(?:(?:promises\\.)?(?:${READERS})(?:Sync)?|${READ_STREAMS})$`,
);

/** By name, before any code replaced them. */
const REAL: ReadonlyMap<string, AnyFunction> = new Map(
  Object.entries(fs).flatMap(([key, real]: [string, unknown]): [string, AnyFunction][] =>
    isFunction(real) ? [[key, real]] : [],
  ),
);
const { ReadStream } = fs;

function answer(read: () => unknown, done: AnyFunction | undefined): void {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    done?.(error);
    return;
  }
  done?.(null, value);
}

const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_EXCL } = fs.constants;
const WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_EXCL;

function areToRead(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & WRITING) === 0;
  return flags === undefined || flags === null || flags === 'r' || flags === 'rs' || flags === 'sr';
}

/** Throws an error that names a call as refused. */
type Refuse = (call: string, args: Arguments) => unknown;

/** Carries out a call that only reads; null for all others. `refuse` is for methods of a file. */
export function readFromDisk(call: string, args: Arguments, refuse: Refuse): CallResult | null {
  const [, promises, name = '', sync] = /(promises\.)?(\w+?)(Sync)?$/.exec(call) ?? [];
  if (!READS.test(call)) return null;
  if (name.endsWith('ReadStream')) {
    const options = steady(args[1], 1);
    if (!areToRead(Object(options).flags)) return null;
    return { value: Reflect.construct(ReadStream, [args[0], options]) };
  }
  const real = REAL.get(name);
  const done = args.findLast(isFunction);
  const [file, ...others] = args.filter((one) => !isFunction(one)).map(steady);
  const given = [file, ...(name === 'read' && sync === undefined ? withBuffer(others) : others)];
  const read = readingOf(name, given);
  if (read === null) return null;
  if (sync !== undefined) return { value: read() };
  if (name === 'glob' && promises !== undefined) return { value: Object(read()).values() };
  if (promises !== undefined) {
    const value = new Promise((resolve) => {
      resolve(name === 'open' ? fileToRead(read(), refuse) : read());
    });
    return { value };
  }
  // Without a callback it throws.
  if (real !== undefined && done === undefined && name !== 'close') {
    return { value: Reflect.apply(real, fs, args) };
  }
  noteImpure();
  answerLater(read, (error, value) => {
    if (name === 'exists') done?.(value);
    else if (error !== null) done?.(error);
    else if (name === 'read' || name === 'readv') done?.(null, value, given[1]);
    else done?.(null, value);
  });
  return { value: undefined };
}

/** Reads now. Wrong arguments throw at once, as in Node. */
function answerLater(read: () => unknown, done: (error: unknown, value: unknown) => void): void {
  try {
    process.nextTick(done, null, read());
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    process.nextTick(done, error, undefined);
  }
}

/** The files that code has opened to read them; it may close no other. */
const opened: Set<unknown> = new Set();

/** The form of a call that reads at once; null where that could write, or closes another file. */
function readingOf(name: string, given: Arguments): (() => unknown) | null {
  const reader = REAL.get(`${name}Sync`);
  const [file, options] = given;
  if (reader === undefined || (name === 'close' && !opened.has(file))) return null;
  if (name === 'open' && !areToRead(options)) return null;
  if (name === 'readFile' && !areToRead(Object(options).flag)) return null;
  return () => {
    const value = Reflect.apply(reader, fs, given);
    if (name === 'open') opened.add(value);
    if (name === 'close') opened.delete(file);
    return value;
  };
}

/**
 * Options whose properties have the same value each time that they are read; a file that
 * `fs.promises.open` gave is its number.
 */
function steady(given: unknown, at: number): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if (at === 0) return opened.has(Reflect.get(given, 'fd')) ? Reflect.get(given, 'fd') : given;
  if (ArrayBuffer.isView(given) || Array.isArray(given)) return given;
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(given, {
    get(target, key): unknown {
      if (!known.has(key)) known.set(key, Reflect.get(target, key));
      return known.get(key);
    },
  });
}

const CHANGES_OF_FILE =
  'appendFile chmod chown createWriteStream datasync sync truncate utimes write writeFile writev';

/** A `FileHandle`, of which the methods that change the file are refused by name. */
function fileToRead(fd: unknown, refuse: Refuse): object {
  const now = (name: string, given: Arguments): unknown => readingOf(name, [fd, ...given])?.();
  const createReadStream = (options: object): Readable =>
    Reflect.construct(ReadStream, ['', { ...options, fd }]);
  const close = async (): Promise<unknown> => now('close', []);
  const refused = CHANGES_OF_FILE.split(' ').map((name) => {
    return [name, (...args: unknown[]) => refuse(`FileHandle.${name}`, args)] as const;
  });
  return {
    ...Object.fromEntries(refused),
    fd,
    close,
    [Symbol.for('nodejs.asyncDispose')]: close,
    createReadStream,
    readFile: async (...given: unknown[]) => now('readFile', given),
    readLines: (options: object) =>
      createInterface({ input: createReadStream(options), crlfDelay: Number.POSITIVE_INFINITY }),
    readv: async (...given: unknown[]) => ({ bytesRead: now('readv', given), buffers: given[0] }),
    stat: async (...given: unknown[]) => now('fstat', given),
    read: async (...given: unknown[]) => {
      const parts = withBuffer(given);
      return { bytesRead: now('read', parts), buffer: parts[0] };
    },
  };
}

/** The arguments of a call that reads, with the buffer first. */
function withBuffer(given: Arguments): Arguments {
  if (ArrayBuffer.isView(given[0])) return given;
  const { buffer = Buffer.alloc(16_384) } = Object(given[0]);
  return [buffer, ...given];
}

/**
 * What packages read of the disk while they run, so that a driver which looks for its own version
 * or for a profile does no harm: a file below `node_modules` is there, at once, and no other is.
 * Null where it is no call that reads.
 */
export function readForPackage(call: string, args: Arguments): CallResult | null {
  const [, later, name = '', sync] = /^fs\.(promises\.)?(\w+?)(Sync)?$/.exec(call) ?? [];
  const reader = OF_PACKAGES.test(name) ? REAL.get(`${name}Sync`) : undefined;
  if (reader === undefined) return null;
  const read = (): unknown => readBy(reader, { name, args });
  if (sync !== undefined) return { value: read() };
  if (later !== undefined) return { value: new Promise((resolve) => resolve(read())) };
  const done = args.find(isFunction);
  process.nextTick(() => (name === 'exists' ? done?.(read()) : answer(read, done)));
  return { value: undefined };
}

const OF_PACKAGES = /^(?:access|exists|l?stat|readFile|readdir|readlink|realpath)$/;

function readBy(
  reader: AnyFunction,
  { name, args }: { readonly name: string; readonly args: Arguments },
): unknown {
  const path = String(args[0]);
  if (/[\\/]node_modules[\\/]/.test(path)) {
    return reader(...args.filter((given) => !isFunction(given)));
  }
  if (name === 'exists') return false;
  const what = `ENOENT: no such file or directory, ${name} '${path}'`;
  throw Object.assign(new Error(what), { code: 'ENOENT', errno: -2, syscall: name, path });
}
