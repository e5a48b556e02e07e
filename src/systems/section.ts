/**
 * What every client does, whatever its lock: think, take the lock, work under its grant with the
 * token attached, release. How a lock is taken and given back, its protocol's driver knows.
 */
import { nameOf, under } from '../core/kernel/name.ts';
import type { ClientPlan } from '../core/plan/plan.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import { type Program, type Self, sleep } from '../core/world/program.ts';
import { memoize } from './memoize.ts';
import { underLock } from './scope.ts';
import type { Section, Servers } from './section-calls.ts';
import { doWork } from './work.ts';

/** The program of a client: its sections one after the other, from the `from`-th on. */
export function* sections(
  self: Self,
  from: number,
  { plan, role, servers }: { plan: ClientPlan; role: 'client' | 'probe'; servers: Servers },
): Program<void> {
  const driver = servers.driverOf(plan, role);
  const root = nameOf(plan.name);
  for (const section of plan.sections.slice(from)) {
    self.beginSection();
    const name = under(root, String(section.id));
    const end: LeaseEnd = { clock: 'monotonic', us: 0 };
    const versions = servers.manners.hasVersions ? new Map<string, number>() : null;
    const opened = new Set<string>();
    const unanswered: Section['unanswered'] = [];
    yield* runSection({
      self,
      plan,
      section,
      name,
      driver,
      servers,
      unanswered,
      opened,
      versions,
      end,
    });
  }
  driver.finish?.(self);
}

function* runSection(at: Section): Program<void> {
  yield* sleep(under(at.name, 'think'), at.section.thinkUs);
  const [only] = at.section.work;
  if (only?.kind === 'memoize') yield* memoize(at, only);
  else yield* underLock(at, () => doAll(at));
}

/** The steps of a section, up to the first that is refused; then it is false. */
export function* doAll(at: Section): Program<boolean> {
  for (const work of at.section.work) {
    const goesOn = yield* doWork(at, work);
    if (!goesOn) return false;
  }
  return true;
}
