/**
 * The alarm that a sweep raises where one chunk came to two results: a run is to be a function of
 * its seed, on every machine. It is data, so that whoever is told can look for the very seed.
 */
import { z } from 'zod';
import type { SeedRange } from '../../search/sweep/shard.ts';
import { count } from '../../search/sweep/tally-schema.ts';
import { groupDigits } from '../../text/prose.ts';

/** A system that came to two tallies, by their digests: the one that is counted, and the other. */
export interface DifferingSystem {
  readonly system: string;
  readonly counted: number;
  readonly other: number;
}

/** The chunk, its seeds, and the systems of which the results differ, at least one. */
export interface TwoResults extends SeedRange {
  readonly chunk: number;
  readonly systems: readonly DifferingSystem[];
}

export const twoResultsSchema: z.ZodType<TwoResults> = z.strictObject({
  chunk: count,
  from: count,
  to: count,
  systems: z.array(z.strictObject({ system: z.string(), counted: count, other: count })).min(1),
});

/** `chunk 3, seeds 24..30 of unfenced, came to two results`. */
export function twoResultsText({ chunk, from, to, systems }: TwoResults): string {
  const names = systems.map(({ system }) => system).join(', ');
  return `chunk ${groupDigits(chunk + 1)}, seeds ${from}..${to} of ${names}, came to two results`;
}
