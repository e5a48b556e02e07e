/** What the probe does, the fresh client that comes after healing to see what still works. */
import type { Plan, SectionPlan, Work } from './plan.ts';

/** Larger than any value that a workload writes, so that the probe's write is told apart. */
const PROBE_VALUE = 1_000_000_000;

/** The steps of which a probe does the like. */
const PROBED: ReadonlySet<Work['kind']> = new Set([
  'write',
  'read',
  'increment',
  'transfer',
  'memoize',
]);

/** It takes each lock of the plan once and does a first step of the work that the lock guards. */
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

/** The locks under which the probe has a write to send. */
export function locksProbedByWriting(plan: Pick<Plan, 'clients'>): ReadonlySet<string> {
  const writing = new Set<string>();
  for (const { lock, work } of probeSections(plan)) if (work.length > 0) writing.add(lock);
  return writing;
}

/**
 * Reads what the others left behind, then writes: as one increment or transfer where they do so
 * too. Where they memoize it does not: it would find the value and never ask for the lock.
 */
function probing(work: Work): readonly Work[] {
  if (work.kind === 'transfer') {
    const { kind, from, to, key, amount } = work;
    return [{ kind, id: 1, from, to, key, amount }];
  }
  if (work.kind === 'increment') {
    // It adds one whatever the others take: there may be nothing left to take.
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
