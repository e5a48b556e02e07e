/**
 * Narrates the events in plain spoken language, one sentence per event: which client was paused,
 * which lease expired, which client got the lock meanwhile, and whose write was overwritten. Events
 * after the violation are omitted.
 */
import type { Evidence } from '../check/verdict.ts';
import type { Grant, Write } from '../core/history/events.ts';
import { type FaultInjected, type TraceEvent, WHY } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { FAULT_WORDS } from '../core/plan/fault-words.ts';
import { listOf, tokenText } from '../text/prose.ts';
import { changeText, refusalReason, refusalVerb, seenText } from './access-text.ts';
import { clockText, isLiveAt, type LeaseSpan, leaseSpans } from './spans.ts';
import { lastOfStory } from './steps.ts';

/** Maximum number of sentences. The first and the last ones are kept. */
const MOST_SENTENCES = 9;
const KEPT_AT_START = 3;

export interface PlainSentence {
  /** Includes the final period. Names are in backticks. */
  readonly text: string;
  readonly atUs: number;
  /** Index into `trace.events`. Null for an expired lease and for omitted sentences. */
  readonly event: number | null;
}

/** Returns the sentences in order of time. */
export function describePlainly(
  trace: Trace,
  evidence: readonly Evidence[],
): readonly PlainSentence[] {
  const last = lastOfStory(trace, evidence);
  const events = trace.events.slice(0, last + 1);
  const leases = leaseSpans(trace);
  const written = new Map<string, Write>();
  const sentences: PlainSentence[] = [];
  const endUs = events.at(-1)?.atUs ?? 0;
  for (const lease of leases) {
    if (lease.ending !== 'expired' || lease.untilUs === null || lease.untilUs > endUs) continue;
    const { client, ordinal } = lease;
    const left = events.find(
      (event) => event.kind === 'leave' && event.process === client && event.ordinal === ordinal,
    );
    // Omit it, unless its client was still in the section when the lease expired.
    if (left !== undefined && left.atUs <= lease.untilUs) continue;
    const text = `${named(client)}'s lease of ${named(lease.lock)} runs out`;
    sentences.push({ atUs: lease.untilUs, text, event: null });
  }
  const hasReads = evidence.some(({ event }) => trace.events[event]?.kind === 'read');
  for (const [at, event] of events.entries()) {
    if (event.kind === 'read' && !hasReads) continue;
    const text = sentenceOf(event, { leases, written });
    if (text !== null) sentences.push({ atUs: event.atUs, text, event: at });
  }
  sentences.sort((left, right) => left.atUs - right.atUs);
  return shortened(
    inOne(sentences, trace).map((one) => {
      return { ...one, text: `At ${proseDuration(one.atUs)} ${one.text}.` };
    }),
  );
}

/** Joins the sentences about replicas that accept the same write at the same time into one. */
function inOne(sentences: readonly PlainSentence[], trace: Trace): readonly PlainSentence[] {
  const joined: PlainSentence[] = [];
  let stores: string[] = [];
  const nameThem = (): void => {
    const last = joined.pop();
    if (last === undefined) return;
    const to = stores.length > 1 ? ` to ${listOf(stores.map(named))}` : '';
    joined.push({ ...last, text: `${last.text}${to}` });
  };
  let before: PlainSentence | null = null;
  for (const one of sentences) {
    const event = trace.events[one.event ?? -1];
    const store = event?.kind === 'write' && event.isAccepted ? [event.process] : [];
    const isSame = store.length > 0 && before?.atUs === one.atUs && before.text === one.text;
    before = one;
    if (isSame) {
      stores.push(...store);
      continue;
    }
    nameThem();
    stores = store;
    joined.push(one);
  }
  nameThem();
  return joined;
}

function shortened(sentences: readonly PlainSentence[]): readonly PlainSentence[] {
  const surplus = sentences.length - MOST_SENTENCES;
  if (surplus <= 0) return sentences;
  return [
    ...sentences.slice(0, KEPT_AT_START),
    { text: `… (${surplus + 1} more things happen) …`, atUs: -1, event: null },
    ...sentences.slice(KEPT_AT_START + surplus + 1),
  ];
}

function named(name: string): string {
  return `\`${name.replaceAll('`', "'")}\``;
}

interface Known {
  readonly leases: readonly LeaseSpan[];
  /** The last accepted write by store and key. Updated as the story proceeds. */
  readonly written: Map<string, Write>;
}

