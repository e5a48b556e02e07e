/**
 * Builds traces for tests: one line per event, times in milliseconds. By default, there is one lock
 * `db` that guards the resource `db` in the store `store`, the ttl is 10 ms, and each token equals
 * the grant number.
 */

import type { Answer, Call } from '../core/history/call.ts';
import type {
  Deny,
  Enter,
  EventOf,
  FaultInjected,
  Grant,
  Invoke,
  KeyChange,
  LeaseTest,
  Leave,
  Mark,
  Read,
  Recovered,
  Release,
  Renew,
  Return,
  Send,
  TraceEvent,
  Write,
} from '../core/history/events.ts';
import type { Ending, ProcessInfo, Trace } from '../core/history/trace.ts';
import { judge } from './claims.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

type More<E> = Partial<Omit<E, 'kind' | 'atUs'>>;

const us = (ms: number): number => Math.round(ms * 1000);

export const terms: Terms = {
  isFenced: true,
  driftPpm: null,
  skewUs: null,
  slackUs: 1000,
  endUs: 10_000_000,
  ttlUs: 10_000,
  probeWrites: new Set(),
  model: 'fenced-register',
  maxConfigurations: 10_000,
};

/** Returns a complete run with the usual processes; the probe is named `probe`. */
export function traceOf(
  events: readonly TraceEvent[],
  ending: Ending = { kind: 'complete' },
): Trace {
  const processes: ProcessInfo[] = [
    { name: 'alice', role: 'client' },
    { name: 'bob', role: 'client' },
    { name: 'carol', role: 'client' },
    { name: 'probe', role: 'probe' },
    { name: 'lock', role: 'lock' },
    { name: 'store', role: 'store' },
  ];
  return { processes, events, ending, unmatched: [] };
}

export function verdictOn(
  claim: string,
  events: readonly TraceEvent[],
  more: Partial<Terms> = {},
): Verdict {
  const [verdict] = judge(traceOf(events), { ...terms, ...more }, [claim]);
  if (verdict === undefined) throw new Error('no verdict');
  return verdict;
}

/** Returns the rule of a breach, its evidence as `event role`, and its words. */
export function breachOf(
  claim: string,
  events: readonly TraceEvent[],
  more: Partial<Terms> = {},
): { readonly rule: string; readonly evidence: readonly string[]; readonly words: string } {
  const verdict = verdictOn(claim, events, more);
  if (verdict.kind !== 'invalid') throw new Error(`${claim} is ${verdict.kind}`);
  const evidence = verdict.evidence.map(({ role, event }) => `${event} ${role}`);
  const words = inWords(explain(traceOf(events), verdict));
  return { rule: verdict.rule, evidence, words };
}

export function grant(ms: number, client: string, ordinal: number, more: More<Grant> = {}): Grant {
  return {
    kind: 'grant',
    atUs: us(ms),
    process: 'lock',
    lock: 'db',
    client,
    ordinal,
    token: ordinal,
    ttlUs: 10_000,
    sentAtUs: us(ms),
    untilUs: us(ms) + 10_000,
    message: `${client}/${ordinal}/acquire/1/request`,
    ...more,
  };
}

export function deny(ms: number, client: string, holderOrdinal: number): Deny {
  const message = `${client}/9/acquire/1/request`;
  const names = { process: 'lock', lock: 'db', client, holder: 'alice', message };
  return { kind: 'deny', atUs: us(ms), ...names, holderOrdinal };
}

/** A client renews its own grant; by default, the new lease counts from the time of handling. */
export function renew(ms: number, client: string, under: number, more: More<Renew> = {}): Renew {
  return {
    kind: 'renew',
    atUs: us(ms),
    process: 'lock',
    lock: 'db',
    client,
    under,
    extended: under,
    token: under,
    ttlUs: 10_000,
    sentAtUs: us(ms),
    untilUs: us(ms) + 10_000,
    message: `${client}/${under}/renew/1/request`,
    ...more,
  };
}

export function release(
  ms: number,
  client: string,
  under: number,
  more: More<Release> = {},
): Release {
  const message = `${client}/${under}/release/1/request`;
  const names = { process: 'lock', lock: 'db', client, message };
  return { kind: 'release', atUs: us(ms), ...names, under, released: under, ...more };
}

/** A client takes `db` on a server, until the end of its ttl. */
export function keyChange(ms: number, client: string, more: More<KeyChange> = {}): KeyChange {
  return {
    kind: 'key-change',
    atUs: us(ms),
    process: 'lock',
    key: 'db',
    client,
    message: `${client}/1/acquire/1/request`,
    change: 'taken',
    isDone: true,
    isNamed: true,
    holder: '',
    taking: '',
    meant: '',
    untilUs: us(ms) + 10_000,
    ...more,
  };
}

export function mark(ms: number, point: string): Mark {
  const [process = ''] = point.split('/');
  return { kind: 'mark', atUs: us(ms), process, point };
}

