/**
 * Describes breaches of the rules about stores (what a store accepted, served or lost) and about
 * the work that clients did under their grants (jobs and computations).
 */
import type { Answer } from '../core/history/call.ts';
import { type EventOf, type Read, stampText, type Write } from '../core/history/events.ts';
import { hasTokens, openSections, sectionName } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { listOf } from '../text/prose.ts';
import type { AccessRule } from './claim.ts';
import type { Contradiction, Sentences, Words } from './explanation.ts';
import { circleSentences, heldPhrase, keepingPhrase } from './lock-rules.ts';
import { tokenTakenBefore } from './messages.ts';
import { isStepOf } from './never-ended.ts';
import { accessPhrase, at, granteePhrase, latePhrase, waitPhrase } from './phrases.ts';
import { keyComputed } from './single-flight.ts';
import type { StaleClient } from './stale-client.ts';

export const ACCESS_RULES: Readonly<Record<AccessRule, Words>> = {
  'applied-twice': appliedTwice,
  'computed-at-once': computedAtOnce,
  'fence-forgotten': fenceForgotten,
  'holder-refused': accessRefused,
  'issue-order': issueOrder,
  'lost-in-recovery': lostInRecovery,
  'never-ended': neverEnded,
  'no-order': noOrder,
  'probe-did-not-write': probeDidNotWrite,
  'probe-refused': accessRefused,
  'probe-unheard': probeUnheard,
  'ran-again': ranAgain,
  'ran-at-once': ranAtOnce,
  'read-before-own-write': readBeforeClientWrite,
  'read-of-later': readOfLater,
  'read-of-own-later': readOfClientsLater,
  'stale-write': staleWrite,
  'sum-at-end': sumBroken,
  'sum-read': sumBroken,
  'token-foreign': tokenOfNonOwner,
  'token-lower': tokenLower,
  'update-invented': updateInvented,
  'update-lost': updateLost,
  'update-repeated': updateRepeated,
  'write-after-read': writeAfterRead,
  'write-after-release': writeAfterRelease,
  'wrong-value': wrongValue,
};

function staleWrite(shown: Contradiction): Sentences {
  const later = shown.need('later write', 'write');
  const stale = shown.need('stale write', 'write');
  const read = shown.find('read', 'read');
  const seen = read === undefined ? '' : `; then ${accessPhrase(shown, read)}`;
  const staleClient = shown.staleClientOf(later.under);
  if (staleClient !== null) {
    return staleAccess(shown, { staleClient, access: later, other: stale, seen });
  }
  return {
    headline: `Stale write accepted by ${shown.systemOr(stale.process)}`,
    next: accessPhrase(shown, later),
    however: `${latePhrase(shown, stale)}, and the store accepted it${acceptance(shown, later, stale)}${seen}`,
  };
}

/** Describes a breach in which the client of the later grant entered after its lease had ended. */
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
  const did = accessPhrase(shown, access).slice(client.length + 1);
  const deed = access.kind === 'read' ? 'read from' : 'wrote to';
  const where = shown.systemOr(access.process);
  return {
    headline: `${client} ${deed} ${where} under a lease that was over`,
    next: `${accessPhrase(shown, other)} under ${shown.letterOf(other.under)}`,
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
    return `: the store came back ${at(recovery)} and had forgotten token ${later.token}`;
  }
  if (stale.key !== later.key && stale.highest < later.token) {
    return `: for \`${stale.key}\`, the store knew no token above ${stale.highest}`;
  }
  return ` although it had already accepted token ${later.token}`;
}

export function writeAfterRead(shown: Contradiction): Sentences {
  const read = shown.need('later read', 'read');
  const stale = shown.need('stale write', 'write');
  const staleClient = shown.staleClientOf(read.under);
  if (staleClient !== null) return staleAccess(shown, { staleClient, access: read, other: stale });
  const hadTaken = tokenTakenBefore(shown.trace, stale);
  const why =
    hadTaken === null
      ? ` although ${read.client} had already read \`${read.key}\``
      : ` although it had already accepted token ${hadTaken}`;
  return {
    headline:
      hadTaken === null
        ? `Write accepted by ${shown.systemOr(stale.process)} after a later holder had read`
        : `Stale write accepted by ${shown.systemOr(stale.process)}`,
    next: accessPhrase(shown, read),
    however: `${latePhrase(shown, stale)}, and the store accepted it${why}`,
  };
}

