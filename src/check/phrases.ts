/**
 * Builds the clauses of explanations from events and faults, in the past tense. `RULE_WORDS` in
 * `explain.ts` builds sentences from these clauses. Names of clients are plain; all other names are
 * in backticks. No clause ends with a period.
 */
import type { Enter, FaultInjected, Grant, Read, Write } from '../core/history/events.ts';
import { hasTokens, type Trace, type Wait } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { affectsMessage } from '../core/plan/fault.ts';
import { faultClause } from '../core/plan/fault-words.ts';
import { listOf } from '../text/prose.ts';
import { type NamedCause, reportedCauses } from './causation.ts';
import type { Contradiction, Sentences } from './explanation.ts';
import { isClientGrant, isQuorumGrant, wereInsideAtOnce } from './holders.ts';
import { endedUnasked, isWrongChange, keysUnder, lastTaking, takenBefore } from './leases.ts';
import { releasedUsOf } from './lock-keys.ts';
import { arrivalOf, departureOf, endSetBy, isAfterPause, replicaOf } from './messages.ts';
import { deniedAtUs } from './stale-client.ts';

/** `A be alice's grant 1 of `db` (from 0ms, ttl 10ms) and B be bob's grant 2 (from 12ms)`. */
export function grantsOf(shown: Contradiction): string {
  const lastUs = Math.max(...shown.parts.map(({ event }) => event.atUs));
  const keys = keysUnder(shown.indexed, shown.grants, lastUs);
  return listOf(
    shown.grants.map((grant, place) => {
      const letter = shown.letterOf(grant.ordinal);
      const keyUntilUs = keys[place]?.untilUs ?? null;
      const staleClient = stalePhrase(shown, grant, keyUntilUs);
      const nextUs = shown.grants[place + 1]?.atUs ?? lastUs;
      const end = endOf(shown, grant, { keyUntilUs, lastUs: nextUs });
      const takenUs = takenBefore(shown.indexed, grant, shown.grants);
      const known = { end, isKept: keyUntilUs !== null, staleClient, takenUs };
      return `${letter} be ${grantPhrase(grant, shown.grants[place - 1], known)}`;
    }),
  );
}

/** Describes the end of a lease that its server does not report with the grant. */
function endOf(
  { indexed }: Contradiction,
  grant: Grant,
  { keyUntilUs, lastUs }: { readonly keyUntilUs: number | null; readonly lastUs: number },
): string {
  if (keyUntilUs !== null) {
    const releasedUs = releasedUsOf(indexed, grant, lastUs);
    if (releasedUs !== null) return `its key until its release at ${proseDuration(releasedUs)}`;
    return `its key until ${proseDuration(keyUntilUs)}`;
  }
  if (!isQuorumGrant(grant)) return 'no end';
  const deniedUs = deniedAtUs(indexed, grant);
  const isOver = deniedUs !== null && deniedUs <= lastUs;
  return isOver ? `over by ${proseDuration(deniedUs)}` : 'no end known';
}

/**
 * `, entered at 25 ms, although it had ended at 10 ms`. Does not mention an entry after the breach.
 */
function stalePhrase(
  shown: Contradiction,
  { ordinal, atUs }: Grant,
  keyUntilUs: number | null,
): string {
  const staleClient = shown.staleClientOf(ordinal);
  if (staleClient === null) return '';
  const { enteredUs, overUs } = staleClient;
  if (overUs === keyUntilUs) return ', entered when that key was gone';
  const ended = `ended at ${proseDuration(overUs)}`;
  if (enteredUs === atUs) return `, although it had ${ended}`;
  const isLater = shown.parts.every(({ event }) => event.atUs < enteredUs);
  if (isLater) return overUs <= atUs ? `, which had ${ended}` : `, which ${ended}`;
  return `, entered at ${proseDuration(enteredUs)}, although it had ${ended}`;
}

/**
 * `bob wrote 2 to `x` with token 2 at 15ms`. The time is when the access was handled, not when it
 * was sent.
 */
