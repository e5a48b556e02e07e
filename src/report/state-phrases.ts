/**
 * Phrases for parts of clauses (calls, answers, versions, refusals) and for states that last
 * (leases, beliefs, pauses, clocks). Used by pictures, tables and `event-phrases.ts`.
 */
import type { FormerKey } from '../check/lock-keys.ts';
import type { Answer, Call } from '../core/history/call.ts';
import {
  type Grant,
  type KeyChange,
  type Read,
  type Refusal,
  type Release,
  type Renew,
  stampText,
  type TraceEvent,
  type VersionScale,
  type Write,
} from '../core/history/events.ts';
import type { Json } from '../core/kernel/json.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { tokenText } from '../text/prose.ts';
import { clip, visible } from '../text/visible.ts';
import {
  type ClientViewSpan,
  type ClockSpan,
  type FaultSpan,
  type LeaseSpan,
  type LossSpan,
  type OverlapSpan,
  operationName,
} from './spans.ts';

/** A time after the end of any run. A lease with a later end ends only by a release. */
export const NEVER_US = 1e15;

/** Returns ` until 20 ms`, or '' for a view without an end. */
export function untilText(us: number): string {
  return us > NEVER_US ? '' : ` until ${proseDuration(us)}`;
}

/** Writes a name in backticks. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', "'")}\``;
}

/** Properties of a run that affect the wording of calls. */
interface CallTerms {
  readonly calls: ReadonlyMap<string, Call>;
  readonly hasTokens: boolean;
  readonly versionsBy: VersionScale | null;
}

/** Describes a request: `write x = 1, token 1`. For an unknown operation, returns its last part. */
export function requestText(message: string, context: CallTerms): string {
  const operation = operationName(message);
  const call = context.calls.get(operation);
  if (call === undefined) return operation.split('/').at(-1) ?? operation;
  if ('lock' in call) return `${lockCallName(operation, call.verb)}${tokenText(call.token)}`;
  const what = call.value === null ? call.key : `${call.key} = ${call.value}`;
  const token = context.hasTokens ? `, token ${call.token}` : '';
  const scale = context.versionsBy;
  const expected = scale === null ? '' : expectedText(scale, call.version);
  return `${call.verb} ${what}${token}${expected === '' ? '' : `, ${expected}`}`;
}

/** Returns the verb (`release`), or the program's name for the call if it differs (`` `del` ``). */
export function lockCallName(operation: string, verb: string): string {
  const [, name = ''] = /^[^/]+\/[^/]+\/([^/]*?)(?:-\d+)?(?:\/|$)/.exec(operation) ?? [];
  return name === '' || name === verb ? verb : `\`${name}\``;
}

/** Returns a short name of an operation: `acquire`, `read x`, or the program's own name. */
export function callName(operation: string, { calls }: Pick<CallTerms, 'calls'>): string {
  const call = calls.get(operation);
  if (call === undefined) return operation.split('/').at(-1) ?? operation;
  return 'lock' in call ? lockCallName(operation, call.verb) : `${call.verb} ${call.key}`;
}

export function answerText(answer: Answer, versionsBy: VersionScale | null): string {
  const by = versionsBy ?? ({ by: 'version' } as const);
  if (answer.kind === 'granted') return `granted${tokenText(answer.token)}`;
  if (answer.kind === 'denied') {
    return answer.holder === '' ? 'denied' : `denied, ${answer.holder} holds it`;
  }
  if (answer.kind === 'refused') {
    if (answer.check !== undefined) return `refused by CHECK (${answer.check})`;
    if (answer.version !== undefined) return `refused, found ${versionText(by, answer.version)}`;
    return `refused, highest token ${answer.highest}`;
  }
  if (answer.kind === 'accepted' && answer.isRepeated === true) return 'accepted before';
  const version = 'version' in answer ? (answer.version ?? null) : undefined;
  const row = version === undefined ? '' : `, ${versionText(by, version)}`;
  return answer.kind === 'value' ? `value ${answer.value}${row}` : `${answer.kind}${row}`;
}

