/**
 * Describes requests to a store and its decisions: the call that a message's name
 * (`alice/1/write-2/1/request`) belongs to, the version or timestamp of a row, the token, and the
 * reason for a refusal, in one place for all rules of all stores. Shared by the terminal, the
 * pictures and the tables.
 */

import type { Call } from '../core/history/call.ts';
import type { TraceEvent } from '../core/history/events.ts';
import {
  type Grant,
  type Read,
  type Refusal,
  type Release,
  type Renew,
  stampText,
  type VersionScale,
  type Write,
} from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { tokenText } from '../text/prose.ts';

/** Returns the operation that a message belongs to: its name without attempt and leg. */
export function operationName(message: string): string {
  return message.replace(/\/\d+[^/]*\/(request|reply)$/, '').replace(/\/(request|reply)$/, '');
}

export function isReply(message: string): boolean {
  return message.endsWith('/reply');
}

/** Returns the calls of a trace by operation name. */
export function callsOf(trace: Trace): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  for (const event of trace.events) {
    if (event.kind === 'invoke') calls.set(event.operation, event.call);
  }
  return calls;
}

interface Terms {
  readonly calls: ReadonlyMap<string, Call>;
  readonly hasTokens: boolean;
  readonly versionsBy?: VersionScale | null;
}

/** Describes a request, `write x = 1, token 1`, or returns an unknown operation's last part. */
export function requestText(
  message: string,
  { calls, hasTokens, versionsBy = null }: Terms,
): string {
  const operation = operationName(message);
  const call = calls.get(operation);
  if (call === undefined) return operation.split('/').at(-1) ?? operation;
  if ('lock' in call) return `${lockCallName(operation, call.verb)}${tokenText(call.token)}`;
  const what = call.value === null ? call.key : `${call.key} = ${call.value}`;
  const token = hasTokens ? `, token ${call.token}` : '';
  const expected = versionsBy === null ? '' : expectedText(versionsBy, call.version);
  return `${call.verb} ${what}${token}${expected === '' ? '' : `, ${expected}`}`;
}

/** Returns the verb, `release`, or the program's own name for the call, `` `del` ``. */
export function lockCallName(operation: string, verb: string): string {
  const [, name = ''] = /^[^/]+\/[^/]+\/([^/]*?)(?:-\d+)?(?:\/|$)/.exec(operation) ?? [];
  return name === '' || name === verb ? verb : `\`${name}\``;
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

/** Describes how a write changed the version: `version 5 → 6`; '' without versions. */
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

/** Describes the version that a write expects: `expects version 5`. Returns '' if it names none. */
export function expectedText(scale: VersionScale, expected: number | null | undefined): string {
  return expected === undefined ? '' : `expects ${versionText(scale, expected)}`;
}

/** Says why a store refused an access: `expects version 5, has 6 (0 rows)`, `has seen 32`. */
export function refusalReason(event: Write | Read): string {
  const { refusal } = event;
  if (refusal !== undefined) return reasonOf(refusal, event);
  const highest = event.kind === 'write' ? event.highest : 0;
  return highest > event.token ? `has seen ${highest}` : '';
}

/**
 * Says why a server denied a renew or a release, as far as the preceding events show it: `bob holds
 * it, token 2`, `its lease ended at 22 ms`. Returns '' otherwise: a server that crashed, failed
 * over, lost a key, or whose clock was changed may have another view.
 */
export function whyDenied(event: Renew | Release, events: readonly TraceEvent[]): string {
  const before = events.slice(0, events.indexOf(event));
  const { process, lock, client, under, atUs } = event;
  const earlierCalls = before.filter(
    (one) => 'lock' in one && one.lock === lock && one.process === process,
  );
  const grants = earlierCalls.filter((one) => one.kind === 'grant');
  const last = grants.at(-1);
  const isForgotten = before.some((one) => {
    if (one.kind !== 'fault' || !one.processes.includes(process)) return false;
    return ['crash', 'failover', 'evict', 'clock'].includes(one.fault);
  });
  if (last === undefined || isForgotten) return '';
  const releases = earlierCalls.filter((one) => one.kind === 'release');
  const ended = releases.find((one) => one.released === last.ordinal);
  if (ended !== undefined) return `${ended.client} released it at ${proseDuration(ended.atUs)}`;
  const endUs = endOf(last, earlierCalls);
  const isOver = endUs !== null && endUs <= atUs;
  const end = endUs === null ? '' : proseDuration(endUs);
  if (last.client !== client) {
    if (isOver) return `${last.client} had it last, until ${end}`;
    return `${last.client} holds it${tokenText(last.token)}`;
  }
  if (under === last.ordinal) return isOver ? `its lease ended at ${end}` : '';
  const meant = grants.find(({ ordinal }) => ordinal === under);
  if (meant === undefined || meant.token === last.token) return '';
  return `it names token ${meant.token}, its lease has token ${last.token}`;
}

function endOf(grant: Grant, events: readonly TraceEvent[]): number | null {
  let endUs = grant.untilUs;
  for (const event of events) {
    if (event.kind === 'renew' && event.extended === grant.ordinal) endUs = event.untilUs;
  }
  return endUs;
}

function reasonOf(refusal: Refusal, event: Write | Read): string {
  const highest = event.kind === 'write' ? event.highest : null;
  switch (refusal.kind) {
    case 'version':
      return event.kind === 'write' ? versionsOf(event) : '';
    case 'check':
      return `CHECK (${refusal.rule}) forbids it`;
    case 'lower':
      return `has seen ${refusal.highest}`;
    case 'equal':
      return `has seen ${event.token} already`;
    case 'order':
      return `access ${event.issue} of its section, has seen access ${refusal.last}`;
    case 'higher':
      return highest === null ? 'it is too high' : `takes none above ${highest}`;
    case 'other':
      return highest === null ? 'it is not the current one' : `takes none but ${highest}`;
    case 'stamp': {
      const [token] = refusal.found;
      const isLater = event.kind === 'write' && token > (event.stamp?.[0] ?? 0);
      return isLater ? `has one of token ${token}` : 'has a later one';
    }
    case 'lease':
      return 'the lock service knows no such lease';
  }
}

/** Returns `refuses`, or `ignores` if the client is not informed. */
export function refusalVerb({ refusal }: Write | Read): string {
  return refusal?.kind === 'stamp' ? 'ignores' : 'refuses';
}

function versionsOf({ version }: Write): string {
  if (version === undefined) return '';
  const { expected, found } = version;
  const isShort = expected !== null;
  return `${expectedText(version, expected)}, has ${versionText(version, found, { isShort })} (0 rows)`;
}

/** Returns the text on the flag of a write: its token, or the version created or expected. */
export function flagText({ token, version, isAccepted }: Write): string {
  if (token > 0 || version === undefined) return token > 0 ? String(token) : '';
  const shown = isAccepted ? version.given : (version.expected ?? null);
  if (shown === null) return '–';
  return version.by === 'version' ? String(shown) : stampText(version, shown).replace(/ ms$/, '');
}