function sentenceOf(event: TraceEvent, known: Known): string | null {
  switch (event.kind) {
    case 'grant':
      return grantSentence(event, known);
    case 'fault':
      return faultSentence(event, known);
    case 'resume':
      return `${named(event.processes[0] ?? '')} wakes up and goes on where it was`;
    case 'restart':
      return `${named(event.processes[0] ?? '')} restarts`;
    case 'release':
      return event.released === 0 ? null : `${named(event.client)} releases ${named(event.lock)}`;
    case 'write':
      return event.value === null ? null : writeSentence(event, known);
    case 'read': {
      const { client, key, value } = event;
      const seen = seenText(event);
      const version = seen === '' ? '' : ` (${seen})`;
      return event.isAccepted ? `${named(client)} reads ${named(key)} = ${value}${version}` : null;
    }
    case 'deadlock':
      return listOf(event.waits.map((one) => `${named(one.client)} waits for ${named(one.lock)}`));
    case 'mark': {
      const who = named(event.process);
      if (event.point.endsWith('/computing')) return `${who} begins to compute the value`;
      return event.point.endsWith('/computed') ? `${who} has computed the value` : null;
    }
    case 'log':
      if (event.topic === WHY) return event.text;
      // For example, `goes on without the lock on db`, from a memoize step.
      if (event.topic !== 'memoize' || !event.text.startsWith('goes on')) return null;
      return `${named(event.process)} ${event.text}`;
    case 'recovered':
      return event.begins === undefined
        ? `${named(event.process)} is back with what it still knows`
        : null;
    default:
      return null;
  }
}

function grantSentence(event: Grant, { leases }: Known): string {
  const { client, lock, token, atUs, ordinal, untilUs } = event;
  const what = `${named(client)} gets ${named(lock)}${tokenText(token)}`;
  if (untilUs !== null && untilUs <= atUs) {
    return `${what}, although it was to last only until ${proseDuration(untilUs)}`;
  }
  const before = leases.find(
    (lease) => lease.lock === lock && lease.ordinal < ordinal && isLiveAt(lease, atUs),
  );
  if (before === undefined) return what;
  const { client: holder, untilUs: until } = before;
  if (until === null) return `${what}, although ${named(holder)} has not given it back`;
  return `${what}, although ${named(holder)}'s lease was to last until ${proseDuration(until)}`;
}

function faultSentence(event: FaultInjected, { leases }: Known): string | null {
  const who = named(event.processes[0] ?? '');
  const held = leases.find(
    (lease) => event.processes.includes(lease.client) && isLiveAt(lease, event.atUs),
  );
  const holding = held === undefined ? '' : ` while it holds ${named(held.lock)}`;
  const long = event.amount > 0 ? ` for ${proseDuration(event.amount)}` : '';
  const processes = event.processes.map(named);
  const said = { who, processes, target: named(event.target), amount: '', long, holding };
  return FAULT_WORDS[event.fault].plain?.({ ...said, clock: clockSentence(event) }) ?? null;
}

function clockSentence({ processes: [process = ''], target, amount }: FaultInjected): string {
  const isStep = target === 'step';
  const by = clockText(
    isStep ? { offsetUs: amount, ratePpm: 0 } : { offsetUs: 0, ratePpm: amount },
  );
  return by === ''
    ? `the clock of ${named(process)} runs true`
    : `the clock of ${named(process)} ${isStep ? 'jumps ' : ''}${by}`;
}

function writeSentence(event: Write, { leases, written }: Known): string {
  const { client, key, value, token, isAccepted, process } = event;
  const what = `${named(key)} = ${value}`;
  if (!isAccepted) {
    const why = refusalReason(event);
    const reason = why === '' ? '' : `: ${why}`;
    return `${named(process)} ${refusalVerb(event)} ${named(client)}'s ${what}${tokenText(token)}${reason}`;
  }
  const place = `${process}/${event.resource}/${key}`;
  const before = written.get(place);
  written.set(place, event);
  const isOver = before !== undefined && before.client !== client;
  const over = isOver ? `, over ${named(before.client)}'s ${named(key)} = ${before.value}` : '';
  const lease = leases.find(({ ordinal }) => event.under > 0 && ordinal === event.under);
  const version = changeText(event);
  if (lease === undefined || isLiveAt(lease, event.atUs)) {
    return `${named(client)} writes ${what}${version === '' ? '' : ` (${version})`}${over}`;
  }
  const ended = lease.untilUs === null ? '' : ` at ${proseDuration(lease.untilUs)}`;
  const how = lease.ending === 'released' ? 'was released' : 'was over';
  return `${named(client)} writes ${what}${over}, although its lease ${how}${ended}`;
}
