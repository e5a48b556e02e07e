/** Words for access rules that several claims share, and for why a store accepted a stale write. */
import type { Read, Write } from '../core/history/events.ts';
import { hasTokens } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { at, type Contradiction, type Sentences } from './explanation.ts';
import type { StaleClient } from './stale-client.ts';

export function staleWrite(shown: Contradiction): Sentences {
  const later = shown.need('later write', 'write');
  const stale = shown.need('stale write', 'write');
  const read = shown.find('read', 'read');
  const seen = read === undefined ? '' : `; then ${shown.accessPhrase(read)}`;
  const staleClient = shown.staleClientOf(later.under);
  if (staleClient !== null) {
    return staleAccess(shown, { staleClient, access: later, other: stale, seen });
  }
  return {
    headline: `Stale write accepted by ${shown.systemOr(stale.process)}`,
    next: shown.accessPhrase(later),
    however: `${shown.latePhrase(stale)}, and the store took it${acceptance(shown, later, stale)}${seen}`,
  };
}

/**
 * Describes two accesses in the wrong order when the lease of the later grant had ended before its
 * client entered.
 */
function staleAccess(
  shown: Contradiction,
  made: {
    readonly staleClient: StaleClient;
    readonly access: Write | Read;
    readonly other: Write;
    readonly seen?: string;
  },
): Sentences {
  const { staleClient, access, other, seen = '' } = made;
  const { client } = staleClient;
  const entered = `entered at ${proseDuration(staleClient.enteredUs)}`;
  const over = `had ended at ${proseDuration(staleClient.overUs)}`;
  const asked = `asked for at ${proseDuration(staleClient.sentAtUs)}`;
  const did = shown.accessPhrase(access).slice(client.length + 1);
  const deed = access.kind === 'read' ? 'read from' : 'wrote to';
  const where = shown.systemOr(access.process);
  return {
    headline: `${client} ${deed} ${where} under a lease that was over`,
    next: `${shown.accessPhrase(other)} under ${shown.letterOf(other.under)}`,
    however: `${client}, whose lease, ${asked}, ${over}, ${entered} and ${did}${seen}`,
  };
}

/**
 * Explains why a store accepted a stale write, as the end of a sentence. It states only what the
 * trace shows, and does not blame a store for a token that no lock issued.
 */
export function acceptance(shown: Contradiction, later: Write, stale: Write): string {
  const recovery = shown.find('recovery', 'recovered');
  if (!hasTokens(shown.trace)) return '';
  if (stale.token === 0) return ' without a token';
  if (stale.token >= later.token) {
    return `: its token, ${stale.token}, is not below ${later.token}`;
  }
  if (recovery !== undefined && recovery.highest < later.token) {
    return `: it came back ${at(recovery)} and had forgotten token ${later.token}`;
  }
  if (stale.key !== later.key && stale.highest < later.token) {
    return `: for \`${stale.key}\` it knew no token above ${stale.highest}`;
  }
  return `, although it had taken token ${later.token} before`;
}

export function writeAfterRead(shown: Contradiction): Sentences {
  const read = shown.need('later read', 'read');
  const stale = shown.need('stale write', 'write');
  const staleClient = shown.staleClientOf(read.under);
  if (staleClient !== null) return staleAccess(shown, { staleClient, access: read, other: stale });
  const hadTaken = tokenTakenBefore(shown, stale);
  const why =
    hadTaken === null
      ? `, so that what ${read.client} had read was no longer so`
      : `, although it had taken token ${hadTaken} before`;
  return {
    headline:
      hadTaken === null
        ? `Write accepted by ${shown.systemOr(stale.process)} after a later holder had read`
        : `Stale write accepted by ${shown.systemOr(stale.process)}`,
    next: shown.accessPhrase(read),
    however: `${shown.latePhrase(stale)}, and the store took it${why}`,
  };
}

/**
 * Returns a token above the stale write's that the same store had accepted for the resource before,
 * or null if there is none.
 */
function tokenTakenBefore({ trace }: Contradiction, stale: Write): number | null {
  for (const event of trace.events) {
    if (event === stale) return null;
    if (event.kind !== 'write' || !event.isAccepted || event.process !== stale.process) continue;
    if (event.resource === stale.resource && event.token > stale.token) return event.token;
  }
  return null;
}

export function issueOrder(shown: Contradiction): Sentences {
  const newer = shown.find('newer write', 'write');
  const older = shown.need('older write', 'write');
  const issued = `although it had been issued earlier under ${shown.letterOf(older.under)}`;
  return {
    headline: `Writes of one grant applied out of order by ${shown.systemOr(older.process)}`,
    next: newer === undefined ? '' : shown.accessPhrase(newer),
    however: `${shown.latePhrase(older)}, and the store took it, ${issued}`,
  };
}

export function lostInRecovery(shown: Contradiction): Sentences {
  const write = shown.find('lost write', 'write');
  const recovery = shown.find('recovery', 'recovered');
  const read = shown.find('read', 'read');
  const acknowledgement = shown.find('acknowledgement', 'return');
  const acknowledgedText =
    acknowledgement === undefined ? '' : `, which was acknowledged ${at(acknowledgement)}`;
  const back = recovery === undefined ? '' : `the store came back ${at(recovery)} without it`;
  const seen = read === undefined ? '' : `, and ${shown.accessPhrase(read)}`;
  const store = write?.process ?? recovery?.process ?? 'store';
  return {
    headline: `Accepted write lost by ${shown.systemOr(store)}`,
    next: write === undefined ? '' : `${shown.accessPhrase(write)}${acknowledgedText}`,
    however: `${back}${seen}`,
  };
}