export function issueOrder(shown: Contradiction): Sentences {
  const newer = shown.find('newer write', 'write');
  const older = shown.need('older write', 'write');
  const issued = `although it had been issued earlier under ${shown.letterOf(older.under)}`;
  return {
    headline: `Writes of one grant applied out of order by ${shown.systemOr(older.process)}`,
    next: newer === undefined ? '' : accessPhrase(shown, newer),
    however: `${latePhrase(shown, older)}, and the store accepted it, ${issued}`,
  };
}

export function lostInRecovery(shown: Contradiction): Sentences {
  const write = shown.find('lost write', 'write');
  const recovery = shown.find('recovery', 'recovered');
  const read = shown.find('read', 'read');
  const acknowledgement = shown.find('acknowledgement', 'return');
  const acknowledged =
    acknowledgement === undefined ? '' : `, which was acknowledged ${at(acknowledgement)}`;
  const back = recovery === undefined ? '' : `the store came back ${at(recovery)} without it`;
  const seen = read === undefined ? '' : `, and ${accessPhrase(shown, read)}`;
  const store = write?.process ?? recovery?.process ?? 'store';
  return {
    headline: `Accepted write lost by ${shown.systemOr(store)}`,
    next: write === undefined ? '' : `${accessPhrase(shown, write)}${acknowledged}`,
    however: `${back}${seen}`,
  };
}

function tokenLower(shown: Contradiction): Sentences {
  const earlier = shown.need('later write', 'write');
  const lower = shown.need('stale write', 'write');
  const by = shown.systemOr(lower.process);
  return {
    headline: `Token ${lower.token} accepted after ${earlier.token} by ${by}`,
    next: accessPhrase(shown, earlier),
    however: `${latePhrase(shown, lower)}, and the store accepted it${acceptance(shown, earlier, lower)}`,
  };
}

function fenceForgotten(shown: Contradiction): Sentences {
  const write = shown.need('highest write', 'write');
  const recovery = shown.need('recovery', 'recovered');
  const highest = `the highest token it knew for \`${recovery.resource}\` was ${recovery.highest}`;
  return {
    headline: `Highest token forgotten by ${shown.systemOr(recovery.process)}`,
    next: accessPhrase(shown, write),
    however: `the store came back ${at(recovery)} and ${highest}`,
  };
}

function readOfLater(shown: Contradiction): Sentences {
  const write = shown.need('later write', 'write');
  const stale = shown.need('stale read', 'read');
  const served = `${stale.value ?? 'nothing'}, written under ${shown.letterOf(write.under)}`;
  return {
    headline: `Stale read served by ${shown.systemOr(stale.process)}`,
    next: accessPhrase(shown, write),
    however: `${latePhrase(shown, stale)}, and the store returned ${served}`,
  };
}

function readBeforeClientWrite(shown: Contradiction): Sentences {
  const read = shown.need('early read', 'read');
  const write = shown.need('late write', 'write');
  const store = shown.systemOr(read.process);
  return {
    headline: `A section's read from ${store} missed its earlier write`,
    next: accessPhrase(shown, read),
    however: `${latePhrase(shown, write)}, although it had been issued before that read`,
  };
}

function readOfClientsLater(shown: Contradiction): Sentences {
  const write = shown.need('later write', 'write');
  const read = shown.need('late read', 'read');
  return {
    headline: `A section's read from ${shown.systemOr(read.process)} returned its later write`,
    next: accessPhrase(shown, write),
    however: `${latePhrase(shown, read)}, although it had been issued before that write`,
  };
}

