/**
 * What a client of a lock with fencing tokens does: think, take the lock, work under its grant with
 * the token attached, release.
 */
import { nameOf, under } from '../kernel/name.ts';
import type { ClientPlan } from '../plan/plan.ts';
import {
  answerOf,
  backOff,
  type LeaseEnd,
  type Program,
  request,
  type Self,
  sleep,
} from '../world/program.ts';
import { leaseEnd } from './lease.ts';
import { LockClient } from './lock-service/lock-client.ts';
import { lockCall, part, type Section, type Servers } from './section-calls.ts';
import { doWork } from './work.ts';

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

function* takeLock(at: Section): Program<boolean> {
  for (let attempt = 1; attempt <= at.plan.attempts; attempt += 1) {
    if (attempt > 1)
      yield* backOff(under(at.name, part('backoff', attempt - 1)), at.plan.backoffUs);
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