/** Returns `version 5`, `a change of 3 ms` or `no row`. */
export function versionText(
  scale: VersionScale,
  version: number | null,
  { isShort = false }: { readonly isShort?: boolean } = {},
): string {
  if (version === null) return 'no row';
  const stamp = stampText(scale, version);
  if (scale.by === 'timestamp') return `${isShort ? 'one' : 'a change'} of ${stamp}`;
  return isShort ? String(version) : `version ${version}`;
}

/** Describes how a write changed the version: `version 5 → 6`. Returns '' without versions. */
export function changeText({ version }: Write): string {
  if (version === undefined || version.given === null) return '';
  const { by, found, given } = version;
  const name = by === 'version' ? 'version' : 'change of';
  const text = (of: number): string => (by === 'version' ? String(of) : stampText(version, of));
  return found === null
    ? `first ${name} ${text(given)}`
    : `${name} ${text(found)} → ${text(given)}`;
}

/** Describes the version that a read saw: `version 5`, `change of 3 ms`, `never written`. */
export function seenText({ version }: Read): string {
  if (version === undefined) return '';
  const { by, found } = version;
  if (found === null) return 'never written';
  return by === 'version' ? `version ${found}` : `change of ${stampText(version, found)}`;
}

/** Describes the version that a write expects: `expects version 5`. Returns '' if it has none. */
export function expectedText(scale: VersionScale, expected: number | null | undefined): string {
  return expected === undefined ? '' : `expects ${versionText(scale, expected)}`;
}

/** Returns why a store refused an access: `expects version 5, has 6 (0 rows)`, `too high`. */
export function refusalReason(event: Write | Read): string {
  const { refusal } = event;
  if (refusal !== undefined) return reasonOf(refusal, event);
  const highest = event.kind === 'write' ? event.highest : 0;
  return highest > event.token ? `highest seen ${highest}` : '';
}

function reasonOf(refusal: Refusal, event: Write | Read): string {
  const highest = event.kind === 'write' ? event.highest : null;
  switch (refusal.kind) {
    case 'version':
      return event.kind === 'write' ? versionsOf(event) : '';
    case 'check':
      return `CHECK (${refusal.rule}) forbids it`;
    case 'lower':
      return `highest seen ${refusal.highest}`;
    case 'equal':
      return 'seen before';
    case 'order':
      return `access ${event.issue} of its section, after access ${refusal.last}`;
    case 'higher':
      return highest === null ? 'too high' : `no token above ${highest} is accepted`;
    case 'other':
      return highest === null ? 'not the current one' : `only ${highest} is accepted`;
    case 'stamp': {
      const [token] = refusal.found;
      const isLater = event.kind === 'write' && token > (event.stamp?.[0] ?? 0);
      return isLater
        ? `a write of token ${token} has a later stamp`
        : 'another write has a later stamp';
    }
    case 'lease':
      return 'the lock service does not know its lease';
  }
}

/** Returns `refuses`, or `ignores` if the store hides the refusal from the client. */
export function refusalVerb({ refusal }: Write | Read): string {
  return refusal?.kind === 'stamp' ? 'ignores' : 'refuses';
}

function versionsOf({ version }: Write): string {
  if (version === undefined) return '';
  const { expected, found } = version;
  const isShort = expected !== null;
  return `${expectedText(version, expected)}, has ${versionText(version, found, { isShort })} (0 rows)`;
}

/** Returns the label of a write: its token, or else the version that it created or expected. */
export function flagText({ token, version, isAccepted }: Write): string {
  if (token > 0 || version === undefined) return token > 0 ? String(token) : '';
  const shown = isAccepted ? version.given : (version.expected ?? null);
  if (shown === null) return '–';
  return version.by === 'version' ? String(shown) : stampText(version, shown).replace(/ ms$/, '');
}