export function accessPhrase(shown: Contradiction, access: Write | Read): string {
  const { client, atUs } = access;
  return `${client} ${deedPhrase(shown, access)} at ${proseDuration(atUs)}`;
}

/** Describes a late access: `alice, paused from 3ms to 20ms, sent the write of 1 to `x` …`. */
export function latePhrase(shown: Contradiction, access: Write | Read): string {
  const { client, atUs, message } = access;
  const noun = nounOf(access);
  const withToken = tokenPhrase(shown, access);
  const sentAtUs = departureOf(shown.trace, access);
  const sentAt = proseDuration(sentAtUs);
  const arrived = atUs === sentAtUs ? '' : `; it ${arrivalPhrase(shown, access)}`;
  const pause = shown.faults.find(
    (fault) =>
      fault.fault === 'pause' && fault.processes.includes(client) && fault.atUs <= sentAtUs,
  );
  if (pause !== undefined) {
    shown.mentioned.add(pause);
    const paused = clauseOf(shown.trace, pause).predicate.replace('was ', '');
    const deed = pausedBefore(shown.trace, pause);
    if (deed !== null && deed.operation !== access.operation) {
      const sent = `before its ${deed.phrase}, sent the ${noun}${withToken} at ${sentAt}`;
      return `${client}, ${paused}, ${sent}${arrived}`;
    }
    return `${client}, ${paused}, sent the ${noun}${withToken} at ${sentAt}${arrived}`;
  }
  if (atUs === sentAtUs) return `${client}'s ${noun} came${withToken} ${at(access)}`;
  const transit = shown.faults.find(({ target }) => target === message);
  if (transit !== undefined) shown.mentioned.add(transit);
  const delayed = transit === undefined ? '' : ` and ${transitPhrase(transit)}`;
  return `${client}'s ${noun}, sent${withToken} at ${sentAt}${delayed}, ${arrivalPhrase(shown, access)}`;
}

/** `arrived at 12 ms`, or `arrived at 12 ms and was applied at 20 ms` if the store took longer. */
function arrivalPhrase({ trace }: Contradiction, access: Write | Read): string {
  const arrivedUs = arrivalOf(trace, access);
  const handled = `was ${access.kind === 'read' ? 'served' : 'applied'} ${at(access)}`;
  if (arrivedUs === null) return handled;
  const arrived = `arrived at ${proseDuration(arrivedUs)}`;
  return arrivedUs === access.atUs ? arrived : `${arrived} and ${handled}`;
}

/** Lists the faults that no phrase has mentioned: `: alice was paused from 3 ms to 20 ms`. */
export function whileFaults(shown: Contradiction): string {
  const faults = shown.faults.filter((fault) => !shown.mentioned.has(fault));
  for (const fault of faults) shown.mentioned.add(fault);
  const phrases = [...new Set(faults.map((fault) => faultPhrase(shown.trace, fault)))];
  return phrases.length === 0 ? '' : `: ${listOf(phrases)}`;
}

/** Like `whileFaults`, followed by the server's decision to end the grant or by other causes. */
export function withCauses(shown: Contradiction): string {
  const faults = whileFaults(shown);
  const ended = endedPhrase(shown);
  const others = ended === '' ? otherCauses(shown) : ended;
  const atOnce = atOncePhrase(shown);
  if (others === '') return `${faults}${atOnce}`;
  const isOrder = shown.causes.some(({ kind }) => kind === 'order');
  if (isOrder && atOnce !== '') return `${atOnce}; ${others}`;
  return `${faults}${faults === '' ? ':' : ', and'} ${others}`;
}

function otherCauses(shown: Contradiction): string {
  const { trace, parts } = shown;
  const events = new Set(parts.map(({ event }) => event));
  const messages = new Set(parts.map(({ event }) => ('message' in event ? event.message : '')));
  const others = reportedCauses(trace, shown.causes).filter(({ kind, event: index }) => {
    const event = trace.events[index];
    if (kind === 'fault' || event === undefined) return false;
    if (event === shown.find('change', 'key-change')) return false;
    const isTaking = event.kind === 'key-change' && event.change === 'taken';
    if (isWrongChange(trace, index) || (isTaking && kind === 'renewal')) return true;
    // Without a fault, the end of a lease is the reason, which its event does not state.
    if (kind === 'expiry' && shown.faults.length === 0) return true;
    if (events.has(event)) return false;
    const isShown = 'message' in event && messages.has(event.message);
    return kind === 'expiry' || kind === 'order' || !isShown;
  });
  return listOf(others.map(({ text }) => text));
}

