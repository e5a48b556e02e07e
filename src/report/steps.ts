/**
 * Turns a trace into steps: in which process each happens, in which words, how much the story needs
 * it, and which number it has. Events are numbered here and nowhere else, from 1, so that the `5`
 * of the terminal is the `5` of the page, and `60 → 12 events` ends with the number of the last. A
 * message that is sent or received is a detail of what it asks for and has no number, nor has what
 * else nobody would miss.
 */
import { Contradiction } from '../check/explanation.ts';
import type { Evidence } from '../check/verdict.ts';
import type { TraceEvent } from '../core/history/events.ts';
import type { ProcessInfo, Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import type { Fault } from '../core/plan/fault.ts';
import { isReply } from './access-text.ts';
import { leaseSpans } from './spans.ts';
import { asidesOf, eventText } from './step-text.ts';
import { type Surroundings, surroundingsOf } from './surroundings.ts';

export interface Step {
  /** Index into `trace.events`; null for a lease that runs out, which no event records. */
  readonly event: number | null;
  /** Its place among the events that a person would number; null for a detail. */
  readonly number: number | null;
  readonly atUs: number;
  /** The column that it stands in; '' for what happens to the whole world. */
  readonly process: string;
  readonly text: string;
  /** What more could be said of it, where the words need that. */
  readonly asides: readonly string[];
  /** 0: evidence; 1: no story without it; 2: helps; 3: detail. */
  readonly weight: 0 | 1 | 2 | 3;
  /** Its part in the evidence, e.g. `stale write` or `A, grant 1`; '' when it has none. */
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
  const parts = partsIn(trace, options.evidence);
  const last = trace.events[Math.max(-1, ...parts.keys())];
  const hit = messagesHit(trace, last);
  const isOfGrants = last?.kind === 'grant' || last?.kind === 'enter' || last?.kind === 'renew';
  const steps: Step[] = [];
  const expiries = expirySteps(trace);
  let next = 0;
  let number = 1;
  trace.events.forEach((event, at) => {
    // At its last instant a lease is over already, so its end stands before what happens then.
    for (let expiry = expiries[next]; expiry !== undefined; expiry = expiries[next]) {
      if (expiry.atUs > event.atUs) break;
      steps.push(expiry);
      next += 1;
    }
    const part = parts.get(at) ?? '';
    const step = stepOf(event, at, { around, hit, isOfGrants, part, number });
    steps.push(step);
    if (step.number !== null) number += 1;
  });
  return steps;
}

/** How many events a person would number in the whole run: the number of the last of them. */
export function countEvents(steps: readonly Step[]): number {
  return steps.findLast(({ number }) => number !== null)?.number ?? 0;
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

interface StepContext {
  readonly around: Surroundings;
  readonly hit: ReadonlySet<string>;
  /** The evidence ends with who holds a lock, not with what was done to a store. */
  readonly isOfGrants: boolean;
  readonly part: string;
  /** The next one. */
  readonly number: number;
}

function stepOf(event: TraceEvent, at: number, context: StepContext): Step {
  const { around, part } = context;
  const weight = part === '' ? weightIn(event, context) : 0;
  const isMessage = event.kind === 'send' || event.kind === 'receive';
  // A message on its way; what a node of a quorum did stands for itself.
  const isTransit = isMessage && !around.nodes.has(event);
  const number = weight === 3 || isTransit ? null : context.number;
  const { atUs } = event;
  const [text, asides] = [eventText(event, around), asidesOf(event, around)];
  return { event: at, number, atUs, process: processOf(event), text, asides, weight, part };
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
function weightIn(event: TraceEvent, { around, hit, isOfGrants }: StepContext): Step['weight'] {
  const weight = weightOf(event, hit);
  // Where messages are delivered, each asks for a lease, and the answers are the story.
  if (around.hasQueue && (event.kind === 'deny' || event.kind === 'log')) return 2;
  const helps = isOfGrants && around.nodes.get(event)?.isChange === true;
  return weight === 3 && helps ? 2 : weight;
}

function weightOf(event: TraceEvent, hit: ReadonlySet<string>): Step['weight'] {
  switch (event.kind) {
    case 'grant':
    case 'write':
    case 'fault':
    case 'restart':
    case 'recovered':
    case 'job':
    case 'deadlock':
    case 'deliver':
      return 1;
    case 'resume':
    case 'renew':
    case 'release':
    case 'read':
    case 'heal':
    case 'enter':
    case 'lease-test':
      return 2;
    case 'send':
      return hit.has(event.message) && !isReply(event.message) ? 1 : 3;
    case 'lose':
      return hit.has(event.message) ? 1 : 3;
    case 'return':
      return event.outcome === 'ok' ? 3 : 2;
    default:
      return 3;
  }
}

/** By the index of its event, what part a piece of evidence has; of a grant its letter, too. */
function partsIn(trace: Trace, evidence: readonly Evidence[]): ReadonlyMap<number, string> {
  const shown = new Contradiction(trace, { claim: '', rule: '', evidence });
  return new Map(
    evidence.map(({ event: at, role }) => {
      const event = trace.events[at];
      assert(event !== undefined, 'evidence points into the trace');
      if (event.kind !== 'grant') return [at, role];
      const name = [...new Set([shown.letterOf(event.ordinal), `grant ${event.ordinal}`])].join(
        ', ',
      );
      return [at, /grant$/.test(role) ? name : `${name}, ${role}`];
    }),
  );
}

/** Messages that a fault hits by name, and the one that brought the last piece of evidence. */
function messagesHit(trace: Trace, last: TraceEvent | undefined): ReadonlySet<string> {
  const hit = new Set<string>();
  for (const event of trace.events) {
    if (event.kind === 'fault' && event.target !== '') hit.add(event.target);
    if (event.kind === 'lose') hit.add(event.message);
  }
  if (last !== undefined && 'message' in last) hit.add(last.message);
  return hit;
}

function expirySteps(trace: Trace): readonly Step[] {
  return leaseSpans(trace)
    .flatMap(({ ending, untilUs: atUs, process, client, token }): Step[] => {
      if (ending !== 'expired' || atUs === null) return [];
      const text = `${client}'s lease${token === 0 ? '' : `, token ${token},`} is over`;
      return [{ event: null, number: null, atUs, process, text, asides: [], weight: 1, part: '' }];
    })
    .sort((left, right) => left.atUs - right.atUs);
}

/** Columns: locks, then clients, then stores, so that grants and writes flow from left to right. */
export function laneOrder(processes: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const of = (...roles: ProcessInfo['role'][]): ProcessInfo[] =>
    processes.filter(({ role }) => roles.includes(role));
  return [...of('lock'), ...of('client', 'probe'), ...of('store')];
}
