/** DynamoDB as a server of the world: a lease is taken, or given back, by one request. */
import type { Answer } from '../../core/history/trace.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import type { LeaseBook } from './lease-book.ts';
import type { LeaseAsk, LeaseReturn } from './lease-rules.ts';
import { judgedAt, type LeaseTerms } from './lease-terms.ts';
import { TableLeases } from './table-leases.ts';

export type LeaseTableRequest =
  | (LeaseAsk & { readonly kind: 'acquire'; readonly lock: string })
  | (LeaseReturn & { readonly kind: 'release'; readonly lock: string });

export type LeaseTableReply =
  | { readonly kind: 'granted'; readonly token: number; readonly wallUs: number }
  | { readonly kind: 'released' }
  /** The condition of the update was not met. */
  | { readonly kind: 'denied' };

/** What the trace says of a reply. */
export function describeLeaseTableReply(reply: LeaseTableReply): Answer {
  if (reply.kind === 'denied') return { kind: 'denied', holder: '' };
  return reply.kind === 'granted' ? { kind: 'granted', token: reply.token } : reply;
}

export class LeaseTableServer implements Server<LeaseTableRequest, LeaseTableReply> {
  private readonly terms: LeaseTerms;
  private readonly book: LeaseBook;
  private readonly leases: TableLeases = new TableLeases();

  constructor(terms: LeaseTerms, book: LeaseBook) {
    this.terms = terms;
    this.book = book;
  }

  handle(request: LeaseTableRequest, turn: Turn): LeaseTableReply {
    if (request.kind === 'acquire') return this.acquire(request, turn);
    const isEffective = this.leases.release(request.lock, request);
    this.book.release(turn, request.lock, isEffective);
    return { kind: isEffective ? 'released' : 'denied' };
  }

  private acquire(
    request: Extract<LeaseTableRequest, { kind: 'acquire' }>,
    turn: Turn,
  ): LeaseTableReply {
    const { lock } = request;
    const now = judgedAt(this.terms, request.now, turn);
    const { steps, retries, timeout } = request;
    const ask = { steps, retries, now, timeout };
    const record = this.leases.acquire(lock, ask, this.terms.rules);
    if (record === null) {
      this.book.deny(turn, lock);
      return { kind: 'denied' };
    }
    this.book.grant(turn, lock, record);
    return { kind: 'granted', token: record.fence, wallUs: turn.wallUs };
  }

  restart(): void {}

  snapshot(): () => void {
    const restoreLeases = this.leases.snapshot();
    const restoreBook = this.book.snapshot();
    return () => {
      restoreLeases();
      restoreBook();
    };
  }

  /** A table forgets nothing. */
  evict(): boolean {
    return false;
  }
}
