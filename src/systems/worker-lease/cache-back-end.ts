/**
 * What a worker sends to memcached or Redis: it looks (`acquire`, `release`), decides, and stores
 * (`take`, `free`).
 */
import { under } from '../../kernel/name.ts';
import type { CallSetting, PendingCall } from '../../world/call.ts';
import { type Program, request } from '../../world/program.ts';
import type { ServerHost } from '../../world/server.ts';
import { part, type Section } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './back-end.ts';
import type { Seen } from './cache-leases.ts';
import { type CacheReply, type CacheRequest, describeCacheReply } from './cache-server.ts';
import {
  beginningAt,
  type Delivery,
  freedBy,
  type LeaseRecord,
  type LeaseReturn,
  takenBy,
} from './lease-rules.ts';
import type { LeaseTerms } from './lease-terms.ts';

type CacheCall = PendingCall<CacheRequest, CacheReply>;

/** What is stored over what was seen, and by which call it was seen. */
interface Storing {
  readonly record: LeaseRecord;
  readonly seen: Seen;
  readonly look: CacheCall;
}

export class CacheBackEnd implements LeaseBackEnd {
  private readonly server: ServerHost<CacheRequest, CacheReply>;
  private readonly terms: LeaseTerms;

  constructor(server: ServerHost<CacheRequest, CacheReply>, terms: LeaseTerms) {
    this.server = server;
    this.terms = terms;
  }

  get name(): string {
    return this.server.process.name;
  }

  *acquire(at: Section, delivery: Delivery, attempt: number): Program<TakenLease | false | 0> {
    const { self, plan } = at;
    const { time, clock, rules } = this.terms;
    const sentUs = self.monotonicUs();
    const wallUs = self.wallUs();
    const timeout = time.timeoutOf(plan.ttlUs);
    const wish = { kind: 'acquire', ...delivery, now: time.timeOf(wallUs), timeout } as const;
    const label = part(labelAt(this.name, 'acquire'), attempt);
    const look = yield* request(self, this.look(at, label, wish));
    if (look.reply?.kind !== 'seen') return 0;
    const issuedAtUs = clock === 'client' ? wallUs : look.reply.wallUs;
    const ask = { ...delivery, now: time.timeOf(issuedAtUs), timeout };
    const taken = takenBy(look.reply.record, ask, rules);
    if (taken === null) return false;
    const isSeeded = look.reply.record === null && this.terms.absent === 'clock';
    const record = isSeeded ? beginningAt(taken, issuedAtUs) : taken;
    const storing = { record, seen: look.reply, look };
    const put = yield* request(
      self,
      this.put(at, part(labelAt(this.name, 'take'), attempt), storing),
    );
    if (put.reply === null) return 0;
    if (put.reply.kind !== 'granted') return false;
    return { fence: record.fence, ordinal: put.granted, sentUs, issuedAtUs };
  }

  *release(at: Section, lease: LeaseReturn): Program<boolean | 0> {
    const wish = { kind: 'release', ...lease } as const;
    const look = yield* request(at.self, this.look(at, labelAt(this.name, 'release'), wish));
    if (look.reply?.kind !== 'seen') return 0;
    const record = freedBy(look.reply.record, lease);
    if (record === null) return false;
    const storing = { record, seen: look.reply, look };
    const put = yield* request(at.self, this.put(at, labelAt(this.name, 'free'), storing));
    return put.reply === null ? 0 : put.reply.kind === 'released';
  }

  private look(
    at: Section,
    label: string,
    wish: Extract<CacheRequest, { kind: 'look' }>['wish'],
  ): CallSetting<CacheRequest, CacheReply> {
    const ask = { kind: 'look', lock: at.section.lock, client: at.self.name, wish } as const;
    const token = wish.kind === 'acquire' ? 0 : wish.fence;
    return this.call(at, { verb: wish.kind, label, token }, ask);
  }

  private put(
    at: Section,
    label: string,
    { record, seen, look }: Storing,
  ): CallSetting<CacheRequest, CacheReply> {
    const ask = {
      ...({ kind: 'put', lock: at.section.lock, client: at.self.name } as const),
      ...{ record, unique: seen.unique, ttlUs: at.plan.ttlUs, sinceUs: look.sentAtUs },
    };
    const verb = record.state === 'leased' ? 'acquire' : 'release';
    const token = record.state === 'leased' ? 0 : record.fence;
    return this.call(at, { verb, label, token }, ask);
  }

  private call(
    at: Section,
    { verb, label, token }: { verb: 'acquire' | 'release'; label: string; token: number },
    ask: CacheRequest,
  ): CallSetting<CacheRequest, CacheReply> {
    return {
      operation: under(at.name, label),
      call: { verb, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeCacheReply,
    };
  }
}
