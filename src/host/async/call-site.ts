/**
 * Finds the place in user code that caused an error. A stack shows where the error was thrown, even
 * across `await`. It does not show a call whose answer became an error, or a call that was never
 * awaited. Such an error carries the site of the call.
 */
import { isAbsolute, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { SourcePlaces } from './source-places.ts';

/** A stack whose text is formatted only when it is read. */
export interface CallSite {
  readonly stack?: string;
}

/** Returns the place where `called`, the running function, was called. */
export function siteOf(called: (...args: never[]) => unknown): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace(site, called);
  return site;
}

/** Like `siteOf`, with enough frames to get past drivers and packages. */
export function deepSiteOf(called: (...args: never[]) => unknown, most = 50): CallSite {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = most;
  const site = siteOf(called);
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

/** The call that caused an error. `call` is '' if the message already names the call. */
interface Blame {
  readonly site: CallSite;
  readonly call: string;
}

/** Shared by all loaded copies of this package. */
const BLAME: unique symbol = Symbol.for('fencepost.blame');

/** Attaches the responsible call to an error. */
export function about<E extends Error>(error: E, { site, call }: Blame): E {
  Object.defineProperty(error, BLAME, { value: { site, call } });
  return error;
}

/** Returns the call that `about` attached to an error, or null. */
export function blameOf(error: unknown): Blame | null {
  if (typeof error !== 'object' || error === null || !(BLAME in error)) return null;
  const blame: unknown = error[BLAME];
  return isBlame(blame) ? blame : null;
}

function isBlame(value: unknown): value is Blame {
  return typeof value === 'object' && value !== null && 'site' in value && 'call' in value;
}

/** Matches `at alice (file:///home/a/lock.mjs:12:5)`, with or without a function name. */
const FRAME = /^\s*at (?:.*\()?([^()]+):(\d+):(\d+)\)?$/;

export interface Frame {
  readonly line: string;
  /** A path, a file URL, or `node:…`. */
  readonly file: string;
  /** Line and column, such as `12:5`. */
  readonly place: string;
}

/** Source positions by the file name under which the generated code was compiled. */
const translated: Map<string, SourcePlaces> = new Map();

/** From now on, translates positions in `file` to its source. Null ends the translation. */
export function keepPlaces(file: string, places: SourcePlaces | null): void {
  if (places === null) translated.delete(file);
  else translated.set(file, places);
}

/** Returns a stack's frames, with source positions. User code may have set any stack text. */
export function framesIn(stack: string): readonly Frame[] {
  return String(stack)
    .split('\n')
    .flatMap((text) => {
      const match = FRAME.exec(text);
      if (match === null) return [];
      const file = (match[1] ?? '').replace(/^async /, '');
      const inCode = { line: Number(match[2]), column: Number(match[3]) };
      const { line, column } = translated.get(file)?.at(inCode) ?? inCode;
      return [{ line: text, file, place: `${line}:${column}` }];
    });
}

export function isOfNode({ file }: Frame): boolean {
  return file.startsWith('node:');
}

export function isOfPackage({ file }: Frame): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** Returns the folder of the package that a frame is in, or '' if it is in none. */
export function packageFolderOf({ file }: Frame): string {
  return /.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(pathIn(file))?.[0] ?? '';
}

/** Returns the name of the package that a frame is in, including its scope, or ''. */
export function packageOf(frame: Frame): string {
  return packageFolderOf(frame)
    .replaceAll('\\', '/')
    .replace(/.*\/node_modules\//, '');
}

/** The real process's folder, even while a simulated process runs. */
const realFolder = process.cwd.bind(process);

/** Returns a frame's path, relative to the command's folder if possible. */
export function pathOf({ file }: Frame): string {
  const path = pathIn(file);
  if (!isAbsolute(path)) return path;
  const short = relative(realFolder(), path);
  return short.startsWith('..') ? path : short;
}

/** Returns a file's path. Modules are loaded with their digest as a query, which is removed. */
export function pathIn(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file.replace(/\?.*$/, '')) : file;
}

const HOME = fileURLToPath(new URL('../../', import.meta.url));

/** Returns true for code of fencepost. Tests next to that code count as user code. */
export function isOfFencepost({ file }: Frame): boolean {
  const path = pathIn(file);
  if (/[\\/]node_modules[\\/]fencepost[\\/]/.test(path)) return true;
  return path.startsWith(HOME) && !/\.(?:test|fixture)\.[cm]?[jt]s$/.test(path);
}

/** Returns true if the frame is in code under test: the user's own or a package's. */
export function isUnderTest(frame: Frame): boolean {
  return !isOfNode(frame) && !isOfFencepost(frame);
}

/** Returns true if the frame is the function that runs a section. */
export function isSection(frame: Frame): boolean {
  return frame.line.includes('.goThrough ') && isOfFencepost(frame);
}

/** Returns the frames in the user's own code or, if there are none, the frames in packages. */
export function userFramesIn(stack: string): readonly Frame[] {
  const frames = framesIn(stack).filter(isUnderTest);
  const userFrames = frames.filter((frame) => !isOfPackage(frame));
  return userFrames.length > 0 ? userFrames : frames;
}

/** Returns the first frame of `userFramesIn`, or null if there is none. */
export function userFrameIn({ stack = '' }: CallSite): Frame | null {
  return userFramesIn(stack)[0] ?? null;
}

/**
 * Returns the first place in the user's own code, such as `lock.mjs:12:5`, else the first place in
 * a package, such as `redlock/dist/index.js:1:2`, else null.
 */
export function userPlaceIn(site: CallSite): string | null {
  const frame = userFrameIn(site);
  return frame === null ? null : placeIn(frame);
}

/** Omits the user's folders, because the location of a checkout differs between machines. */
export function placeIn(frame: Frame): string {
  const path = pathIn(frame.file).replaceAll('\\', '/');
  const name = isOfPackage(frame) ? path.split('/node_modules/').at(-1) : path.split('/').at(-1);
  return `${name ?? ''}:${frame.place}`;
}
