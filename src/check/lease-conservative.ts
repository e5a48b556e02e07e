/**
 * Judges `lease-conservative` whenever a holder says when it takes its lease to end: as it enters,
 * and at each test of its lease that it passes. A clock fault beyond the declared skew or drift, on
 * the holder or on its lock service, takes what follows out of the claim's terms: it is not
 * compared. A program that says no end counts on its lease until it leaves. Where no server reports
 * its grants or keys, a program that takes the lock after another shows that the server had ended
 * the lease; what the holder itself says of that end shows nothing.
 */
import type { Enter, Grant, KeyChange, LeaseTest, Leave, Renew } from '../core/history/events.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesSince } from './evidence.ts';
import { at, type Contradiction, giverOf, type Sentences } from './explanation.ts';
import { isQuorumGrant } from './holders.ts';
import {
  actualEndUs,
  areRivals,
  couldOutlast,
  isGivenBack,
  serversOf,
  serviceEndUs,
} from './leases.ts';
import { granteePhrase, takingUnder } from './lock-keys.ts';
import type { Terms } from './terms.ts';
import type { GrantLog, LockLog, LogEntry, Numbered, TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

export const leaseConservative: Claim = defineClaim({
  name: 'lease-conservative',
  about: 'the holder never counts on its lease for longer than the service does',
  source: 'Gray and Cheriton, Leases (1989)',
  hazard: 'entries and tests of a lease, live or over, whose end at the server is known',
  rules: {
    'believes-longer': believesLonger,
    'left-past-end': leftTooLate,
    'live-past-end': liveTooLate,
    'live-at-end': liveTooLate,
  },
  judge: (indexed, terms) => {
    const excused = excusedFrom(indexed, terms);
    return inAll(indexed.locks.values(), (lock) => judgeLock(indexed, lock, excused));
  },
});

type Rule = 'believes-longer' | 'left-past-end' | 'live-past-end' | 'live-at-end';

type ViewEvent = Enter | LeaseTest | Leave;

/** Beyond any run: the end of a lease of which its program knows none. */
const NEVER_US = 1e15;

function judgeLock(
  indexed: TraceIndex,
  lock: LockLog,
  excused: ReadonlyMap<string, number>,
): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  const endless = new Set<number>();
  let outlasts: boolean | null = null;
  const couldEnd = (): boolean => {
    outlasts ??= couldOutlast(indexed, lock);
    return outlasts;
  };
  for (const { event, index, latest } of lock.entries) {
    if (event.kind !== 'enter' && event.kind !== 'lease-test' && event.kind !== 'leave') continue;
    const grant = lock.byNumber.get(event.ordinal);
    if (grant === undefined) continue;
    if (event.kind === 'enter' && event.believedUntilUs > NEVER_US) endless.add(event.ordinal);
    const isWithoutEnd = grant.keys !== null && endless.has(event.ordinal);
    if (isWithoutEnd !== (event.kind === 'leave')) continue;
    const concerned = [event.process, ...serversOf(indexed, grant.event)];
    if (concerned.some((name) => index > (excused.get(name) ?? Number.POSITIVE_INFINITY))) continue;
    const endUs = actualEndUs(lock, grant, index);
    if (endUs === Number.POSITIVE_INFINITY) continue;
    // That no lease ends before its holder leaves shows nothing if none could.
    const isTested = event.kind !== 'leave' || event.atUs > endUs || couldEnd();
    if (isTested && isKnown(lock, grant, { event, index })) exercised++;
    if (event.kind === 'lease-test' && !event.isLive) continue;
    const view = { event, index, latest };
    const rule = isGivenBack(grant, index) ? null : ruleBroken(view, { endUs, grant });
    if (rule !== null) breach ??= breachAt(indexed, rule, { lock, grant, view });
  }
  return { exercised, breach };
}

/** Whether anybody but the holder has shown when its lease ends at the server. */
function isKnown(lock: LockLog, grant: GrantLog, { event, index }: Numbered<ViewEvent>): boolean {
  if (!isQuorumGrant(grant.event) || grant.keys !== null || event.kind === 'leave') return true;
  if (serviceEndUs(grant, index) !== event.believedUntilUs) return true;
  const hasFollowed = (other: GrantLog) => other.index > grant.index && other.index < index;
  return lock.grants.some((other) => hasFollowed(other) && areRivals(grant, other));
}

