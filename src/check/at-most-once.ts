/**
 * Judges `at-most-once` from the jobs that programs say they begin and end. A job that its client's
 * crash cut short has run, and runs no longer. Whatever the occurrence, two bodies under one lock
 * never run at the same time.
 *
 * Exercised: occurrences of a job that were delivered more than once: begun again, or skipped.
 */
import type { FaultStrikes, Job } from '../core/history/trace.ts';
import { causesIn, causesSince } from './causes.ts';
import { type Breach, conclude, evidenceOf, type Part } from './conclude.ts';
import type { GrantLog, Numbered, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

type Begun = Numbered<Job>;

/** The jobs of one lock. */
interface Guarded {
  /** By tick: the run that began first. */
  readonly first: Map<number, Begun>;
  /** By section: the runs that go on. */
  readonly running: Map<string, Begun>;
  readonly delivered: Map<number, number>;
}

/** "The guarded body runs at most once per tick, never twice at the same time." */
export function atMostOnce(survey: Survey): Verdict {
  const locks = new Map<string, Guarded>();
  let breach: Breach | null = null;
  let index = -1;
  for (const event of survey.trace.events) {
    index += 1;
    if (event.kind === 'fault') endRunsOf(locks, event);
    if (event.kind !== 'job') continue;
    const guarded = guardedBy(locks, event.lock);
    if (event.phase === 'end') guarded.running.delete(event.section);
    else guarded.delivered.set(event.tick, (guarded.delivered.get(event.tick) ?? 0) + 1);
    if (event.phase === 'begin') breach ??= begin(survey, guarded, { event, index });
  }
  let exercised = 0;
  for (const { delivered } of locks.values()) {
    for (const times of delivered.values()) if (times > 1) exercised++;
  }
  return conclude('at-most-once', { exercised, breach });
}

function guardedBy(locks: Map<string, Guarded>, lock: string): Guarded {
  const known = locks.get(lock);
  if (known !== undefined) return known;
  const fresh: Guarded = { first: new Map(), running: new Map(), delivered: new Map() };
  locks.set(lock, fresh);
  return fresh;
}

function endRunsOf(locks: ReadonlyMap<string, Guarded>, fault: FaultStrikes): void {
  if (fault.fault !== 'crash') return;
  for (const { running } of locks.values()) {
    for (const [section, { event }] of running) {
      if (fault.processes.includes(event.process)) running.delete(section);
    }
  }
}

function begin(survey: Survey, guarded: Guarded, later: Begun): Breach | null {
  const { first, running } = guarded;
  const { tick, section } = later.event;
  const [rival] = running.values();
  const earlier = rival ?? first.get(tick);
  running.set(section, later);
  if (!first.has(tick)) first.set(tick, later);
  if (earlier === undefined) return null;
  const rule = rival === undefined ? 'ran-again' : 'ran-at-once';
  return { rule, evidence: evidenceOf(parts(survey, earlier, later)) };
}

function parts(survey: Survey, earlier: Begun, later: Begun): readonly Part[] {
  const lock = survey.locks.get(later.event.lock);
  const grant = lock?.byOrdinal.get(earlier.event.ordinal);
  return [
    ['earlier grant', grant],
    ['earlier run', earlier],
    ['later grant', lock?.byOrdinal.get(later.event.ordinal)],
    ['later run', later],
    ...causes(survey, { earlier, later, grant }),
  ];
}

/** The faults that struck whoever ran first, since it asked for its grant. */
function causes(
  survey: Survey,
  runs: { readonly earlier: Begun; readonly later: Begun; readonly grant: GrantLog | undefined },
): readonly Part[] {
  const { earlier, later, grant } = runs;
  if (grant !== undefined) return causesSince(survey, grant, later);
  const { process, atUs } = earlier.event;
  return causesIn(survey, { processes: [process], message: '', fromUs: atUs, before: later.index });
}
