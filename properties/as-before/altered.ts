/**
 * Traces that no run of ours left: those of fixtures with gaps, ties, other orders and exchanged
 * details. What code of one's own does to a trace is as odd; a claim judges it all the same.
 */
import alea from 'seedrandom/lib/alea.js';
import type { Trace, TraceEvent } from '../../src/core/history/trace.ts';

type Fields = Record<string, unknown>;

/** In what a trace may be altered; `below` draws from 0 up to 1. */
export const ALTERATIONS: ReadonlyMap<string, (events: Fields[], below: () => number) => Fields[]> =
  new Map([
    ['gaps', (events, below) => events.filter(() => below() < 0.93)],
    ['ties', (events) => events.map((event) => timesOf(event, (us) => Math.round(us / 3e3) * 3e3))],
    ['no grant', (events, below) => events.map((event) => zeroed(event, ['under'], below))],
    ['no token', (events, below) => events.map((event) => zeroed(event, ['token'], below))],
    ['other answers', (events, below) => events.map((event) => negated(event, below))],
    ['exchanged', exchanged],
    ['moved', moved],
  ]);

export function altered({ events, ...rest }: Trace, how: string, seed: number): Trace {
  const below = alea(`${how} ${seed}`);
  const copies: Fields[] = JSON.parse(JSON.stringify(events));
  const made = ALTERATIONS.get(how)?.(copies, below) ?? copies;
  const read: TraceEvent[] = JSON.parse(JSON.stringify(made));
  return { ...rest, events: read };
}

function timesOf(event: Fields, change: (us: number) => number): Fields {
  const fields = Object.entries(event).map(([name, value]) => {
    return [name, name.endsWith('Us') && typeof value === 'number' ? change(value) : value];
  });
  return Object.fromEntries(fields);
}

function zeroed(event: Fields, names: readonly string[], below: () => number): Fields {
  const zeros = names.filter((name) => name in event && below() < 0.2).map((name) => [name, 0]);
  return { ...event, ...Object.fromEntries(zeros) };
}

/** Claims of events that are exchanged for the contrary. */
const CLAIMS: readonly string[] = ['isAccepted', 'isLive', 'isDone'];

function negated(event: Fields, below: () => number): Fields {
  const others = CLAIMS.filter((name) => name in event && below() < 0.15);
  return { ...event, ...Object.fromEntries(others.map((name) => [name, event[name] !== true])) };
}

/** Events of one kind exchange a detail of one type. */
function exchanged(events: Fields[], below: () => number): Fields[] {
  for (let times = 0; times < events.length / 10; times += 1) {
    const one = events[Math.floor(below() * events.length)];
    const alike = events.filter(({ kind }) => kind === one?.['kind']);
    const other = alike[Math.floor(below() * alike.length)];
    if (one === undefined || other === undefined) continue;
    const names = Object.keys(one).filter((name) => typeof one[name] === typeof other[name]);
    const name = names[Math.floor(below() * names.length)] ?? 'kind';
    [one[name], other[name]] = [other[name], one[name]];
  }
  return events;
}

/** Neighbours change places, and the times stay in order. */
function moved(events: Fields[], below: () => number): Fields[] {
  const order = [...events];
  for (let at = 1; at < order.length; at += 1) {
    const [one, other] = [order[at - 1], order[at]];
    if (one === undefined || other === undefined || below() > 0.1) continue;
    [one['atUs'], other['atUs']] = [other['atUs'], one['atUs']];
    [order[at - 1], order[at]] = [other, one];
  }
  return order;
}