/** Describes a cause: `carol's `del` removed bob's key`. */
export function causePhrase(
  trace: Trace,
  { kind, event: index, named, isRecord = false }: NamedCause,
): string {
  const event = trace.events[index];
  if (event === undefined) return `\`${named}\` was late`;
  if (event.kind === 'fault') return faultPhrase(trace, event);
  const message = 'message' in event ? messagePhrase(trace, event.message) : '';
  if (kind === 'expiry') {
    if (event.kind === 'grant-end') {
      return `\`${event.process}\` ended ${event.client}'s grant ${at(event)}, as ${event.why}`;
    }
    const by = messagePhrase(trace, named);
    if (isRecord) return `the record left by ${by} had expired by ${proseDuration(event.atUs)}`;
    const endUs = endSetBy(trace, named, index) ?? event.atUs;
    return `the lease of ${by} had expired at ${proseDuration(endUs)}`;
  }
  if (kind === 'order') return `${messagePhrase(trace, named)} was handled before ${message}`;
  if (kind === 'timer') return `the timer \`${named}\` was drawn longer than its base length`;
  if (kind === 'message') {
    const isHeld = event.kind === 'receive' && isAfterPause(trace, event);
    const fate = event.kind === 'lose' ? 'was lost' : isHeld ? 'was handled' : 'arrived';
    return `${message} ${fate} ${at(event)}`;
  }
  if (event.kind !== 'key-change') return `${message} was executed ${at(event)}`;
  const whose = event.holder === event.client ? 'its own' : `${event.holder}'s`;
  return `${message} ${KEY_VERBS.get(event.change) ?? event.change} ${whose} key`;
}

const KEY_VERBS: ReadonlyMap<string, string> = new Map([
  ['taken', 're-created'],
  ['prolonged', 'extended'],
  ['overwritten', 'overwrote'],
]);

/** Describes a server's decision to revoke a grant: `\`lock\` ended A at 3 ms, as …`. */
function endedPhrase(shown: Contradiction): string {
  for (const [place, next] of shown.grants.slice(1).entries()) {
    const grant = shown.grants[place];
    const end = grant === undefined ? null : endedUnasked(shown.trace, grant, next);
    if (end === null) continue;
    const why = shown.whyEnded(end.released);
    return `\`${end.process}\` ended ${shown.letterOf(end.released)} ${at(end)}${why && `, as ${why}`}`;
  }
  return '';
}

/** Returns why clients that report their own grants were inside at once without a fault, or ''. */
function atOncePhrase(shown: Contradiction): string {
  const { trace } = shown;
  const [one, other] = shown.grants;
  if (!one || !other || !wereInsideAtOnce(trace.events, one, other)) return '';
  const [before, after] = holdersOf(trace, one, other);
  if (before === after) return '';
  const asked = lastTaking(trace, after, other);
  if (asked?.isDone === false && asked.holder !== after) {
    const call = messagePhrase(trace, asked.message);
    return `: ${after} entered although the lock had denied ${call} ${at(asked)}`;
  }
  const endedUs = lastTaking(trace, before, other)?.untilUs ?? null;
  if (endedUs !== null && endedUs <= other.atUs) {
    return `: the key of ${before} had ended at ${proseDuration(endedUs)}`;
  }
  return `: the lock let ${after} in while ${before} was inside, and no fault was needed`;
}

/** Example: ` with token 2`. Does not mention a missing token if the run has no tokens. */
function tokenPhrase(shown: Contradiction, { token }: Write | Read): string {
  if (token !== 0) return ` with token ${token}`;
  return hasTokens(shown.trace) ? ' without a token' : '';
}

