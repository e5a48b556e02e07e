/** The work of a client under its grant, step by step. */
import { assert } from '../core/kernel/assert.ts';
import { under } from '../core/kernel/name.ts';
import type { Work } from '../core/plan/plan.ts';
import { answerOf, type Program, sleep } from '../core/world/program.ts';
import { leaseIsLive } from './lease.ts';
import type { Change, JobStep, Section } from './protocol.ts';
import {
  type AccessPlace,
  askStore,
  carriedToken,
  conditionOf,
  labelOf,
  part,
  sendToStore,
} from './section-calls.ts';

/** Does one step. Returns false if the section must stop. */
export function* doWork(at: Section, work: Work): Program<boolean> {
  switch (work.kind) {
    case 'compute':
      yield* sleep(under(at.name, part('compute', work.id)), work.forUs);
      return true;
    case 'renew':
      return at.driver.renew === undefined ? false : yield* at.driver.renew(at, work);
    case 'read':
      return (yield* read(at, placeOf(work, 'read'))) !== null;
    case 'write':
      if (at.driver.change !== undefined) {
        return yield* at.driver.change(at, changeOf(work, PLAIN, { value: work.value }));
      }
      return yield* write(at, placeOf(work, 'write'), {
        value: work.value,
        adds: null,
        awaits: work.awaits,
      });
    case 'increment': {
      const { by: adds = 1 } = work;
      if (at.driver.change !== undefined) {
        return yield* at.driver.change(at, changeOf(work, PLAIN, { adds }));
      }
      const value = yield* read(at, placeOf(work, 'read'));
      if (value === null) return false;
      return yield* write(at, placeOf(work, 'write'), { value: value + adds, adds, awaits: true });
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
      // `section.ts` handles a memoize.
      return true;
  }
}

const PLAIN: Change['labels'] = { read: 'read', write: 'write' };
const FROM: Change['labels'] = { read: 'read-from', write: 'write-from' };
const TO: Change['labels'] = { read: 'read-to', write: 'write-to' };

type Kept = Pick<AccessPlace, 'id' | 'store' | 'key'>;

/** Returns the target of one operation of a step. */
export function placeOf({ id, store, key }: Kept, label: string): AccessPlace {
  return { id, label, store, key };
}

function changeOf({ id, store, key }: Kept, labels: Change['labels'], by: Change['by']): Change {
  return { id, store, key, labels, by };
}

function* transfer(at: Section, work: Extract<Work, { kind: 'transfer' }>): Program<boolean> {
  const { id, key, amount } = work;
  const from = { id, key, store: work.from };
  const to = { id, key, store: work.to };
  const [less, more] = [0 - amount, amount];
  if (at.driver.change !== undefined) {
    const isTaken = yield* at.driver.change(at, changeOf(from, FROM, { adds: less }));
    return isTaken && (yield* at.driver.change(at, changeOf(to, TO, { adds: more })));
  }
  const source = yield* read(at, placeOf(from, FROM.read));
  if (source === null) return false;
  const target = yield* read(at, placeOf(to, TO.read));
  if (target === null) return false;
  const taken = { value: source + less, adds: less, awaits: true };
  if (!(yield* write(at, placeOf(from, FROM.write), taken))) return false;
  return yield* write(at, placeOf(to, TO.write), {
    value: target + more,
    adds: more,
    awaits: true,
  });
}

/** Returns the value read, or null if the read was refused or not answered. */
export function* read(at: Section, place: AccessPlace): Program<number | null> {
  if (!(yield* open(at, place))) return null;
  return yield* look(at, place);
}

/** Reads without announcing a token first, for reads without a lock. */
export function* look(at: Section, place: AccessPlace): Program<number | null> {
  const ask = { kind: 'read', key: place.key, value: null, adds: null } as const;
  const call = yield* askStore(at, place, ask);
  if (call.reply?.kind !== 'value') return null;
  const { value, version } = call.reply;
  if (version !== undefined) at.versions?.set(versionName(place), version);
  return value;
}

interface Put {
  readonly value: number;
  /** The increment over the value read, or null if the write is not an increment. */
  readonly adds: number | null;
  /** True if the section waits for the answer before it continues. */
  readonly awaits: boolean;
  /** False skips the lease test, regardless of `checksLease`. */
  readonly testsLease?: false;
}

/** Returns false if the write was refused, or prevented by the lease test or a fence check. */
export function* write(at: Section, place: AccessPlace, put: Put): Program<boolean> {
  const { value, adds, awaits, testsLease = at.plan.checksLease } = put;
  if (!(yield* open(at, place))) return false;
  if (testsLease && !(yield* leaseIsLive(at))) return false;
  if (at.servers.requirements.comparesItself && !(yield* passesFence(at, place))) return false;
  if (at.driver.beforeWrite !== undefined) yield* at.driver.beforeWrite(at, labelOf(place));
  const { key } = place;
  const condition = conditionOf(at, put, { version: takeVersion(at, place), once: null });
  const ask = { kind: 'write', key, value, adds, condition } as const;
  const call = yield* sendToStore(at, place, ask);
  if (!awaits) {
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

function versionName({ store, key }: AccessPlace): string {
  return JSON.stringify([store, key]);
}

/** Returns the expected version for a write, and forgets it until the write is answered. */
function takeVersion({ versions }: Section, place: AccessPlace): number | null | undefined {
  if (versions === null) return undefined;
  const name = versionName(place);
  const version = versions.get(name);
  versions.delete(name);
  return version;
}

/** Returns whether the client's token is at least the store's highest token. */
function* passesFence(at: Section, place: AccessPlace): Program<boolean> {
  const ask = { kind: 'fence', key: place.key, value: null, adds: null } as const;
  const asking = placeOf(place, place.label.replace('write', 'fence'));
  const call = yield* askStore(at, asking, ask);
  return call.reply?.kind === 'value' && carriedToken(at) >= call.reply.value;
}

/** Announces the token, once per section, to a store that requires it. Returns false if refused. */
function* open(at: Section, place: AccessPlace): Program<boolean> {
  if (!at.servers.requirements.needsOpen || at.opened.has(place.store)) return true;
  at.opened.add(place.store);
  const label = at.opened.size === 1 ? 'open' : `open-${at.opened.size}`;
  const { store, key } = place;
  const ask = { kind: 'open', key, value: null, adds: null } as const;
  const call = yield* askStore(at, { id: 1, label, store, key }, ask);
  return call.reply?.kind === 'accepted';
}

/** Runs one occurrence of a job, unless it has run already. */
function* runJob(at: Section, work: JobStep): Program<boolean> {
  const { driver } = at;
  const job = { section: at.name, lock: at.section.lock, tick: work.tick };
  if (driver.claimJob !== undefined && !(yield* driver.claimJob(at, work))) {
    at.self.job('skip', job);
    return true;
  }
  at.self.job('begin', job);
  yield* sleep(under(at.name, part('job', work.id)), work.forUs);
  at.self.job('end', job);
  if (driver.finishJob !== undefined) yield* driver.finishJob(at, work);
  return true;
}