function wrongValue(shown: Contradiction): Sentences {
  const write = shown.find('write', 'write');
  const read = shown.need('read', 'read');
  if (read.store !== undefined && write !== undefined) {
    return {
      headline: `Old value read from a replica of ${shown.systemOr(read.store)}`,
      next: accessPhrase(shown, write),
      however: `${accessPhrase(shown, read)}: of the replicas that answered, \`${read.process}\` had the latest`,
    };
  }
  return {
    headline: `Wrong value served by ${shown.systemOr(read.process)}`,
    next:
      write === undefined ? `nothing was written to \`${read.key}\`` : accessPhrase(shown, write),
    however: accessPhrase(shown, read),
  };
}

function appliedTwice(shown: Contradiction): Sentences {
  const first = shown.need('first time', 'write');
  const second = shown.need('second time', 'write');
  const isSecondTry = first.message !== second.message;
  const again = isSecondTry
    ? `a second try of the same write, was handled ${at(second)}, and the store accepted it`
    : `was handled again ${at(second)}, and the store accepted it`;
  return {
    headline: `Write applied twice by ${shown.systemOr(second.process)}`,
    next: accessPhrase(shown, first),
    however: `\`${second.message}\`${isSecondTry ? ', ' : ' '}${again}`,
  };
}

function writeAfterRelease(shown: Contradiction): Sentences {
  const released = shown.need('released', 'return');
  const write = shown.need('late write', 'write');
  const letter = shown.letterOf(write.under);
  return {
    headline: `Write accepted by ${shown.systemOr(write.process)} after its lock was released`,
    next: `${released.process} learned ${at(released)} that ${letter} was released`,
    however: `${latePhrase(shown, write)}, and the store accepted it`,
  };
}

function sumBroken(shown: Contradiction): Sentences {
  const reads = shown.findAll('read', 'read');
  const writes = shown.findAll('write', 'write');
  const key = (reads[0] ?? writes[0])?.key ?? '';
  const seen =
    reads.length === 0
      ? `\`${key}\` was left with a sum that is not 0`
      : listOf(reads.map((read) => `${accessPhrase(shown, read)} in \`${read.process}\``));
  return {
    headline: `Transfer of \`${key}\` seen half done`,
    next: listOf(writes.map((write) => `${accessPhrase(shown, write)} in \`${write.process}\``)),
    however: `${seen}`,
  };
}

function noOrder(shown: Contradiction): Sentences {
  const call = shown.need('call', 'invoke');
  const returned = shown.find('return', 'return');
  const previous = shown.find('previous write', 'write');
  const handling = shown.find('handling', 'write', 'read');
  const answer = answerPhrase(returned?.answer ?? null);
  const how =
    handling === undefined ? `${call.process} called ${at(call)}` : latePhrase(shown, handling);
  return {
    headline: `No order explains the answer to \`${call.operation}\``,
    next: previous === undefined ? `nothing had been written` : accessPhrase(shown, previous),
    however: `${how}, and its answer, ${answer}, is possible at no point between the call and its return`,
  };
}

function answerPhrase(answer: Answer | null): string {
  if (answer === null) return 'which never came';
  return answer.kind === 'value' ? `the value ${answer.value}` : `\`${answer.kind}\``;
}

function updateLost(shown: Contradiction): Sentences {
  const read = shown.find('read', 'read');
  const lost = shown.find('lost write', 'write');
  const over = shown.need('overwriting write', 'write');
  const base = read === undefined ? '' : `${accessPhrase(shown, read)}, and `;
  if (lost?.refusal?.kind === 'stamp') {
    const reply = ', and it was acknowledged: its increment is gone';
    return {
      headline: `Acknowledged increment ignored by ${shown.systemOr(over.store ?? over.process)}`,
      next: `${base}${accessPhrase(shown, over)}`,
      however: `${latePhrase(shown, lost)}, after a write with a later timestamp${reply}`,
    };
  }
  const noun = lost?.adds === null ? 'update' : 'increment';
  const missed = lost === undefined ? 'the value had changed' : latePhrase(shown, lost);
  const when = read === undefined ? 'before that write' : 'between that read and that write';
  return {
    headline: `Acknowledged ${noun} lost in ${shown.systemOr(over.process)}`,
    next: `${base}${accessPhrase(shown, over)}`,
    however: `${missed}, ${when}${sameStamp(over)}, so that ${noun} is gone`,
  };
}

