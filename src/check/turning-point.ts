/**
 * Aligns a run that breaks a claim with a neighbour that holds it, by the names of calls and
 * messages: times, and the events of faults, count for nothing. The first difference that lies on
 * the way to the breach is the turning point: another answer to the same call, another who had the
 * lock, two calls that a server handled in another order, or what happened in one run only.
 *
 * The way to the breach is its causal past: what its events' processes did before, and, across each
 * message that one of them handled, what its sender did before it was sent.
 *
 * Example: alice pauses before her write, her lease runs out, bob takes the lock and writes, and so
 * does she. Without the pause `lock` handles her release first: that it handled bob's acquire
 * before is the turning point.
 */

import type { TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { entryOf } from '../core/kernel/entries.ts';
import { operationOf } from '../core/kernel/name.ts';
import { tokenText } from '../text/prose.ts';
import type { TurningPoint } from './causation.ts';
import { callPhrase, messagePhrase } from './fault-phrase.ts';
import type { Evidence } from './verdict.ts';

/** Null where the two differ in nothing on the way to the breach. */
export function turnBetween(
  failing: Trace,
  neighbour: Trace,
  evidence: readonly Evidence[],
): Omit<TurningPoint, 'neighbour'> | null {
  const other = namesIn(neighbour);
  const handled = new Set<string>();
  for (const index of causalPast(failing, evidence)) {
    const event = failing.events[index];
    if (event === undefined) continue;
    const turn = orderAt(failing, event, { handled, other }) ?? differenceAt(failing, event, other);
    if (turn !== null) return { ...turn, event: index };
  }
  return null;
}

type Difference = Pick<TurningPoint, 'kind' | 'text'>;

/** What a run did, by name. */
interface Named {
  /** What a server made of each message: `granted`, `refused`. */
  readonly rulings: ReadonlyMap<string, string>;
  /** How each call ended for its client. */
  readonly returns: ReadonlyMap<string, string>;
  /** The sections that were entered. */
  readonly entered: ReadonlySet<string>;
  /** What came one after the other: by server, the requests that it handled, and so on. */
  readonly handled: ReadonlyMap<string, readonly string[]>;
  /** The messages that were handled twice, and the servers that came back from something. */
  readonly oddities: ReadonlySet<string>;
}

function namesIn({ events }: Trace): Named {
  const rulings = new Map<string, string>();
  const returns = new Map<string, string>();
  const entered = new Set<string>();
  const handled = new Map<string, string[]>();
  const oddities = new Set<string>();
  for (const event of events) {
    const ruling = rulingOf(event);
    if (ruling !== null && 'message' in event && !rulings.has(event.message)) {
      rulings.set(event.message, ruling);
    }
    if (event.kind === 'return') returns.set(event.operation, endOf(event));
    if (event.kind === 'enter') entered.add(event.section);
    const odd = oddityOf(event);
    if (odd !== null) oddities.add(odd);
    const turn = turnOf(event);
    if (turn === null) continue;
    const before = entryOf(handled, turn.where, () => []);
    if (!before.includes(turn.what)) before.push(turn.what);
  }
  return { rulings, returns, entered, handled, oddities };
}

/** Null of what is no server's answer to a message. */
function rulingOf(event: TraceEvent): string | null {
  switch (event.kind) {
    case 'grant':
      return event.message === '' ? null : `granted${tokenText(event.token)}`;
    case 'deny':
      return 'denied';
    case 'renew':
      return event.extended > 0 ? 'accepted' : 'refused';
    case 'release':
      return event.message === '' ? null : event.released > 0 ? 'accepted' : 'refused';
    case 'write':
    case 'read':
      return event.isAccepted ? 'accepted' : 'refused';
    default:
      return null;
  }
}

function endOf({ outcome, answer }: Extract<TraceEvent, { readonly kind: 'return' }>): string {
  if (outcome === 'info') return 'not answered';
  return answer?.kind ?? outcome;
}

/** What takes its turn at one place: a request at a server, an access there, a program's entry. */
interface Turn {
  readonly where: string;
  readonly what: string;
}

function turnOf(event: TraceEvent): Turn | null {
  switch (event.kind) {
    case 'receive': {
      const isRequest = event.message.endsWith('/request') && !event.isCopy;
      return isRequest ? { where: event.to, what: event.message } : null;
    }
    case 'write':
    case 'read':
      return { where: `${event.process} answers`, what: event.message };
    case 'enter':
      return { where: `${event.lock} is entered`, what: event.section };
    case 'grant': {
      // Where a client takes it from a quorum, nobody numbers the requests: its first one counts.
      const isTaken = event.process === event.client;
      return isTaken ? { where: `${event.lock} is taken`, what: event.client } : null;
    }
    default:
      return null;
  }
}

/** What no run without a fault does, by a name of its own. */
function oddityOf(event: TraceEvent): string | null {
  if (event.kind === 'receive' && event.isCopy) return event.message;
  return event.kind === 'recovered' && event.begins === undefined ? event.process : null;
}

function differenceAt(failing: Trace, event: TraceEvent, other: Named): Difference | null {
  if (event.kind === 'enter' && !other.entered.has(event.section)) {
    return { kind: 'grant', text: `${event.process} had \`${event.lock}\` only here` };
  }
  const odd = oddityOf(event);
  if (odd !== null && !other.oddities.has(odd)) {
    const text = event.kind === 'recovered' ? 'came back' : 'handled';
    const what = event.kind === 'recovered' ? '' : ` ${messagePhrase(failing, odd)} twice`;
    const server = 'to' in event ? event.to : odd;
    return { kind: 'only here', text: `\`${server}\` ${text}${what}` };
  }
  if (event.kind === 'return') {
    const [here, there] = [endOf(event), other.returns.get(event.operation)];
    if (there === undefined || there === here) return null;
    const call = callPhrase(failing, event.operation);
    return { kind: 'answer', text: `${call} was ${here}, and is ${there} there` };
  }
  const ruling = rulingOf(event);
  if (ruling === null || !('message' in event)) return null;
  const there = other.rulings.get(event.message);
  if (there === ruling) return null;
  const call = messagePhrase(failing, event.message);
  const isGrant = event.kind === 'grant';
  if (there === undefined) {
    return { kind: isGrant ? 'grant' : 'only here', text: `${call} was ${ruling} only here` };
  }
  return {
    kind: isGrant ? 'grant' : 'answer',
    text: `${call} was ${ruling}, and is ${there} there`,
  };
}

/** Whether another had its turn there before this one in the other run. */
function orderAt(
  failing: Trace,
  event: TraceEvent,
  { handled, other }: { readonly handled: Set<string>; readonly other: Named },
): Difference | null {
  const turn = turnOf(event);
  if (turn === null) return null;
  const { where, what } = turn;
  const there = other.handled.get(where) ?? [];
  handled.add(`${where} ${what}`);
  const before = there.slice(0, Math.max(0, there.indexOf(what)));
  const overtaken = before.find((earlier) => !handled.has(`${where} ${earlier}`));
  if (overtaken === undefined) return null;
  if (event.kind === 'enter' || event.kind === 'grant') {
    const [overtakenBy] = overtaken.split('/');
    return { kind: 'grant', text: `${event.process} had \`${event.lock}\` before ${overtakenBy}` };
  }
  const [first, second] = [messagePhrase(failing, what), messagePhrase(failing, overtaken)];
  const server = event.kind === 'receive' ? event.to : where.slice(0, -' answers'.length);
  return { kind: 'order', text: `\`${server}\` handled ${first} before ${second}` };
}

/** The events on the way to the breach, in the order of the trace. */
function causalPast({ events }: Trace, evidence: readonly Evidence[]): readonly number[] {
  const shown = new Set(evidence.map(({ event }) => event));
  const processes = new Set<string>();
  const messages = new Set<string>();
  const past: number[] = [];
  for (let index = Math.max(-1, ...shown); index >= 0; index -= 1) {
    const event = events[index];
    if (event === undefined) continue;
    // Faults and the end of them happen in no process: they lead from nobody to nobody.
    const by = processOf(event);
    // It sends what somebody on the way handled later.
    const leaves =
      event.kind === 'send' &&
      (messages.has(event.message) || messages.has(`${operationOf(event.message)}/`));
    const isOn = shown.has(index) || (by !== null && processes.has(by)) || leaves;
    if (!isOn) continue;
    if (by !== null) processes.add(by);
    if (event.kind === 'receive') messages.add(event.message);
    if (event.kind === 'return') messages.add(`${event.operation}/`);
    past.push(index);
  }
  return past.reverse();
}

/** The process in which an event happens; null where it is none's own. */
function processOf(event: TraceEvent): string | null {
  if (event.kind === 'send' || event.kind === 'lose') return event.from;
  if (event.kind === 'receive') return event.to;
  return 'process' in event ? event.process : null;
}
