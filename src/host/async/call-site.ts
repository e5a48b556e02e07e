/**
 * Finds the place in a user's own code that an error is about. Its stack tells where it was thrown,
 * also across `await`; not so where the answer to a call became an error, or where a call was
 * forgotten: such an error is given the site of that call.
 */
import { isAbsolute, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { SourcePlaces } from './source-places.ts';

/** A stack that is made into text where somebody reads it. */
export interface CallSite {
  readonly stack?: string;
}

/** Where that function was called from which called `called`. */
export function siteOf(called: (...args: never[]) => unknown): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace(site, called);
  return site;
}

/** The same with as many callers as a driver and a package can put between. */
export function deepSiteOf(called: (...args: never[]) => unknown, most = 50): CallSite {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = most;
  const site = siteOf(called);
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

/** Of an error: where the call was made that it is about, and its name where that is to be told. */
interface Blame {
  readonly site: CallSite;
  readonly call: string;
}

/** The same in every copy of this package that is loaded. */
const BLAME: unique symbol = Symbol.for('fencepost.blame');

/** The error, which is about the call that was made there; `call` is '' where its text says so. */
export function about<E extends Error>(error: E, { site, call }: Blame): E {
  Object.defineProperty(error, BLAME, { value: { site, call } });
  return error;
}

/** What `about` was told of it. */
export function blameOf(error: unknown): Blame | null {
  if (typeof error !== 'object' || error === null || !(BLAME in error)) return null;
  const blame: unknown = error[BLAME];
  return isBlame(blame) ? blame : null;
}

function isBlame(value: unknown): value is Blame {
  return typeof value === 'object' && value !== null && 'site' in value && 'call' in value;
}

/** `    at alice (file:///home/a/lock.mjs:12:5)`, with or without a function's name. */
const FRAME = /^\s*at (?:.*\()?([^()]+):(\d+):(\d+)\)?$/;

export interface Frame {
  readonly line: string;
  /** A path or the URL of a file, or `node:…`. */
  readonly file: string;
  /** `12:5`. */
  readonly place: string;
}

/** Places in files, by the names under which code that was made of them was compiled. */
const translated: Map<string, SourcePlaces> = new Map();

/** From here on places in stacks that name `file` are those in the file; null if they are so. */
export function keepPlaces(file: string, places: SourcePlaces | null): void {
  if (places === null) translated.delete(file);
  else translated.set(file, places);
}

/** With the places in the user's files, whose code may have made the text of a stack anything. */
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

/** The folder of the package that a frame is in; '' if it is in none. */
export function packageFolderOf({ file }: Frame): string {
  return /.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(pathIn(file))?.[0] ?? '';
}

/** The name of that package, with its scope. */
export function packageOf(frame: Frame): string {
  return packageFolderOf(frame)
    .replaceAll('\\', '/')
    .replace(/.*\/node_modules\//, '');
}

/** Of the real process, also while a simulated one runs. */
const realFolder = process.cwd.bind(process);

/** Relative to the folder in which the command runs, if it is below that. */
export function pathOf({ file }: Frame): string {
  const path = pathIn(file);
  if (!isAbsolute(path)) return path;
  const short = relative(realFolder(), path);
  return short.startsWith('..') ? path : short;
}

/** A module is loaded with its digest behind its name. */
export function pathIn(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file.replace(/\?.*$/, '')) : file;
}

const HOME = fileURLToPath(new URL('../../', import.meta.url));

/** Tests that stand beside the code of fencepost are users of it. */
export function isOfFencepost({ file }: Frame): boolean {
  const path = pathIn(file);
  if (/[\\/]node_modules[\\/]fencepost[\\/]/.test(path)) return true;
  return path.startsWith(HOME) && !/\.(?:test|fixture)\.[cm]?[jt]s$/.test(path);
}

/** Whether it is in code under test: the user's own, or that of a package. */
export function isUnderTest(frame: Frame): boolean {
  return !isOfNode(frame) && !isOfFencepost(frame);
}

/** Whether it is the function that runs a section. */
export function isSection(frame: Frame): boolean {
  return frame.line.includes('.goThrough ') && isOfFencepost(frame);
}

/** The frames in the user's own code; in a stack without, those in packages. */
export function ownFramesIn(stack: string): readonly Frame[] {
  const frames = framesIn(stack).filter(isUnderTest);
  const own = frames.filter((one) => !isOfPackage(one));
  return own.length > 0 ? own : frames;
}

/** Returns the first of these; null for none. */
export function ownFrameIn({ stack = '' }: CallSite): Frame | null {
  return ownFramesIn(stack)[0] ?? null;
}

/**
 * `lock.mjs:12:5`, of the first place in the user's own code, or `redlock/dist/index.js:1:2`, of a
 * package; null where there is neither.
 */
export function ownPlaceIn(site: CallSite): string | null {
  const frame = ownFrameIn(site);
  return frame === null ? null : placeIn(frame);
}

/** No folder of the user's is named: where a checkout lies differs from machine to machine. */
export function placeIn(frame: Frame): string {
  const path = pathIn(frame.file).replaceAll('\\', '/');
  const name = isOfPackage(frame) ? path.split('/node_modules/').at(-1) : path.split('/').at(-1);
  return `${name ?? ''}:${frame.place}`;
}
