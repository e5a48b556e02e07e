/** Describes breaches of the rules about locks. */
import type {
  Deadlock,
  Deny,
  EventOf,
  Grant,
  KeyChange,
  Release,
  Renew,
} from '../core/history/events.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { countOf, listOf } from '../text/prose.ts';
import type { LockRule } from './claim.ts';
import type { Contradiction, Sentences, Words } from './explanation.ts';
import { isClientGrant, isQuorumGrant } from './holders.ts';
import { endBefore, serversThatGranted } from './leases.ts';
import { actorOf, keptUntil, takerOf } from './lock-keys.ts';
import { lossesOf } from './loss-noticed.ts';
import { handledAtUs } from './messages.ts';
import { at, entryPhrase, giverOf, granteePhrase, holdersOf, reasonPhrase } from './phrases.ts';
import { keepingOf } from './stuck.ts';

export const LOCK_RULES: Readonly<Record<LockRule, Words>> = {
  'believes-longer': believesLonger,
  'both-believe': bothBelieve,
  deadlock,
  'foreign-key-removal': nonOwnerKeyChange,
  'foreign-key-renewal': nonOwnerKeyChange,
  'foreign-release': nonOwnerRelease,
  'foreign-renewal': nonOwnerRenewal,
  'granted-while-live': grantedWhileLive,
  'left-past-end': leftTooLate,
  'live-at-end': liveTooLate,
  'live-past-end': liveTooLate,
  'loss-unnoticed': lossUnnoticed,
  'orphan-denies': orphanDenies,
  'orphan-key-denies': orphanKeyDenies,
  'overwrote-key': nonOwnerKeyChange,
  'probe-granted-late': probeWaited,
  'probe-not-granted': probeWaited,
  'renewed-foreign-key': nonOwnerKeyChange,
  'renewed-successor': nonOwnerRenewal,
  'revived-lease': revivedLease,
  'revived-while-live': revivedWhileLive,
  'token-changed': tokenChanged,
  'token-not-higher': (shown) => tokenStory(shown, 'Token did not increase', 'not above'),
  'token-shared': (shown) => tokenStory(shown, 'Token issued twice', 'the same as'),
  'undid-release': undidRelease,
};

function tokenStory(shown: Contradiction, headline: string, phrase: string): Sentences {
  const earlier = shown.need('earlier grant', 'grant');
  const later = shown.need('later grant', 'grant');
  const [one, other] = [shown.letterOf(earlier.ordinal), shown.letterOf(later.ordinal)];
  const takings = takingsPhrase(shown);
  const whose = takings === null ? 'its token' : `the token of ${other}`;
  return {
    headline: `${headline} for \`${later.lock}\``,
    next: takings ?? `${granteePhrase(shown, later)} after ${one}, ${at(later)}`,
    however: `${whose} is ${later.token}, ${phrase} that of ${one}, ${earlier.token}${reasonPhrase(shown, later)}`,
  };
}

/** Describes when each of two clients took the key, or returns null if no evidence shows it. */
function takingsPhrase(shown: Contradiction): string | null {
  const first = shown.find('earlier taking', 'key-change');
  const second = shown.find('later taking', 'key-change');
  if (first === undefined || second === undefined) return null;
  const [one, other] = (['earlier grant', 'later grant'] as const).map((role) =>
    shown.letterOf(shown.need(role, 'grant').ordinal),
  );
  const before = `${first.client} took \`${first.key}\` ${at(first)} and entered under ${one}`;
  return `${before}, and ${second.client} took it ${at(second)} and entered under ${other}`;
}

function tokenChanged(shown: Contradiction): Sentences {
  const grant = shown.need('grant', 'grant');
  const renewal = shown.need('renewal', 'renew');
  return {
    headline: `Token of \`${grant.lock}\` changed by a renew`,
    next: `${shown.letterOf(grant.ordinal)} was given token ${grant.token} ${at(grant)}`,
    however: `the renew ${at(renewal)} gave it token ${renewal.token}`,
  };
}

