/**
 * Tells what a lock service should not have granted, prolonged or ended, and what holders believed.
 */

import type { Grant, Release, Renew } from '../core/history/server-events.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { isQuorumGrant } from './grant-servers.ts';
import { accessPhrase, at, listOf, whileFaults } from './phrases.ts';
import {
  type EventOf,
  find,
  letterOf,
  need,
  type Story,
  type Teller,
  type Telling,
} from './story.ts';

const grantedWhileLive: Teller = (story) => {
  const earlier = need(story, 'earlier grant', 'grant');
  const later = need(story, 'later grant', 'grant');
  const foreign = find(story, 'foreign release', 'release');
  const freed = foreign === undefined ? '' : `, and ${foreignPhrase(story, foreign)}`;
  const end = `${endPhrase(find(story, 'renewal', 'renew') ?? earlier)}${freed}`;
  return {
    headline: `\`${later.lock}\` granted to ${later.client} while ${earlier.client} held it`,
    course: `${deniedPhrase(story)}${giversOf(story, later)} granted ${letterOf(story, later.ordinal)} ${at(later)}`,
    however: `${letterOf(story, earlier.ordinal)} was live: ${end}${whileFaults(story)}`,
    cure: foreign === undefined ? cureOfSecond(story, { earlier, later }) : NAMED_RELEASE,
  };
};

/** What came before a grant by another server than the one that had said no. */
function deniedPhrase(story: Story): string {
  const denial = find(story, 'denial', 'deny');
  const log = find(story, 'misreading', 'log');
  if (denial === undefined || log === undefined) return '';
  const { process, client } = denial;
  return `\`${process}\` denied ${client} ${at(denial)}, ${client} logged “${log.text}”, and `;
}

const NAMED_RELEASE = 'A release that names its acquisition would have changed nothing';

function cureOfSecond(
  story: Story,
  { earlier, later }: { readonly earlier: Grant; readonly later: Grant },
): string {
  if (find(story, 'denial', 'deny') !== undefined) {
    return 'A client that tells “somebody holds it” from “system error” would have waited';
  }
  if (isQuorumGrant(later)) {
    return 'A majority of nodes that keep each key to its end, asked in time, would have denied it';
  }
  return earlier.process === later.process || isQuorumGrant(earlier)
    ? 'A lock service that waits until the lease before is over would have denied it'
    : 'A second server that knows which leases the first has given would have denied it';
}

function foreignPhrase(story: Story, { client, under, atUs }: Release): string {
  const meant = `${client}'s release under ${letterOf(story, under)}`;
  return `${meant}, handled at ${proseDuration(atUs)}, was none of its holder`;
}

/** Who gave a grant: a server by its name, or the servers that its client asked together. */
function giverOf(grant: Grant): string {
  return isQuorumGrant(grant) ? 'a quorum' : `\`${grant.process}\``;
}

