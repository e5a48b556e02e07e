/**
 * Judges `progress`. After healing a probe asks for each lock: it is granted within 2 × ttl + slack
 * of its first try, sends the write that its section has, and the first write that it sends to a
 * store is accepted. And at no time does a store refuse the holder of the latest grant while the
 * lock service still holds that lease. Refusing what comes again, or after a later-issued write of
 * the same grant, is right and no such refusal, as is one that a rule of the table demands: there
 * is nothing left in stock. And no circle of clients that wait for one another
 * stays (`deadlock.ts`).
 *
 * Exercised: locks that a probe asked for, circles, and accesses handled under a live latest grant.
 */
import { accessBreach } from './access-breach.ts';
import { causesSince } from './causes.ts';
import { type Breach, conclude, evidenceOf, type Findings, type Part } from './conclude.ts';
import { examineDeadlocks } from './deadlock.ts';
import { isHeldAt } from './lease-end.ts';
import { isCarriedOut } from './repeats.ts';
import type { Access, Entry, GrantLog, LockLog, OperationLog, Place, Survey } from './survey.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

/** "After healing, a fresh client is granted the lock … the rightful holder is not refused." */
export function progress(survey: Survey, terms: Terms): Verdict {
  let { exercised, breach } = examineDeadlocks(survey);
  const probes = examineProbes(survey, terms);
  exercised += probes.exercised;
  breach ??= probes.breach;
  for (const place of survey.places) {
    const findings = examinePlace(survey, place);
    exercised += findings.exercised;
    breach ??= findings.breach;
  }
  return conclude('progress', { exercised, breach });
}

/** The first try of a probe to take a lock. */
interface Asked {
  readonly operation: OperationLog;
  readonly lock: string;
}

function examineProbes(survey: Survey, terms: Terms): Findings {
  let exercised = 0;
  let breach: Breach | null = null;
  if (survey.probes.size === 0) return { exercised, breach };
  const seen = new Set<string>();
  const written = resourcesWrittenByProbes(survey);
  for (const operation of survey.operations.values()) {
    const { process, call } = operation.invoke.event;
    if (!survey.probes.has(process)) continue;
    if (call.verb === 'acquire') {
      if (seen.has(call.lock)) continue;
      seen.add(call.lock);
      exercised++;
      const asked = { operation, lock: call.lock };
      breach ??= breachOfWaiting(survey, terms, asked);
      const isPlanned = terms.probeWrites.has(call.lock) && !written.has(call.lock);
      if (isPlanned) breach ??= breachOfNotWriting(survey, asked);
    } else if (call.verb === 'write') {
      const target = `${call.store}/${call.resource}`;
      if (!seen.has(target)) breach ??= breachOfFirstWrite(survey, operation);
      seen.add(target);
    }
  }
  return { exercised, breach };
}

function breachOfWaiting(survey: Survey, terms: Terms, asked: Asked): Breach | null {
  const { event: first, index } = asked.operation.invoke;
  const deadlineUs = first.atUs + 2 * terms.ttlUs + terms.slackUs;
  const lock = survey.locks.get(asked.lock) ?? ownLockOf(survey, first.process);
  const grant = lock?.grants.find(({ event }) => event.client === first.process);
  if (grant !== undefined && grant.event.atUs <= deadlineUs) return null;
  const endUs = survey.trace.events.at(-1)?.atUs ?? 0;
  if (grant === undefined && !survey.isComplete && endUs <= deadlineUs) return null;
  const denial = lock === undefined ? undefined : lastDenialOf(lock, first.process);
  return {
    rule: grant === undefined ? 'probe-not-granted' : 'probe-granted-late',
    evidence: evidenceOf([
      ['first try', { index }],
      ['holder grant', lock?.byOrdinal.get(denial?.holderOrdinal ?? 0)],
      ['denial', denial],
      ['grant', grant],
      ...causesOfHolding(survey, lock?.byOrdinal.get(denial?.holderOrdinal ?? 0), index),
    ]),
  };
}