function probeWaited(shown: Contradiction): Sentences {
  const first = shown.need('first try', 'invoke');
  const key = shown.find('key kept', 'key-change');
  if (key !== undefined) {
    return {
      headline: `\`${key.key}\` is not granted to a fresh client after healing`,
      next: `${first.process} requested it from ${at(first).slice(3)} on`,
      however: `it never entered, because ${key.holder} had taken \`${key.key}\`${key.untilUs === null ? ' without an end' : ''}${keepingPhrase(shown, key)}`,
    };
  }
  const grant = shown.find('grant', 'grant');
  const holder = shown.find('holder grant', 'grant');
  const denial = shown.find('denial', 'deny');
  const lock = 'lock' in first.call ? first.call.lock : '';
  const end = grant === undefined ? 'was never granted it' : `was granted it only ${at(grant)}`;
  const kept = shown.find('last renewal', 'renew');
  const renewed = kept?.untilUs
    ? `, renewed ${at(kept)} to last until ${proseDuration(kept.untilUs)}`
    : '';
  const who =
    holder === undefined
      ? ''
      : `, because ${shown.letterOf(holder.ordinal)} held it${keepingPhrase(shown, holder, renewed)}`;
  const verb = denial?.waits === true ? 'queued' : 'last denied';
  const denied = denial === undefined ? '' : `, ${verb} ${at(denial)}${who}`;
  const given = grant === undefined ? 'not granted' : 'granted late';
  return {
    headline: `\`${lock}\` is ${given} to a fresh client after healing`,
    next: `${first.process} requested \`${lock}\` from ${at(first).slice(3)} on`,
    however: `it ${end}${denied}`,
  };
}

function deadlock(shown: Contradiction): Sentences {
  const circle = shown.need('circle', 'deadlock');
  return {
    headline: deadlockHeadline(circle.waits.map(({ lock }) => lock)),
    next: circlePhrase(circle),
    however: `the cycle closed ${at(circle)}, and no client released its lock`,
  };
}

function deadlockHeadline(locks: readonly string[]): string {
  const whom = ['itself', 'the other'][locks.length - 1] ?? 'the next';
  const names = locks.map((lock) => `\`${lock}\``);
  return `Deadlock over ${names.join(' and ')}: each waits for ${whom}`;
}

/** Describes a circle of sections, each of which holds what another one waits for. */
export function circleSentences(
  shown: Contradiction,
  held: readonly (Grant | KeyChange)[],
): Sentences {
  const denials = shown.findAll('denial', 'deny', 'key-change');
  const links = held.map((one) => {
    const denial = denials.find(({ client }) => client === one.client) ?? one;
    return `${heldPhrase(one)} and waits for \`${nameOf(denial)}\``;
  });
  const however = 'none of their sections ended, although the world had healed';
  return { headline: deadlockHeadline(held.map(nameOf)), next: links.join('; '), however };
}

function nameOf(event: Grant | Deny | KeyChange): string {
  return event.kind === 'key-change' ? event.key : event.lock;
}

export function heldPhrase(held: Grant | KeyChange): string {
  return `${held.client} has held \`${nameOf(held)}\` since ${proseDuration(held.atUs)}`;
}

/** Example: `, renewed 33 times, last at 354 ms; its section had failed at 11 ms`; or `last`. */
export function keepingPhrase(
  shown: Contradiction,
  held: Grant | KeyChange,
  last?: string,
): string {
  const { renewals, lastUs, end } = keepingOf(shown.indexed, held);
  const times = countOf(renewals, 'time');
  const all = renewals === 0 ? '' : `, renewed ${times}, last at ${proseDuration(lastUs)}`;
  const renewed = last ?? all;
  if (end === null || end.kind === 'open') return renewed;
  const how = { failed: 'failed', returned: 'ended', crashed: 'crashed' }[end.kind];
  return `${renewed}; its section had ${how} at ${proseDuration(end.atUs)}`;
}

/** Example: `alice waits for b, held by bob, who waits for a, held by alice`. */
function circlePhrase({ waits }: Deadlock): string {
  const links = waits.map(({ client, lock }, place) => {
    const holder = waits[(place + 1) % waits.length]?.client ?? '';
    return `${place === 0 ? client : 'who'} waits for ${lock}, held by ${holder}`;
  });
  return links.join(', ');
}

