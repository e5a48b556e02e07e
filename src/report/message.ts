/**
 * Reads a message's name (`alice/1/write-2/1/request`) and pairs each sending with what became of
 * it.
 */
import type { VersionScale } from '../core/history/server-events.ts';
import type { Call, Trace } from '../core/history/trace.ts';
import { expectedText } from './access-text.ts';

/** A message's name without its try and its leg: the operation that it belongs to. */
export function operationOf(message: string): string {
  return message.replace(/\/\d+\/(request|reply)$/, '').replace(/\/(request|reply)$/, '');
}

export function isReply(message: string): boolean {
  return message.endsWith('/reply');
}

/** The calls of a trace by the names of their operations. */
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

/** What a message asks, in few words: `write x = 1, token 1`; its own last word when unknown. */
export function askedBy(message: string, { calls, hasTokens, versionsBy = null }: Terms): string {
  const operation = operationOf(message);
  const call = calls.get(operation);
  if (call === undefined) return operation.split('/').at(-1) ?? operation;
  if ('lock' in call) return call.token === 0 ? call.verb : `${call.verb}, token ${call.token}`;
  const what = call.value === null ? call.key : `${call.key} = ${call.value}`;
  const token = hasTokens ? `, token ${call.token}` : '';
  const expected = versionsBy === null ? '' : expectedText(versionsBy, call.version);
  return `${call.verb} ${what}${token}${expected === '' ? '' : `, ${expected}`}`;
}

/**
 * One flight of a message: events by index; `end` is null when it is still under way at the end.
 */
export interface Flight {
  readonly message: string;
  readonly from: string;
  readonly to: string;
  readonly sent: number;
  readonly end: number | null;
  readonly isLost: boolean;
  readonly isCopy: boolean;
}

/** Every flight, in the order of sending; a duplicated message has two. */
export function flightsOf(trace: Trace): readonly Flight[] {
  const sendings = new Map<string, number>();
  const flights: Flight[] = [];
  const ended = new Set<number>();
  trace.events.forEach((event, at) => {
    if (event.kind === 'send') sendings.set(event.message, at);
    if (event.kind !== 'receive' && event.kind !== 'lose') return;
    const sent = sendings.get(event.message);
    if (sent === undefined) return;
    const isLost = event.kind === 'lose';
    const isCopy = event.kind === 'receive' && event.isCopy;
    const { message, from, to } = event;
    flights.push({ message, from, to, sent, end: at, isLost, isCopy });
    ended.add(sent);
  });
  trace.events.forEach((event, at) => {
    if (event.kind !== 'send' || ended.has(at)) return;
    const { message, from, to } = event;
    flights.push({ message, from, to, sent: at, end: null, isLost: false, isCopy: false });
  });
  return flights.sort((left, right) => left.sent - right.sent);
}