function deedPhrase(shown: Contradiction, access: Write | Read): string {
  const { key, token, value } = access;
  const withToken = tokenPhrase(shown, access);
  if (access.kind === 'read') return `read ${value ?? 'nothing'} from \`${key}\`${withToken}`;
  return value === null ? `announced token ${token}` : `wrote ${value} to \`${key}\`${withToken}`;
}

/** Describes a breach by its evidence, if its rule has no words that fit. */
export function bareSentences(shown: Contradiction): Sentences {
  const { claim, rule, parts } = shown;
  const seen = listOf(parts.map(({ role, event }) => `the ${role} ${at(event)}`));
  return {
    headline: rule === claim ? `\`${claim}\` broke` : `\`${claim}\` broke by its rule \`${rule}\``,
    next: seen === '' ? '' : `the run shows ${seen}`,
    however: '',
  };
}

/** Describes a grant. Omits facts shared with the previous grant, and an end already stated. */
function grantPhrase(
  grant: Grant,
  previous: Grant | undefined,
  known: {
    readonly end: string;
    readonly isKept: boolean;
    readonly staleClient: string;
    readonly takenUs: number | null;
  },
): string {
  const { end, isKept, staleClient, takenUs } = known;
  const { client, ordinal, lock, token, atUs, ttlUs, untilUs } = grant;
  const ofLock = lock === previous?.lock ? '' : ` of \`${lock}\``;
  const facts =
    takenUs === null
      ? [`from ${proseDuration(atUs)}`]
      : [`its key taken at ${proseDuration(takenUs)}`, `entered at ${proseDuration(atUs)}`];
  if (token !== 0 && token !== ordinal) facts.unshift(`token ${token}`);
  if (untilUs !== null) {
    if (ttlUs !== previous?.ttlUs && ttlUs > 0) facts.push(`ttl ${proseDuration(ttlUs)}`);
  } else if (isKept || staleClient === '') facts.push(end);
  return `${client}'s grant ${ordinal}${ofLock} (${facts.join(', ')})${staleClient}`;
}

function nounOf(access: Write | Read): string {
  if (access.kind === 'read') return `read of \`${access.key}\``;
  return access.value === null
    ? 'announcement of its token'
    : `write of ${access.value} to \`${access.key}\``;
}

function transitPhrase({ fault, amount }: FaultInjected): string {
  if (fault === 'duplicate') return `executed again ${proseDuration(amount)} later`;
  return fault === 'delay' ? `delayed by ${proseDuration(amount)}` : fault;
}

export function at({ atUs }: { readonly atUs: number }): string {
  return `at ${proseDuration(atUs)}`;
}

/** Returns the reason that a grant's server logged, as the end of a sentence, or ''. */
export function reasonPhrase(shown: Contradiction, grant: Grant): string {
  const log = shown.find('why', 'log');
  return log === undefined ? '' : `; ${giverOf(grant)} logged “${log.text}”`;
}

/** Names the process that gave a grant: one server by name, or several servers without names. */
export function giverOf(grant: Grant): string {
  if (isClientGrant(grant)) return 'its server';
  return isQuorumGrant(grant) ? 'a quorum' : `\`${grant.process}\``;
}

/** Names the holders of two grants: their clients or, if these are the same, the sections. */
export function holdersOf({ events }: Trace, one: Grant, other: Grant): readonly [string, string] {
  if (one.client !== other.client) return [one.client, other.client];
  const [before, after] = [one, other].map(({ ordinal }) => {
    const entry = events.find((event) => event.kind === 'enter' && event.ordinal === ordinal);
    return entry?.kind === 'enter' ? `\`${entry.section}\`` : null;
  });
  if (before == null || after == null) return [one.client, other.client];
  return [before, before === after ? `another guard of ${after}` : after];
}

/**
 * Returns `carol, who took `db` at 3 ms, entered under B` if the program reports the grant, or else
 * null. Mentions the key only if the evidence shows its taking.
 */
export function entryPhrase(shown: Contradiction, grant: Grant): string | null {
  if (!isClientGrant(grant)) return null;
  let who = grant.client;
  for (const { event } of shown.parts) {
    if (event.kind !== 'key-change' || event.change !== 'taken') continue;
    if (event.client === grant.client)
      who = `${event.client}, who took \`${event.key}\` ${at(event)},`;
  }
  return `${who} entered under ${shown.letterOf(grant.ordinal)}`;
}

