/**
 * What the person at the terminal asks of the tests without an edit, by the environment. Plans are
 * written with `FENCEPOST_UPDATE=1` and not with vitest's `-u`: that makes a test pass by accepting
 * what is new, while a kept plan goes on failing until the lock is mended.
 */
import type { SeedRange } from '../../search/sweep/shard.ts';
import { SimTestError } from './sim-test-error.ts';

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

/** Throws a `SimTestError` that names the variable. */
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
    if (count === 0) throw new SimTestError([`${where}: at least one seed is needed`]);
    return { from: own.from, to: own.from + count - 1 };
  }
  const range = { from: wholeNumber(first, where), to: wholeNumber(last, where) };
  if (range.to >= range.from) return range;
  throw new SimTestError([`${where}: the range ends before it begins`]);
}

function wholeNumber(text: string, where: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new SimTestError([`${where}: a whole number is expected, e.g. 17`]);
}
