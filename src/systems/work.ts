/** What a client does under its grant, step by step. */
import { assert } from '../kernel/assert.ts';
import { under } from '../kernel/name.ts';
import type { Work } from '../plan/plan.ts';
import { answerOf, type Program, request, send, sleep } from '../world/program.ts';
import { runJob } from './job.ts';
import { leaseIsLive } from './lease.ts';
import { type Place, part, type Section, storeCall } from './section-calls.ts';

/** Does one step; false when the section must stop because the lease is over or lost. */
export function* doWork(at: Section, work: Work): Program<boolean> {
  switch (work.kind) {
    case 'compute':
      yield* sleep(under(at.name, part('compute', work.id)), work.forUs);
      return true;
    case 'renew':
      return yield* at.driver.renew(at, work);
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
    case 'job':
      return yield* runJob(at, work);
    case 'lock':
      assert(at.driver.also !== undefined, 'this lock cannot be taken beside another');
      return yield* at.driver.also(at, work);
    case 'memoize':
      // Its section does it instead: a memoize takes the lock itself.
      return true;
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
