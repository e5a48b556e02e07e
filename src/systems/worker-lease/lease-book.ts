/**
 * Tells the observer what a back end does with its leases. What it notes has no effect: a back end
 * knows its holders by step and retry, only the observer by the names of clients.
 */
import type { Turn } from '../../world/server.ts';
import { GrantBook } from '../grant-book.ts';
import type { LeaseRecord } from './lease-rules.ts';
import { type LeaseTerms, trueEndUs } from './lease-terms.ts';

/** Whose request it is. */
interface Asked {
  readonly lock: string;
  readonly client: string;
}

export class LeaseBook {
  private readonly terms: LeaseTerms;
  private readonly book: GrantBook;
  private holders: Map<string, string> = new Map();

  constructor(process: string, terms: LeaseTerms) {
    this.book = new GrantBook(process);
    this.terms = terms;
  }

  /** Who was granted the lease last; '' before the first. */
  holder(lock: string): string {
    return this.holders.get(lock) ?? '';
  }

  /** `sentAtUs` is when the first request left that the lease rests on. */
  grant(
    turn: Turn,
    lease: Asked & { record: LeaseRecord; ttlUs: number; sentAtUs?: number },
  ): void {
    const { record, ...lent } = lease;
    this.holders.set(lease.lock, lease.client);
    const untilUs = trueEndUs(this.terms, record.expires, turn);
    this.book.grant(turn, { ...lent, token: record.fence, untilUs });
  }

  deny(turn: Turn, { lock, client }: Asked): void {
    this.book.deny(turn, { lock, client, holder: this.holder(lock) });
  }

  release(turn: Turn, { lock, client }: Asked, isEffective: boolean): void {
    this.book.release(turn, { lock, client, isEffective });
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
