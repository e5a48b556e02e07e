/** What a worker sends to DynamoDB. */
import { under } from '../../core/kernel/name.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { part, type Section } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './back-end.ts';
import type { LeaseBook } from './lease-book.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';
import type { LeaseTerms } from './lease-terms.ts';
import {
  describeLeaseTableReply,
  type LeaseTableReply,
  type LeaseTableRequest,
} from './table-server.ts';

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
