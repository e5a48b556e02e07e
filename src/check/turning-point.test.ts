/** Where two runs first differ on the way to a breach. */
import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/trace.ts';
import { deny, enter, grant, pause, recovered, traceOf, write } from './trace-builder.fixture.ts';
import { turnBetween } from './turning-point.ts';

function handled(ms: number, message: string, to: string): TraceEvent {
  const [from = ''] = message.split('/');
  return { kind: 'receive', atUs: ms * 1000, from, to, message, isCopy: false };
}

/** The breach is shown by all that happens but in the server `other`. */
function turn(failing: readonly TraceEvent[], neighbour: readonly TraceEvent[]) {
  const evidence = failing.flatMap((event, index) =>
    'to' in event && event.to === 'other' ? [] : [{ role: 'part', event: index }],
  );
  return turnBetween(traceOf(failing), traceOf(neighbour), evidence);
}

const [ALICE, BOB] = ['alice/1/write/1/request', 'bob/2/write/1/request'];

describe('two runs differ first where', () => {
  test('a server handles two calls in another order, at the first of the two', () => {
    const failing = [handled(15, BOB, 'store'), handled(20, ALICE, 'store')];
    const other = [handled(5, ALICE, 'store'), handled(15, BOB, 'store')];
    expect(turn(failing, other)).toEqual({
      ...{ kind: 'order', event: 0 },
      text: "`store` handled bob's write before alice's write",
    });
  });

  test('a lock is granted that was denied', () => {
    const failing = [grant(5, 'bob', 9), write(6, 'bob', 9, 1)];
    const other = [deny(5, 'bob', 1), write(6, 'bob', 9, 1)];
    expect(turn(failing, other)).toMatchObject({ kind: 'grant', event: 0 });
  });

  test('a write is accepted that was refused', () => {
    const other = [write(6, 'bob', 2, 1, { isAccepted: false })];
    expect(turn([write(6, 'bob', 2, 1)], other)).toMatchObject({ kind: 'answer', event: 0 });
  });

  test('another enters first', () => {
    const failing = [enter(3, 'bob', 2, 9), enter(5, 'alice', 1, 9)];
    expect(turn(failing, [...failing].reverse())).toMatchObject({
      ...{ kind: 'grant', event: 0 },
      text: 'bob had `db` before alice',
    });
  });

  test('a server came back, as it did in no other run', () => {
    const failing = [recovered(4, 0, {}), write(6, 'bob', 2, 1)];
    expect(turn(failing, [write(6, 'bob', 2, 1)])).toMatchObject({ kind: 'only here', event: 0 });
  });
});

test('times, faults and what lies beside the way count for nothing', () => {
  const failing = [pause(1, 'alice', 9), handled(3, ALICE, 'other'), write(6, 'bob', 2, 1)];
  expect(turn(failing, [write(60, 'bob', 2, 1)])).toBeNull();
});
