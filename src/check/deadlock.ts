/**
 * The part of `progress` that is about circles: where clients wait for one another, and none of
 * them gives back what the one before it wants, nobody in the circle goes on.
 *
 * Exercised: circles that a lock service found.
 */
import type { Deadlock } from '../history/trace.ts';
import { causesSince } from './causes.ts';
import { evidenceOf, type Findings } from './conclude.ts';
import { isReleasedBefore } from './lease-end.ts';
import type { GrantLog, Numbered, Survey } from './survey.ts';

/** Judges every circle that a lock service told of; one that stays until the end is a breach. */
export function examineDeadlocks(survey: Survey): Findings {
  let exercised = 0;
  for (const [index, event] of survey.trace.events.entries()) {
    if (event.kind !== 'deadlock') continue;
    exercised++;
    const grants = event.waits.map(({ lock }) => holderAt(survey, lock, index));
    if (!survey.isComplete || !grants.every((grant) => staysHeld(survey, grant))) continue;
    const breach = { rule: 'deadlock', evidence: evidence(survey, { event, index }, grants) };
    return { exercised, breach };
  }
  return { exercised, breach: null };
}

/** The grant by which a lock was held when the circle closed. */
function holderAt(survey: Survey, lock: string, index: number): GrantLog | undefined {
  return survey.locks.get(lock)?.grants.findLast((grant) => grant.index < index);
}

/** Whether a grant is its lock's last and was never given back. */
function staysHeld(survey: Survey, grant: GrantLog | undefined): grant is GrantLog {
  if (grant === undefined) return false;
  const isLast = survey.locks.get(grant.event.lock)?.grants.at(-1) === grant;
  return isLast && !isReleasedBefore(grant, Number.POSITIVE_INFINITY);
}

function evidence(
  survey: Survey,
  deadlock: Numbered<Deadlock>,
  grants: readonly (GrantLog | undefined)[],
): ReturnType<typeof evidenceOf> {
  const held = grants.filter((grant) => grant !== undefined);
  return evidenceOf([
    ...held.map((grant) => ['holder grant', grant] as const),
    ['circle', deadlock],
    ...held.flatMap((grant) => causesSince(survey, grant, deadlock)),
  ]);
}
