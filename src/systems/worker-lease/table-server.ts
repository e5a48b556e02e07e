/** DynamoDB as a server of the world: a lease is taken, or given back, by one request. */
import type { Answer } from '../../history/trace.ts';
import type { Server, Turn } from '../../world/server.ts';
import { LeaseBook } from './lease-book.ts';
import type { LeaseAsk, LeaseReturn } from './lease-rules.ts';
import { judgedAt, type LeaseTerms } from './lease-terms.ts';
import { TableLeases } from './table-leases.ts';

type Asked = { readonly lock: string; readonly client: string };

export type TableRequest =
  | (Asked & LeaseAsk & { readonly kind: 'acquire'; readonly ttlUs: number })
  | (Asked & LeaseReturn & { readonly kind: 'release' });

export type TableReply =
  | { readonly kind: 'granted'; readonly token: number; readonly wallUs: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

/** What the trace says of a reply. */
export function describeTableReply(reply: TableReply): Answer {
  return reply.kind === 'granted' ? { kind: 'granted', token: reply.token } : reply;
}

export class TableServer implements Server<TableRequest, TableReply> {
  private readonly terms: LeaseTerms;
  private readonly leases: TableLeases = new TableLeases();
  private readonly book: LeaseBook;

  constructor(name: string, terms: LeaseTerms) {
    this.terms = terms;
    this.book = new LeaseBook(name, terms);
  }

  handle(request: TableRequest, turn: Turn): TableReply {
    if (request.kind === 'acquire') return this.acquire(request, turn);
    const isEffective = this.leases.release(request.lock, request);
    this.book.release(turn, request, isEffective);
    return isEffective ? { kind: 'released' } : this.denial(request.lock);
  }

  private acquire(request: Extract<TableRequest, { kind: 'acquire' }>, turn: Turn): TableReply {
    const { lock, client, ttlUs } = request;
    const now = judgedAt(this.terms, request.now, turn);
    const token = this.leases.acquire(lock, { ...request, now }, this.terms.rules);
    const record = this.leases.current(lock);
    if (token === false || record === null) {
      this.book.deny(turn, request);
      return this.denial(lock);
    }
    this.book.grant(turn, { lock, client, record, ttlUs });
    return { kind: 'granted', token, wallUs: turn.wallUs };
  }

  private denial(lock: string): TableReply {
    return { kind: 'denied', holder: this.book.holder(lock) };
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
