/**
 * Judges `at-most-once` from the job starts and ends that programs report. A job that was
 * interrupted by a crash of its client counts as having run, but no longer as running. Two jobs
 * under one lock must never overlap, even if their ticks differ.
 */
import type { FaultInjected, Job } from '../core/history/events.ts';
import { entryOf } from '../core/kernel/entries.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, type Cause, causesIn, causesSince } from './evidence.ts';
import { isDenial } from './lock-keys.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import type { Breach, Findings } from './verdict.ts';

export const atMostOnce: Claim = defineClaim({
  name: 'at-most-once',
  about: 'a job runs at most once per tick, and no two runs overlap',
  source: 'Workiva, aws-lambda-fsm-workflows; ShedLock',
  hazard: 'second deliveries of a job: run again, skipped, or denied because the first had the key',
  needsNoLock: true,
  rules: ['ran-again', 'ran-at-once'],
  judge: judgeJobs,
});

type Rule = 'ran-again' | 'ran-at-once';

type Begun = Numbered<Job>;

interface Guarded {
  /** For each tick, the run that began first. */
  readonly first: Map<number, Begun>;
  /** Runs in progress, by section and grant. */
  readonly running: Map<string, Begun>;
  readonly delivered: Map<number, number>;
}

function judgeJobs(indexed: TraceIndex): Findings<Rule> {
  if (indexed.jobs.length === 0) return { exercised: 0 };
  const locks = new Map<string, Guarded>();
  let breach: Breach<Rule> | null = null;
  let index = -1;
  for (const event of indexed.trace.events) {
    index += 1;
    if (event.kind === 'fault') endRunsOf(locks, event);
    if (event.kind !== 'job') continue;
    const guarded = guardedBy(locks, event.lock);
    if (event.phase === 'end') guarded.running.delete(keyOf(event));
    else guarded.delivered.set(event.tick, (guarded.delivered.get(event.tick) ?? 0) + 1);
    if (event.phase === 'begin') breach ??= begin(indexed, guarded, { event, index });
  }
  let exercised = 0;
  for (const { delivered } of locks.values()) {
    for (const times of delivered.values()) if (times > 1) exercised++;
  }
  const sections = new Set(indexed.jobs.map(({ event }) => event.section));
  for (const { event } of indexed.keyChanges) {
    if (!isDenial(event) || indexed.probes.has(event.client)) continue;
    const [denied, holder] = [sectionOf(event.message), sectionOf(event.taking)];
    if (!sections.has(denied) && sections.has(holder)) exercised++;
  }
  return { exercised, breach };
}

function keyOf({ section, ordinal }: Job): string {
  return `${section} ${ordinal}`;
}

function guardedBy(locks: Map<string, Guarded>, lock: string): Guarded {
  return entryOf(locks, lock, () => ({
    first: new Map(),
    running: new Map(),
    delivered: new Map(),
  }));
}

function endRunsOf(locks: ReadonlyMap<string, Guarded>, fault: FaultInjected): void {
  if (fault.fault !== 'crash') return;
  for (const { running } of locks.values()) {
    for (const [key, { event }] of running) {
      if (fault.processes.includes(event.process)) running.delete(key);
    }
  }
}

function begin(indexed: TraceIndex, guarded: Guarded, later: Begun): Breach<Rule> | null {
  const { first, running } = guarded;
  const { tick } = later.event;
  const [rival] = running.values();
  const earlier = rival ?? first.get(tick);
  running.set(keyOf(later.event), later);
  if (!first.has(tick)) first.set(tick, later);
  if (earlier === undefined) return null;
  const rule = rival === undefined ? 'ran-again' : 'ran-at-once';
  return breachBetween(indexed, rule, earlier, later);
}

function breachBetween(
  indexed: TraceIndex,
  rule: Rule,
  earlier: Begun,
  later: Begun,
): Breach<Rule> {
  const lock = indexed.locks.get(later.event.lock);
  const grant = lock?.byNumber.get(earlier.event.ordinal);
  const next = lock?.byNumber.get(later.event.ordinal);
  return breachShown(
    rule,
    { 'earlier grant': grant, 'earlier run': earlier, 'later grant': next, 'later run': later },
    causes(indexed, { earlier, later, grant }),
  );
}

function causes(
  indexed: TraceIndex,
  runs: { readonly earlier: Begun; readonly later: Begun; readonly grant: GrantLog | undefined },
): readonly Cause[] {
  const { earlier, later, grant } = runs;
  if (grant !== undefined) return causesSince(indexed, grant, later);
  const { process, atUs } = earlier.event;
  const span = { processes: [process], message: '', fromUs: atUs };
  return causesIn(indexed, { ...span, before: later.index });
}
