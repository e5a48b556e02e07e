/** The words of rules about accesses that several claims have, and what made a store accept. */
import type { Write } from '../core/history/server-events.ts';
import { hasTokens } from '../core/history/trace.ts';
import { at, type Contradiction, type Sentences } from './explanation.ts';

export function staleWrite(shown: Contradiction): Sentences {
  const later = shown.need('later write', 'write');
  const stale = shown.need('stale write', 'write');
  const read = shown.find('read', 'read');
  const { why, cure } = acceptance(shown, later, stale);
  const seen = read === undefined ? '' : `; then ${shown.accessPhrase(read)}`;
  return {
    headline: `Stale write accepted by ${shown.systemOr(stale.process)}`,
    next: shown.accessPhrase(later),
    however: `${shown.latePhrase(stale)}, and the store took it: ${why}${seen}`,
    cure,
  };
}

/** What the store went by when it took a stale write, and what would have made it refuse. */
export function acceptance(
  shown: Contradiction,
  later: Write,
  stale: Write,
): { readonly why: string; readonly cure: string } {
  const recovery = shown.find('recovery', 'recovered');
  const compares =
    'A store that refuses tokens below the highest it has seen would have refused it';
  if (!hasTokens(shown.trace)) {
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

export function writeAfterRead(shown: Contradiction): Sentences {
  const read = shown.need('later read', 'read');
  const stale = shown.need('stale write', 'write');
  const untold = `the read had not told it that ${shown.letterOf(stale.under)} was over`;
  if (hadTakenLater(shown, stale)) {
    return {
      headline: `Stale write accepted by ${shown.systemOr(stale.process)}`,
      next: shown.accessPhrase(read),
      however: `${shown.latePhrase(stale)}, and the store took it: it never compares tokens`,
      cure: 'A store that refuses tokens below the highest it has seen would have refused it',
    };
  }
  return {
    headline: `Write accepted by ${shown.systemOr(stale.process)} after a later holder had read`,
    next: shown.accessPhrase(read),
    however: `${shown.latePhrase(stale)}, and the store took it: ${untold}`,
    cure: 'A store whose reads register their token would have refused it',
  };
}

/** Whether the store had accepted a higher token there before: then it compares none. */
function hadTakenLater({ trace }: Contradiction, stale: Write): boolean {
  for (const event of trace.events) {
    if (event === stale) return false;
    if (event.kind !== 'write' || !event.isAccepted || event.process !== stale.process) continue;
    if (event.resource === stale.resource && event.token > stale.token) return true;
  }
  return false;
}

export function issueOrder(shown: Contradiction): Sentences {
  const newer = shown.find('newer write', 'write');
  const older = shown.need('older write', 'write');
  const issued = `although it had been issued earlier under ${shown.letterOf(older.under)}`;
  const faults = shown.whileFaults(['pause', 'delay']);
  return {
    headline: `Writes of one grant applied out of order by ${shown.systemOr(older.process)}`,
    next: newer === undefined ? '' : shown.accessPhrase(newer),
    however: `${shown.latePhrase(older)}, and the store took it, ${issued}${faults}`,
    cure: sequenceCure,
  };
}

export const sequenceCure =
  'A store that also compares the place of a write among those of its grant would have refused it';

export function lostInRecovery(shown: Contradiction): Sentences {
  const write = shown.find('lost write', 'write');
  const recovery = shown.find('recovery', 'recovered');
  const read = shown.find('read', 'read');
  const acknowledgement = shown.find('acknowledgement', 'return');
  const told =
    acknowledgement === undefined ? '' : `, which was acknowledged ${at(acknowledgement)}`;
  const back = recovery === undefined ? '' : `the store came back ${at(recovery)} without it`;
  const seen = read === undefined ? '' : `, and ${shown.accessPhrase(read)}`;
  const store = write?.process ?? recovery?.process ?? 'store';
  return {
    headline: `Accepted write lost by ${shown.systemOr(store)}`,
    next: write === undefined ? '' : `${shown.accessPhrase(write)}${told}`,
    however: `${back}${seen}${shown.whileFaults()}`,
    cure: 'A store that answers only what it has made durable would have kept it',
  };
}
