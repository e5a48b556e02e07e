/**
 * What every client does, whatever its lock: think, take the lock, work under its grant with the
 * token attached, release. How a lock is taken and given back, its protocol's driver knows.
 */
import { nameOf, under } from '../kernel/name.ts';
import type { ClientPlan } from '../plan/plan.ts';
import {
  answerOf,
  backOff,
  type LeaseEnd,
  type Program,
  type Self,
  sleep,
} from '../world/program.ts';
import { part, type Section, type Servers } from './section-calls.ts';
import { doWork } from './work.ts';

/** The program of a client: its sections one after the other, from the `from`-th on. */
export function* sections(
  self: Self,
  from: number,
  plan: ClientPlan,
  servers: Servers,
): Program<void> {
  const driver = servers.driverOf(plan);
  const root = nameOf(plan.name);
  for (const section of plan.sections.slice(from)) {
    self.beginSection();
    const name = under(root, String(section.id));
    const end: LeaseEnd = { clock: 'monotonic', us: 0 };
    const parts = { self, plan, section, name, driver, servers, end };
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
  if (at.plan.releases) yield* at.driver.release(at);
}

function* takeLock(at: Section): Program<boolean> {
  for (let attempt = 1; attempt <= at.plan.attempts; attempt += 1) {
    if (attempt > 1)
      yield* backOff(under(at.name, part('backoff', attempt - 1)), at.plan.backoffUs);
    if (yield* at.driver.acquire(at, attempt)) return true;
  }
  return false;
}