/**
 * Returns why a server denied a renew or a release: `bob holds it, token 2`, `its lease ended at 22
 * ms`. Returns '' if the preceding events do not show the reason. A crash, failover, eviction or
 * clock fault of the server hides the reason.
 */
export function denialReason(event: Renew | Release, events: readonly TraceEvent[]): string {
  const before = events.slice(0, events.indexOf(event));
  const { process, lock, client, under, atUs } = event;
  const ofLock = before.filter(
    (one) => 'lock' in one && one.lock === lock && one.process === process,
  );
  const grants = ofLock.filter((one) => one.kind === 'grant');
  const last = grants.at(-1);
  const isForgotten = before.some((one) => {
    if (one.kind !== 'fault' || !one.processes.includes(process)) return false;
    return ['crash', 'failover', 'evict', 'clock'].includes(one.fault);
  });
  if (last === undefined || isForgotten) return '';
  const releases = ofLock.filter((one) => one.kind === 'release');
  const ended = releases.find((one) => one.released === last.ordinal);
  if (ended !== undefined) return `${ended.client} released it at ${proseDuration(ended.atUs)}`;
  const endUs = endOf(last, ofLock);
  const isOver = endUs !== null && endUs <= atUs;
  const end = endUs === null ? '' : proseDuration(endUs);
  if (last.client !== client) {
    if (isOver) return `${last.client} had it last, until ${end}`;
    return `${last.client} holds it${tokenText(last.token)}`;
  }
  if (under === last.ordinal) return isOver ? `its lease ended at ${end}` : '';
  const meant = grants.find(({ ordinal }) => ordinal === under);
  if (meant === undefined || meant.token === last.token) return '';
  return `it names token ${meant.token}, its lease has ${last.token}`;
}

function endOf(grant: Grant, events: readonly TraceEvent[]): number | null {
  let endUs = grant.untilUs;
  for (const event of events) {
    if (event.kind === 'renew' && event.extended === grant.ordinal) endUs = event.untilUs;
  }
  return endUs;
}

/** `former` is how the key had ended if the change re-creates it. */
export function keyChangeText(
  event: KeyChange,
  name: (name: string) => string,
  former?: FormerKey,
): string {
  const { change, isDone, holder, untilUs } = event;
  const [key, client] = [`\`${event.key}\``, name(event.client)];
  const whose = holder === '' || holder === event.client ? '' : `, which ${name(holder)} had taken`;
  if (!isDone && change === 'taken') return `denies ${client} ${key}${whose}`;
  if (!isDone) return `leaves ${key} unchanged: it is not ${client}'s`;
  const until = untilUs === null ? '' : untilText(untilUs);
  if (former !== undefined) return `re-creates ${key}${until}${formerText(former, name)}`;
  const verbs = {
    taken: `takes ${key}${until}`,
    prolonged: `extends ${key}${until}${whose}`,
    removed: `removes ${key}${whose}`,
    overwritten: `overwrites ${key}${whose}`,
    untracked: `writes to ${key}${whose}`,
    lost: `loses ${key}${whose}`,
  };
  return verbs[change];
}

/** Returns `, which bob had removed at 9 ms`, or `, which had expired at 9 ms`. */
function formerText({ untilUs, ended }: FormerKey, name: (name: string) => string): string {
  if (untilUs === null) return '';
  const by = ended === null || ended.client === '' ? '' : `${name(ended.client)} `;
  return `, which ${by}had ${by === '' ? 'expired' : 'removed'} at ${proseDuration(untilUs)}`;
}

/**
 * Describes the duration and end of a lease. Both may differ from the request: servers may round
 * the duration to seconds, or start the lease at a heartbeat.
 */
