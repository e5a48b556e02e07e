/**
 * Turns a trace into steps. Events are numbered only here, from 1, so that event 5 on the terminal
 * is event 5 on the page. `send` and `receive` events are details without numbers, like other
 * events that a reader does not need.
 */
import { Contradiction } from '../check/explanation.ts';
import type { Evidence } from '../check/verdict.ts';
import type { TraceEvent } from '../core/history/events.ts';
import type { ProcessInfo, Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { type Environment, environmentOf } from './environment.ts';
import { asidesOf, eventLabel, eventText, leaseEndClause, processOf } from './event-phrases.ts';
import { isReply, leaseSpans } from './spans.ts';

export interface Step {
  /** Index into `trace.events`. Null for an expired lease, which is not an event. */
  readonly event: number | null;
  /** Number of the event, from 1. Null for a detail. */
  readonly number: number | null;
  readonly atUs: number;
  /** The process, which is also the column of the step, or '' if there is none. */
  readonly process: string;
  readonly text: string;
  /** Shorter text for a picture, where an arrow shows the sender and receiver. */
  readonly label: string;
  /** Details that the step includes only if the story mentions them. */
  readonly asides: readonly string[];
  /** 0: evidence. 1: essential. 2: helpful. 3: detail. */
  readonly weight: 0 | 1 | 2 | 3;
  /** Role of the step in the evidence, such as `stale write` or `A, grant 1`, or '' if none. */
  readonly part: string;
}

export interface StepOptions {
  readonly evidence: readonly Evidence[];
}

/** Returns a step for every event and every expiry of a lease, in order of time. */
export function listSteps(trace: Trace, options: StepOptions): readonly Step[] {
  const around = environmentOf(trace);
  const parts = partsIn(trace, options.evidence);
  const last = trace.events[Math.max(-1, ...parts.keys())];
  const hit = messagesHit(trace, last);
  const isOfGrants = last?.kind === 'grant' || last?.kind === 'enter' || last?.kind === 'renew';
  const steps: Step[] = [];
  const expiries = expirySteps(trace);
  let next = 0;
  let number = 1;
  trace.events.forEach((event, at) => {
    // A lease is over at its last instant, so its end precedes the events of that instant.
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

/** Returns the number of the last numbered event, or 0 if there is none. */
export function countEvents(steps: readonly Step[]): number {
  return steps.findLast(({ number }) => number !== null)?.number ?? 0;
}

/** Returns the index of the last event of the story, or −1 for an empty trace. */
export function lastOfStory(trace: Trace, evidence: readonly Evidence[]): number {
  if (evidence.length > 0) return Math.max(...evidence.map(({ event }) => event));
  const healed = trace.events.findIndex((event) => event.kind === 'healed');
  return healed === -1 ? trace.events.length - 1 : healed;
}

/** Appends the role in the evidence: `alice writes x = 1 ← stale write`. */
export function withPart(text: string, { part }: Pick<Step, 'part'>): string {
  return part === '' ? text : `${text} ← ${part}`;
}

interface StepContext {
  readonly around: Environment;
  readonly hit: ReadonlySet<string>;
  /** True if the evidence ends with a grant, an entry or a renew. */
  readonly isOfGrants: boolean;
  readonly part: string;
  readonly number: number;
}

function stepOf(event: TraceEvent, at: number, context: StepContext): Step {
  const { around, part } = context;
  const weight = part === '' ? weightIn(event, context) : 0;
  const isMessage = event.kind === 'send' || event.kind === 'receive';
  // A message has a number only if it stands for the action of a quorum node.
  const isTransit = isMessage && !around.nodes.has(event);
  const number = weight === 3 || isTransit ? null : context.number;
  const { atUs } = event;
  const [text, label] = [eventText(event, around), eventLabel(event, around)];
  const [process, asides] = [processOf(event), asidesOf(event, around)];
  return { event: at, number, atUs, process, text, label, asides, weight, part };
}

/**
 * Returns the weight of an event. If the evidence ends with a grant, changes by quorum nodes are
 * helpful, since they show its majority.
 */
function weightIn(event: TraceEvent, { around, hit, isOfGrants }: StepContext): Step['weight'] {
  const weight = weightOf(event, hit);
  // With a queue, each delivery requests a lease, so denials and log entries are relevant.
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

/** Returns the roles of the evidence by event index. A grant also gets its letter. */
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
    .flatMap((lease): Step[] => {
      const { ending, untilUs: atUs, process } = lease;
      if (ending !== 'expired' || atUs === null) return [];
      const { subject, predicate } = leaseEndClause(lease, (name) => name);
      const text = `${subject} ${predicate}`;
      return [{ ...UNNUMBERED, atUs, process, text, label: text, part: '' }];
    })
    .sort((left, right) => left.atUs - right.atUs);
}

/** Fields of a step that is not an event. */
export const UNNUMBERED: Pick<Step, 'event' | 'number' | 'asides' | 'weight'> = {
  event: null,
  number: null,
  asides: [],
  weight: 1,
};

/** Orders columns: lock services, clients, stores. Grants and writes then point to the right. */
export function laneOrder(processes: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const of = (...roles: ProcessInfo['role'][]): ProcessInfo[] =>
    processes.filter(({ role }) => roles.includes(role));
  return [...of('lock'), ...of('client', 'probe'), ...of('store')];
}
