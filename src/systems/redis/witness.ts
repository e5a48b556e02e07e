/**
 * What the observer is told of a node that gives its lock alone: `SET NX` is a grant, and an entry
 * that a command touches belongs to the latest of them.
 */
import type { Turn } from '../../core/world/server.ts';
import { GrantBook } from '../grant-book.ts';
import type { Entry } from './node.ts';
import type { Kept, Witness } from './server.ts';

export class GrantWitness implements Witness {
  private readonly book: GrantBook;
  private readonly hasTokens: boolean;
  private holders: Map<string, string> = new Map();

  /** `hasTokens`: whether the random value is the grant's token; else it has none, which is 0. */
  constructor(process: string, hasTokens: boolean) {
    this.book = new GrantBook(process);
    this.hasTokens = hasTokens;
  }

  taken(turn: Turn, lock: string, { value, ttlUs, untilUs }: Kept): void {
    const { client } = turn;
    this.holders.set(lock, client);
    this.book.grant(turn, { lock, client, token: this.token(value), ttlUs, untilUs });
  }

  denied(turn: Turn, lock: string): void {
    this.book.deny(turn, { lock, client: turn.client, holder: this.holders.get(lock) ?? '' });
  }

  prolonged(turn: Turn, lock: string, kept: Kept | null): void {
    const { client } = turn;
    const { value, ttlUs, untilUs } = kept ?? { value: 0, ttlUs: 0, untilUs: null };
    const isEffective = kept !== null;
    const token = this.token(value);
    this.book.renew(turn, { lock, client, token, ttlUs, untilUs, isEffective });
  }

  deleted(turn: Turn, lock: string, entry: Entry | null): void {
    this.book.release(turn, { lock, client: turn.client, isEffective: entry !== null });
  }

  /** What a node forgets ends no grant: its client still counts on it. */
  lost(): void {}

  private token(value: number): number {
    return this.hasTokens ? value : 0;
  }

  snapshot(): () => void {
    const restoreBook = this.book.snapshot();
    const holders = new Map(this.holders);
    return () => {
      restoreBook();
      this.holders = new Map(holders);
    };
  }
}