export function leaseText(lease: {
  readonly atUs: number;
  readonly ttlUs: number;
  readonly untilUs: number;
}): string {
  const { atUs, ttlUs, untilUs } = lease;
  const [ttl, until] = [proseDuration(ttlUs), proseDuration(untilUs)];
  const isAsRequested = Math.abs(untilUs - atUs - ttlUs) <= ttlUs / 5;
  return isAsRequested ? ` for ${ttl}, until ${until}` : ` until ${until} (ttl ${ttl})`;
}

/**
 * Describes the action of a quorum node by its command and answer: `sets db for alice, ttl 10 ms`.
 * Returns null if the request is not a command.
 */
export function deedOf(request: Json, reply: Json, client: string): string | null {
  const key = bodyField(request, 'key');
  if (typeof key !== 'string') return null;
  const done = bodyField(reply, 'kind');
  if (done === 'unavailable') return `is out of service to ${client}`;
  if (done !== 'done' && done !== 'nil') return null;
  const ttl = bodyField(request, 'ttlUs');
  const lasting = typeof ttl === 'number' ? `, ttl ${proseDuration(ttl)}` : '';
  const deeds = new Map<unknown, readonly [string, string]>([
    ['set', [`sets ${key} for ${client}${lasting}`, `has ${key}, not ${client}'s`]],
    ['expire', [`extends ${key} for ${client}${lasting}`, `has no ${key} of ${client}'s`]],
    ['delete', [`removes ${client}'s ${key}`, `has no ${key} of ${client}'s`]],
  ]);
  return deeds.get(bodyField(request, 'kind'))?.[done === 'done' ? 0 : 1] ?? null;
}

export function bodyField(body: Json, name: string): Json | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined;
  return Object.entries(body).find(([field]) => field === name)?.[1];
}

const FAULT_STATES: Readonly<Record<FaultSpan['kind'], string>> = {
  pause: 'paused',
  partition: 'partitioned',
  crash: 'down',
};

/** Returns `paused for 17 ms, until 20 ms`, or `down for good` if a crash has no restart. */
export function faultStateText({ kind, fromUs, untilUs }: Omit<FaultSpan, 'process'>): string {
  const state = FAULT_STATES[kind];
  if (untilUs === null) return kind === 'crash' ? `${state} for good` : state;
  return `${state} for ${proseDuration(untilUs - fromUs)},${untilText(untilUs)}`;
}

/** Returns `+20 ms`, `runs +200 ppm`, `stands still`, or a combination. */
export function clockText({ offsetUs, ratePpm }: Pick<ClockSpan, 'offsetUs' | 'ratePpm'>): string {
  const sign = (value: number): string => (value > 0 ? '+' : '');
  const parts: string[] = [];
  if (offsetUs !== 0) parts.push(`${sign(offsetUs)}${proseDuration(offsetUs)}`);
  if (ratePpm === -1_000_000) parts.push('stands still');
  else if (ratePpm !== 0) parts.push(`runs ${sign(ratePpm)}${ratePpm} ppm`);
  return parts.join(', ');
}

export function clockTitle(span: ClockSpan): string {
  return `clock of ${span.process}: ${clockText(span)}`;
}

/** Returns `alice holds it, token 1`. */
export function holderText({ client, token }: Pick<LeaseSpan, 'client' | 'token'>): string {
  return `${visible(clip(client, 16))} holds it${tokenText(token)}`;
}

export function leaseTitle({ client, lock, token, fromUs, untilUs, ending }: LeaseSpan): string {
  const until = untilUs === null ? '' : ` to ${proseDuration(untilUs)}`;
  return `${client} holds ${lock}${tokenText(token)}: ${proseDuration(fromUs)}${until} (${ending})`;
}

/** Describes a client that acts as the holder. The end of the lease is by the client's clock. */
export function viewTitle({ process, lock, token, believedUntilUs }: ClientViewSpan): string {
  const until = untilText(believedUntilUs);
  const end = until === '' ? '' : `${until} by its own clock`;
  return `${process} acts as the holder of ${lock}${tokenText(token)}${end}`;
}

