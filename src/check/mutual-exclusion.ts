/**
 * Judges `mutual-exclusion` from the lock's side. A grant is live from its handling until its
 * request's departure + ttl − declared drift margin, until its own release is handled, or until the
 * same client acquires again; an effective renew prolongs it in the same way, and a grant without
 * end is live until released. One that its client took from a quorum is live no longer than that
 * client itself counts on it. Crashes, evictions, failovers, clock steps and the release of another
 * client do not end it.
 *
 * Exercised: acquires handled, granted or denied, while another client's grant was live.
 */
import type { Grant, Release, Renew } from '../core/history/server-events.ts';
import type { Enter, LeaseTest } from '../core/history/trace.ts';
import { causesIn, causesSince } from './causes.ts';
import { causesOfTaking } from './causes-of-taking.ts';
import { type Breach, conclude, evidenceOf, type Part } from './conclude.ts';
import { isQuorumGrant } from './grant-servers.ts';
import type { GrantLog, LockLog, Numbered, Survey } from './survey.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

/** "No two grants of different acquisitions are live at once." */
export function mutualExclusion(survey: Survey, terms: Terms): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const lock of survey.locks.values()) {
    const findings = examine(survey, lock, terms.driftPpm ?? 0);
    exercised += findings.exercised;
    breach ??= findings.breach;
  }
  return conclude('mutual-exclusion', { exercised, breach });
}

/** A grant that has been neither released nor superseded by its own client. */
interface Tenure {
  readonly grant: GrantLog;
  readonly renewal: Numbered<Renew> | null;
  /** When the request left from which `endUs` is counted. */
  readonly sentAtUs: number;
  readonly endUs: number;
  /** A release by another client, which the service took for this grant's. */
  readonly foreign: Numbered<Release> | null;
}

function examine(
  survey: Survey,
  lock: LockLog,
  driftPpm: number,
): { readonly exercised: number; readonly breach: Breach | null } {
  let exercised = 0;
  let breach: Breach | null = null;
  const tenures = new Map<number, Tenure>();
  for (const { event, index } of lock.entries) {
    switch (event.kind) {
      case 'deny':
        if (rivalOf(tenures, event) !== null) exercised++;
        break;
      case 'grant': {
        endTenuresOf(tenures, event.client);
        const rival = rivalOf(tenures, event);
        const grant = lock.byOrdinal.get(event.ordinal);
        if (rival !== null) {
          exercised++;
          breach ??= breachBetween(survey, 'granted-while-live', rival, { later: grant, index });
        }
        if (grant !== undefined) tenures.set(event.ordinal, tenureFrom(grant, driftPpm));
        break;
      }
      case 'renew': {
        const tenure = tenures.get(event.extended);
        if (tenure === undefined) break;
        const rival = rivalOf(tenures, event);
        const wasLive = tenure.endUs > event.atUs;
        if (rival !== null && !wasLive && rival.grant !== tenure.grant) {
          const later = { later: rival.grant, index, renewal: { event, index } };
          breach ??= breachBetween(survey, 'revived-while-live', tenure, later);
        }
        tenures.set(event.extended, renewed(tenure, { event, index }, driftPpm));
        break;
      }
      case 'enter':
      case 'lease-test':
        shorten(tenures, event);
        break;
      case 'release':
        giveUp(tenures, { event, index });
    }
  }
  return { exercised, breach };
}

/** A live grant of another client than the one that is being served. */
function rivalOf(
  tenures: ReadonlyMap<number, Tenure>,
  { client, atUs }: { readonly client: string; readonly atUs: number },
): Tenure | null {
  for (const tenure of tenures.values()) {
    if (atUs < tenure.endUs && tenure.grant.event.client !== client) return tenure;
  }
  return null;
}

function endTenuresOf(tenures: Map<number, Tenure>, client: string): void {
  for (const [ordinal, { grant }] of tenures) {
    if (grant.event.client === client) tenures.delete(ordinal);
  }
}

/** A holder that was denied its release has given the lock up all the same. */
function giveUp(tenures: Map<number, Tenure>, release: Numbered<Release>): void {
  const { client, under, released } = release.event;
  tenures.delete(under);
  const touched = tenures.get(released);
  if (touched === undefined) return;
  if (touched.grant.event.client === client) tenures.delete(released);
  else tenures.set(released, { ...touched, foreign: release });
}

/** Who took a lock from a quorum gives it up, unasked, when its own time of validity is over. */
function shorten(
  tenures: Map<number, Tenure>,
  { ordinal, believedUntilUs }: Enter | LeaseTest,
): void {
  const tenure = tenures.get(ordinal);
  if (tenure === undefined || !isQuorumGrant(tenure.grant.event)) return;
  tenures.set(ordinal, { ...tenure, endUs: Math.min(tenure.endUs, believedUntilUs) });
}

function tenureFrom(grant: GrantLog, driftPpm: number): Tenure {
  const { sentAtUs } = grant.event;
  const endUs = endOf(grant.event, driftPpm);
  return { grant, renewal: null, sentAtUs, endUs, foreign: null };
}

/** A renew that left before the one last honoured never shortens what that one gave. */
function renewed(tenure: Tenure, renewal: Numbered<Renew>, driftPpm: number): Tenure {
  const { sentAtUs } = renewal.event;
  const endUs = endOf(renewal.event, driftPpm);
  if (sentAtUs >= tenure.sentAtUs) return { ...tenure, renewal, sentAtUs, endUs };
  return { ...tenure, endUs: Math.max(endUs, tenure.endUs) };
}

function endOf({ sentAtUs, ttlUs, untilUs }: Grant | Renew, driftPpm: number): number {
  if (untilUs === null) return Number.POSITIVE_INFINITY;
  return sentAtUs + ttlUs - Math.floor((ttlUs * driftPpm) / 1_000_000);
}

function breachBetween(
  survey: Survey,
  rule: string,
  earlier: Tenure,
  at: {
    readonly later: GrantLog | undefined;
    readonly index: number;
    readonly renewal?: Numbered<Renew>;
  },
): Breach {
  return {
    rule,
    evidence: evidenceOf([
      ['earlier grant', earlier.grant],
      ['renewal', at.renewal ?? earlier.renewal],
      ['foreign release', earlier.foreign],
      ['later grant', at.later],
      ...causesOfRelease(survey, earlier.foreign),
      ...causesSince(survey, earlier.grant, at),
      ...causesOfTaking(survey, { earlier: earlier.grant, later: at.later }),
    ]),
  };
}

/** What made another client's release come when its own grant was over. */
function causesOfRelease(survey: Survey, release: Numbered<Release> | null): readonly Part[] {
  if (release === null) return [];
  const { client, process, message, lock, under } = release.event;
  const fromUs = survey.locks.get(lock)?.byOrdinal.get(under)?.event.sentAtUs ?? 0;
  const processes = [client, process];
  return causesIn(survey, { processes, message, fromUs, before: release.index });
}
