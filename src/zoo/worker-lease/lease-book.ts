/**
 * Records the leases of a back end for the observer. A back end identifies holders by step and
 * retry, and only the observer by client; a cache does not know what a request is for. So clients
 * note the purpose of their requests here, beside their messages. Only the observer uses it.
 */
import { GrantBook, type Turn } from '../../servers.ts';
import type { LeaseAsk, LeaseRecord, LeaseReturn, LeaseTerms } from './lease-rules.ts';
import { freedBy, judgedAt, takenBy, trueEndUs } from './lease-rules.ts';

export type Wish =
  | ({ readonly kind: 'acquire' } & LeaseAsk)
  | ({ readonly kind: 'release' } & LeaseReturn);

/** The lease that an operation is to take. */
interface Lent {
  readonly ttlUs: number;
  /** The earlier call that the lease depends on, if there is one. */
  readonly since?: { readonly sentAtUs: number };
}

export class LeaseBook {
  private readonly terms: LeaseTerms;
  private readonly book: GrantBook;
  private readonly wishes: Map<string, Wish> = new Map();
  private readonly lent: Map<string, Lent> = new Map();

  constructor(process: string, terms: LeaseTerms) {
    this.book = new GrantBook(process);
    this.terms = terms;
  }

  /** Called by a client for an operation that only reads. */
  noteWish(operation: string, wish: Wish): void {
    this.wishes.set(operation, wish);
  }

  /** Called by a client for an operation that is to take a lease. */
  noteLease(operation: string, lent: Lent): void {
    this.lent.set(operation, lent);
  }

  /** Records a denial. A client that sees that the lease is held sends no other request. */
  looked(turn: Turn, lock: string, record: LeaseRecord | null): void {
    const wish = this.wishes.get(turn.operation);
    if (wish === undefined) throw new Error('a client notes what it looks for');
    if (wish.kind === 'release') {
      if (freedBy(record, wish) === null) this.release(turn, lock, false);
      return;
    }
    const { steps, retries, timeout } = wish;
    const ask = { steps, retries, now: judgedAt(this.terms, wish.now, turn), timeout };
    if (takenBy(record, ask, this.terms.rules) === null) this.deny(turn, lock);
  }

  grant(turn: Turn, lock: string, record: LeaseRecord): void {
    const { client } = turn;
    const lent = this.lent.get(turn.operation);
    if (lent === undefined) throw new Error('a client notes which lease it takes');
    const untilUs = trueEndUs(this.terms, record.expires, turn);
    const { ttlUs, since = turn } = lent;
    const { sentAtUs } = since;
    this.book.grant(turn, { lock, client, token: record.fence, ttlUs, untilUs, sentAtUs });
  }

  deny(turn: Turn, lock: string): void {
    this.book.deny(turn, { lock, client: turn.client });
  }

  release(turn: Turn, lock: string, isEffective: boolean): void {
    this.book.release(turn, { lock, client: turn.client, isEffective });
  }

  /** Restores the grants of the back end; the clients' notes stay. */
  snapshot(restore: () => void): () => void {
    return this.book.snapshot(restore);
  }
}
