/**
 * memcached or Redis as a back end for leases. A worker reads the record (`acquire`, `release`),
 * decides, and stores a new record (`take`, `free`). A crash empties memcached, and a Redis without
 * persistence. memcached expires keys by a monotonic clock, Redis by the wall clock.
 */
import {
  type Answer,
  type CallSetting,
  type PendingCall,
  type Program,
  questionOf,
  request,
  type Section,
  type Server,
  type ServerHost,
  under,
  type World,
} from '../../servers.ts';
import { Cache, cacheSnapshot } from '../cache/cache.ts';
import { type LeaseBackEnd, labelAt, type TakenLease } from './dispatch.ts';
import { type LeaseCommand, LeaseRecorder } from './lease-recorder.ts';
import type { Delivery, LeaseRecord, LeaseReturn, LeaseTerms } from './lease-rules.ts';
import { beginningAt, freedBy, postponed, takenBy } from './lease-rules.ts';
import { CacheLeases, type Seen, type Vacant } from './leases.ts';

type LeaseCacheCall = PendingCall<LeaseCacheRequest, LeaseCacheReply>;
type Setting = CallSetting<LeaseCacheRequest, LeaseCacheReply>;

interface Storing {
  readonly record: LeaseRecord;
  readonly seen: Seen;
  readonly look: LeaseCacheCall;
}

export class CacheBackEnd implements LeaseBackEnd {
  private readonly name: string;
  private readonly terms: LeaseTerms;
  private readonly recorder: LeaseRecorder;
  private readonly server: ServerHost<LeaseCacheRequest, LeaseCacheReply>;

  /** Adds the cache to the world. */
  constructor(world: World, name: string, terms: LeaseTerms, setting: LeaseCacheSetting) {
    this.name = name;
    this.terms = terms;
    this.recorder = new LeaseRecorder(name, terms);
    this.server = world.addServer(
      { name, role: 'lock' },
      cacheServer(setting, terms, this.recorder),
    );
  }

  *acquire(at: Section, delivery: Delivery, attempt: number): Program<TakenLease | false | 0> {
    const { self, plan } = at;
    const { time, clock, rules } = this.terms;
    const [sentUs, wallUs] = [self.monotonicUs(), self.wallUs()];
    const timeout = time.timeoutOf(plan.ttlUs);
    const { steps, retries } = delivery;
    const acquireRequest = {
      kind: 'acquire',
      steps,
      retries,
      now: time.timeOf(wallUs),
      timeout,
    } as const;
    const look = yield* request(self, this.look(at, attempt, acquireRequest));
    if (look.reply?.kind !== 'seen') return 0;
    const { reply: seen } = look;
    const issuedAtUs = clock === 'client' ? wallUs : seen.wallUs;
    const ask = { steps, retries, now: time.timeOf(issuedAtUs), timeout };
    const taken = takenBy(seen.record, ask, rules);
    if (taken === null) return false;
    const isSeeded = seen.record === null && this.terms.absent === 'clock';
    const record = isSeeded ? beginningAt(taken, issuedAtUs) : taken;
    const put = yield* request(self, this.put(at, attempt, { record, seen, look }));
    if (put.reply === null) return 0;
    if (put.reply.kind !== 'stored') return false;
    return { fence: record.fence, ordinal: put.granted, sentUs, issuedAtUs };
  }

  *release(at: Section, lease: LeaseReturn, attempt: number): Program<boolean | 0> {
    const { steps, retries, fence } = lease;
    const look = yield* request(
      at.self,
      this.look(at, attempt, { kind: 'release', steps, retries, fence }),
    );
    if (look.reply?.kind !== 'seen') return 0;
    const record = freedBy(look.reply.record, lease);
    if (record === null) return false;
    const storing = { record, seen: look.reply, look };
    const put = yield* request(at.self, this.put(at, attempt, storing));
    return put.reply === null ? 0 : put.reply.kind === 'stored';
  }

  private look(at: Section, attempt: number, wanted: LeaseCommand): Setting {
    const token = wanted.kind === 'acquire' ? 0 : Number(wanted.fence);
    const ask = { kind: 'look', lock: at.section.lock } as const;
    const label = labelAt(this.name, wanted.kind, attempt);
    const setting = this.question(at, { verb: wanted.kind, label, token }, ask);
    this.recorder.noteRequest(setting.operation.text, wanted);
    return setting;
  }

  private put(at: Section, attempt: number, { record, seen, look }: Storing): Setting {
    const ask = { kind: 'put', lock: at.section.lock, record, unique: seen.unique } as const;
    if (record.state === 'open') {
      const label = labelAt(this.name, 'free', attempt);
      return this.question(at, { verb: 'release', label, token: record.fence }, ask);
    }
    const label = labelAt(this.name, 'take', attempt);
    const setting = this.question(at, { verb: 'acquire', label, token: 0 }, ask);
    this.recorder.noteLease(setting.operation.text, { ttlUs: at.plan.ttlUs, since: look });
    return setting;
  }

  private question(
    at: Section,
    { verb, label, token }: { verb: 'acquire' | 'release'; label: string; token: number },
    ask: LeaseCacheRequest,
  ): Setting {
    const describe = describeLeaseCacheReply(ask);
    const question = { verb, token, target: this.server, request: ask, describe };
    return questionOf(at, under(at.name, label), question);
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
  /** Another client stored a record in between, or the key was lost. */
  | { readonly kind: 'not-stored' };

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
  readonly keyTtlUs: number;
  /** The clock that judges the expiry of keys. */
  readonly expiry: 'wall' | 'monotonic';
  readonly isDurable: boolean;
  readonly vacant: Vacant;
}

function cacheServer(
  { expiry, keyTtlUs, isDurable, vacant }: LeaseCacheSetting,
  { time }: LeaseTerms,
  recorder: LeaseRecorder,
): Server<LeaseCacheRequest, LeaseCacheReply> {
  const cache = new Cache();
  const leases = new CacheLeases(cache, keyTtlUs, vacant);
  return {
    handle(request, turn) {
      const { lock } = request;
      const nowUs = expiry === 'wall' ? turn.wallUs : turn.monotonicUs;
      if (request.kind === 'look') {
        const { record, unique } = leases.look(lock, nowUs);
        recorder.looked(turn, lock, record);
        return { kind: 'seen', record, unique, wallUs: turn.wallUs };
      }
      const { unique } = request;
      const record = postponed(request.record, time.timeoutOf(turn.lifetimeUs(0)));
      const keyTtl = turn.lifetimeUs(keyTtlUs, 'record');
      const isStored = leases.put(lock, record, { unique, keyTtl }, nowUs);
      if (record.state === 'open') recorder.release(turn, lock, isStored);
      else if (isStored) recorder.grant(turn, lock, record);
      else recorder.deny(turn, lock);
      return { kind: isStored ? 'stored' : 'not-stored' };
    },
    restart: () => {
      if (!isDurable) cache.clear();
    },
    snapshot: () => recorder.snapshot(cacheSnapshot(cache)),
    evict: (key) => cache.forget(key),
  };
}
