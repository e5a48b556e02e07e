/**
 * What a worker sends to memcached or Redis: it looks (`acquire`, `release`), decides, and stores
 * (`take`, `free`).
 */
import { under } from '../../core/kernel/name.ts';
import type { CallSetting, PendingCall } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { part, type Section } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './back-end.ts';
import type { Seen } from './cache-leases.ts';
import {
  describeLeaseCacheReply,
  type LeaseCacheReply,
  type LeaseCacheRequest,
} from './cache-server.ts';
import type { LeaseBook, Wish } from './lease-book.ts';
import {
  beginningAt,
  type Delivery,
  freedBy,
  type LeaseRecord,
  type LeaseReturn,
  takenBy,
} from './lease-rules.ts';
import type { LeaseTerms } from './lease-terms.ts';

type Host = ServerHost<LeaseCacheRequest, LeaseCacheReply>;
type LeaseCacheCall = PendingCall<LeaseCacheRequest, LeaseCacheReply>;
type Setting = CallSetting<LeaseCacheRequest, LeaseCacheReply>;

/** What is stored over what was seen, and by which call it was seen. */
interface Storing {
  readonly record: LeaseRecord;
  readonly seen: Seen;
  readonly look: LeaseCacheCall;
}

export class CacheBackEnd implements LeaseBackEnd {
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
    const { time, clock, rules } = this.terms;
    const sentUs = self.monotonicUs();
    const wallUs = self.wallUs();
    const timeout = time.timeoutOf(plan.ttlUs);
    const { steps, retries } = delivery;
    const wish = { kind: 'acquire', steps, retries, now: time.timeOf(wallUs), timeout } as const;
    const label = part(labelAt(this.name, 'acquire'), attempt);
    const look = yield* request(self, this.look(at, label, wish));
    if (look.reply?.kind !== 'seen') return 0;
    const issuedAtUs = clock === 'client' ? wallUs : look.reply.wallUs;
    const ask = { steps, retries, now: time.timeOf(issuedAtUs), timeout };
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
    if (put.reply.kind !== 'stored') return false;
    return { fence: record.fence, ordinal: put.granted, sentUs, issuedAtUs };
  }

  *release(at: Section, lease: LeaseReturn, attempt: number): Program<boolean | 0> {
    const { steps, retries, fence } = lease;
    const wish = { kind: 'release', steps, retries, fence } as const;
    const label = part(labelAt(this.name, 'release'), attempt);
    const look = yield* request(at.self, this.look(at, label, wish));
    if (look.reply?.kind !== 'seen') return 0;
    const record = freedBy(look.reply.record, lease);
    if (record === null) return false;
    const storing = { record, seen: look.reply, look };
    const free = part(labelAt(this.name, 'free'), attempt);
    const put = yield* request(at.self, this.put(at, free, storing));
    return put.reply === null ? 0 : put.reply.kind === 'stored';
  }

  private look(at: Section, label: string, wish: Wish): Setting {
    const token = wish.kind === 'acquire' ? 0 : Number(wish.fence);
    const ask = { kind: 'look', lock: at.section.lock } as const;
    const setting = this.call(at, { verb: wish.kind, label, token }, ask);
    this.book.noteWish(setting.operation.text, wish);
    return setting;
  }

  private put(at: Section, label: string, { record, seen, look }: Storing): Setting {
    const ask = { kind: 'put', lock: at.section.lock, record, unique: seen.unique } as const;
    if (record.state === 'open') {
      return this.call(at, { verb: 'release', label, token: record.fence }, ask);
    }
    const setting = this.call(at, { verb: 'acquire', label, token: 0 }, ask);
    this.book.noteLease(setting.operation.text, { ttlUs: at.plan.ttlUs, since: look });
    return setting;
  }

  private call(
    at: Section,
    { verb, label, token }: { verb: 'acquire' | 'release'; label: string; token: number },
    ask: LeaseCacheRequest,
  ): Setting {
    return {
      operation: under(at.name, label),
      call: { verb, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeLeaseCacheReply(ask),
    };
  }
}
