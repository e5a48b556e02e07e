/**
 * Judges `mutual-exclusion` from the lock's side. A grant is live from its handling until its
 * request's departure + ttl − declared drift margin, until its own release is handled, or until the
 * same client acquires again; an effective renew prolongs it in the same way, and a grant without
 * end is live until released. One that its client took from a quorum is live no longer than that
 * client itself counts on it. Crashes, evictions, failovers, clock steps and the release of another
 * client do not end it.
 */
import type { Grant, Release, Renew } from '../core/history/server-events.ts';
import type { Enter, LeaseTest } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { listOf } from '../text/prose.ts';
import { type Claim, defineClaim } from './claim.ts';
import { unnotedAcquires } from './contention.ts';
import {
  breachShown,
  type Cause,
  causesIn,
  causesOfTaking,
  causesSince,
  reasonFor,
} from './evidence.ts';
import { at, type Contradiction, giverOf, reasonPhrase, type Sentences } from './explanation.ts';
import { isOwnGrant, isQuorumGrant } from './holders.ts';
import { entryPhrase, foreignKeyChange, judgeKeys, takingUnder } from './lock-keys.ts';
import type { GrantLog, LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const mutualExclusion: Claim = defineClaim({
  name: 'mutual-exclusion',
  about: 'no two grants of different acquisitions are live at once',
  source: 'Dijkstra (1965); for leases Gray and Cheriton (1989)',
  hazard: 'acquires handled while the grant of another client was live, or its section open',
  rules: {
    'granted-while-live': grantedWhileLive,
    'revived-while-live': revivedWhileLive,
    'overwrote-key': foreignKeyChange,
  },
  judge: (indexed, { driftPpm }) =>
    allOf<Rule | 'overwrote-key'>(
      inAll(indexed.locks.values(), (lock) => judgeLock(indexed, lock, driftPpm ?? 0)),
      judgeKeys(indexed, { overwritten: 'overwrote-key' }),
    ),
});

type Rule = 'granted-while-live' | 'revived-while-live';

/** A grant that has been neither released nor superseded by its own client. */
interface LeaseHold {
  readonly grant: GrantLog;
  readonly renewal: Numbered<Renew> | null;
  /** When the request left from which `endUs` is counted. */
  readonly sentAtUs: number;
  readonly endUs: number;
  /** A release by another client, which the service took for this grant's. */
  readonly foreign: Numbered<Release> | null;
}

function judgeLock(indexed: TraceIndex, lock: LockLog, driftPpm: number): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  const holds = new Map<number, LeaseHold>();
  const inside = new Set<string>();
  const count = (acquire: { readonly client: string; readonly atUs: number }): void => {
    // Between its entry and its leave.
    const isAnotherIn = inside.size > (inside.has(acquire.client) ? 1 : 0);
    if (isAnotherIn || rivalOf(holds, acquire) !== null) exercised++;
  };
  const unnoted = unnotedAcquires(indexed, lock);
  let counted = 0;
  const countUnnoted = (before: number): void => {
    for (let at = unnoted[counted]; at !== undefined && at.index < before; at = unnoted[counted]) {
      count(at);
      counted += 1;
    }
  };
  for (const { event, index } of lock.entries) {
    countUnnoted(index);
    switch (event.kind) {
      case 'deny':
        count(event);
        break;
      case 'grant': {
        endHoldsOf(holds, event.client);
        count(event);
        const rival = rivalOf(holds, event);
        const grant = lock.byNumber.get(event.ordinal);
        if (rival !== null) {
          breach ??= breachBetween(indexed, 'granted-while-live', rival, { later: grant, index });
        }
        if (grant !== undefined) {
          const { sentAtUs } = grant.event;
          const endUs = endOf(grant.event, driftPpm);
          holds.set(event.ordinal, { grant, renewal: null, sentAtUs, endUs, foreign: null });
        }
        break;
      }
      case 'renew': {
        const hold = holds.get(event.extended);
        if (hold === undefined) break;
        const rival = rivalOf(holds, event);
        const wasLive = hold.endUs > event.atUs;
        if (rival !== null && !wasLive && rival.grant !== hold.grant) {
          const later = { later: rival.grant, index, renewal: { event, index } };
          breach ??= breachBetween(indexed, 'revived-while-live', hold, later);
        }
        holds.set(event.extended, renewed(hold, { event, index }, driftPpm));
        break;
      }
      case 'enter':
        inside.add(event.process);
        shorten(holds, event);
        break;
      case 'lease-test':
        shorten(holds, event);
        break;
      case 'leave':
        inside.delete(event.process);
        break;
      case 'release':
        giveUp(holds, { event, index });
    }
  }
  countUnnoted(indexed.trace.events.length);
  return { exercised, breach };
}