/** Like `entryPhrase`, but `bob was granted B` instead of null. */
export function granteePhrase(shown: Contradiction, grant: Grant): string {
  const granted = `${grant.client} was granted ${shown.letterOf(grant.ordinal)}`;
  return entryPhrase(shown, grant) ?? granted;
}

/** Returns `; waiting since 12 ms at mutex.mjs:7`, or '' if unknown. */
export function waitPhrase(wait: Wait | null): string {
  return wait === null ? '' : `; waiting since ${proseDuration(wait.sinceUs)} at ${wait.place}`;
}

/**
 * Describes a fault and what it affected: `the reply to alice's acquire came 20 ms late`, `bob's
 * clock was set 10 ms ahead at 0 ms`.
 */
export function faultPhrase(trace: Trace, fault: FaultInjected): string {
  const { subject, predicate } = clauseOf(trace, fault);
  const deed = fault.fault === 'pause' ? pausedBefore(trace, fault) : null;
  const before = deed === null ? '' : `, before its ${deed.phrase}`;
  return `${subject} ${predicate}${before}${lossPhrase(trace, fault)}${leftPhrase(trace, fault)}`;
}

function clauseOf(trace: Trace, fault: FaultInjected): ReturnType<typeof faultClause> {
  return faultClause(fault, 'past', {
    process: (name) => processPhrase(trace, name),
    target: (name) => (affectsMessage(fault.fault) ? messagePhrase(trace, name) : `\`${name}\``),
  });
}

/** Returns `alice` for a client, `` `lock` `` for any other process. */
function processPhrase({ processes }: Trace, name: string): string {
  const role = processes.find((process) => process.name === name)?.role;
  return role === 'client' || role === 'probe' ? name : `\`${name}\``;
}

/**
 * Returns `the reply to alice's acquire` for `alice/1/acquire/1/reply`. Names of another form are
 * kept as they are.
 */
export function messagePhrase(trace: Trace, message: string): string {
  const [, operation = '', leg] = /^(.*)\/\d+[^/]*\/(request|reply)$/.exec(message) ?? [];
  if (leg === undefined || labelOf(operation) === '') return `\`${message}\``;
  const [, asked] = /^(.*)\/\d+\/check$/.exec(operation) ?? [];
  const call =
    asked === undefined ? callPhrase(trace, operation) : `the check of ${callPhrase(trace, asked)}`;
  const replica = replicaOf(trace, message);
  if (leg === 'reply') return `the reply${replica === null ? '' : ` of \`${replica}\``} to ${call}`;
  return replica === null ? call : `${call} to \`${replica}\``;
}

/** Returns `alice's acquire`, with the name of the call if alice made several of this kind. */
export function callPhrase(trace: Trace, operation: string): string {
  const [process = ''] = operation.split('/');
  const label = labelOf(operation);
  const alike = trace.events.filter(
    (event) =>
      event.kind === 'invoke' && event.process === process && labelOf(event.operation) === label,
  );
  const which = alike.length > 1 ? ` (\`${operation}\`)` : '';
  return `${processPhrase(trace, process)}'s ${verbPhrase(trace, operation)}${which}`;
}

/** Returns the verb of a call to a lock or store, or the program's own label in backticks. */
function verbPhrase({ events }: Trace, operation: string): string {
  const label = labelOf(operation);
  const invoke = events.find((event) => event.kind === 'invoke' && event.operation === operation);
  if (invoke?.kind !== 'invoke') return label;
  return invoke.call.verb === label ? label : `\`${label}\``;
}

/** Returns `write` for `alice/1/write-2`. */
function labelOf(operation: string): string {
  const [, , label = ''] = operation.split('/');
  return label.replace(/-\d+$/, '');
}

