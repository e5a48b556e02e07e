/**
 * What the nodes really hold, kept for the observer: no node and no client knows it or acts on it.
 * A lock that several nodes give together ends when fewer than a quorum still hold its key: a node
 * lets go of it at its end, or when it forgets it and may give it again.
 */
import type { Turn } from '../../core/world/server.ts';
import { GrantBook } from '../grant-book.ts';
import type { Kept, LockKey, Witness } from '../redis/server.ts';

export class NodeKeys {
  /** By random value, then by node: the true time at which the node lets go of the key. */
  private readonly ends: Map<number, Map<string, number>> = new Map();

  /** The node keeps a value until then, or a replica of it does. */
  note(node: string, { value, untilUs }: Kept): void {
    const ends = this.ends.get(value) ?? new Map<string, number>();
    ends.set(node, untilUs);
    this.ends.set(value, ends);
  }

  forget(node: string, { value }: Pick<LockKey, 'value'>): void {
    const ends = this.ends.get(value);
    ends?.delete(node);
    if (ends?.size === 0) this.ends.delete(value);
  }

  /** The node lost the value at true time `atUs`, if it still had it then. */
  lose(node: string, value: number, atUs: number): void {
    const ends = this.ends.get(value);
    const endUs = ends?.get(node);
    if (endUs !== undefined) ends?.set(node, Math.min(endUs, atUs));
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
  private readonly nodeKeys: NodeKeys;
  private readonly book: GrantBook;
  private readonly holders: Map<string, string> = new Map();
  /** By lock: the last that the node kept of it; it may have expired since. */
  private kept: Map<string, Kept> = new Map();

  constructor(process: string, nodeKeys: NodeKeys) {
    this.process = process;
    this.nodeKeys = nodeKeys;
    this.book = new GrantBook(process);
  }

  taken(turn: Turn, lock: string, kept: Kept): void {
    this.holders.set(lock, turn.client);
    this.note(lock, kept);
  }

  denied(turn: Turn, lock: string): void {
    this.book.deny(turn, { lock, client: turn.client, holder: this.holders.get(lock) ?? '' });
  }

  prolonged(_turn: Turn, lock: string, kept: Kept | null): void {
    if (kept !== null) this.note(lock, kept);
  }

  deleted(_turn: Turn, lock: string, entry: LockKey | null): void {
    if (entry === null) return;
    this.kept.delete(lock);
    this.nodeKeys.forget(this.process, entry);
  }

  lost(key: string | null, atUs: number): void {
    for (const [lock, { value }] of [...this.kept]) {
      if (key !== null && lock !== key) continue;
      this.kept.delete(lock);
      this.nodeKeys.lose(this.process, value, atUs);
    }
  }

  /** A replica that takes over holds what it was sent in time, and nothing else. */
  snapshot(): () => void {
    const kept = new Map(this.kept);
    return () => {
      for (const { value } of this.kept.values()) this.nodeKeys.forget(this.process, { value });
      this.kept = new Map();
      for (const [lock, one] of kept) this.note(lock, one);
    };
  }

  private note(lock: string, kept: Kept): void {
    this.kept.set(lock, kept);
    this.nodeKeys.note(this.process, kept);
  }
}
