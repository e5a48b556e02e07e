/**
 * What the nodes really hold, kept for the observer: no node and no client knows it or acts on it.
 * A lock that several nodes give together ends when fewer than a quorum still hold its key.
 */
import type { Turn } from '../../world/server.ts';
import { GrantBook } from '../grant-book.ts';
import type { Entry } from '../redis/node.ts';
import type { Kept, Witness } from '../redis/server.ts';

export class TenureBook {
  /** By random value, then by node: the true time at which the node lets go of the key. */
  private readonly ends: Map<number, Map<string, number>> = new Map();

  note(node: string, { value, untilUs }: Kept): void {
    const ends = this.ends.get(value) ?? new Map<string, number>();
    ends.set(node, untilUs);
    this.ends.set(value, ends);
  }

  forget(node: string, { value }: Entry): void {
    const ends = this.ends.get(value);
    ends?.delete(node);
    if (ends?.size === 0) this.ends.delete(value);
  }

  /** True time from which on fewer than `quorum` nodes hold the value; 0 if they never did. */
  endUs(value: number, quorum: number): number {
    const ends = [...(this.ends.get(value)?.values() ?? [])].sort((a, b) => b - a);
    return ends[quorum - 1] ?? 0;
  }
}

/** Watches one node: it gives no grant, but it denies, and it holds keys for a time. */
export class NodeWitness implements Witness {
  private readonly process: string;
  private readonly tenures: TenureBook;
  private readonly book: GrantBook;
  private readonly holders: Map<string, string> = new Map();

  constructor(process: string, tenures: TenureBook) {
    this.process = process;
    this.tenures = tenures;
    this.book = new GrantBook(process);
  }

  taken(turn: Turn, lock: string, kept: Kept): void {
    this.holders.set(lock, turn.client);
    this.tenures.note(this.process, kept);
  }

  denied(turn: Turn, lock: string): void {
    this.book.deny(turn, { lock, client: turn.client, holder: this.holders.get(lock) ?? '' });
  }

  prolonged(_turn: Turn, _lock: string, kept: Kept | null): void {
    if (kept !== null) this.tenures.note(this.process, kept);
  }

  deleted(_turn: Turn, _lock: string, entry: Entry | null): void {
    if (entry !== null) this.tenures.forget(this.process, entry);
  }

  /** What a replica no longer knows is forgotten, but that ends no lock. */
  snapshot(): () => void {
    return () => {};
  }
}
