/**
 * memcached or Redis as a back end of leases. A worker looks (`acquire`, `release`), decides, and
 * stores (`take`, `free`); the server stores what it is told. A crash empties memcached, and a
 * Redis that does not persist. The life of a key is counted by memcached on a monotonic clock, by
 * Redis on the wall clock.
 */
import type { Answer } from '../../core/history/trace.ts';
import { under } from '../../core/kernel/name.ts';
import type { CallSetting, PendingCall } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { Server, ServerHost, Turn } from '../../core/world/server.ts';
import { CacheItems } from '../cache/cache.ts';
import { restoreAll } from '../grant-book.ts';
import type { Section } from '../protocol.ts';
import { part } from '../section-calls.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './dispatch.ts';
import type { LeaseBook, Wish } from './lease-book.ts';
import {
  beginningAt,
  type Delivery,
  freedBy,
  type LeaseRecord,
  type LeaseReturn,
  type LeaseTerms,
  takenBy,
} from './lease-rules.ts';
import { CacheLeases, type Seen, type Vacant } from './leases.ts';

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

type LeaseCacheRequest =
  | { readonly kind: 'look'; readonly lock: string }
  | {
      readonly kind: 'put';
      readonly lock: string;
      readonly record: LeaseRecord;
      readonly unique: number | null;
    };

type LeaseCacheReply =
  | ({ readonly kind: 'seen'; readonly wallUs: number } & Seen)
  | { readonly kind: 'stored' }
  /** Somebody stored, or the key went, in between. */
  | { readonly kind: 'not-stored' };

/** What the trace says of a reply; of a look, the fence token that it saw. */
function describeLeaseCacheReply(request: LeaseCacheRequest): (reply: LeaseCacheReply) => Answer {
  return (reply) => {
    if (reply.kind === 'seen') return { kind: 'value', value: reply.record?.fence ?? 0 };
    if (reply.kind === 'not-stored' || request.kind === 'look')
      return { kind: 'denied', holder: '' };
    const { state, fence } = request.record;
    return state === 'leased' ? { kind: 'granted', token: fence } : { kind: 'released' };
  };
}

export interface LeaseCacheSetting {
  readonly keyLifeUs: number;
  /** By which of its clocks a key's life is counted. */
  readonly expiry: 'wall' | 'monotonic';
  readonly isDurable: boolean;
  readonly vacant: Vacant;
}

export class LeaseCacheServer implements Server<LeaseCacheRequest, LeaseCacheReply> {
  private readonly setting: LeaseCacheSetting;
  private readonly book: LeaseBook;
  private readonly cache: CacheItems = new CacheItems();
  private readonly leases: CacheLeases;

  constructor(setting: LeaseCacheSetting, book: LeaseBook) {
    this.setting = setting;
    this.book = book;
    this.leases = new CacheLeases(this.cache, setting.keyLifeUs, setting.vacant);
  }

  handle(request: LeaseCacheRequest, turn: Turn): LeaseCacheReply {
    if (request.kind === 'put') return this.put(request, turn);
    const seen = this.leases.look(request.lock, this.nowUs(turn));
    this.book.looked(turn, request.lock, seen.record);
    return { kind: 'seen', record: seen.record, unique: seen.unique, wallUs: turn.wallUs };
  }

  private put(request: Extract<LeaseCacheRequest, { kind: 'put' }>, turn: Turn): LeaseCacheReply {
    const { lock, record } = request;
    const isStored = this.leases.put(lock, record, request, this.nowUs(turn));
    if (record.state === 'open') this.book.release(turn, lock, isStored);
    else if (isStored) this.book.grant(turn, lock, record);
    else this.book.deny(turn, lock);
    return { kind: isStored ? 'stored' : 'not-stored' };
  }

  private nowUs(turn: Turn): number {
    return this.setting.expiry === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  restart(): void {
    if (!this.setting.isDurable) this.cache.clear();
  }

  snapshot(): () => void {
    return restoreAll(this.cache.snapshot(), this.book.snapshot());
  }

  evict(key: string): boolean {
    return this.cache.forget(key);
  }
}
