/**
 * What the nodes really hold, kept for the observer: no node and no client knows it or acts on it.
 * A lock that several nodes give together ends when fewer than a quorum still hold its key: a node
 * lets go of it at its end, or when it forgets it and may give it again.
 */
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
export function nodeWitness(process: string, nodeKeys: NodeKeys): Witness {
  const book = new GrantBook(process);
  const holders = new Map<string, string>();
  /** By lock: the last that the node kept of it; it may have expired since. */
  const kept = new Map<string, Kept>();
  const note = (lock: string, one: Kept): void => {
    kept.set(lock, one);
    nodeKeys.note(process, one);
  };
  return {
    taken: (turn, lock, one) => {
      holders.set(lock, turn.client);
      note(lock, one);
    },
    denied: (turn, lock) =>
      book.deny(turn, { lock, client: turn.client, holder: holders.get(lock) ?? '' }),
    prolonged: (_turn, lock, one) => {
      if (one !== null) note(lock, one);
    },
    deleted: (_turn, lock, entry) => {
      if (entry === null) return;
      kept.delete(lock);
      nodeKeys.forget(process, entry);
    },
    lost: (key, atUs) => {
      for (const [lock, { value }] of [...kept]) {
        if (key !== null && lock !== key) continue;
        kept.delete(lock);
        nodeKeys.lose(process, value, atUs);
      }
    },
    // A replica that takes over holds what it was sent in time, and nothing else.
    snapshot: () => {
      const sent = [...kept];
      return () => {
        for (const { value } of kept.values()) nodeKeys.forget(process, { value });
        kept.clear();
        for (const [lock, one] of sent) note(lock, one);
      };
    },
  };
}