/** The same, with the servers of a quorum that said yes in time: `a quorum (lock-1 and lock-3)`. */
function giversOf({ trace }: Story, grant: Grant): string {
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

function endPhrase({ sentAtUs, ttlUs, untilUs, kind }: Grant | Renew): string {
  if (untilUs === null) return 'it has no end but its release';
  const counted = kind === 'renew' ? 'counted from the renew' : 'counted from the request';
  const end = proseDuration(sentAtUs + ttlUs);
  return `${counted} that left at ${proseDuration(sentAtUs)} it lasts until ${end}`;
}

const revivedWhileLive: Teller = (story) => {
  const earlier = need(story, 'earlier grant', 'grant');
  const later = need(story, 'later grant', 'grant');
  const renewal = need(story, 'renewal', 'renew');
  const revived = `${letterOf(story, earlier.ordinal)} was live again${whileFaults(story)}`;
  return {
    headline: `Expired grant of \`${later.lock}\` revived while ${later.client} held it`,
    course: `${giverOf(later)} granted ${letterOf(story, later.ordinal)} ${at(later)}`,
    however: `${renewal.client}'s renew was handled ${at(renewal)} and ${revived}`,
    cure: 'A lock service that denies the renew of an expired grant would have kept one holder',
  };
};

const tokenShared: Teller = (story) => tokenStory(story, 'Token given twice', 'the same as');

const tokenNotHigher: Teller = (story) => tokenStory(story, 'Token did not increase', 'not above');

function tokenStory(story: Story, headline: string, phrase: string): Telling {
  const earlier = need(story, 'earlier grant', 'grant');
  const later = need(story, 'later grant', 'grant');
  const [one, other] = [letterOf(story, earlier.ordinal), letterOf(story, later.ordinal)];
  return {
    headline: `${headline} for \`${later.lock}\``,
    course: `${later.client} was granted ${other} after ${one}, ${at(later)}`,
    however: `its token is ${later.token}, ${phrase} that of ${one}, ${earlier.token}${whileFaults(story)}`,
    cure: 'A counter that is kept for ever and raised at every grant would have given a higher one',
  };
}

const tokenChanged: Teller = (story) => {
  const grant = need(story, 'grant', 'grant');
  const renewal = need(story, 'renewal', 'renew');
  return {
    headline: `Token of \`${grant.lock}\` changed by a renew`,
    course: `${letterOf(story, grant.ordinal)} was given token ${grant.token} ${at(grant)}`,
    however: `the renew ${at(renewal)} gave it token ${renewal.token}`,
    cure: 'A renew that keeps the token leaves what is under way valid',
  };
};

const tokenForeign: Teller = (story) => {
  const write = need(story, 'write', 'write');
  const other = find(story, 'other grant', 'grant');
  const own = find(story, 'grant', 'grant');
  const letter = letterOf(story, write.under);
  const origin =
    other === undefined ? 'no grant' : `${letterOf(story, other.ordinal)}, not ${letter},`;
  return {
    headline: `Write of ${write.client} with a token that is not its grant's`,
    course: own === undefined ? '' : `${letter} was given token ${own.token} ${at(own)}`,
    however: `${accessPhrase(story, write)}, and ${origin} brought that token${whileFaults(story)}`,
    cure: 'A client that keeps each token with its grant sends the one that can be refused',
  };
};

const foreignRelease: Teller = (story) => {
  const release = need(story, 'release', 'release');
  const meant = `${release.client}'s release under ${letterOf(story, release.under)}`;
  const ended = `ended ${letterOf(story, release.released)}${whileFaults(story)}`;
  return {
    headline: `\`${release.lock}\` released by ${release.client}, who no longer held it`,
    course: touchedPhrase(story),
    however: `${meant} was handled ${at(release)} and ${ended}`,
    cure: NAMED_RELEASE,
  };
};

const foreignRenewal: Teller = (story) => {
  const renewal = need(story, 'renewal', 'renew');
  const meant = `${renewal.client}'s renew under ${letterOf(story, renewal.under)}`;
  const extended = `extended ${letterOf(story, renewal.extended)}${whileFaults(story)}`;
  return {
    headline: `Lease of \`${renewal.lock}\` extended by ${renewal.client}, who no longer held it`,
    course: touchedPhrase(story),
    however: `${meant} was handled ${at(renewal)} and ${extended}`,
    cure: 'A renew that names its acquisition would have changed nothing',
  };
};

function touchedPhrase(story: Story): string {
  const touched = find(story, 'grant touched', 'grant');
  if (touched === undefined) return 'the lock was granted anew';
  return `${touched.client} was granted ${letterOf(story, touched.ordinal)} ${at(touched)}`;
}

const undidRelease: Teller = (story) => {
  const release = need(story, 'release', 'release');
  const renewal = need(story, 'renewal', 'renew');
  const letter = letterOf(story, release.released);
  const sent = `${renewal.client}'s renew, sent at ${proseDuration(renewal.sentAtUs)},`;
  return {
    headline: `Release of \`${release.lock}\` undone by a renew`,
    course: `${letter} was released ${at(release)}`,
    however: `${sent} was handled ${at(renewal)} and extended ${letter}`,
    cure: 'A lock service that denies the renew of a released grant would have left it free',
  };
};

/** The service's end of a lease against the holder's. */
function beliefStory(story: Story, claim: string, cure: string): Telling {
  const grant = need(story, 'grant', 'grant');
  const belief = need(story, 'belief', 'enter', 'lease-test');
  const renewal = find(story, 'renewal', 'renew');
  const successor = find(story, 'successor', 'grant');
  const letter = letterOf(story, grant.ordinal);
  const until = renewal === undefined ? grant.untilUs : renewal.untilUs;
  const next =
    successor === undefined
      ? ''
      : `, and ${successor.client} was granted ${entryOf(story, successor)}`;
  return {
    headline: `${belief.process} counts on \`${grant.lock}\` longer than ${giverOf(grant)} does`,
    course: `${giverOf(grant)} ends ${letter} at ${proseDuration(until ?? 0)}${next}`,
    however: `${belief.process} ${claim}${whileFaults(story)}`,
    cure,
  };
}

function entryOf(story: Story, grant: Grant): string {
  return `${letterOf(story, grant.ordinal)} ${at(grant)}`;
}

const believesLonger: Teller = (story) => {
  const belief = need(story, 'belief', 'enter', 'lease-test');
  const claim = `took ${at(belief)} its lease to end at ${proseDuration(belief.believedUntilUs)}`;
  return beliefStory(
    story,
    claim,
    'A holder that counts from the moment it sent its request, less the drift, is never late',
  );
};

const liveTooLate: Teller = (story) => {
  const belief = need(story, 'belief', 'enter', 'lease-test');
  return beliefStory(
    story,
    `found ${at(belief)} that its lease was live`,
    'A holder that takes its lease to be over at its very end, by an exact clock, would have stopped',
  );
};

const bothBelieve: Teller = (story) => {
  const earlier = need(story, 'earlier entry', 'enter');
  const later = need(story, 'later entry', 'enter');
  const before = `before ${earlier.process} had left${whileFaults(story)}`;
  const entries = [earlier, later];
  return {
    headline: `${earlier.process} and ${later.process} both believed to hold \`${later.lock}\``,
    course: entryPhrase(story, earlier),
    however: `${entryPhrase(story, later)}, ${before}`,
    cure: entries.some(isOver)
      ? 'A client that checks the validity, the ttl less the time that asking took, would not have entered'
      : 'No lease can rule this out once a process may pause: the store must compare tokens',
  };
};

/** Whether a program was entered when the lease, as the program itself counts it, was over. */
function isOver({ atUs, believedUntilUs }: EventOf<'enter'>): boolean {
  return believedUntilUs <= atUs;
}

/** `bob entered `bob/2` at 12 ms, when the lease that it asked for at 0 ms was over by …`. */
function entryPhrase(story: Story, entry: EventOf<'enter'>): string {
  const entered = `${entry.process} entered \`${entry.section}\` ${at(entry)}`;
  if (!isOver(entry)) return entered;
  const grant = story.grants.find(({ ordinal }) => ordinal === entry.ordinal);
  const asked = grant === undefined ? '' : `, asked for at ${proseDuration(grant.sentAtUs)},`;
  const end = `was over since ${proseDuration(entry.believedUntilUs)}`;
  return `${entered}, although its lease${asked} ${end} by its own count`;
}

/** By rule. */
export const grantTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['granted-while-live', grantedWhileLive],
  ['revived-while-live', revivedWhileLive],
  ['token-shared', tokenShared],
  ['token-not-higher', tokenNotHigher],
  ['token-changed', tokenChanged],
  ['token-foreign', tokenForeign],
  ['foreign-release', foreignRelease],
  ['foreign-renewal', foreignRenewal],
  ['renewed-successor', foreignRenewal],
  ['undid-release', undidRelease],
  ['believes-longer', believesLonger],
  ['live-past-end', liveTooLate],
  ['live-at-end', liveTooLate],
  ['both-believe', bothBelieve],
];