/** A live grant of another client than the one that is being served. */
function rivalOf(
  holds: ReadonlyMap<number, LeaseHold>,
  { client, atUs }: { readonly client: string; readonly atUs: number },
): LeaseHold | null {
  for (const hold of holds.values()) {
    if (atUs < hold.endUs && hold.grant.event.client !== client) return hold;
  }
  return null;
}

function endHoldsOf(holds: Map<number, LeaseHold>, client: string): void {
  for (const [ordinal, { grant }] of holds) {
    if (grant.event.client === client) holds.delete(ordinal);
  }
}

/** A holder that was denied its release has given the lock up all the same. */
function giveUp(holds: Map<number, LeaseHold>, release: Numbered<Release>): void {
  const { client, under, released } = release.event;
  holds.delete(under);
  const touched = holds.get(released);
  if (touched === undefined) return;
  if (touched.grant.event.client === client) holds.delete(released);
  else holds.set(released, changed(touched, { foreign: release }));
}

/** Who took a lock from a quorum gives it up, unasked, when its own time of validity is over. */
function shorten(
  holds: Map<number, LeaseHold>,
  { ordinal, believedUntilUs }: Enter | LeaseTest,
): void {
  const hold = holds.get(ordinal);
  if (hold === undefined || !isQuorumGrant(hold.grant.event)) return;
  if (believedUntilUs >= hold.endUs) return;
  holds.set(ordinal, changed(hold, { endUs: believedUntilUs }));
}

/** A renew that left before the one last honoured never shortens what that one gave. */
function renewed(hold: LeaseHold, renewal: Numbered<Renew>, driftPpm: number): LeaseHold {
  const { sentAtUs } = renewal.event;
  const endUs = endOf(renewal.event, driftPpm);
  if (sentAtUs >= hold.sentAtUs) return changed(hold, { renewal, sentAtUs, endUs });
  return changed(hold, { endUs: Math.max(endUs, hold.endUs) });
}

/** Field by field, since a lease may be prolonged often. */
function changed(hold: LeaseHold, change: Partial<LeaseHold>): LeaseHold {
  const { renewal = hold.renewal, sentAtUs = hold.sentAtUs } = change;
  const { endUs = hold.endUs, foreign = hold.foreign } = change;
  return { grant: hold.grant, renewal, sentAtUs, endUs, foreign };
}

function endOf({ sentAtUs, ttlUs, untilUs }: Grant | Renew, driftPpm: number): number {
  if (untilUs === null) return Number.POSITIVE_INFINITY;
  return sentAtUs + ttlUs - Math.floor((ttlUs * driftPpm) / 1_000_000);
}

function breachBetween(
  indexed: TraceIndex,
  rule: Rule,
  earlier: LeaseHold,
  at: {
    readonly later: GrantLog | undefined;
    readonly index: number;
    readonly renewal?: Numbered<Renew>;
  },
): Breach<Rule> {
  const { grant, foreign } = earlier;
  const parts = {
    'earlier grant': grant,
    renewal: at.renewal ?? earlier.renewal,
    'foreign release': foreign,
    why: reasonFor(indexed, grant, at.later),
    'later grant': at.later,
    taking: takingUnder(at.later),
  };
  return breachShown(rule, parts, [
    ...causesOfRelease(indexed, foreign),
    ...causesSince(indexed, grant, at),
    ...causesOfTaking(indexed, { earlier: grant, later: at.later }),
  ]);
}

/** What made another client's release come when its own grant was over. */
function causesOfRelease(indexed: TraceIndex, release: Numbered<Release> | null): readonly Cause[] {
  if (release === null) return [];
  const { client, process, message, lock, under } = release.event;
  const fromUs = indexed.locks.get(lock)?.byNumber.get(under)?.event.sentAtUs ?? 0;
  const processes = [client, process];
  return causesIn(indexed, { processes, message, fromUs, before: release.index });
}

