/**
 * The realms of the block that a sweep is in, so that each of its seeds finds them as they are
 * after those before it in the block, wherever a chunk or a shard begins.
 */
import { BLOCK_SEEDS, RealmBlock } from '../../host/realm/realm-blocks.ts';

interface OpenBlock {
  readonly number: number;
  readonly realms: RealmBlock;
  /** The seed that it is ready for. */
  next: number;
}

/** Runs a seed for no other sake than what its modules keep. */
export type Pass = (seed: number, realms: RealmBlock) => Promise<unknown>;

export class SeedBlocks {
  private readonly open: Map<string, OpenBlock> = new Map();

  /** The realms for a seed of a system; those of its block are passed before that were not yet. */
  async realmsFor(
    { system, seed, skip }: { system: string; seed: number; skip: readonly number[] },
    pass: Pass,
  ): Promise<RealmBlock> {
    const block = this.blockFor(system, seed);
    for (let before = block.next; before < seed; before += 1) {
      if (!skip.includes(before)) await pass(before, block.realms);
    }
    block.next = seed + 1;
    return block.realms;
  }

  private blockFor(system: string, seed: number): OpenBlock {
    const number = Math.floor(seed / BLOCK_SEEDS);
    const known = this.open.get(system);
    if (known?.number === number && known.next <= seed) return known;
    const block = { number, realms: new RealmBlock(), next: number * BLOCK_SEEDS };
    this.open.set(system, block);
    return block;
  }
}