/** By process: the number of the event from which its clock is worse than was promised. */
function excusedFrom(indexed: TraceIndex, terms: Terms): ReadonlyMap<string, number> {
  const excused = new Map<string, number>();
  const offsets = new Map<string, number>();
  for (const { event, index } of indexed.faults) {
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

/** At the very instant of the end a holder is wrong only when its successor was there already. */
function ruleBroken(
  { event, latest }: LogEntry<ViewEvent>,
  { endUs, grant }: { readonly endUs: number; readonly grant: GrantLog },
): Rule | null {
  if (event.kind === 'lease-test') {
    if (event.atUs > endUs) return 'live-past-end';
    if (event.atUs === endUs && latest !== grant) return 'live-at-end';
  }
  if (event.kind === 'leave') return event.atUs > endUs ? 'left-past-end' : null;
  return event.believedUntilUs > endUs ? 'believes-longer' : null;
}

function breachAt(
  indexed: TraceIndex,
  rule: Rule,
  shown: { readonly lock: LockLog; readonly grant: GrantLog; readonly view: Numbered<ViewEvent> },
): Breach<Rule> {
  const { lock, grant, view } = shown;
  const { index } = view;
  const renewal = grant.changes.findLast(
    (change) => change.event.kind === 'renew' && change.index < index,
  );
  const successor = lock.grants.find((other) => other.index > grant.index && other.index < index);
  const causes = causesSince(indexed, grant, view);
  const taking = takingUnder(successor);
  const key = grant.keys?.ends.findLast((end) => end.index < index)?.change;
  return breachShown(rule, { grant, renewal, key, successor, taking, belief: view }, causes);
}

function believesLonger(shown: Contradiction): Sentences {
  const view = shown.need('belief', 'enter', 'lease-test');
  const claim = `counted on it until ${proseDuration(view.believedUntilUs)}`;
  return endTooLate(shown, `${at(view)} ${view.process} ${claim}`);
}

function leftTooLate(shown: Contradiction): Sentences {
  const view = shown.need('belief', 'leave');
  return endTooLate(shown, `${view.process} was inside until ${proseDuration(view.atUs)}`);
}

function liveTooLate(shown: Contradiction): Sentences {
  const view = shown.need('belief', 'enter', 'lease-test');
  return endTooLate(shown, `${view.process} found ${at(view)} that its lease was live`);
}

/** The service's end of a lease against the holder's. */
function endTooLate(shown: Contradiction, claim: string): Sentences {
  const grant = shown.need('grant', 'grant');
  const view = shown.need('belief', 'enter', 'lease-test', 'leave');
  const renewal = shown.find('renewal', 'renew');
  const key = shown.find('key', 'key-change');
  const successor = shown.find('successor', 'grant');
  const letter = shown.letterOf(grant.ordinal);
  const until = renewal === undefined ? grant.untilUs : renewal.untilUs;
  const next = successor && `${granteePhrase(shown, successor)} ${at(successor)}`;
  const ended =
    until === null
      ? undefined
      : `${giverOf(grant)} ends ${letter} at ${proseDuration(until)}${shortPhrase(renewal ?? grant)}`;
  const end = key === undefined ? ended : keyEndPhrase(key, letter);
  return {
    headline: `${view.process} counts on \`${grant.lock}\` longer than ${giverOf(grant)} does`,
    next: [end, next].filter((part) => part !== undefined).join(', and '),
    however: claim,
  };
}

/** `\`lock\` keeps \`db\` for A until 23 ms`, or what another client did to it. */
function keyEndPhrase(change: KeyChange, letter: string): string {
  const { process, key, client, untilUs, change: what } = change;
  if (what === 'taken' || what === 'prolonged') {
    return `\`${process}\` keeps \`${key}\` for ${letter} until ${proseDuration(untilUs ?? 0)}`;
  }
  if (what === 'lost') return `\`${process}\` lost \`${key}\` of ${letter} ${at(change)}`;
  const did = what === 'removed' ? 'removed' : 'overwrote';
  return `${client} ${did} \`${key}\` of ${letter} ${at(change)}`;
}

/** `, before its ttl of 1.52 s is over`, where a server keeps a lease for much less than asked. */
function shortPhrase({ atUs, ttlUs, untilUs, process, client }: Grant | Renew): string {
  const keptUs = (untilUs ?? Number.POSITIVE_INFINITY) - atUs;
  const isAsAsked = keptUs >= ttlUs - ttlUs / 5;
  return isAsAsked || process === client
    ? ''
    : `, before its ttl of ${proseDuration(ttlUs)} is over`;
}
