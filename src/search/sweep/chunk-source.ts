/**
 * Hands out a range of seeds piece by piece, the systems in turn so that all of them get on
 * equally, and leaves out what was done before.
 */
import type { Chunk } from './chunk.ts';
import type { SeedRange } from './shard.ts';

/** A chunk that was examined earlier. */
export interface FinishedRange extends SeedRange {
  readonly system: string;
}

export class ChunkSource {
  /** What is left of each system, in ascending order. */
  private readonly left: Map<string, SeedRange[]>;

  constructor(
    systems: readonly string[],
    range: SeedRange,
    finished: readonly FinishedRange[] = [],
  ) {
    this.left = new Map(
      systems.map((name) => [
        name,
        without(
          range,
          finished.filter(({ system }) => system === name),
        ),
      ]),
    );
  }

  /** At most so many seeds of the system that is furthest behind; null when all are handed out. */
  next(seeds: number): Chunk | null {
    let behind: { readonly system: string; readonly ranges: SeedRange[]; from: number } | null =
      null;
    for (const [system, ranges] of this.left) {
      const from = ranges[0]?.from ?? Infinity;
      if (from < (behind?.from ?? Infinity)) behind = { system, ranges, from };
    }
    const [first] = behind?.ranges ?? [];
    if (behind === null || first === undefined) return null;
    const to = Math.min(first.from + seeds - 1, first.to);
    if (to === first.to) behind.ranges.shift();
    else behind.ranges[0] = { from: to + 1, to: first.to };
    return { system: behind.system, from: first.from, to, skip: [] };
  }
}

/** What is left of a range, in pieces, when others are taken away. */
function without(range: SeedRange, taken: readonly SeedRange[]): SeedRange[] {
  let pieces: readonly SeedRange[] = [range];
  for (const { from, to } of taken) {
    pieces = pieces.flatMap((piece) => [
      { from: piece.from, to: Math.min(piece.to, from - 1) },
      { from: Math.max(piece.from, to + 1), to: piece.to },
    ]);
    pieces = pieces.filter((piece) => piece.from <= piece.to);
  }
  return pieces.filter((piece) => piece.from <= piece.to);
}
