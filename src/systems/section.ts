/**
 * What a client of a lock with fencing tokens does: think, take the lock, work under its grant with the
 * token attached, release. One function a step, in the order in which a section runs them.
 */
import { type Name, nameOf, under } from '../kernel/name.ts';
import type { ClientPlan, SectionPlan, Work } from '../plan/plan.ts';
import type { PendingCall } from '../world/call.ts';
import {
  answerOf,
  type LeaseEnd,
  mark,
  type Program,
  request,
  type Self,
  send,
  sleep,
} from '../world/program.ts';
import type { ServerHost } from '../world/server.ts';
import { LockClient } from './lock-service/lock-client.ts';
import { describeLockReply, type LockReply, type LockRequest } from './lock-service/lock-server.ts';
import { describeStoreReply, type StoreReply, type StoreRequest } from './store/store-server.ts';

/** The servers that a client talks to. */
export interface Servers {
  readonly lock: ServerHost<LockRequest, LockReply>;
  readonly stores: ReadonlyMap<string, ServerHost<StoreRequest, StoreReply>>;
  /** Whether the stores want a token announced before its first access. */
  readonly needsOpen: boolean;
}

type StoreCall = PendingCall<StoreRequest, StoreReply>;

/** One section as its program goes through it. */
interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: SectionPlan;
  readonly name: Name;
  readonly client: LockClient;
  readonly servers: Servers;
  /** Calls that were sent and not waited for. */
  readonly unanswered: StoreCall[];
  readonly opened: Set<string>;
  end: LeaseEnd;
}

/** The program of a client: its sections one after the other, from the `from`-th on. */
export function* sections(
  self: Self,
  from: number,
  plan: ClientPlan,
  servers: Servers,
): Program<void> {
  const client = new LockClient(plan.name);
  const root = nameOf(plan.name);
  for (const section of plan.sections.slice(from)) {
    self.beginSection();
    const name = under(root, String(section.id));
    const end: LeaseEnd = { clock: 'monotonic', us: 0 };
    const parts = { self, plan, section, name, client, servers, end };
    yield* runSection({ ...parts, unanswered: [], opened: new Set() });
  }
}

function* runSection(at: Section): Program<void> {
  yield* sleep(under(at.name, 'think'), at.section.thinkUs);
  const isHeld = yield* takeLock(at);
  if (!isHeld) return;
  for (const work of at.section.work) {
    const goesOn = yield* doWork(at, work);
    if (!goesOn) break;
  }
  for (const call of at.unanswered) yield* answerOf(call);
  at.self.leave();
  if (at.plan.releases) yield* release(at);
}

/** `write`, `write-2`, …: the first of a kind has no number. */
function part(verb: string, id: number): string {
  return id === 1 ? verb : `${verb}-${id}`;
}

function* takeLock(at: Section): Program<boolean> {
  for (let attempt = 1; attempt <= at.plan.attempts; attempt += 1) {
    if (attempt > 1) yield* sleep(under(at.name, part('backoff', attempt - 1)), at.plan.backoffUs);
    if (yield* tryLock(at, attempt)) return true;
  }
  return false;
}

function* tryLock(at: Section, attempt: number): Program<boolean> {
  const { self, plan, section, client } = at;
  const { lock } = section;
  const { ttlUs } = plan;
  const sentUs = self.monotonicUs();
  const operation = under(at.name, part('acquire', attempt));
  const ask = { kind: 'acquire', lock, client: client.id, ttlUs, nowUs: self.wallUs() } as const;
  const call = yield* request(self, lockCall(at, operation, ask));
  if (call.reply?.kind !== 'granted') return false;
  const { token, issuedAtUs } = call.reply;
  client.remember({ lock, token });
  at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
  self.enter({ section: at.name, lock, ordinal: call.granted, token, end: at.end });
  return true;
}

/** When the client takes its lease to end. Only `sent` is safe: a reply may be arbitrarily late. */
function leaseEnd(
  at: Section,
  lease: { sentUs: number; issuedAtUs: number; ttlUs: number },
): LeaseEnd {
  switch (at.plan.countsLeaseFrom) {
    case 'sent':
      return { clock: 'monotonic', us: lease.sentUs + lease.ttlUs };
    case 'reply':
      return { clock: 'monotonic', us: at.self.monotonicUs() + lease.ttlUs };
    case 'issued':
      return { clock: 'wall', us: lease.issuedAtUs + lease.ttlUs };
  }
}

/** Does one step; false when the section must stop because the lease is over or lost. */
function* doWork(at: Section, work: Work): Program<boolean> {
  switch (work.kind) {
    case 'compute':
      yield* sleep(under(at.name, part('compute', work.id)), work.forUs);
      return true;
    case 'renew':
      return yield* renew(at, work.id, work.ttlUs);
    case 'read':
      return (yield* read(at, { ...work, label: 'read' })) !== null;
    case 'write':
      return yield* write(at, { ...work, label: 'write', adds: null });
    case 'increment': {
      const value = yield* read(at, { ...work, label: 'read' });
      if (value === null) return false;
      return yield* write(at, {
        ...{ ...work, label: 'write', value: value + 1 },
        ...{ adds: 1, awaits: true },
      });
    }
    case 'transfer':
      return yield* transfer(at, work);
  }
}