function grantedWhileLive(shown: Contradiction): Sentences {
  const earlier = shown.need('earlier grant', 'grant');
  const later = shown.need('later grant', 'grant');
  const renewal = shown.find('renewal', 'renew');
  const isTaken = renewal?.client !== earlier.client && shown.isProven(renewal);
  const change = isTaken ? renewal : shown.find('foreign release', 'release');
  const ended = shown.find('key end', 'key-change') ?? shown.find('foreign release', 'key-change');
  const freed =
    change !== undefined
      ? `, and ${nonOwnerPhrase(shown, change)}`
      : ended === undefined
        ? ''
        : `, and ${ended.client || ended.process} had ${ended.change} \`${ended.key}\` ${at(ended)}`;
  const counted = renewal ?? earlier;
  const isOver = counted.untilUs !== null && counted.untilUs <= later.atUs;
  const letter = shown.letterOf(earlier.ordinal);
  // If only the client reports a lease, the client's clock ended it.
  const ender = isClientGrant(earlier) ? `${earlier.client}'s clock` : giverOf(earlier);
  const live = isOver
    ? `${ender} had ended ${letter} too early, at ${proseDuration(counted.untilUs)} (${endPhrase(counted)})`
    : `${letter} was live (${endPhrase(counted)})`;
  const [holder, taker] = holdersOf(shown.trace, earlier, later);
  const whose = isOver ? `before ${holder}'s ttl was over` : `while ${holder} held it`;
  const { lock } = later;
  const got = isClientGrant(later)
    ? `${taker} entered \`${lock}\``
    : `\`${lock}\` granted to ${taker}`;
  return {
    headline: `${got} ${whose}`,
    next: `${deniedPhrase(shown)}${grantedPhrase(shown, later)} ${at(later)}`,
    however: `${live}${freed}${reasonPhrase(shown, later)}`,
  };
}

function deniedPhrase(shown: Contradiction): string {
  const denial = shown.find('denial', 'deny');
  const log = shown.find('misreading', 'log');
  if (denial === undefined || log === undefined) return '';
  const { process, client } = denial;
  return `\`${process}\` denied ${client} ${at(denial)}, ${client} logged “${log.text}”, and `;
}

function nonOwnerPhrase(shown: Contradiction, change: Renew | Release): string {
  const { client, kind, under, atUs } = change;
  return `${client}'s ${kind} under ${shown.letterOf(under)}, handled at ${proseDuration(atUs)}, was not its holder's`;
}

/** Example: `\`lock\` granted B`, or `bob entered under B`. */
function grantedPhrase(shown: Contradiction, grant: Grant): string {
  const granted = `${giversOf(shown, grant)} granted ${shown.letterOf(grant.ordinal)}`;
  return entryPhrase(shown, grant) ?? granted;
}

/** Like `giverOf`, with the servers of a quorum that agreed: `a quorum (lock-1 and lock-3)`. */
function giversOf({ trace }: Contradiction, grant: Grant): string {
  if (!isQuorumGrant(grant)) return giverOf(grant);
  const givers = serversThatGranted(trace, grant).map((server) => `\`${server}\``);
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
    return `\`${process}\` extended it at ${proseDuration(atUs)} until ${end}, without a request`;
  }
  const counted = kind === 'renew' ? 'counted from the renew' : 'counted from the request';
  return `${counted}, sent at ${proseDuration(sentAtUs)}, it lasts until ${end}`;
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