/** An accepted blind write of `value` to `x`, the first operation of its section. */
export function write(
  ms: number,
  client: string,
  under: number,
  value: number | null,
  more: More<Write> = {},
): Write {
  const operation = more.operation ?? `${client}/${under}/write`;
  return {
    kind: 'write',
    atUs: us(ms),
    process: 'store',
    resource: 'db',
    key: 'x',
    value,
    token: under,
    under,
    client,
    operation,
    issue: 1,
    isAccepted: true,
    highest: 0,
    adds: null,
    message: `${operation}/1/request`,
    ...more,
  };
}

/** A read of `x`, the first operation of its section, with result `value`, or null if refused. */
export function read(
  ms: number,
  client: string,
  under: number,
  value: number | null,
  more: More<Read> = {},
): Read {
  const operation = more.operation ?? `${client}/${under}/read`;
  return {
    kind: 'read',
    atUs: us(ms),
    process: 'store',
    resource: 'db',
    key: 'x',
    value,
    token: under,
    under,
    client,
    operation,
    issue: 1,
    isAccepted: value !== null,
    message: `${operation}/1/request`,
    ...more,
  };
}

export function recovered(
  ms: number,
  highest: number,
  values: Readonly<Record<string, number>>,
): Recovered {
  return { kind: 'recovered', atUs: us(ms), process: 'store', resource: 'db', highest, values };
}

export function enter(
  ms: number,
  process: string,
  ordinal: number,
  believedUntilMs: number,
): Enter {
  const section = `${process}/${ordinal}`;
  const believedUntilUs = us(believedUntilMs);
  const names = { process, section, lock: 'db', ordinal, token: ordinal };
  return { kind: 'enter', atUs: us(ms), ...names, believedUntilUs };
}

export function leave(ms: number, process: string, ordinal: number): Leave {
  const section = `${process}/${ordinal}`;
  return { kind: 'leave', atUs: us(ms), process, section, lock: 'db', ordinal };
}

/** A holder finds its lease live. */
export function leaseTest(
  ms: number,
  process: string,
  ordinal: number,
  believedUntilMs: number,
): LeaseTest {
  const believedUntilUs = us(believedUntilMs);
  const names = { process, lock: 'db', ordinal };
  return { kind: 'lease-test', atUs: us(ms), ...names, isLive: true, believedUntilUs };
}

/** A fault affects one process, permanently unless `untilMs` is given. */
export function fault(
  ms: number,
  kind: FaultInjected['fault'],
  process: string,
  more: More<FaultInjected> & { readonly untilMs?: number } = {},
): FaultInjected {
  const { untilMs, ...rest } = more;
  const untilUs = untilMs === undefined ? null : us(untilMs);
  const what = { fault: kind, index: 0, processes: [process], untilUs, target: '', amount: 0 };
  return { kind: 'fault', atUs: us(ms), ...what, ...rest };
}

export function pause(ms: number, process: string, untilMs: number): FaultInjected {
  return fault(ms, 'pause', process, { untilMs, amount: us(untilMs - ms) });
}

export function healed(ms: number): EventOf<'healed'> {
  return { kind: 'healed', atUs: us(ms) };
}

export function send(ms: number, from: string, operation: string): Send {
  const message = `${operation}/1/request`;
  return { kind: 'send', atUs: us(ms), from, to: 'store', message, body: null };
}

/**
 * A client calls an operation such as `alice/1/write`, by default on `x` with the section number as
 * token.
 */
export function invoke(
  ms: number,
  operation: string,
  more: Partial<Extract<Call, { readonly store: string }>> = {},
): Invoke {
  const [process = '', section = '', step = ''] = operation.split('/');
  const verb = step.startsWith('read') ? 'read' : step.startsWith('open') ? 'open' : 'write';
  const names = { store: 'store', resource: 'db', key: 'x' };
  const call: Call = { verb, ...names, value: null, token: Number(section), adds: null, ...more };
  return { kind: 'invoke', atUs: us(ms), process, operation, call };
}

export function acquire(ms: number, operation: string): Invoke {
  const [process = ''] = operation.split('/');
  const call: Call = { verb: 'acquire', lock: 'db', token: 0 };
  return { kind: 'invoke', atUs: us(ms), process, operation, call };
}

/** The answer to an operation reaches its client. */
export function answer(ms: number, operation: string, given: Answer): Return {
  const [process = ''] = operation.split('/');
  return { kind: 'return', atUs: us(ms), process, operation, outcome: 'ok', answer: given };
}

export function accepted(ms: number, operation: string): Return {
  return answer(ms, operation, { kind: 'accepted' });
}

/** An operation ends without an answer. */
export function unknown(ms: number, operation: string): Return {
  const [process = ''] = operation.split('/');
  return { kind: 'return', atUs: us(ms), process, operation, outcome: 'info', answer: null };
}
