import { expect, test } from 'vitest';
import type { Trace, TraceEvent } from '../../core/history/trace.ts';
import { traceDifference } from './examiner.ts';

function traceOf(...points: readonly string[]): Trace {
  const events = points.map((point, atUs): TraceEvent => {
    return { kind: 'mark', atUs, process: 'alice', point };
  });
  return { processes: [], events, ending: { kind: 'complete' }, unmatched: [] };
}

test('equal traces have no difference', () => {
  expect(traceDifference(traceOf('a', 'b'), traceOf('a', 'b'))).toBeNull();
});

test('the first event that differs is named, with both versions of it', () => {
  const difference = traceDifference(traceOf('a', 'b', 'c'), traceOf('a', 'x', 'y'));
  expect(difference).toMatch(/^event 1 differs: .*"b".*, then .*"x"/);
});

test('a trace that goes on longer differs where the other ends', () => {
  expect(traceDifference(traceOf('a'), traceOf('a', 'b'))).toMatch(/^event 1 .*first nothing/);
});

test('traces that end differently differ', () => {
  const cut: Trace = { ...traceOf('a'), ending: { kind: 'cut', limit: 'end' } };
  expect(traceDifference(traceOf('a'), cut)).toBe('the runs ended differently');
});
