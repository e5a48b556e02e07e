import { describe, expect, test } from 'vitest';
import type { FaultStrikes, TraceEvent } from '../core/history/trace.ts';
import { measureLossNoticed } from './loss-noticed.ts';
import {
  breachOf,
  enter,
  grant,
  leave,
  release,
  renew,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const claim = 'loss-noticed';
const terms = { ttlUs: 10_000 };
const lent = [grant(0, 'alice', 1), enter(1, 'alice', 1, 10)];

function measured(events: readonly TraceEvent[]): readonly number[] {
  const { times, longestUs } = measureLossNoticed(indexTrace(traceOf(events)));
  return [times, longestUs];
}

function pause(fromMs: number, untilMs: number): FaultStrikes {
  const span = { atUs: fromMs * 1000, untilUs: untilMs * 1000, amount: 0 };
  return { kind: 'fault', fault: 'pause', index: 0, processes: ['alice'], target: '', ...span };
}

describe('a program that loses its lock', () => {
  test('and leaves within its ttl has noticed', () => {
    const events = [...lent, leave(15, 'alice', 1)];
    expect(verdictOn(claim, events, terms)).toMatchObject({ kind: 'valid', exercised: 1 });
    expect(measured(events)).toEqual([1, 5000]);
  });

  test('and counts on it for longer than its ttl after that has not', () => {
    const breach = breachOf(claim, [...lent, leave(21, 'alice', 1)], terms);
    expect(breach).toMatchInlineSnapshot(`
      {
        "evidence": [
          "0 grant",
          "1 entry",
          "2 notice",
        ],
        "rule": "loss-unnoticed",
        "words": "alice lost \`db\` and did not notice. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then \`lock\` held A no longer from 10 ms on. However alice counted on it until 21 ms.",
      }
    `);
  });

  test('while it is paused is not to blame for that time', () => {
    const events = [...lent, pause(9, 19), leave(21, 'alice', 1)];
    expect(verdictOn(claim, events, terms)).toMatchObject({ kind: 'valid', exercised: 1 });
    expect(measured(events)).toEqual([1, 11_000]);
  });

  test('because its successor has it, or another released it, lost it then', () => {
    expect(measured([...lent, grant(5, 'bob', 2), leave(9, 'alice', 1)])).toEqual([1, 4000]);
    const foreign = release(4, 'bob', 2, { released: 1 });
    expect(measured([...lent, foreign, leave(9, 'alice', 1)])).toEqual([1, 5000]);
  });
});

describe('nothing is lost', () => {
  test('that was left, given back or prolonged in time', () => {
    expect(measured([...lent, leave(9, 'alice', 1)])).toEqual([0, 0]);
    expect(measured([...lent, leave(5, 'alice', 1), release(6, 'alice', 1)])).toEqual([0, 0]);
    expect(measured([...lent, renew(8, 'alice', 1), leave(17, 'alice', 1)])).toEqual([0, 0]);
  });
});
