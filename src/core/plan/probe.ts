/** The work of the probe, a fresh client that tests each lock after the world has healed. */
import type { Plan, SectionPlan, Work } from './plan.ts';

/** Larger than any value that a workload writes, to identify the probe's write. */
const PROBE_VALUE = 1_000_000_000;

/** Kinds of steps that a probe imitates. */
const PROBED: ReadonlySet<Work['kind']> = new Set([
  'write',
  'read',
  'increment',
  'transfer',
  'memoize',
]);

/** Returns one section per lock, similar to the plan's first section with that lock. */
export function probeSections(plan: Pick<Plan, 'clients'>): readonly SectionPlan[] {
  const byLock = new Map<string, SectionPlan>();
  for (const client of plan.clients) {
    for (const section of client.sections) {
      if (byLock.has(section.lock)) continue;
      const work = section.work.find((step) => PROBED.has(step.kind));
      byLock.set(section.lock, {
        id: byLock.size + 1,
        thinkUs: 0,
        lock: section.lock,
        work: work === undefined ? [] : probing(work),
      });
    }
  }
  return [...byLock.values()];
}

/** Returns the locks under which the probe writes. */
export function locksProbedByWriting(plan: Pick<Plan, 'clients'>): ReadonlySet<string> {
  const writing = new Set<string>();
  for (const { lock, work } of probeSections(plan)) if (work.length > 0) writing.add(lock);
  return writing;
}

/**
 * Returns a read and a write, but keeps an increment or transfer as one step. A memoize is
 * replaced, because it would find the value and not request the lock.
 */
function probing(work: Work): readonly Work[] {
  if (work.kind === 'transfer') {
    const { kind, from, to, key, amount } = work;
    return [{ kind, id: 1, from, to, key, amount }];
  }
  if (work.kind === 'increment') {
    // Adds 1 even if others subtract: there may be nothing left to subtract.
    const { kind, store, key } = work;
    return [{ kind, id: 1, store, key }];
  }
  if (work.kind !== 'write' && work.kind !== 'read' && work.kind !== 'memoize') return [];
  const { store, key } = work;
  return [
    { kind: 'read', id: 1, store, key },
    { kind: 'write', id: 1, store, key, value: PROBE_VALUE, awaits: true },
  ];
}
