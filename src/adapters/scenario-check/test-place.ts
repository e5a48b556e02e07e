/**
 * Locates a test: its stack line, its command and its file names. Also reads requests from the
 * environment, and defines the errors of a failed test.
 *
 * Plans are written with `FENCEPOST_UPDATE=1` instead of vitest's `-u`: `-u` makes a test pass by
 * accepting the new state, while a kept plan makes the test fail until the lock is fixed.
 */
import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { SeedRange } from '../../search/sweep/shards.ts';

export interface TestPlace {
  /** The absolute path of its file. */
  readonly file: string;
  /** Its name, preceded by the names of its groups. */
  readonly fullName: string;
  /** The words of a command that runs its file: `npx vitest run src/lock.test.ts`. */
  readonly command: readonly string[];
  /** Further words that restrict the command to this test: `-t 'the name'`. */
  readonly alone: readonly string[];
}

/** Returns the stack line that called `callee`. */
export function lineThatCalled(callee: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, callee);
  return (holder.stack ?? '').split('\n').find((line) => /^\s+at /.test(line)) ?? '';
}

/** Returns a path relative to the working directory, with slashes. */
export function typedPath(file: string): string {
  return relative(process.cwd(), file).replaceAll('\\', '/');
}

/** Escapes the name of a test as a pattern for `-t`. */
export function patternOf(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s/g, ' ');
}

/** Returns `FENCEPOST_SEED=17 npx vitest run src/lock.test.ts -t 'the name'`, as words. */
export function commandWith(setting: string, { command, alone }: TestPlace): readonly string[] {
  return [setting, ...command, ...alone];
}

/** Returns `FENCEPOST_REPLAY=<plan> npx vitest run src/lock.test.ts`. Other tests are skipped. */
export function replayCommandOf(planFile: string, { command }: TestPlace): readonly string[] {
  return [`FENCEPOST_REPLAY=${typedPath(planFile)}`, ...command];
}

export function corpusFolderOf({ file }: TestPlace): string {
  return join(dirname(file), '__fencepost__', basename(file));
}

const LONGEST = 60;

/** Converts the full name of a test to a scenario name, which is also a file name prefix. */
export function slugOf({ fullName }: TestPlace): string {
  const words = fullName
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_.]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  if (words.length <= LONGEST && !/^\d*$/.test(words)) return words;
  const digest = bytesToHex(sha256(utf8ToBytes(fullName))).slice(0, 6);
  return `${words === '' ? 'test' : [...words].slice(0, LONGEST - 7).join('')}-${digest}`;
}

export interface RunRequests {
  /** `FENCEPOST_SEED=17`: run and print only this seed. Null if not set. */
  readonly seed: number | null;
  /** `FENCEPOST_SEEDS=1000` or `500..999`: replaces the test's own seeds. */
  readonly seeds: string | null;
  /** `FENCEPOST_REPLAY=<file>`: run only this plan. */
  readonly planFile: string | null;
  /** `FENCEPOST_UPDATE=1`: keep the plans of failures, and delete plans that guard nothing. */
  readonly isUpdate: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment. Throws a `TestRefused` that names the invalid variable. */
export function readRequests(environment: Environment): RunRequests {
  const { FENCEPOST_SEED: seed = '', FENCEPOST_SEEDS: seeds = '' } = environment;
  const { FENCEPOST_REPLAY: planFile = '', FENCEPOST_UPDATE: update = '' } = environment;
  return {
    seed: seed === '' ? null : wholeNumber(seed, `FENCEPOST_SEED ${seed}`),
    seeds: seeds === '' ? null : seeds,
    planFile: planFile === '' ? null : planFile,
    isUpdate: update !== '' && update !== '0' && update !== 'false',
  };
}

/** Returns the test's own seeds, unless the environment overrides them. */
export function seedsOf(declared: SeedRange, { seeds }: Pick<RunRequests, 'seeds'>): SeedRange {
  if (seeds === null) return declared;
  const where = `FENCEPOST_SEEDS ${seeds}`;
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(seeds) ?? [];
  if (first === undefined || last === undefined) {
    const count = wholeNumber(seeds, where);
    if (count === 0) throw new TestRefused([`${where}: expected at least one seed`]);
    return { from: declared.from, to: declared.from + count - 1 };
  }
  const range = { from: wholeNumber(first, where), to: wholeNumber(last, where) };
  if (range.to >= range.from) return range;
  throw new TestRefused([`${where}: the range ends before it begins`]);
}

function wholeNumber(text: string, where: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new TestRefused([`${where}: expected a whole number, e.g. 17`]);
}

/** Thrown if an expectation was not met, or no seed exercised it. The message is the report. */
export class ScenarioCheckFailed extends Error {
  constructor(lines: readonly string[], cause?: unknown) {
    super(lines.join('\n'), cause === undefined ? {} : { cause });
  }
}

/** Thrown if the options or the environment of a test are invalid. */
export class TestRefused extends Error {
  constructor(lines: readonly string[], cause?: unknown) {
    super(lines.join('\n'), cause === undefined ? {} : { cause });
  }
}

/** Runs `work`, and attributes these two kinds of error to `site`, a stack line. */
export async function standingAt<T>(site: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScenarioCheckFailed || error instanceof TestRefused) {
      error.stack = `${error.name}: ${error.message}\n${site}`;
    }
    throw error;
  }
}
