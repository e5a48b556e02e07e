/**
 * The part of `progress` that is about circles: where clients wait for one another, and none of
 * them gives back what the one before it wants, nobody in the circle goes on.
 *
 * Exercised: circles that a lock service found.
 */
import type { Deadlock } from '../core/history/trace.ts';
import { causesSince } from './causes.ts';
import { evidenceOf, type Findings } from './conclude.ts';
import type { GrantLog, Numbered, Survey } from './survey.ts';

/** Judges every circle that a lock service told of; one that stays until the end is a breach. */
export function examineDeadlocks(survey: Survey): Findings {
  let exercised = 0;
  for (const [index, event] of survey.trace.events.entries()) {
    if (event.kind !== 'deadlock') continue;
    exercised++;
    const grants = holdersIn(survey, { event, index });
    if (!survey.isComplete || !grants.every((grant) => staysHeld(survey, grant, index))) continue;
    const breach = { rule: 'deadlock', evidence: evidence(survey, { event, index }, grants) };
    return { exercised, breach };
  }
  return { exercised, breach: null };
}

/**
 * The grants by which the locks were held as the circle closed. Whose they are the event says: a
 * server that failed over may have forgotten the latest grant, and the release before it.
 */
function holdersIn(
  survey: Survey,
  { event: { waits }, index }: Numbered<Deadlock>,
): readonly (GrantLog | undefined)[] {
  return waits.map(({ lock }, place) => {
    const holder = waits[(place + 1) % waits.length]?.client;
    return survey.locks
      .get(lock)
      ?.grants.findLast((grant) => grant.index < index && grant.event.client === holder);
  });
}

/** Whether, once the circle had closed, its lock was neither given back nor granted anew. */
function staysHeld(survey: Survey, grant: GrantLog | undefined, closed: number): grant is GrantLog {
  if (grant === undefined) return false;
  const grants = survey.locks.get(grant.event.lock)?.grants ?? [];
  const isAnew = grants.some(({ index }) => index > closed);
  const isGivenBack = grant.changes.some(
    ({ event, index }) => event.kind === 'release' && index > closed,
  );
  return !isAnew && !isGivenBack;
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
