/** What a worker sends to DynamoDB. */
import { under } from '../../kernel/name.ts';
import type { CallSetting } from '../../world/call.ts';
import { type Program, request } from '../../world/program.ts';
import type { ServerHost } from '../../world/server.ts';
import { part, type Section } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './back-end.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';
import type { LeaseTerms } from './lease-terms.ts';
import { describeTableReply, type TableReply, type TableRequest } from './table-server.ts';

export class TableBackEnd implements LeaseBackEnd {
  private readonly server: ServerHost<TableRequest, TableReply>;
  private readonly terms: LeaseTerms;

  constructor(server: ServerHost<TableRequest, TableReply>, terms: LeaseTerms) {
    this.server = server;
    this.terms = terms;
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
    const asked = { now: time.timeOf(wallUs), timeout: time.timeoutOf(ttlUs) };
    const named = { lock: at.section.lock, client: self.name };
    const ask = { kind: 'acquire', ...named, ...delivery, ...asked, ttlUs } as const;
    const label = part(labelAt(this.name, 'acquire'), attempt);
    const call = yield* request(self, this.call(at, label, ask));
    if (call.reply === null) return 0;
    if (call.reply.kind !== 'granted') return false;
    const issuedAtUs = clock === 'client' ? wallUs : call.reply.wallUs;
    return { fence: call.reply.token, ordinal: call.granted, sentUs, issuedAtUs };
  }

  *release(at: Section, lease: LeaseReturn): Program<boolean | 0> {
    const named = { lock: at.section.lock, client: at.self.name };
    const ask = { kind: 'release', ...named, ...lease } as const;
    const call = yield* request(at.self, this.call(at, labelAt(this.name, 'release'), ask));
    return call.reply === null ? 0 : call.reply.kind === 'released';
  }

  private call(
    at: Section,
    label: string,
    ask: TableRequest,
  ): CallSetting<TableRequest, TableReply> {
    const token = ask.kind === 'acquire' ? 0 : ask.fence;
    return {
      operation: under(at.name, label),
      call: { verb: ask.kind, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeTableReply,
    };
  }
}
