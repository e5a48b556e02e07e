/**
 * Turns a trace into the steps that a person would number: in which process each happens, in which
 * words, and how much the story needs it. The terminal, the page's table and `show` share them.
 */
import type { Evidence } from '../check/verdict.ts';
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import type { Fault } from '../core/plan/fault.ts';
import { isReply } from './access-text.ts';
import { leaseSpans } from './spans.ts';
import { eventText } from './step-text.ts';
import { type Surroundings, surroundingsOf } from './surroundings.ts';

export interface Step {
  /** Index into `trace.events`; null for a lease that runs out, which no event records. */
  readonly event: number | null;
  readonly atUs: number;
  /** The column that it stands in; '' for what happens to the whole world. */
  readonly process: string;
  readonly text: string;
  /** 1: no story without it; 2: helps; 3: detail. */
  readonly weight: 1 | 2 | 3;
  /** Its part in the evidence, e.g. `stale write`; '' when it has none. */
  readonly part: string;
}

export interface StepOptions {
  readonly evidence: readonly Evidence[];
  /** The faults of the plan that gave the trace. */
  readonly faults: readonly Fault[];
}

/** Every event as a step, and the moments at which leases run out, in order of time. */
export function listSteps(trace: Trace, options: StepOptions): readonly Step[] {
  const around = surroundingsOf(trace, options.faults);
  const parts = new Map(options.evidence.map(({ event, role }) => [event, role]));
  const struck = struckMessages(trace, options.evidence);
  const last = trace.events[options.evidence.at(-1)?.event ?? -1]?.kind;
  const isOfGrants = last === 'grant' || last === 'enter' || last === 'renew';
  const steps: Step[] = [];
  const expiries = expirySteps(trace);
  let next = 0;
  trace.events.forEach((event, at) => {
    // At its last instant a lease is over already, so its end stands before what happens then.
    for (let expiry = expiries[next]; expiry !== undefined; expiry = expiries[next]) {
      if (expiry.atUs > event.atUs) break;
      steps.push(expiry);
      next += 1;
    }
    steps.push(stepOf(event, at, { around, struck, isOfGrants, part: parts.get(at) ?? '' }));
  });
  return steps;
}

/**
 * The steps that carry the story: up to the last piece of evidence, and without the details. Where
 * there is no evidence, up to the instant at which the world heals.
 */
export function essentialSteps(trace: Trace, options: StepOptions): readonly Step[] {
  const last = lastOfStory(trace, options.evidence);
  const steps = listSteps(trace, options);
  const end = steps.findIndex((step) => step.event === last);
  return steps.slice(0, end + 1).filter(({ weight }) => weight < 3);
}

/** How many events a person would number, as `shrunk 812 → 9 events` counts them. */
export function countSteps(trace: Trace, options: StepOptions): number {
  return essentialSteps(trace, options).length;
}

/** The index of the last event that the story needs; −1 in an empty trace. */
export function lastOfStory(trace: Trace, evidence: readonly Evidence[]): number {
  if (evidence.length > 0) return Math.max(...evidence.map(({ event }) => event));
  const healed = trace.events.findIndex((event) => event.kind === 'healed');
  return healed === -1 ? trace.events.length - 1 : healed;
}

/** What the step is and its part in the evidence: `alice writes x = 1 ← stale write`. */
export function withPart(text: string, { part }: Pick<Step, 'part'>): string {
  return part === '' ? text : `${text} ← ${part}`;
}

/** `sends write x = 1 → store` without what an arrow shows. */
export function askedText(text: string): string {
  return text.replace(/^sends /, '').replace(/ → [^→]*$/, '');
}

/** How little a step is needed: 0 for evidence, else its weight. */
export function rankOf({ part, weight }: Step): 0 | Step['weight'] {
  return part === '' ? weight : 0;
}

/** The rows by how much they are needed, as indices: of equals the late ones first. */
export function byRank(ranks: readonly number[]): readonly number[] {
  const ranked = ranks.map((rank, at) => ({ at, rank }));
  ranked.sort((left, right) => left.rank - right.rank || right.at - left.at);
  return ranked.map(({ at }) => at);
}

interface StepContext {
  readonly around: Surroundings;
  readonly struck: ReadonlySet<string>;
  /** The evidence ends with who holds a lock, not with what was done to a store. */
  readonly isOfGrants: boolean;
  readonly part: string;
}

function stepOf(event: TraceEvent, at: number, context: StepContext): Step {
  const { around, part } = context;
  const weight = part === '' ? weightIn(event, context) : 1;
  const text = eventText(event, around);
  return { event: at, atUs: event.atUs, process: processOf(event), text, weight, part };
}

/** The process that an event happens to, '' for the whole world. */
export function processOf(event: TraceEvent): string {
  if (event.kind === 'send') return event.from;
  if (event.kind === 'receive' || event.kind === 'lose') return event.to;
  if (event.kind === 'healed') return '';
  if ('processes' in event) return event.processes[0] ?? '';
  return event.process;
}

/** Where a story is of grants, what the nodes of a quorum did shows who made up the majority. */
function weightIn(event: TraceEvent, { around, struck, isOfGrants }: StepContext): Step['weight'] {
  const weight = weightOf(event, struck);
  // Where messages are delivered, each asks for a lease, and the answers are the story.
  if (around.hasQueue && (event.kind === 'deny' || event.kind === 'log')) return 2;
  const helps = isOfGrants && around.nodes.get(event)?.isChange === true;
  return weight === 3 && helps ? 2 : weight;
}

function weightOf(event: TraceEvent, struck: ReadonlySet<string>): Step['weight'] {
  switch (event.kind) {
    case 'grant':
    case 'write':
    case 'fault':
    case 'resume':
    case 'restart':
    case 'recovered':
    case 'job':
    case 'deadlock':
    case 'deliver':
      return 1;
    case 'renew':
    case 'release':
    case 'read':
    case 'heal':
    case 'enter':
    case 'lease-test':
      return 2;
    case 'send':
      return struck.has(event.message) && !isReply(event.message) ? 1 : 3;
    case 'lose':
      return struck.has(event.message) ? 1 : 3;
    case 'return':
      return event.outcome === 'ok' ? 3 : 2;
    default:
      return 3;
  }
}

/** Messages that a fault strikes by name, and those that brought the last piece of evidence. */
function struckMessages(trace: Trace, evidence: readonly Evidence[]): ReadonlySet<string> {
  const struck = new Set<string>();
  for (const event of trace.events) {
    if (event.kind === 'fault' && event.target !== '') struck.add(event.target);
    if (event.kind === 'lose') struck.add(event.message);
  }
  for (const { event: at } of evidence.slice(-1)) {
    const event = trace.events[at];
    assert(event !== undefined, 'evidence points into the trace');
    if ('message' in event) struck.add(event.message);
  }
  return struck;
}

function expirySteps(trace: Trace): readonly Step[] {
  return leaseSpans(trace)
    .flatMap(({ ending, untilUs: atUs, process, client, token }): Step[] => {
      if (ending !== 'expired' || atUs === null) return [];
      const text = `${client}'s lease${token === 0 ? '' : `, token ${token},`} is over`;
      return [{ event: null, atUs, process, text, weight: 1, part: '' }];
    })
    .sort((left, right) => left.atUs - right.atUs);
}