function grantedWhileLive(shown: Contradiction): Sentences {
  const earlier = shown.need('earlier grant', 'grant');
  const later = shown.need('later grant', 'grant');
  const foreign = shown.find('foreign release', 'release');
  const freed = foreign === undefined ? '' : `, and ${foreignPhrase(shown, foreign)}`;
  const counted = shown.find('renewal', 'renew') ?? earlier;
  const isOver = counted.untilUs !== null && counted.untilUs <= later.atUs;
  const letter = shown.letterOf(earlier.ordinal);
  // Where its client alone tells of a lease, the clock of that client ended it.
  const ender = isOwnGrant(earlier) ? `${earlier.client}'s clock` : giverOf(earlier);
  const live = isOver
    ? `${ender} had ended ${letter} at ${proseDuration(counted.untilUs)}, too early (${endPhrase(counted)})`
    : `${letter} was live (${endPhrase(counted)})`;
  const whose = isOver
    ? `before ${earlier.client}'s ttl was over`
    : `while ${earlier.client} held it`;
  const { client, lock } = later;
  const got = isOwnGrant(later)
    ? `${client} entered \`${lock}\``
    : `\`${lock}\` granted to ${client}`;
  return {
    headline: `${got} ${whose}`,
    next: `${deniedPhrase(shown)}${grantedPhrase(shown, later)} ${at(later)}`,
    however: `${live}${freed}${reasonPhrase(shown, later)}`,
  };
}

/** What came before a grant by another server than the one that had said no. */
function deniedPhrase(shown: Contradiction): string {
  const denial = shown.find('denial', 'deny');
  const log = shown.find('misreading', 'log');
  if (denial === undefined || log === undefined) return '';
  const { process, client } = denial;
  return `\`${process}\` denied ${client} ${at(denial)}, ${client} logged “${log.text}”, and `;
}

function foreignPhrase(shown: Contradiction, { client, under, atUs }: Release): string {
  const meant = `${client}'s release under ${shown.letterOf(under)}`;
  return `${meant}, handled at ${proseDuration(atUs)}, was not its holder's`;
}

/** The same of the grant: `\`lock\` granted B`, or `bob entered under B`. */
function grantedPhrase(shown: Contradiction, grant: Grant): string {
  const granted = `${giversOf(shown, grant)} granted ${shown.letterOf(grant.ordinal)}`;
  return entryPhrase(shown, grant) ?? granted;
}

/** The same, with the servers of a quorum that said yes in time: `a quorum (lock-1 and lock-3)`. */
function giversOf({ trace }: Contradiction, grant: Grant): string {
  if (!isQuorumGrant(grant)) return giverOf(grant);
  const asked = new Map<string, string>();
  const givers: string[] = [];
  for (const event of trace.events.slice(0, trace.events.indexOf(grant))) {
    if (event.atUs < grant.sentAtUs) continue;
    if (event.kind === 'send' && event.from === grant.client) {
      asked.set(event.message.replace(/\/\d+\/request$/, ''), event.to);
    }
    if (event.kind !== 'return' || event.answer?.kind !== 'granted') continue;
    const server = asked.get(event.operation);
    if (server !== undefined) givers.push(`\`${server}\``);
  }
  return givers.length === 0 ? 'a quorum' : `a quorum (${listOf(givers)})`;
}

function endPhrase({
  sentAtUs,
  atUs,
  ttlUs,
  untilUs,
  kind,
  process,
  client,
  message,
}: Grant | Renew): string {
  const isTaken = process === client && sentAtUs === atUs;
  if (untilUs === null && isTaken) return `${client} counted on it until its release`;
  if (untilUs === null) return 'it has no end but its release';
  const end = proseDuration(sentAtUs + ttlUs);
  if (isTaken) return `${client} counted on it until ${end}`;
  if (kind === 'renew' && message === '' && process !== client) {
    const promise = `\`${process}\` prolonged it at ${proseDuration(atUs)}`;
    return `${promise} of its own accord, to last until ${end}`;
  }
  const counted = kind === 'renew' ? 'counted from the renew' : 'counted from the request';
  return `${counted} that left at ${proseDuration(sentAtUs)} it lasts until ${end}`;
}

function revivedWhileLive(shown: Contradiction): Sentences {
  const earlier = shown.need('earlier grant', 'grant');
  const later = shown.need('later grant', 'grant');
  const renewal = shown.need('renewal', 'renew');
  const revived = `${shown.letterOf(earlier.ordinal)} was live again`;
  return {
    headline: `Expired grant of \`${later.lock}\` revived while ${later.client} held it`,
    next: `${grantedPhrase(shown, later)} ${at(later)}`,
    however: `${renewal.client}'s renew was handled ${at(renewal)} and ${revived}`,
  };
}