/** Returns the next call of a paused client, or null for a server or if there is none. */
export function pausedBefore(
  trace: Trace,
  pause: FaultInjected,
): { readonly operation: string; readonly phrase: string } | null {
  const [process = ''] = pause.processes;
  if (processPhrase(trace, process) !== process) return null;
  const since = trace.events.slice(trace.events.indexOf(pause));
  const next = since.find((event) => event.kind === 'invoke' && event.process === process);
  if (next?.kind !== 'invoke') return null;
  return { operation: next.operation, phrase: verbPhrase(trace, next.operation) };
}

/** Describes a key that a crashed client left behind: `, and its key `db` has no end`. */
function leftPhrase({ events }: Trace, { fault, processes, atUs }: FaultInjected): string {
  if (fault !== 'crash') return '';
  for (const event of events.toReversed()) {
    if (event.kind !== 'key-change' || event.atUs > atUs || !event.isDone) continue;
    if (!processes.includes(event.client)) continue;
    const isLeft = event.change !== 'removed' && event.untilUs === null;
    return isLeft ? `, and its key \`${event.key}\` has no end` : '';
  }
  return '';
}

const FORGETS: ReadonlySet<string> = new Set(['crash', 'failover', 'evict']);

/** Describes what a lock service lost in a fault: `, and its tokens began again at 1`. */
function lossPhrase(trace: Trace, injected: FaultInjected): string {
  const { events, processes } = trace;
  const isLock = processes.some(({ name, role }) => {
    return role === 'lock' && injected.processes.includes(name);
  });
  if (!isLock || !FORGETS.has(injected.fault)) return '';
  let highest = 0;
  let isAfter = false;
  for (const event of events) {
    if (event === injected) isAfter = true;
    if (event.kind !== 'grant') continue;
    const isByClient = event.process === event.client;
    if (!isByClient && !injected.processes.includes(event.process)) continue;
    if (!isAfter) highest = Math.max(highest, event.token);
    else
      return event.token > 0 && event.token <= highest
        ? `, and its tokens began again at ${event.token}`
        : forgottenPhrase(trace, injected, event);
  }
  return '';
}

/** Returns `, and forgot alice's grant` if another client got the lock before that grant's end. */
function forgottenPhrase({ events }: Trace, injected: FaultInjected, next: Grant): string {
  let lost: Grant | null = null;
  for (const event of events) {
    if (event === next) break;
    if (event.kind === 'release' && event.released === lost?.ordinal) lost = null;
    const isOfServer = event.kind === 'grant' && event.process === next.process;
    if (isOfServer && event.lock === next.lock && event.atUs <= injected.atUs) lost = event;
  }
  if (lost === null || lost.client === next.client) return '';
  const isToLast = lost.untilUs === null || lost.untilUs > next.atUs;
  return isToLast ? `, and forgot ${lost.client}'s grant` : '';
}

/** Describes a client that held a lock before another did, or in one of two runs only. */
export function holdingPhrase({ process, lock }: Enter | Grant, before: string | null): string {
  return `${process} had \`${lock}\` ${before === null ? 'only in this run' : `before ${before} did`}`;
}

/** Describes a server that recovered, or handled a call twice, in one of two runs only. */
export function oddityPhrase(server: string, call: string | null): string {
  return `\`${server}\` ${call === null ? 'came back' : `handled ${call} twice`}`;
}

/** Compares the outcome of a call in two runs. `there` is null if the other run has none. */
export function outcomePhrase(call: string, here: string, there: string | null): string {
  return `${call} was ${here}${there === null ? ' only in this run' : `, but ${there} in the other run`}`;
}

/** Names a write under no grant, which leaves a claim about grants not judged. */
export function outsidePhrase({ client, key, operation }: Write | Read): string {
  return `${client} wrote \`${key}\` outside any grant, by \`${operation}\``;
}

/** Describes a write that does not continue a chain of updates. */
export function strayPhrase({ client, key, value, under, atUs }: Write | Read): string {
  const when = `at ${proseDuration(atUs)}${under === 0 ? ' under no grant' : ''}`;
  const wrote = `${client} wrote ${value ?? 0} to it ${when}`;
  return `\`${key}\` cannot be followed: ${wrote}, which does not update its previous value`;
}