export function overlapText({ other }: OverlapSpan): string {
  return `still acts as the holder, but ${clip(visible(other), 16)} holds it`;
}

export function lossTitle({ process, fromUs, untilUs }: LossSpan): string {
  const span = `from ${proseDuration(fromUs)} to ${proseDuration(untilUs)}`;
  return `${process} lost the lock without noticing, ${span}`;
}

export function clientEndTitle({ process, believedUntilUs }: ClientViewSpan): string {
  return `own clock of ${process}: lease is over at ${proseDuration(believedUntilUs)}`;
}

/** Returns the label of the event at which the claim breaks. `part` is its role in the evidence. */
export function violationText(part: string, claim: string): string {
  return `✗ ${part}: ${claim} breaks`;
}

/** Describes an answer that contradicts every order of the operations. */
export const NO_ORDER = 'no order explains this answer';

/** Describes a client's belief in a section: `db, token 1 until 20 ms by its own clock`. */
export function viewFact({ lock, token, believedUntilUs }: ClientViewSpan, nowUs: number): string {
  const until = untilText(believedUntilUs);
  const over = ` · its own clock ended it at ${proseDuration(believedUntilUs)}`;
  const end = until === '' ? '' : `${until} by its own clock`;
  return `${lock}${tokenText(token)}${believedUntilUs <= nowUs ? over : end}`;
}

/** Describes whether a client really holds the lock. `leases` must contain only live leases. */
export function truthText(
  { lock, ordinal, process }: ClientViewSpan,
  leases: readonly LeaseSpan[],
): string {
  const ofLock = leases.filter((lease) => lease.lock === lock);
  if (ofLock.some((lease) => lease.ordinal === ordinal)) return '✓ it holds it';
  const other = ofLock.find(({ client }) => client !== process);
  return other === undefined ? '✗ its lease has ended' : `✗ ${holderText(other)}`;
}

export function heldBy(lock: string): string {
  return `${lock} is held by`;
}

/** Describes a pending call: `the answer to acquire db`. */
export function callWaited(call: Call): string {
  return `the answer to ${call.verb} ${'lock' in call ? call.lock : call.key}`;
}

/** Returns `alice, token 1 until 20 ms`. */
export function leaseFact({ client, token, untilUs }: LeaseSpan): string {
  return `${client}${tokenText(token)}${untilUs === null ? '' : untilText(untilUs)}`;
}

/** Describes the value that a write leaves in a store: `1, from alice, token 1, version 6`. */
export function contentText({ value, client, token, version }: Write): string {
  const given = version?.given ?? null;
  const row = version === undefined || given === null ? '' : `, ${versionText(version, given)}`;
  return `${value}, from ${client}${tokenText(token)}${row}`;
}

/** The kinds of mark in a picture. */
export type MarkKind =
  | FaultSpan['kind']
  | ('lease' | 'client view' | 'overlap' | 'loss' | 'own end' | 'skew' | 'order')
  | ('accepted' | 'violating' | 'refused' | 'request' | 'answer' | 'lost' | 'duplicate');

/** The meanings of the marks, for the legend of a picture. */
export const MARK_MEANINGS: Readonly<Record<MarkKind, string>> = {
  lease: 'lease of the lock service',
  'client view': 'a client acts as the holder',
  overlap: 'a client acts as the holder, but another holds the lock',
  loss: 'it lost the lock without noticing',
  pause: 'paused',
  crash: 'down',
  partition: 'partitioned',
  accepted: '✓ write accepted',
  violating: '✓ accepted write that breaks the claim',
  refused: '⊘ write refused',
  request: 'request',
  answer: 'answer',
  lost: 'message lost',
  'own end': 'its clock ends the lease here',
  duplicate: 'message executed twice',
  skew: 'its clock is off',
  order: 'takes effect here, in this order',
};
