/**
 * What packages read of the disk while they run, so that a driver which looks for its own version
 * or for a profile does no harm: a file below `node_modules` is there, at once, and no other is.
 * Code of one's own that reads a file leaves the simulated world.
 */
import fs from 'node:fs';
import process from 'node:process';
import { type AnyFunction, isFunction } from './patches.ts';

/** By name, before anybody replaced them; each has forms with a callback and with a promise. */
const READERS: ReadonlyMap<string, AnyFunction> = new Map(
  ['access', 'exists', 'lstat', 'readFile', 'readdir', 'readlink', 'realpath', 'stat'].flatMap(
    (name): [string, AnyFunction][] => {
      const reader: unknown = Reflect.get(fs, `${name}Sync`);
      return isFunction(reader) ? [[name, reader]] : [];
    },
  ),
);

/** What the call gives to a package; null where it is none that reads. */
export function readForPackage(
  call: string,
  args: readonly unknown[],
): { readonly value: unknown } | null {
  const [, later, name = '', sync] = /^fs\.(promises\.)?(\w+?)(Sync)?$/.exec(call) ?? [];
  const reader = READERS.get(name);
  if (reader === undefined) return null;
  const read = (): unknown => readBy(reader, { name, args });
  if (sync !== undefined) return { value: read() };
  if (later !== undefined) return { value: new Promise((resolve) => resolve(read())) };
  return { value: tellLater(name, read, args.find(isFunction)) };
}

function readBy(
  reader: AnyFunction,
  { name, args }: { readonly name: string; readonly args: readonly unknown[] },
): unknown {
  const path = String(args[0]);
  if (/[\\/]node_modules[\\/]/.test(path)) {
    return reader(...args.filter((given) => !isFunction(given)));
  }
  if (name === 'exists') return false;
  const what = `ENOENT: no such file or directory, ${name} '${path}'`;
  throw Object.assign(new Error(what), { code: 'ENOENT', errno: -2, syscall: name, path });
}

function tellLater(name: string, read: () => unknown, done: AnyFunction | undefined): void {
  process.nextTick(() => {
    if (name === 'exists') done?.(read());
    else tell(read, done);
  });
}

function tell(read: () => unknown, done: AnyFunction | undefined): void {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    done?.(error);
    return;
  }
  done?.(null, value);
}
