/**
 * The results of a sweep, keyed by chunk: each is counted once, however often it arrives. Of a
 * chunk that is counted only a digest is kept, so that a million chunks take four megabytes.
 */
import { EMPTY_TALLY, mergeTallies, type Tally } from '../sweep/tally.ts';
import { chunksIn, rangeOfChunk } from './chunk-map.ts';
import { type ChunkResult, digestOfResult } from './chunk-result.ts';
import type { SweepRecord } from './sweep-record.ts';

/** `foreign` is of other seeds or systems than the chunk of this number has. */
export type Offer = 'counted' | 'equal' | 'different' | 'foreign';

/** All that a ledger knows, to go on from later. */
export interface LedgerState {
  /** A digest a chunk; 0 where there is no result yet. */
  readonly digests: Uint32Array;
  readonly tallies: Readonly<Record<string, Tally>>;
}

export class Ledger {
  readonly chunks: number;
  private readonly sweep: SweepRecord;
  private readonly digests: Uint32Array;
  private readonly sums: Map<string, Tally>;
  private counted = 0;

  /** Goes on from `state`, which is of the same sweep cut the same way. */
  constructor(sweep: SweepRecord, systems: readonly string[], state: LedgerState | null = null) {
    this.sweep = sweep;
    this.chunks = chunksIn(sweep);
    this.digests = state === null ? new Uint32Array(this.chunks) : state.digests.slice();
    this.sums = new Map(systems.map((name) => [name, state?.tallies[name] ?? EMPTY_TALLY]));
    for (const digest of this.digests) if (digest !== 0) this.counted += 1;
  }

  /** How many chunks are counted. */
  get done(): number {
    return this.counted;
  }

  get isWhole(): boolean {
    return this.counted === this.chunks;
  }

  has(chunk: number): boolean {
    return this.digests[chunk] !== 0;
  }

  /** By system, in the scenario's order. */
  get tallies(): ReadonlyMap<string, Tally> {
    return this.sums;
  }

  /** Counts the first result of a chunk; compares every other with it. */
  offer(result: ChunkResult): Offer {
    if (!this.isOurs(result)) return 'foreign';
    const digest = digestOfResult(result);
    const known = this.digests[result.chunk];
    if (known !== 0) return known === digest ? 'equal' : 'different';
    for (const [system, sum] of this.sums) {
      this.sums.set(system, mergeTallies(sum, result.tallies[system] ?? EMPTY_TALLY));
    }
    this.digests[result.chunk] = digest;
    this.counted += 1;
    return 'counted';
  }

  state(): LedgerState {
    return { digests: this.digests.slice(), tallies: Object.fromEntries(this.sums) };
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
