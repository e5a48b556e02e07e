/** What a client does under its grant, step by step. */
import { assert } from '../core/kernel/assert.ts';
import { under } from '../core/kernel/name.ts';
import type { Work } from '../core/plan/plan.ts';
import { answerOf, type Program, request, send, sleep } from '../core/world/program.ts';
import { runJob } from './job.ts';
import { leaseIsLive } from './lease.ts';
import {
  conditionOf,
  labelOf,
  type Place,
  part,
  type Section,
  storeCall,
} from './section-calls.ts';

/** Does one step; false when the section must stop because the lease is over or lost. */
export function* doWork(at: Section, work: Work): Program<boolean> {
  switch (work.kind) {
    case 'compute':
      yield* sleep(under(at.name, part('compute', work.id)), work.forUs);
      return true;
    case 'renew':
      return at.driver.renew === undefined ? false : yield* at.driver.renew(at, work);
    case 'read':
      return (yield* read(at, { ...work, label: 'read' })) !== null;
    case 'write':
      if (at.driver.change !== undefined) {
        return yield* at.driver.change(at, { ...work, ...PLAIN, by: { value: work.value } });
      }
      return yield* write(at, { ...work, label: 'write', adds: null });
    case 'increment': {
      const { by: adds = 1 } = work;
      if (at.driver.change !== undefined) {
        return yield* at.driver.change(at, { ...work, ...PLAIN, by: { adds } });
      }
      const value = yield* read(at, { ...work, label: 'read' });
      if (value === null) return false;
      return yield* write(at, {
        ...{ ...work, label: 'write', value: value + adds },
        ...{ adds, awaits: true },
      });
    }
    case 'transfer':
      return yield* transfer(at, work);
    case 'job':
      return yield* runJob(at, work);
    case 'transition': {
      const delivery = at.driver.delivery?.() ?? null;
      assert(delivery !== null, 'a transition belongs to a message');
      const { steps: tick, retries } = delivery;
      return yield* runJob(at, { kind: 'job', id: work.id, tick, retries, forUs: work.forUs });
    }
    case 'lock':
      assert(at.driver.also !== undefined, 'this lock cannot be taken beside another');
      return yield* at.driver.also(at, work);
    case 'memoize':
      // Its section does it instead: a memoize takes the lock itself.
      return true;
  }
}

const PLAIN = { labels: { read: 'read', write: 'write' } } as const;
const FROM = { labels: { read: 'read-from', write: 'write-from' } } as const;
const TO = { labels: { read: 'read-to', write: 'write-to' } } as const;

function* transfer(at: Section, work: Extract<Work, { kind: 'transfer' }>): Program<boolean> {
  const { id, key, amount } = work;
  const from = { id, key, store: work.from };
  const to = { id, key, store: work.to };
  if (at.driver.change !== undefined) {
    const isTaken = yield* at.driver.change(at, { ...from, ...FROM, by: { adds: 0 - amount } });
    return isTaken && (yield* at.driver.change(at, { ...to, ...TO, by: { adds: amount } }));
  }
  const source = yield* read(at, { ...from, label: 'read-from' });
  if (source === null) return false;
  const target = yield* read(at, { ...to, label: 'read-to' });
  if (target === null) return false;
  const isTaken = yield* write(at, {
    ...{ ...from, label: 'write-from', value: source - amount },
    ...{ adds: 0 - amount, awaits: true },
  });
  if (!isTaken) return false;
  return yield* write(at, {
    ...{ ...to, label: 'write-to', value: target + amount },
    ...{ adds: amount, awaits: true },
  });
}

/** The value read; null when the read was refused or got no answer. */
export function* read(at: Section, place: Place): Program<number | null> {
  if (!(yield* open(at, place))) return null;
  return yield* look(at, place);
}

/** The same without announcing a token, for a read under no lock. */
export function* look(at: Section, place: Place): Program<number | null> {
  const ask = { kind: 'read', key: place.key } as const;
  const call = yield* request(at.self, storeCall(at, place, { ...ask, value: null, adds: null }));
  if (call.reply?.kind !== 'value') return null;
  const { value, version } = call.reply;
  if (version !== undefined) at.versions?.set(versionName(place), version);
  return value;
}

/** False when it was refused, or left out because the lease is over. */
export function* write(
  at: Section,
  place: Place & { value: number; adds: number | null; awaits: boolean; testsLease?: false },
): Program<boolean> {
  const { testsLease = at.plan.checksLease } = place;
  if (!(yield* open(at, place))) return false;
  if (testsLease && !(yield* leaseIsLive(at))) return false;
  if (at.servers.manners.comparesItself && !(yield* passesFence(at, place))) return false;
  if (at.driver.beforeWrite !== undefined) yield* at.driver.beforeWrite(at, labelOf(place));
  const { key, value, adds } = place;
  const condition = conditionOf(at, place, { version: takeVersion(at, place), once: null });
  const ask = { kind: 'write', key, value, adds, condition } as const;
  const call = yield* send(at.self, storeCall(at, place, ask));
  if (!place.awaits) {
    at.unanswered.push(call);
    return true;
  }
  yield* answerOf(call);
  const { reply } = call;
  if (reply?.kind === 'accepted' && reply.version !== undefined) {
    at.versions?.set(versionName(place), reply.version);
  }
  return reply?.kind !== 'refused';
}

function versionName({ store, key }: Place): string {
  return JSON.stringify([store, key]);
}

/**
 * The version that a write expects: the one that the section knows, if any. Until its answer has
 * come the section knows none.
 */
function takeVersion({ versions }: Section, place: Place): number | null | undefined {
  const name = versionName(place);
  const version = versions?.get(name);
  versions?.delete(name);
  return version;
}

/** Asks for the store's highest token: whether the client's own is none of those below it. */
function* passesFence(at: Section, place: Place): Program<boolean> {
  const ask = { kind: 'fence', key: place.key, value: null, adds: null } as const;
  const label = place.label.replace('write', 'fence');
  const call = yield* request(at.self, storeCall(at, { ...place, label }, ask));
  const token = at.driver.token?.(at.section.lock) ?? 0;
  return call.reply?.kind === 'value' && token >= call.reply.value;
}

/** Announces the token to a store that wants it, once a section; false when it is too low. */
function* open(at: Section, place: Place): Program<boolean> {
  if (!at.servers.manners.needsOpen || at.opened.has(place.store)) return true;
  at.opened.add(place.store);
  const label = at.opened.size === 1 ? 'open' : `open-${at.opened.size}`;
  const ask = { kind: 'open', key: place.key, value: null, adds: null } as const;
  const call = yield* request(at.self, storeCall(at, { ...place, id: 1, label }, ask));
  return call.reply?.kind === 'accepted';
}
