/**
 * Lets code read the disk but change nothing on it. Any file may be read while a module is loaded,
 * and packages may read their own files at any time. A call with a callback or a promise reads at
 * once and delivers the result in a later job, so the continuation still belongs to its process.
 */
import fs from 'node:fs';
import process from 'node:process';
import { noteImpure } from './ambient.ts';
import { type AnyFunction, isFunction } from './patches.ts';

/** The result that replaces a call. */
export interface CallResult {
  readonly value: unknown;
}

type Arguments = readonly unknown[];

const READERS =
  'access|exists|[fl]?stat|statfs|readFile|readdir|readlink|realpath|readv?|open|opendir|close|glob';

/** Calls that change nothing if their flags open the file for reading. */
export const READS: RegExp = new RegExp(
  `^(?:new )?fs\\.(?:(promises\\.)?(${READERS})(Sync)?|createReadStream|(?:File)?ReadStream)$`,
);

/** The original functions by name, saved before any code could replace them. */
const REAL: ReadonlyMap<string, unknown> = new Map<string, unknown>(Object.entries(fs));
const { ReadStream } = fs;

/** Invalid arguments throw synchronously, as in Node. */
function answerLater(read: () => unknown, done: AnyFunction | undefined, more?: unknown): void {
  try {
    const value = read();
    process.nextTick(() => done?.(null, value, more));
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    process.nextTick(() => done?.(error));
  }
}

const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_EXCL } = fs.constants;
const WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_EXCL;

function areToRead(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & WRITING) === 0;
  return flags === undefined || flags === null || flags === 'r' || flags === 'rs' || flags === 'sr';
}

/** The user's home folder, and the working folder that programs see instead of the real folder. */
export const HOME = '/home/user';
export const FOLDER = '/home/user/simulated';

const realFolder = process.cwd.bind(process);
const IN_FOLDER = new RegExp(`^(file://)?${FOLDER}(?=/|$)`);

/** Maps a path in the folder that programs see to the command's folder. */
export function inRealFolder<T>(value: T): T | string {
  if (typeof value !== 'string') return value;
  return value.replace(IN_FOLDER, (_, scheme = '') => scheme + realFolder());
}

interface Reader {
  /** True if only files of packages exist for this reader. */
  readonly isOfPackage: boolean;
  /** Throws an error that names the refused call. */
  readonly refuse: (call: string, args: Arguments) => unknown;
}

/** Performs a call that only reads; returns null for all others. */
export function readFromDisk(call: string, args: Arguments, reader: Reader): CallResult | null {
  const [match, promises, name = '', sync] = READS.exec(call) ?? [];
  if (match === undefined) return null;
  const done = args.findLast(isFunction);
  const [file, ...others] = args.filter((value) => !isFunction(value)).map(steady);
  if (name === '') {
    const isToRead = !reader.isOfPackage && areToRead(Object(others[0]).flags);
    return isToRead ? { value: Reflect.construct(ReadStream, [file, ...others]) } : null;
  }
  const isPart = name === 'read' && sync === undefined;
  const callArgs = [file, ...(isPart ? withBuffer(others) : others)];
  const read = readingOf(name, callArgs, reader);
  if (read === null) return null;
  if (sync !== undefined) return { value: read() };
  if (name === 'glob' && promises !== undefined) return { value: Object(read()).values() };
  if (promises !== undefined) {
    return { value: new Promise((resolve) => resolve(promised(name, read, reader))) };
  }
  const real = REAL.get(name);
  // Without a callback, Node's own function throws.
  if (done === undefined && name !== 'close' && isFunction(real)) return { value: real(...args) };
  noteImpure();
  if (name === 'exists') process.nextTick(() => done?.(read()));
  else answerLater(read, done, name.startsWith('read') ? callArgs[1] : undefined);
  return { value: undefined };
}

/** Returns the arguments of a read call with the buffer first. */
function withBuffer(args: Arguments): Arguments {
  if (ArrayBuffer.isView(args[0])) return args;
  const { buffer = Buffer.alloc(16_384) } = Object(args[0]);
  return [buffer, ...args];
}

/** File descriptors that code has opened for reading; code may not close any others. */
const opened: Set<unknown> = new Set();

/** Returns a synchronous form of a call, or null if it could write or close another file. */
function readingOf(name: string, args: Arguments, { isOfPackage }: Reader): (() => unknown) | null {
  const real = REAL.get(`${name}Sync`);
  const [file, options] = args;
  if (!isFunction(real) || (name === 'close' && !opened.has(file))) return null;
  if (!areToRead(name === 'open' ? options : Object(options).flag)) return null;
  return () => {
    if (isOfPackage && !opened.has(file) && !/[\\/]node_modules[\\/]/.test(String(file))) {
      if (name === 'exists') return false;
      const message = `ENOENT: no such file or directory, ${name} '${file}'`;
      throw Object.assign(new Error(message), {
        code: 'ENOENT',
        errno: -2,
        syscall: name,
        path: file,
      });
    }
    const value = real(...args);
    if (name === 'open') opened.add(value);
    if (name === 'close') opened.delete(file);
    return value;
  };
}

/** Converts a file handle to its descriptor. Options keep the first value read of each property. */
function steady(value: unknown, at: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (at === 0) return opened.has(Reflect.get(value, 'fd')) ? Reflect.get(value, 'fd') : value;
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return value;
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(value, {
    get(target, key): unknown {
      if (!known.has(key)) known.set(key, Reflect.get(target, key));
      return known.get(key);
    },
  });
}

const REFUSED_OF_FILE =
  'appendFile chmod chown createReadStream createWriteStream datasync readLines readableWebStream ' +
  'readv sync truncate utimes write writeFile writev';

/** Returns the value that a promise resolves to: the result, or a read-only `FileHandle`. */
function promised(name: string, read: () => unknown, reader: Reader): unknown {
  const fd = read();
  if (name !== 'open') return fd;
  const now = (as: string, args: Arguments): unknown => readingOf(as, [fd, ...args], reader)?.();
  const refused = REFUSED_OF_FILE.split(' ').map((key) => {
    return [key, (...args: unknown[]) => reader.refuse(`FileHandle.${key}`, args)] as const;
  });
  return {
    ...Object.fromEntries(refused),
    fd,
    close: async () => now('close', []),
    readFile: async (...args: unknown[]) => now('readFile', args),
    stat: async (...args: unknown[]) => now('fstat', args),
    read: async (...args: unknown[]) => {
      const parts = withBuffer(args);
      return { bytesRead: now('read', parts), buffer: parts[0] };
    },
  };
}
