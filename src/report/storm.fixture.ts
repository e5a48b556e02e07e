/** A run with nearly every event that a picture can show. */
import type { TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { acquires, MS, receive, request, send, writes } from './sample-events.fixture.ts';

const carolsWrite = request('carol', 'store', 'carol/1/write');

export const stormTrace: Trace = {
  processes: [
    { name: 'lock', role: 'lock' },
    { name: 'alice', role: 'client' },
    { name: 'bob', role: 'client' },
    { name: 'carol', role: 'client' },
    { name: 'store', role: 'store' },
  ],
  events: [
    ...acquires('alice', 1, 0),
    fault(2.5, 'clock', ['bob'], { amount: 20 * MS, target: 'step' }),
    fault(3, 'crash', ['alice'], { untilUs: 9 * MS }),
    { kind: 'restart', atUs: 9 * MS, index: null, processes: ['alice'] },
    ...acquires('bob', 2, 11),
    ...writes({ client: 'bob', ordinal: 2, atMs: 13, isAccepted: true, highest: 0 }),
    fault(15, 'partition', ['carol', 'store'], { untilUs: 18 * MS }),
    send(16, carolsWrite),
    fault(16, 'drop', ['carol', 'store'], { target: carolsWrite.message }),
    { kind: 'lose', atUs: 16.5 * MS, ...carolsWrite, cause: 'drop' },
    { kind: 'heal', atUs: 18 * MS, index: null, processes: ['carol', 'store'] },
    ...writes({ client: 'alice', ordinal: 1, atMs: 20, isAccepted: false, highest: 2 }),
    receive(23, request('bob', 'store', 'bob/1/write'), true),
    {
      kind: 'recovered',
      atUs: 24 * MS,
      process: 'store',
      resource: 'db',
      highest: 0,
      values: { x: 0 },
    },
    send(25, request('bob', 'lock', 'bob/1/release')),
    { kind: 'healed', atUs: 30 * MS },
  ],
  ending: { kind: 'cut', limit: 'end' },
  unmatched: [],
};

type Effect = { untilUs?: number; target?: string; amount?: number };

function fault(
  atMs: number,
  kind: 'clock' | 'crash' | 'partition' | 'drop',
  processes: readonly string[],
  effect: Effect,
): TraceEvent {
  return {
    kind: 'fault',
    atUs: atMs * MS,
    fault: kind,
    index: null,
    processes,
    untilUs: effect.untilUs ?? null,
    target: effect.target ?? '',
    amount: effect.amount ?? 0,
  };
}