/** Explains why a store that compares timestamps saw no change: `: it left the timestamp …`. */
function sameStamp({ version, client }: Write): string {
  if (version?.by !== 'timestamp' || typeof version.expected !== 'number') return '';
  const stamp = stampText(version, version.expected);
  return `: it left the timestamp at ${stamp}, as ${client} expected, so the store accepted both`;
}

function updateRepeated(shown: Contradiction): Sentences {
  const first = shown.need('first write', 'write');
  const again = shown.need('repeated write', 'write');
  return {
    headline: `One increment applied twice in ${shown.systemOr(first.process)}`,
    next: accessPhrase(shown, first),
    however: `${again.client} did not learn of it and did it again: ${accessPhrase(shown, again)}`,
  };
}

function updateInvented(shown: Contradiction): Sentences {
  const last = shown.need('last write', 'write');
  return {
    headline: `Value in ${shown.systemOr(last.process)} exceeds the sum of all increments`,
    next: accessPhrase(shown, last),
    however: `no subset of the attempted increments adds up to ${last.value ?? 0}`,
  };
}

function tokenOfNonOwner(shown: Contradiction): Sentences {
  const write = shown.need('write', 'write');
  const other = shown.find('other grant', 'grant');
  const grant = shown.find('grant', 'grant');
  const letter = shown.letterOf(write.under);
  const origin =
    other === undefined ? 'no grant' : `${shown.letterOf(other.ordinal)}, not ${letter}`;
  return {
    headline: `Write by ${write.client} with another grant's token`,
    next: grant === undefined ? '' : `${letter} was given token ${grant.token} ${at(grant)}`,
    however: `${accessPhrase(shown, write)}, and that token belongs to ${origin}`,
  };
}

function accessRefused(shown: Contradiction): Sentences {
  const refused = shown.need('refused access', 'write', 'read');
  const earlier = shown.find('earlier access', 'write', 'read');
  const letter = shown.letterOf(refused.under);
  const late = `the ${refused.kind} that came ${at(refused)} with token ${refused.token}`;
  const known =
    earlier === undefined ? '' : `, because ${accessPhrase(shown, earlier)}, which it accepted`;
  return {
    headline: `Rightful holder refused by ${shown.systemOr(refused.process)}`,
    next: `${refused.client} held ${letter}, the latest grant of \`${refused.resource}\``,
    however: `the store refused ${late}${known}`,
  };
}

function probeUnheard(shown: Contradiction): Sentences {
  const write = shown.need('first write', 'invoke');
  return {
    headline: `First write by ${write.process} never handled`,
    next: `${write.process} sent \`${write.operation}\` ${at(write)}, after healing`,
    however: 'no store handled it',
  };
}

function probeDidNotWrite(shown: Contradiction): Sentences {
  const refused = shown.find('refused access', 'read', 'write');
  const which = refused && `${refused.kind} of \`${refused.key}\` ${at(refused)}`;
  const why = which === undefined ? '' : `, after the store had refused its ${which}`;
  const grant = shown.need('grant', 'grant');
  const held = `${granteePhrase(shown, grant)} ${at(grant)}`;
  return {
    headline: `${grant.client} holds \`${grant.lock}\` and does not write`,
    next: `${held}, after healing`,
    however: `it never sent the write of its section${why}`,
  };
}

function ranAgain(shown: Contradiction): Sentences {
  const later = shown.need('later run', 'job');
  const earlier = shown.need('earlier run', 'job');
  return {
    headline: `Job ${later.tick} of \`${later.lock}\` ran again`,
    next: runPhrase(shown, earlier),
    however: `${runPhrase(shown, later)}${deliveryPhrase(shown, later)}`,
  };
}

function ranAtOnce(shown: Contradiction): Sentences {
  const later = shown.need('later run', 'job');
  const earlier = shown.need('earlier run', 'job');
  const isSame = earlier.tick === later.tick;
  const jobs = isSame
    ? `Job ${later.tick} of \`${later.lock}\` ran twice at once`
    : `Jobs ${earlier.tick} and ${later.tick} of \`${later.lock}\` ran at once`;
  const before = `before ${earlier.process} had ended its own`;
  return {
    headline: jobs,
    next: runPhrase(shown, earlier),
    however: `${runPhrase(shown, later)}, ${before}${deliveryPhrase(shown, later)}`,
  };
}

