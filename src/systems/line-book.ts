/**
 * Tells the observer of locks that are keys in a line, as those of etcd and ZooKeeper: a process
 * makes a key that hangs on its session, and the oldest key of a lock has it. A key stands for a
 * grant once its client was told so; all grants of a session last as long as it does.
 */
import type { Boot, Turn } from '../core/world/server.ts';
import { GrantBook, type GrantTerms } from './grant-book.ts';

/**
 * Reports locks that are keys in a line: the oldest key of a lock has it, and a key stands for a
 * grant once its client was told so. A `GrantBook` for such servers.
 */
export class LineBook<K extends { readonly lock: string }> extends GrantBook {
  private readonly line: ConstructorParameters<typeof LineBook<K>>[1];
  /** The grant that a key stands for, by its number. */
  private readonly given: Map<number, number> = new Map();

  constructor(
    process: string,
    line: {
      /** Returns a number that tells the key from all others, those of other locks too. */
      readonly numberOf: (key: K) => number;
      /** Returns the terms of the key's lock; once its session is over, as they were. */
      readonly lentTo: (key: K, boot: Boot) => Required<GrantTerms>;
    },
  ) {
    super(process);
    this.line = line;
  }

  /** A new key stands behind the one of `holder`. */
  wait(turn: Turn, { lock }: K, holder: string): void {
    this.deny(turn, { lock, client: turn.client, holder, waits: true });
  }

  /** The client learns by this turn that its key has the lock. */
  give(turn: Turn, key: K, atUs: number = turn.atUs): void {
    const number = this.line.numberOf(key);
    const known = this.given.get(number);
    if (known !== undefined) {
      turn.grant(known);
      return;
    }
    this.grant(turn, this.line.lentTo(key, turn), atUs);
    this.given.set(number, this.current(key.lock));
  }

  /** The client deletes its key, null where that was gone. Who only waited gives nothing back. */
  giveBack(turn: Turn, lock: string, key: K | null): void {
    const ordinal = key === null ? undefined : this.given.get(this.line.numberOf(key));
    const isEffective = ordinal !== undefined && ordinal === this.current(lock);
    if (!isEffective && turn.under === 0) return;
    this.release(turn, { lock, client: turn.client, isEffective });
  }

  /** The session of these keys lasts longer, by the message that kept it alive, '' for none. */
  prolongAll(boot: Boot, keys: readonly K[], message: string): void {
    for (const key of keys) {
      const ordinal = this.given.get(this.line.numberOf(key));
      if (ordinal === undefined) continue;
      this.prolong(boot, this.line.lentTo(key, boot), { ordinal, message });
    }
  }
}
