/** Says in which line of the user's code something was called, from a stack as Node writes it. */
import { isAbsolute, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** `    at alice (file:///home/a/lock.mjs:12:5)`, with or without a function's name. */
const FRAME = /^\s*at (?:.*\()?([^()]+):(\d+):(\d+)\)?$/;

/** Node's own code that runs files and prints, which is no part of what a program does. */
const MACHINERY = /node:internal\/(?:modules|console)\//;

/** The code that made a call, as far as the stack tells. */
export interface CallSite {
  /** `lock.mjs:12:5`; in a package `node_modules/a/a.js:3:1, called from lock.mjs:12:5`. */
  readonly text: string;
  /** It was Node itself that called, to load a module or to print. */
  readonly isMachinery: boolean;
}

/** Where that function was called from which called `called`. */
export function callSiteOf(called: (...args: never[]) => unknown): CallSite {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, called);
  const stack = holder.stack ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  return siteIn(stack.split('\n').slice(2)); // the message, and who called `called`
}

function siteIn(lines: readonly string[]): CallSite {
  const frames = lines.flatMap((line) => {
    const match = FRAME.exec(line);
    if (match === null) return [];
    const [, file = '', row = '', column = ''] = match;
    return [{ line, file, place: `${row}:${column}` }];
  });
  const at = frames.findIndex(({ file }) => !isOfNode(file));
  const isMachinery = frames
    .slice(0, at === -1 ? undefined : at)
    .some(({ line }) => MACHINERY.test(line));
  const first = frames[at];
  if (first === undefined) return { text: 'an unknown place', isMachinery };
  const own = frames.find(({ file }) => !isOfNode(file) && !/[\\/]node_modules[\\/]/.test(file));
  const places = own === undefined || own === first ? [first] : [first, own];
  const text = places.map(({ file, place }) => `${pathOf(file)}:${place}`).join(', called from ');
  return { text, isMachinery };
}

function isOfNode(file: string): boolean {
  return /^(?:async )?node:/.test(file);
}

/** Relative to the folder in which the command runs, if it is below that. */
function pathOf(file: string): string {
  const bare = file.replace(/^async /, '');
  const path = bare.startsWith('file:') ? fileURLToPath(bare) : bare;
  if (!isAbsolute(path)) return path;
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