/** Example: `alice began job 1 under A at 2 ms`. */
function runPhrase(shown: Contradiction, run: EventOf<'job'>): string {
  const { process, tick, ordinal } = run;
  const under = ordinal === 0 ? 'under no grant' : `under ${shown.letterOf(ordinal)}`;
  return `${process} began job ${tick} ${under} ${at(run)}`;
}

/**
 * Example: `, since the queue delivered a copy of its message at 511 ms`. Returns '' if the queue
 * delivered the message once.
 */
function deliveryPhrase({ trace }: Contradiction, run: EventOf<'job'>): string {
  const earlier = trace.events.slice(0, trace.events.indexOf(run));
  const received = earlier.findLast(
    (event) => event.kind === 'deliver' && event.client === run.process && event.lock === run.lock,
  );
  if (received?.kind !== 'deliver') return '';
  if (received.isCopy) return `, since the queue delivered a copy of its message ${at(received)}`;
  if (received.deliveries === 1) return '';
  return `, since the queue delivered its message again ${at(received)}`;
}

function computedAtOnce(shown: Contradiction): Sentences {
  const earlier = shown.need('earlier computation', 'mark');
  const later = shown.need('later computation', 'mark');
  const key = `\`${keyComputed(shown.trace, later)}\``;
  const still = `while ${earlier.process} was still computing it`;
  const again = deed(shown, later, { role: 'later grant', what: `${key} as well` });
  return {
    headline: `${key} was computed by two clients at once`,
    next: deed(shown, earlier, { role: 'earlier grant', what: key }),
    however: `${again}, ${still}`,
  };
}

/** Example: `bob, who did not get the lock in time, began to compute `x` at 6 ms`. */
function deed(
  shown: Contradiction,
  began: EventOf<'mark'>,
  { role, what }: { readonly role: string; readonly what: string },
): string {
  const { process } = began;
  for (const [part, why] of WITHOUT) {
    if (!shown.findAll(part, 'log').some((log) => log.process === process)) continue;
    return `${process}, who ${why}, began to compute ${what} ${at(began)}`;
  }
  const grant = shown.find(role, 'grant');
  const under = grant === undefined ? '' : ` under ${shown.letterOf(grant.ordinal)}`;
  return `${process} began to compute ${what}${under} ${at(began)}`;
}

const WITHOUT = [
  ['wait in vain', 'did not get the lock in time'],
  ['denied once', 'was denied the lock'],
] as const;

function neverEnded(shown: Contradiction): Sentences {
  const circle = shown.findAll('held in circle', 'grant', 'key-change');
  if (circle.length > 0) return circleSentences(shown, circle);
  const call = shown.find('open call', 'invoke');
  const step = call ?? shown.parts.find(({ role }) => role === 'last step')?.event;
  const open = openSections(shown.trace);
  const run = open.find(({ section }) => step && isStepOf(step, section)) ?? open[0];
  assert(run?.end.kind === 'open', 'a section never ended');
  const denial = shown.find('denial', 'deny', 'key-change');
  const wanted = denial?.kind === 'deny' ? denial.lock : denial?.key;
  const holder = shown.find('holder grant', 'grant');
  const held = holder && `${heldPhrase(holder)}${keepingPhrase(shown, holder)}`;
  const what = [
    ...(denial === undefined ? [] : [`${denial.holder} held \`${wanted}\` ${at(denial)}`]),
    ...(denial !== undefined || held === undefined ? [] : [held]),
    ...(call === undefined
      ? []
      : [`its call \`${call.operation}\`, sent ${at(call)}, has no answer`]),
  ];
  const why = what.length === 0 ? '' : `: ${listOf(what)}`;
  return {
    headline: `${sectionName(run)} never ended${waitPhrase(run.end.wait)}`,
    next: step === undefined ? '' : `${run.process} took its last step ${at(step)}`,
    however: `its section never ended, although its process was up and the world had healed${why}`,
  };
}
