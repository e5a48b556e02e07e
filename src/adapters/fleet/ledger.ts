/**
 * The results of a sweep, keyed by chunk: each is counted once, however often it arrives. Of a
 * chunk that is counted only digests are kept, so that a million chunks take two megabytes a
 * system.
 */

import { assert } from '../../core/kernel/assert.ts';
import { EMPTY_TALLY, mergeTallies, type Tally } from '../../search/sweep/tally.ts';
import { chunksIn, MOST_CHUNKS, rangeOfChunk } from './chunk-map.ts';
import { areDifferent, type ChunkResult, digestOfTally } from './chunk-result.ts';
import type { SweepRecord } from './sweep-record.ts';
import type { DifferingSystem } from './two-results.ts';

/** `foreign` is of other seeds or systems than the chunk of this number has. */
export type Offer =
  | { readonly kind: 'counted' | 'equal' | 'foreign' }
  | { readonly kind: 'different'; readonly systems: readonly DifferingSystem[] };

/** All that a ledger knows, to go on from later. */
export interface LedgerState {
  /** Of each chunk a digest a system, in the scenario's order; 0 where there is no result yet. */
  readonly digests: Uint16Array;
  readonly tallies: Readonly<Record<string, Tally>>;
}

export class Ledger {
  readonly chunks: number;
  private readonly sweep: SweepRecord;
  private readonly digests: Uint16Array;
  private readonly sums: Map<string, Tally>;
  private counted = 0;

  /** Goes on from `state`, which is of the same sweep cut the same way. */
  constructor(sweep: SweepRecord, systems: readonly string[], state: LedgerState | null = null) {
    this.sweep = sweep;
    this.chunks = chunksIn(sweep);
    assert(this.chunks <= MOST_CHUNKS, 'a sweep is cut into more chunks than one may have');
    const tallies = new Map(Object.entries(state?.tallies ?? {}));
    this.sums = new Map(systems.map((name) => [name, tallies.get(name) ?? EMPTY_TALLY]));
    this.digests = state?.digests.slice() ?? new Uint16Array(this.chunks * systems.length);
    for (let chunk = 0; chunk < this.chunks; chunk += 1) if (this.has(chunk)) this.counted += 1;
  }

  /** How many chunks are counted. */
  get done(): number {
    return this.counted;
  }

  has(chunk: number): boolean {
    return this.digests[chunk * this.sums.size] !== 0;
  }

  /** By system, in the scenario's order. */
  get tallies(): ReadonlyMap<string, Tally> {
    return this.sums;
  }

  /**
   * Counts the first result of a chunk, and compares every other with it, system by system. A
   * system of which either result had a seed that was killed is not compared: on a busy machine a
   * seed takes longer. Here too the first stays, so that each seed counts exactly once.
   */
  offer(result: ChunkResult): Offer {
    const { chunk, tallies } = result;
    if (!this.isOurs(result)) return { kind: 'foreign' };
    if (this.has(chunk)) return this.compare(result);
    // All of it, and only then counted: half of a chunk would never be noticed.
    const merged = [...this.sums].map(([system, sum]): [string, Tally, number] => {
      const tally = tallies[system] ?? EMPTY_TALLY;
      return [system, mergeTallies(sum, tally), digestOfTally(tally)];
    });
    for (const [index, [system, sum, digest]] of merged.entries()) {
      this.sums.set(system, sum);
      this.digests[chunk * this.sums.size + index] = digest;
    }
    this.counted += 1;
    return { kind: 'counted' };
  }

  state(): LedgerState {
    return { digests: this.digests.slice(), tallies: Object.fromEntries(this.sums) };
  }

  private compare({ chunk, tallies }: ChunkResult): Offer {
    const at = chunk * this.sums.size;
    const systems = [...this.sums.keys()].flatMap((system, index): readonly DifferingSystem[] => {
      const counted = this.digests[at + index] ?? 0;
      const other = digestOfTally(tallies[system] ?? EMPTY_TALLY);
      return areDifferent(counted, other) ? [{ system, counted, other }] : [];
    });
    return systems.length === 0 ? { kind: 'equal' } : { kind: 'different', systems };
  }

  /** Whether a result is of this chunk's seeds, and has every one of them once a system. */
  private isOurs({ chunk, from, to, tallies }: ChunkResult): boolean {
    if (chunk >= this.chunks) return false;
    const range = rangeOfChunk(this.sweep, chunk);
    if (range.from !== from || range.to !== to) return false;
    const seeds = to - from + 1;
    const names = Object.keys(tallies);
    return (
      names.length === this.sums.size &&
      names.every((name) => this.sums.has(name) && tallies[name]?.seeds === seeds)
    );
  }
}
