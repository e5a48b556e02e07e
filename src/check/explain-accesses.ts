/** Tells what a store should not have accepted or served: the rules about writes and reads. */

import type { Write } from '../core/history/server-events.ts';
import { stampText } from '../core/history/stamp-text.ts';
import { hasTokens } from '../core/history/tokens-in-use.ts';
import type { Answer } from '../core/history/trace.ts';
import { accessPhrase, at, latePhrase, whileFaults } from './phrases.ts';
import { find, letterOf, need, type Story, type Teller } from './story.ts';

const staleWrite: Teller = (story) => {
  const later = need(story, 'later write', 'write');
  const stale = need(story, 'stale write', 'write');
  const read = find(story, 'read', 'read');
  const { why, cure } = acceptance(story, later, stale);
  const seen = read === undefined ? '' : `; then ${accessPhrase(story, read)}`;
  return {
    headline: `Stale write accepted by \`${stale.process}\``,
    course: accessPhrase(story, later),
    however: `${latePhrase(story, stale)}, and the store took it: ${why}${seen}`,
    cure,
  };
};

/** What the store went by when it took a stale write, and what would have made it refuse. */
function acceptance(
  story: Story,
  later: Write,
  stale: Write,
): { readonly why: string; readonly cure: string } {
  const recovery = find(story, 'recovery', 'recovered');
  const compares =
    'A store that refuses tokens below the highest it has seen would have refused it';
  if (!hasTokens(story.trace)) {
    const cure =
      'A lock that gives fencing tokens to a store that compares them would have kept it out';
    return { why: 'this lock gives no token that it could compare', cure };
  }
  if (stale.token === 0) {
    const cure = 'A store that refuses a write without a token would have refused it';
    return { why: 'it does not ask for a token', cure };
  }
  if (stale.token >= later.token) {
    const cure = 'Tokens that increase with every grant would have let the store refuse it';
    return { why: `its token is not below ${later.token}`, cure };
  }
  if (recovery !== undefined && recovery.highest < later.token) {
    const cure = 'A store that keeps its highest token in a restart would have refused it';
    return { why: `it came back ${at(recovery)} and had forgotten token ${later.token}`, cure };
  }
  if (stale.key !== later.key) {
    const why = `for \`${stale.key}\` it knew no token above ${stale.highest}`;
    return { why, cure: 'A store that keeps one highest token for all keys would have refused it' };
  }
  if (stale.highest === 0) return { why: 'it never compares tokens', cure: compares };
  const why =
    stale.highest > stale.token
      ? `it knew token ${stale.highest} and did not go by it`
      : `the highest token that it knew there was ${stale.highest}`;
  return { why, cure: compares };
}

const tokenLower: Teller = (story) => {
  const earlier = need(story, 'later write', 'write');
  const lower = need(story, 'stale write', 'write');
  const { why, cure } = acceptance(story, earlier, lower);
  return {
    headline: `Token ${lower.token} accepted after ${earlier.token} by \`${lower.process}\``,
    course: accessPhrase(story, earlier),
    however: `${latePhrase(story, lower)}, and the store took it: ${why}`,
    cure,
  };
};

const writeAfterRead: Teller = (story) => {
  const read = need(story, 'later read', 'read');
  const stale = need(story, 'stale write', 'write');
  const untold = `the read had not told it that ${letterOf(story, stale.under)} was over`;
  if (hadTakenLater(story, stale)) {
    return {
      headline: `Stale write accepted by \`${stale.process}\``,
      course: accessPhrase(story, read),
      however: `${latePhrase(story, stale)}, and the store took it: it never compares tokens`,
      cure: 'A store that refuses tokens below the highest it has seen would have refused it',
    };
  }
  return {
    headline: `Write accepted by \`${stale.process}\` after a later holder had read`,
    course: accessPhrase(story, read),
    however: `${latePhrase(story, stale)}, and the store took it: ${untold}`,
    cure: 'A store whose reads register their token would have refused it',
  };
};

/** Whether the store had accepted a higher token there before: then it compares none. */
function hadTakenLater({ trace }: Story, stale: Write): boolean {
  for (const event of trace.events) {
    if (event === stale) return false;
    if (event.kind !== 'write' || !event.isAccepted || event.process !== stale.process) continue;
    if (event.resource === stale.resource && event.token > stale.token) return true;
  }
  return false;
}

const readOfLater: Teller = (story) => {
  const write = need(story, 'later write', 'write');
  const stale = need(story, 'stale read', 'read');
  const served = `${stale.value ?? 'nothing'}, which came after ${letterOf(story, stale.under)}`;
  return {
    headline: `Stale read served by \`${stale.process}\``,
    course: accessPhrase(story, write),
    however: `${latePhrase(story, stale)}, and the store served it ${served}`,
    cure: 'A store that refuses reads with tokens below its highest would have refused it',
  };
};

const sequenceCure =
  'A store that also compares the place of a write among those of its grant would have refused it';

const issueOrder: Teller = (story) => {
  const newer = find(story, 'newer write', 'write');
  const older = need(story, 'older write', 'write');
  const issued = `although it had been issued earlier under ${letterOf(story, older.under)}`;
  const faults = whileFaults(story, ['pause', 'delay']);
  return {
    headline: `Writes of one grant applied out of order by \`${older.process}\``,
    course: newer === undefined ? '' : accessPhrase(story, newer),
    however: `${latePhrase(story, older)}, and the store took it, ${issued}${faults}`,
    cure: sequenceCure,
  };
};