/** The lock that a client takes itself, whatever its servers call what it asks them for. */
function ownLockOf(survey: Survey, client: string): LockLog | undefined {
  return [...survey.locks.values()].find(({ grants }) =>
    grants.some(({ event }) => event.client === client && event.process === client),
  );
}

/** A lock and the resource that it guards have the same name. */
function resourcesWrittenByProbes(survey: Survey): ReadonlySet<string> {
  const written = new Set<string>();
  for (const { invoke } of survey.operations.values()) {
    const { process, call } = invoke.event;
    if (call.verb === 'write' && survey.probes.has(process)) written.add(call.resource);
  }
  return written;
}

/** A probe that was granted its lock and never sent the write for which it asked. */
function breachOfNotWriting(survey: Survey, asked: Asked): Breach | null {
  const { event: first, index } = asked.operation.invoke;
  const grants = survey.locks.get(asked.lock)?.grants ?? [];
  const grant = grants.findLast(({ event }) => event.client === first.process);
  if (grant === undefined || !survey.isComplete) return null;
  return {
    rule: 'probe-did-not-write',
    evidence: evidenceOf([
      ['first try', { index }],
      ['grant', grant],
    ]),
  };
}

/** What kept a holder from giving its lock back. */
function causesOfHolding(
  survey: Survey,
  grant: GrantLog | undefined,
  before: number,
): readonly Part[] {
  return grant === undefined ? [] : causesSince(survey, grant, { index: before });
}

function lastDenialOf(
  lock: LockLog,
  client: string,
): { readonly index: number; readonly holderOrdinal: number } | undefined {
  const denial = lock.entries.findLast(
    ({ event }) => event.kind === 'deny' && event.client === client,
  );
  if (denial?.event.kind !== 'deny') return undefined;
  return { index: denial.index, holderOrdinal: denial.event.holderOrdinal };
}

/** Refused for its value: the store would have refused it from anybody. */
function isForbidden({ refusal }: Access): boolean {
  return refusal?.kind === 'check';
}

/** What came of the first write that a probe sent to a store. */
function breachOfFirstWrite(survey: Survey, operation: OperationLog): Breach | null {
  const { event: invoke, index } = operation.invoke;
  if (isCarriedOut(survey, operation)) return null;
  for (const place of survey.places) {
    for (const access of place.accesses) {
      if (access.event.operation !== invoke.operation) continue;
      if (access.event.isAccepted || isForbidden(access.event)) return null;
      return refusal(survey, 'probe-refused', { place, refused: access });
    }
  }
  if (!survey.isComplete) return null;
  return { rule: 'probe-unheard', evidence: evidenceOf([['first write', { index }]]) };
}

function examinePlace(survey: Survey, place: Place): Findings {
  let exercised = 0;
  let breach: Breach | null = null;
  const lastIssue = new Map<number, number>();
  for (const access of place.accesses) {
    const { event, index, latest } = access;
    const isRightful = latest !== null && event.under === latest.event.ordinal;
    if (!isRightful || !isHeldAt(latest, { index, atUs: event.atUs })) continue;
    exercised++;
    const newest = lastIssue.get(event.under) ?? 0;
    if (event.isAccepted) lastIssue.set(event.under, Math.max(newest, event.issue));
    else if (event.issue > newest && !isForbidden(event)) {
      breach ??= refusal(survey, 'holder-refused', { place, refused: access });
    }
  }
  return { exercised, breach };
}

/** A refusal that should not have been, with the access that the store went by. */
function refusal(
  survey: Survey,
  rule: string,
  { place, refused }: { readonly place: Place; readonly refused: Entry<Access> },
): Breach {
  const before = place.accesses.filter(
    ({ event, index }) => index < refused.index && event.isAccepted && event.kind === 'write',
  );
  const highest = before.findLast(({ event }) => event.token >= refused.event.token);
  return accessBreach(survey, rule, {
    accesses: [
      ['earlier access', highest ?? before.at(-1)],
      ['refused access', refused],
    ],
    late: null,
  });
}
