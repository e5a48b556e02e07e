/**
 * DynamoDB as a back end of leases: what a worker sends, and the server, where a lease is taken, or
 * given back, by one request.
 */
import type { Answer } from '../../core/history/trace.ts';
import { under } from '../../core/kernel/name.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { Server, ServerHost, Turn } from '../../core/world/server.ts';
import { restoreAll } from '../grant-book.ts';
import type { Section } from '../protocol.ts';
import { part } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './dispatch.ts';
import type { LeaseBook } from './lease-book.ts';
import {
  type Delivery,
  judgedAt,
  type LeaseAsk,
  type LeaseReturn,
  type LeaseTerms,
} from './lease-rules.ts';
import { TableLeases } from './leases.ts';

type Host = ServerHost<LeaseTableRequest, LeaseTableReply>;

export class TableBackEnd implements LeaseBackEnd {
  private readonly server: Host;
  private readonly terms: LeaseTerms;
  private readonly book: LeaseBook;

  /** `book` is the one of its server. */
  constructor(server: Host, terms: LeaseTerms, book: LeaseBook) {
    this.server = server;
    this.terms = terms;
    this.book = book;
  }

  get name(): string {
    return this.server.process.name;
  }

  *acquire(at: Section, delivery: Delivery, attempt: number): Program<TakenLease | false | 0> {
    const { self, plan } = at;
    const { time, clock } = this.terms;
    const { ttlUs } = plan;
    const sentUs = self.monotonicUs();
    const wallUs = self.wallUs();
    const [now, timeout] = [time.timeOf(wallUs), time.timeoutOf(ttlUs)];
    const { lock } = at.section;
    const { steps, retries } = delivery;
    const ask = { kind: 'acquire', lock, steps, retries, now, timeout } as const;
    const setting = this.call(at, part(labelAt(this.name, 'acquire'), attempt), ask);
    this.book.noteLease(setting.operation.text, { ttlUs });
    const call = yield* request(self, setting);
    if (call.reply === null) return 0;
    if (call.reply.kind !== 'granted') return false;
    const issuedAtUs = clock === 'client' ? wallUs : call.reply.wallUs;
    return { fence: call.reply.token, ordinal: call.granted, sentUs, issuedAtUs };
  }

  *release(at: Section, lease: LeaseReturn, attempt: number): Program<boolean | 0> {
    const { lock } = at.section;
    const { steps, retries, fence } = lease;
    const ask = { kind: 'release', lock, steps, retries, fence } as const;
    const label = part(labelAt(this.name, 'release'), attempt);
    const call = yield* request(at.self, this.call(at, label, ask));
    return call.reply === null ? 0 : call.reply.kind === 'released';
  }

  private call(
    at: Section,
    label: string,
    ask: LeaseTableRequest,
  ): CallSetting<LeaseTableRequest, LeaseTableReply> {
    const token = ask.kind === 'acquire' ? 0 : Number(ask.fence);
    return {
      operation: under(at.name, label),
      call: { verb: ask.kind, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeLeaseTableReply,
    };
  }
}

type LeaseTableRequest =
  | (LeaseAsk & { readonly kind: 'acquire'; readonly lock: string })
  | (LeaseReturn & { readonly kind: 'release'; readonly lock: string });

type LeaseTableReply =
  | { readonly kind: 'granted'; readonly token: number; readonly wallUs: number }
  | { readonly kind: 'released' }
  /** The condition of the update was not met. */
  | { readonly kind: 'denied' };

/** What the trace says of a reply. */
function describeLeaseTableReply(reply: LeaseTableReply): Answer {
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
    return restoreAll(this.leases.snapshot(), this.book.snapshot());
  }

  /** A table forgets nothing. */
  evict(): boolean {
    return false;
  }
}