const appliedTwice: Teller = (story) => {
  const first = need(story, 'first time', 'write');
  const second = need(story, 'second time', 'write');
  const isSecondTry = first.message !== second.message;
  const again = isSecondTry
    ? `a second try of the same write, was handled ${at(second)}, and the store took it`
    : `was handled again ${at(second)}, and the store took it`;
  return {
    headline: `Write applied twice by \`${second.process}\``,
    course: accessPhrase(story, first),
    however: `\`${second.message}\`${isSecondTry ? ', ' : ' '}${again}${whileFaults(story, ['duplicate'])}`,
    cure: sequenceCure,
  };
};

const readBeforeOwnWrite: Teller = (story) => {
  const read = need(story, 'early read', 'read');
  const write = need(story, 'late write', 'write');
  return {
    headline: `A section read from \`${read.process}\` what stood there before its own write`,
    course: accessPhrase(story, read),
    however: `${latePhrase(story, write)}, although it had been issued before that read`,
    cure: 'A client that waits for the answer to its write before it reads would have seen it',
  };
};

const readOfOwnLater: Teller = (story) => {
  const write = need(story, 'later write', 'write');
  const read = need(story, 'late read', 'read');
  return {
    headline: `A section read from \`${read.process}\` what it wrote later`,
    course: accessPhrase(story, write),
    however: `${latePhrase(story, read)}, although it had been issued before that write`,
    cure: 'A client that waits for the answer to its read before it writes would not have seen it',
  };
};

const wrongValue: Teller = (story) => {
  const write = find(story, 'write', 'write');
  const read = need(story, 'read', 'read');
  return {
    headline: `Wrong value served by \`${read.process}\``,
    course:
      write === undefined ? `nothing was written to \`${read.key}\`` : accessPhrase(story, write),
    however: accessPhrase(story, read),
    cure: '',
  };
};

const writeAfterRelease: Teller = (story) => {
  const released = need(story, 'released', 'return');
  const write = need(story, 'late write', 'write');
  const letter = letterOf(story, write.under);
  return {
    headline: `Write accepted by \`${write.process}\` after its lock was released`,
    course: `${released.process} was told ${at(released)} that ${letter} was released`,
    however: `${latePhrase(story, write)}, and the store took it`,
    cure: 'A client that releases only when all its writes are answered leaves none behind',
  };
};

const updateLost: Teller = (story) => {
  const read = find(story, 'read', 'read');
  const lost = find(story, 'lost write', 'write');
  const over = need(story, 'overwriting write', 'write');
  const base = read === undefined ? '' : `${accessPhrase(story, read)}, and `;
  const missed = lost === undefined ? 'the value had changed' : latePhrase(story, lost);
  return {
    headline: `Acknowledged increment lost in \`${over.process}\``,
    course: `${base}${accessPhrase(story, over)}`,
    however:
      `${missed}, between that read and that write${sameStamp(over)}, ` +
      'so one of the two increments is gone',
    cure:
      over.under === 0
        ? 'A store that compares a version which every change raises would have refused the second'
        : 'A store whose reads register their token would have refused the older one',
  };
};

/** Why a store that compares timestamps saw no change: ` and left the timestamp of before, …`. */
function sameStamp({ version, client }: Write): string {
  if (version?.by !== 'timestamp' || typeof version.expected !== 'number') return '';
  const stamp = stampText(version, version.expected);
  return (
    `: it left the timestamp that ${client} had read, ${stamp} in whole milliseconds, and the ` +
    `store, which found ${stamp} where ${client} expected ${stamp}, took both`
  );
}

const updateRepeated: Teller = (story) => {
  const first = need(story, 'first write', 'write');
  const again = need(story, 'repeated write', 'write');
  return {
    headline: `One increment applied twice in \`${first.process}\``,
    course: accessPhrase(story, first),
    however: `${again.client} did not learn of it and did it again: ${accessPhrase(story, again)}`,
    cure: 'A store that keeps a key of what it applied would have taken it for the same',
  };
};

const updateInvented: Teller = (story) => {
  const last = need(story, 'last write', 'write');
  return {
    headline: `More in \`${last.process}\` than was ever added`,
    course: accessPhrase(story, last),
    however: `no set of the increments that were tried adds up to ${last.value ?? 0}`,
    cure: '',
  };
};

const noOrder: Teller = (story) => {
  const call = need(story, 'call', 'invoke');
  const returned = find(story, 'return', 'return');
  const previous = find(story, 'previous write', 'write');
  const handling = find(story, 'handling', 'write', 'read');
  const answer = answerPhrase(returned?.answer ?? null);
  const how =
    handling === undefined ? `${call.process} called ${at(call)}` : latePhrase(story, handling);
  return {
    headline: `No order explains the answer to \`${call.operation}\``,
    course: previous === undefined ? `nothing had been written` : accessPhrase(story, previous),
    however: `${how}, and its answer, ${answer}, fits nowhere between the call and its return`,
    cure: 'A store that answers as if one call came at a time would have answered otherwise',
  };
};

function answerPhrase(answer: Answer | null): string {
  if (answer === null) return 'which never came';
  return answer.kind === 'value' ? `the value ${answer.value}` : `\`${answer.kind}\``;
}

/** By rule. */
export const accessTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['stale-write', staleWrite],
  ['token-lower', tokenLower],
  ['write-after-read', writeAfterRead],
  ['read-of-later', readOfLater],
  ['issue-order', issueOrder],
  ['applied-twice', appliedTwice],
  ['read-before-own-write', readBeforeOwnWrite],
  ['read-of-own-later', readOfOwnLater],
  ['wrong-value', wrongValue],
  ['write-after-release', writeAfterRelease],
  ['update-lost', updateLost],
  ['update-repeated', updateRepeated],
  ['update-invented', updateInvented],
  ['no-order', noOrder],
];
