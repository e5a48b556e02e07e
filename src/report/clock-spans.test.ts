import { describe, expect, it } from 'vitest';
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import { clockSpans, clockText, offsetAt } from './clock-spans.ts';

const MS = 1000;

function traceOf(...events: TraceEvent[]): Trace {
  return { processes: [], events, ending: { kind: 'complete' }, unmatched: [] };
}

function clock(atUs: number, target: 'step' | 'rate', amount: number): TraceEvent {
  const rest = { index: null, processes: ['bob'], untilUs: null, target, amount };
  return { kind: 'fault', fault: 'clock', atUs, ...rest };
}

describe('clockSpans', () => {
  it('has no span where all clocks agree', () => {
    expect(clockSpans(traceOf({ kind: 'healed', atUs: 9 }), [])).toEqual([]);
  });

  it('keeps an offset for ever, and a rate until the world heals', () => {
    const healed: TraceEvent = { kind: 'healed', atUs: 30 * MS };
    const trace = traceOf(clock(10 * MS, 'step', 5 * MS), clock(20 * MS, 'rate', 1000), healed);
    const spans = clockSpans(trace, []);
    expect(
      spans.map(({ fromUs, untilUs, offsetUs, ratePpm }) => [fromUs, untilUs, offsetUs, ratePpm]),
    ).toEqual([
      [10 * MS, 20 * MS, 5 * MS, 0],
      [20 * MS, 30 * MS, 5 * MS, 1000],
      [30 * MS, null, 5010, 0],
    ]);
    expect(spans.map(clockText)).toEqual(['+5 ms', '+5 ms, runs +1000 ppm', '+5.01 ms']);
  });

  it('lets a frozen clock fall behind until it resumes', () => {
    const [frozen] = clockSpans(
      traceOf({
        ...{ kind: 'fault', fault: 'pause', atUs: 0, index: 0, processes: ['bob'] },
        ...{ untilUs: 8 * MS, target: '', amount: 8 * MS },
      }),
      [
        {
          kind: 'pause',
          process: 'bob',
          when: { kind: 'at', atUs: 0 },
          forUs: 8 * MS,
          clocks: 'freeze',
        },
      ],
    );
    if (frozen === undefined) expect.fail('the clock was not frozen');
    expect(offsetAt(frozen, 3 * MS)).toBe(-3 * MS);
    expect(clockText(frozen)).toBe('stands still');
  });

  it('ends at a step back to true time', () => {
    const trace = traceOf(clock(10 * MS, 'step', MS), clock(20 * MS, 'step', -MS));
    expect(clockSpans(trace, []).map(({ untilUs }) => untilUs)).toEqual([20 * MS]);
  });
});