function* transfer(at: Section, work: Extract<Work, { kind: 'transfer' }>): Program<boolean> {
  const { id, key, amount } = work;
  const from = { id, key, store: work.from };
  const to = { id, key, store: work.to };
  const source = yield* read(at, { ...from, label: 'read-from' });
  if (source === null) return false;
  const target = yield* read(at, { ...to, label: 'read-to' });
  if (target === null) return false;
  const how = { adds: null, awaits: true };
  const isTaken = yield* write(at, {
    ...{ ...from, ...how, label: 'write-from', value: source - amount },
  });
  if (!isTaken) return false;
  return yield* write(at, { ...to, ...how, label: 'write-to', value: target + amount });
}

interface Place {
  readonly id: number;
  readonly label: string;
  readonly store: string;
  readonly key: string;
}

/** The value read; null when the read was refused or got no answer. */
function* read(at: Section, place: Place): Program<number | null> {
  if (!(yield* open(at, place))) return null;
  const ask = { kind: 'read', key: place.key } as const;
  const call = yield* request(at.self, storeCall(at, place, { ...ask, value: null, adds: null }));
  return call.reply?.kind === 'value' ? call.reply.value : null;
}

function* write(
  at: Section,
  place: Place & { value: number; adds: number | null; awaits: boolean },
): Program<boolean> {
  if (!(yield* open(at, place))) return false;
  if (at.plan.checksLease && !(yield* leaseIsLive(at))) return false;
  const ask = { kind: 'write', key: place.key, value: place.value, adds: place.adds } as const;
  const call = yield* send(at.self, storeCall(at, place, ask));
  if (!place.awaits) {
    at.unanswered.push(call);
    return true;
  }
  yield* answerOf(call);
  return call.reply?.kind !== 'refused';
}

/** Announces the token to a store that wants it, once a section; false when it is too low. */
function* open(at: Section, place: Place): Program<boolean> {
  if (!at.servers.needsOpen || at.opened.has(place.store)) return true;
  at.opened.add(place.store);
  const label = at.opened.size === 1 ? 'open' : `open-${at.opened.size}`;
  const ask = { kind: 'open', key: place.key, value: null, adds: null } as const;
  const call = yield* request(at.self, storeCall(at, { ...place, id: 1, label }, ask));
  return call.reply?.kind === 'accepted';
}

/** Tests the lease by the client's own clock; after a passed test it sets the mark `checked`. */
function* leaseIsLive(at: Section): Program<boolean> {
  const { end, self, plan } = at;
  const nowUs = end.clock === 'wall' ? self.wallUs() : self.monotonicUs();
  const isLive = plan.leaseEnds === 'at' ? nowUs < end.us : nowUs <= end.us;
  self.testLease({ isLive, end });
  if (isLive) yield* mark(at.name, 'checked');
  return isLive;
}

function* renew(at: Section, id: number, ttlUs: number): Program<boolean> {
  const { self, client, section } = at;
  const { lock } = section;
  const sentUs = self.monotonicUs();
  const token = client.token(lock);
  const ask = { kind: 'renew', lock, client: client.id, token, ttlUs, nowUs: self.wallUs() } as const;
  const call = yield* request(self, lockCall(at, under(at.name, part('renew', id)), ask));
  if (call.reply?.kind === 'denied') return false;
  if (call.reply?.kind !== 'renewed') return true;
  at.end = leaseEnd(at, { sentUs, issuedAtUs: call.reply.issuedAtUs, ttlUs });
  self.testLease({ isLive: true, end: at.end });
  return true;
}

function* release(at: Section): Program<void> {
  const { self, client, section } = at;
  const { lock } = section;
  const ask = { token: client.token(lock), nowUs: self.wallUs() };
  const operation = under(at.name, 'release');
  yield* request(
    self,
    lockCall(at, operation, { kind: 'release', lock, client: client.id, ...ask }),
  );
  client.forget(lock);
}

function lockCall(at: Section, operation: Name, ask: LockRequest) {
  const token = ask.kind === 'acquire' ? 0 : ask.token;
  return {
    operation,
    call: { verb: ask.kind, lock: ask.lock, token },
    target: at.servers.lock,
    request: ask,
    timeoutUs: at.plan.lockTimeoutUs,
    tries: at.plan.tries,
    describe: describeLockReply,
  };
}

/** A store access under the section's lock, which names the resource, with the cached token attached. */
function storeCall(
  at: Section,
  place: Place,
  ask:
    | { kind: 'write'; key: string; value: number; adds: number | null }
    | { kind: 'read' | 'open'; key: string; value: null; adds: null },
) {
  const target = at.servers.stores.get(place.store);
  if (target === undefined) throw new Error(`there is no store ${place.store}`);
  const resource = at.section.lock;
  const token = at.client.token(resource);
  const access = { resource, key: ask.key, token, sequence: at.self.nextIssue };
  const sent: StoreRequest =
    ask.kind === 'write'
      ? { kind: 'write', ...access, value: ask.value }
      : { kind: ask.kind, ...access };
  return {
    operation: under(at.name, part(place.label, place.id)),
    call: { verb: ask.kind, store: place.store, resource, key: ask.key, value: ask.value, token, adds: ask.adds },
    target,
    request: sent,
    timeoutUs: at.plan.storeTimeoutUs,
    tries: at.plan.tries,
    describe: describeStoreReply,
  };
}