function revivedLease(shown: Contradiction): Sentences {
  const { lock, ordinal } = shown.need('grant', 'grant');
  const renewal = shown.need('renewal', 'renew', 'key-change');
  const endUs = endBefore(shown.indexed, ordinal, renewal);
  const how = shown.find('release', 'release') === undefined ? '' : ', when it was released';
  return {
    headline: `Lease of \`${lock}\` brought back by a renewal after its end`,
    next: `${shown.letterOf(ordinal)} ended at ${proseDuration(endUs)}${how}`,
    however: `${renewal.client} brought it back ${at(renewal)}`,
  };
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

/** Example: `\`lock\` keeps \`db\` for A until 23 ms`, or another client's change of the key. */
function keyEndPhrase(change: KeyChange, letter: string): string {
  const { process, key, client, untilUs, change: what } = change;
  if (what === 'taken' || what === 'prolonged') {
    return `\`${process}\` keeps \`${key}\` for ${letter} until ${proseDuration(untilUs ?? 0)}`;
  }
  if (what === 'lost') return `\`${process}\` lost \`${key}\` of ${letter} ${at(change)}`;
  const did = what === 'removed' ? 'removed' : 'overwrote';
  return `${client} ${did} \`${key}\` of ${letter} ${at(change)}`;
}

/** Returns `, before its ttl of 1.52 s is over` if a server keeps a lease for much less. */
function shortPhrase({ atUs, ttlUs, untilUs, process, client }: Grant | Renew): string {
  const keptUs = (untilUs ?? Number.POSITIVE_INFINITY) - atUs;
  const isAsAsked = keptUs >= ttlUs - ttlUs / 5;
  return isAsAsked || process === client
    ? ''
    : `, before its ttl of ${proseDuration(ttlUs)} is over`;
}

function bothBelieve(shown: Contradiction): Sentences {
  const earlier = shown.need('earlier entry', 'enter');
  const later = shown.need('later entry', 'enter');
  const isOne = earlier.process === later.process;
  const [one, other] = isOne ? [earlier.section, later.section] : [earlier.process, later.process];
  const before = `before ${one} had left`;
  return {
    headline: `${one} and ${other} both believed to hold \`${later.lock}\``,
    next: sectionPhrase(shown, earlier),
    however: `${sectionPhrase(shown, later)}, ${before}`,
  };
}

/** `bob entered `bob/2` at 12 ms, although its lease, … had ended at 10 ms by its own count`. */
function sectionPhrase(shown: Contradiction, entry: EventOf<'enter'>): string {
  const entered = `${entry.process} entered \`${entry.section}\` ${at(entry)}`;
  // The lease was still valid by the client's own count.
  if (entry.believedUntilUs > entry.atUs) return entered;
  const grant = shown.grants.find(({ ordinal }) => ordinal === entry.ordinal);
  const asked = grant === undefined ? '' : `, asked for at ${proseDuration(grant.sentAtUs)},`;
  const end = `had ended at ${proseDuration(entry.believedUntilUs)}`;
  return `${entered}, although its lease${asked} ${end} by its own count`;
}

function lossUnnoticed(shown: Contradiction): Sentences {
  const entry = shown.need('entry', 'enter');
  const grant = shown.need('grant', 'grant');
  const notice = shown.find('notice', 'leave', 'lease-test', 'return');
  const { indexed } = shown;
  const lock = indexed.locks.get(entry.lock);
  const losses = lock === undefined ? [] : lossesOf(indexed, lock);
  const loss = losses.find((one) => one.entry.event === entry);
  const lost = proseDuration(loss?.lostUs ?? 0);
  const known = notice === undefined ? 'until the end of the run' : `until ${at(notice).slice(3)}`;
  return {
    headline: `${entry.process} lost \`${entry.lock}\` and did not notice`,
    next: `${giverOf(grant)} no longer held ${shown.letterOf(grant.ordinal)} from ${lost} on`,
    however: `${entry.process} counted on it ${known}`,
  };
}

const DEEDS = {
  taken: ['Lock', 'taken', 'took'],
  removed: ['Lock', 'released', 'removed'],
  prolonged: ['Lease of', 'extended', 'extended'],
  overwritten: ['Lock', 'overwritten', 'overwrote'],
  lost: ['Lock', 'lost', 'lost'],
  untracked: ['Lock', 'rewritten', 'rewrote'],
} as const;

/** Describes a breach that `judgeKeys` found. */
function nonOwnerKeyChange(shown: Contradiction): Sentences {
  const change = shown.need('change', 'key-change');
  const earlier = shown.find('own taking', 'key-change');
  const taking = shown.find('taking', 'key-change');
  const { key, message } = change;
  const [doer, holder] = [actorOf(change), takerOf(change)];
  const [what, done, did] = DEEDS[change.change];
  const had = earlier === undefined ? '' : keptText(shown, earlier, change);
  const who = earlier === undefined ? doer : `${doer}, who had it ${had},`;
  const taken = taking === undefined ? 'had' : 'took';
  const when = taking === undefined ? '' : ` ${at(taking)}${endText(taking)}`;
  const command = operationOf(message).split('/').at(-1) ?? '';
  return {
    headline: `${what} \`${key}\` ${done} by ${doer} while ${holder} held it`,
    next: `${holder} ${taken} \`${key}\`${when}`,
    however: `${who} ${did} it ${at(change)} by \`${command}\``,
  };
}

function keptText({ indexed, trace }: Contradiction, taking: KeyChange, change: KeyChange): string {
  const { untilUs, ended } = keptUntil(indexed, taking, trace.events.indexOf(change));
  const from = `from ${proseDuration(taking.atUs)}`;
  if (untilUs === null) return from;
  const until = proseDuration(untilUs);
  if (ended?.change !== 'removed') return `${from} until ${until}${ended ? '' : ' at most'}`;
  const whose = ended.client === taking.client ? 'its release' : `${ended.client}'s release`;
  return `${from} until ${whose} at ${until}`;
}

function endText({ untilUs }: KeyChange): string {
  return untilUs === null ? '' : `, until ${proseDuration(untilUs)}`;
}

function nonOwnerRelease(shown: Contradiction): Sentences {
  const release = shown.need('release', 'release');
  const meant = `${release.client}'s release under ${shown.letterOf(release.under)}`;
  const ended = `ended ${shown.letterOf(release.released)}`;
  return {
    headline: `\`${release.lock}\` released by ${release.client}, who no longer held it`,
    next: touchedPhrase(shown),
    however: `${meant} was handled ${at(release)} and ${ended}`,
  };
}

function nonOwnerRenewal(shown: Contradiction): Sentences {
  const renewal = shown.need('renewal', 'renew');
  const meant = `${renewal.client}'s renew under ${shown.letterOf(renewal.under)}`;
  const extended = `extended ${shown.letterOf(renewal.extended)}`;
  return {
    headline: `Lease of \`${renewal.lock}\` extended by ${renewal.client}, who no longer held it`,
    next: touchedPhrase(shown),
    however: `${meant} was handled ${at(renewal)} and ${extended}`,
  };
}

function touchedPhrase(shown: Contradiction): string {
  const touched = shown.find('grant touched', 'grant');
  if (touched === undefined) return 'the lock was granted again';
  return `${granteePhrase(shown, touched)} ${at(touched)}`;
}

function undidRelease(shown: Contradiction): Sentences {
  const release = shown.need('release', 'release');
  const renewal = shown.need('renewal', 'renew');
  const letter = shown.letterOf(release.released);
  const sent = `${renewal.client}'s renew, sent at ${proseDuration(renewal.sentAtUs)},`;
  return {
    headline: `Release of \`${release.lock}\` undone by a renew`,
    next: `${letter} was released ${at(release)}`,
    however: `${sent} was handled ${at(renewal)} and extended ${letter}`,
  };
}

function orphanDenies(shown: Contradiction): Sentences {
  const grant = shown.need('grant', 'grant');
  const unanswered = shown.need('unanswered', 'return');
  const denial = shown.need('denial', 'deny');
  const letter = shown.letterOf(grant.ordinal);
  const whose = denial.client === grant.client ? 'its own client' : denial.client;
  return {
    headline: `\`${grant.lock}\` withheld from ${whose} by a grant that ${grant.client} never learned of`,
    next: `${grant.client} stopped waiting for the answer ${at(unanswered)}, and did not release ${letter}`,
    however: `${denial.client} was denied \`${denial.lock}\` ${at(denial)} because of ${letter}`,
  };
}

function orphanKeyDenies(shown: Contradiction): Sentences {
  const taking = shown.need('taking', 'key-change');
  const unanswered = shown.need('unanswered', 'return');
  const asked = shown.need('asked', 'invoke');
  const denial = shown.need('denial', 'return');
  const { client, key, message, untilUs } = taking;
  const until = untilUs === null ? 'without an end' : `until ${proseDuration(untilUs)}`;
  const deniedAt = at({ atUs: handledAtUs(shown.trace, denial) });
  const isSameClient = asked.process === client;
  const whose = isSameClient ? 'its own client' : asked.process;
  // In the section that got no answer, the client or its driver sends the command again.
  const again = sectionOf(asked.operation) === sectionOf(message) ? 'sent it again' : 'asked again';
  const did = isSameClient ? again : 'asked';
  const by = isSameClient ? 'its own key' : `the key of ${client}`;
  return {
    headline: `\`${key}\` withheld from ${whose} by a key that ${client} never learned of`,
    next: `${client} took \`${key}\` ${at(taking)}, ${until}, and had no answer by ${proseDuration(unanswered.atUs)}`,
    however: `${asked.process} ${did} ${at(asked)} and was denied ${deniedAt} by ${by}`,
  };
}
