/**
 * Where a test stands and what it is called, in a stack, in a command, in the names of files; what
 * the person at the terminal asks of it without an edit; and why it failed.
 *
 * Plans are written with `FENCEPOST_UPDATE=1` and not with vitest's `-u`: that makes a test pass by
 * accepting what is new, while a kept plan goes on failing until the lock is mended.
 */
import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { SeedRange } from '../../search/sweep/shards.ts';

export interface TestPlace {
  /** The absolute path of its file. */
  readonly file: string;
  /** Its name, behind the names of the groups that it stands in. */
  readonly fullName: string;
  /** The words of a command that runs its file, `npx vitest run src/lock.test.ts`. */
  readonly command: readonly string[];
  /** Those that are added to run this test alone, `-t 'the name'`. */
  readonly alone: readonly string[];
}

/** The line of a stack that called `callee`. */
export function lineThatCalled(callee: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, callee);
  return (holder.stack ?? '').split('\n').find((line) => /^\s+at /.test(line)) ?? '';
}

/** A path as one types it. */
export function typedPath(file: string): string {
  return relative(process.cwd(), file).replaceAll('\\', '/');
}

/** The name of a test as a pattern that means itself, for `-t`. */
export function patternOf(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s/g, ' ');
}

/** `FENCEPOST_SEED=17 npx vitest run src/lock.test.ts -t 'the name'`, as words. */
export function commandWith(setting: string, { command, alone }: TestPlace): readonly string[] {
  return [setting, ...command, ...alone];
}

/** `FENCEPOST_REPLAY=<plan> npx vitest run src/lock.test.ts`: other tests leave it out. */
export function replayCommandOf(planFile: string, { command }: TestPlace): readonly string[] {
  return [`FENCEPOST_REPLAY=${typedPath(planFile)}`, ...command];
}

/** The folder of the plans that were kept of the tests of a file. */
export function corpusFolderOf({ file }: TestPlace): string {
  return join(dirname(file), '__fencepost__', basename(file));
}

const LONGEST = 60;

/** The test's full name as the name of a scenario, and the beginning of the names of files. */
export function slugOf({ fullName }: TestPlace): string {
  const words = fullName
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_.]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  if (words.length <= LONGEST && !/^\d*$/.test(words)) return words;
  const digest = bytesToHex(sha256(utf8ToBytes(fullName))).slice(0, 6);
  return `${words === '' ? 'test' : [...words].slice(0, LONGEST - 7).join('')}-${digest}`;
}

export interface Wishes {
  /** `FENCEPOST_SEED=17`: this seed alone, and what happens in it; null for none. */
  readonly seed: number | null;
  /** `FENCEPOST_SEEDS=1000`, or `500..999`: instead of the test's own. */
  readonly seeds: string | null;
  /** `FENCEPOST_REPLAY=<file>`: this plan alone. */
  readonly planFile: string | null;
  /** `FENCEPOST_UPDATE=1`: keeps the plans of failures, and takes out those that guard nothing. */
  readonly isUpdate: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a `TestRefused` that names the variable. */
export function readWishes(environment: Environment): Wishes {
  const { FENCEPOST_SEED: seed = '', FENCEPOST_SEEDS: seeds = '' } = environment;
  const { FENCEPOST_REPLAY: planFile = '', FENCEPOST_UPDATE: update = '' } = environment;
  return {
    seed: seed === '' ? null : wholeNumber(seed, `FENCEPOST_SEED ${seed}`),
    seeds: seeds === '' ? null : seeds,
    planFile: planFile === '' ? null : planFile,
    isUpdate: update !== '' && update !== '0' && update !== 'false',
  };
}

/** The test's own seeds, unless others were wished for. */
export function seedsOf(own: SeedRange, { seeds }: Pick<Wishes, 'seeds'>): SeedRange {
  if (seeds === null) return own;
  const where = `FENCEPOST_SEEDS ${seeds}`;
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(seeds) ?? [];
  if (first === undefined || last === undefined) {
    const count = wholeNumber(seeds, where);
    if (count === 0) throw new TestRefused([`${where}: at least one seed is needed`]);
    return { from: own.from, to: own.from + count - 1 };
  }
  const range = { from: wholeNumber(first, where), to: wholeNumber(last, where) };
  if (range.to >= range.from) return range;
  throw new TestRefused([`${where}: the range ends before it begins`]);
}

function wholeNumber(text: string, where: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new TestRefused([`${where}: a whole number is expected, e.g. 17`]);
}

/** An expectation that is not met, or that no seed exercised; the message is the report. */
export class ScenarioCheckFailed extends Error {
  constructor(lines: readonly string[], cause?: unknown) {
    super(lines.join('\n'), cause === undefined ? {} : { cause });
  }
}

/** A mistake in what a test is given, or in what it asks for. */
export class TestRefused extends Error {
  constructor(lines: readonly string[], cause?: unknown) {
    super(lines.join('\n'), cause === undefined ? {} : { cause });
  }
}

/** What `work` throws of these stands at `site`, a line of a stack. */
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
