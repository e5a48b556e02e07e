/**
 * Judges `lease-conservative` whenever a holder says when it takes its lease to end: as it enters,
 * and at each test of its lease that it passes. A clock fault beyond the declared skew or drift, on
 * the holder or on its lock service, takes what follows out of the claim's terms: it is not
 * compared.
 *
 * Exercised: the ends that were compared with the service's.
 */
import type { Enter, LeaseTest } from '../core/history/trace.ts';
import { causesSince } from './causes.ts';
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import { serversOf } from './grant-servers.ts';
import { actualEndUs } from './lease-end.ts';
import type { Entry, GrantLog, LockLog, Numbered, Survey } from './survey.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

type Belief = Enter | LeaseTest;

/** "The holder's own idea of the end of its lease is never later than the service's." */
export function leaseConservative(survey: Survey, terms: Terms): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  const excused = excusedFrom(survey, terms);
  for (const lock of survey.locks.values()) {
    for (const entry of lock.entries) {
      const { event, index } = entry;
      if (event.kind !== 'enter' && event.kind !== 'lease-test') continue;
      if (event.kind === 'lease-test' && !event.isLive) continue;
      const grant = lock.byOrdinal.get(event.ordinal);
      if (grant === undefined) continue;
      if (isExcused(excused, event.process, index)) continue;
      if (serversOf(survey, grant.event).some((name) => isExcused(excused, name, index))) continue;
      const endUs = actualEndUs(lock, grant, index);
      if (endUs === Number.POSITIVE_INFINITY) continue;
      exercised++;
      const belief = { event, index, latest: entry.latest };
      const rule = ruleBroken(belief, { endUs, grant });
      if (rule !== null) breach ??= breachAt(survey, rule, { lock, grant, belief });
    }
  }
  return conclude('lease-conservative', { exercised, breach });
}

/** By process: the number of the event from which its clock is worse than was promised. */
function excusedFrom(survey: Survey, terms: Terms): ReadonlyMap<string, number> {
  const excused = new Map<string, number>();
  const offsets = new Map<string, number>();
  for (const { event, index } of survey.faults) {
    if (event.fault !== 'clock') continue;
    for (const process of event.processes) {
      const isRate = event.target === 'rate';
      const offsetUs = (offsets.get(process) ?? 0) + (isRate ? 0 : event.amount);
      offsets.set(process, offsetUs);
      const isBeyond = isRate
        ? Math.abs(event.amount) > (terms.driftPpm ?? Number.POSITIVE_INFINITY)
        : Math.abs(offsetUs) > (terms.skewUs ?? Number.POSITIVE_INFINITY);
      if (isBeyond && !excused.has(process)) excused.set(process, index);
    }
  }
  return excused;
}

function isExcused(excused: ReadonlyMap<string, number>, process: string, index: number): boolean {
  return index > (excused.get(process) ?? Number.POSITIVE_INFINITY);
}

/** At the very instant of the end a holder is wrong only when its successor was there already. */
function ruleBroken(
  { event, latest }: Entry<Belief>,
  { endUs, grant }: { readonly endUs: number; readonly grant: GrantLog },
): string | null {
  if (event.kind === 'lease-test') {
    if (event.atUs > endUs) return 'live-past-end';
    if (event.atUs === endUs && latest !== grant) return 'live-at-end';
  }
  return event.believedUntilUs > endUs ? 'believes-longer' : null;
}

function breachAt(
  survey: Survey,
  rule: string,
  shown: { readonly lock: LockLog; readonly grant: GrantLog; readonly belief: Numbered<Belief> },
): Breach {
  const { lock, grant, belief } = shown;
  const { index } = belief;
  const renewal = grant.changes.findLast(
    (change) => change.event.kind === 'renew' && change.index < index,
  );
  const successor = lock.grants.find((other) => other.index > grant.index && other.index < index);
  return {
    rule,
    evidence: evidenceOf([
      ['grant', grant],
      ['renewal', renewal],
      ['successor', successor],
      ['belief', belief],
      ...causesSince(survey, grant, belief),
    ]),
  };
}
