import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { zombieTrace } from './sample.fixture.ts';
import {
  clientViewSpans,
  clockSpans,
  faultSpans,
  leaseSpans,
  offsetAt,
  overlapSpans,
} from './spans.ts';
import { clockText } from './state-phrases.ts';
import { stormTrace } from './storm.fixture.ts';

describe('leaseSpans', () => {
  it('lasts from the grant until the service ends it', () => {
    expect(leaseSpans(zombieTrace).map(({ fromUs, untilUs }) => [fromUs, untilUs])).toEqual([
      [1_000, 11_000],
      [12_000, 22_000],
    ]);
  });

  it('ends with a release, and is extended by a renewal', () => {
    const call = { process: 'lock', lock: 'db', client: 'bob', under: 2, message: 'm' };
    const renewed: Trace = {
      ...zombieTrace,
      events: [
        ...zombieTrace.events,
        {
          kind: 'renew',
          atUs: 22_500,
          ...call,
          extended: 2,
          token: 2,
          ttlUs: 10_000,
          sentAtUs: 0,
          untilUs: 40_000,
        },
      ],
    };
    expect(leaseSpans(renewed)[1]).toMatchObject({ untilUs: 40_000, ending: 'expired' });
    const released: Trace = {
      ...renewed,
      events: [...renewed.events, { kind: 'release', atUs: 23_000, ...call, released: 2 }],
    };
    expect(leaseSpans(released)[1]).toMatchObject({ untilUs: 23_000, ending: 'released' });
    const late: Trace = {
      ...renewed,
      events: [...renewed.events, { kind: 'release', atUs: 41_000, ...call, released: 2 }],
    };
    expect(leaseSpans(late)[1]).toMatchObject({ untilUs: 40_000, ending: 'expired' });
  });
});

describe('two acquisitions of one client', () => {
  const call = { lock: 'db', client: 'alice', process: 'alice', message: '' };
  const clientGrant = (ms: number, ordinal: number): readonly TraceEvent[] => {
    const [atUs, section] = [ms * 1_000, `alice/${ordinal}`];
    const given = { token: 0, ttlUs: 0, sentAtUs: atUs, untilUs: null };
    return [
      { kind: 'grant', atUs, ...call, ordinal, ...given },
      {
        kind: 'enter',
        atUs,
        process: 'alice',
        section,
        lock: 'db',
        ordinal,
        token: 0,
        believedUntilUs: 9e9,
      },
    ];
  };
  const left = (ms: number, ordinal: number): TraceEvent => {
    const section = `alice/${ordinal}`;
    return { kind: 'leave', atUs: ms * 1_000, process: 'alice', section, lock: 'db', ordinal };
  };

  it('are two leases that overlap while the client relies on both', () => {
    const both: Trace = {
      ...zombieTrace,
      events: [...clientGrant(1, 1), ...clientGrant(3, 2), left(5, 1)],
    };
    const leases = leaseSpans(both);
    expect(leases.map(({ ending, untilUs }) => [ending, untilUs])).toEqual([
      ['open', null],
      ['open', null],
    ]);
    expect(overlapSpans(clientViewSpans(both), leases)).toMatchObject([
      { process: 'alice', other: 'alice', ordinal: 1, fromUs: 3_000, untilUs: 5_000 },
    ]);
    const inTurn: Trace = {
      ...zombieTrace,
      events: [...clientGrant(1, 1), left(2, 1), ...clientGrant(3, 2)],
    };
    expect(leaseSpans(inTurn)[0]).toMatchObject({ ending: 'replaced', untilUs: 3_000 });
  });
});

describe('overlapSpans', () => {
  it('is the time in which a former holder acts while another client holds the lock', () => {
    const overlaps = overlapSpans(clientViewSpans(zombieTrace), leaseSpans(zombieTrace));
    expect(overlaps).toEqual([
      { process: 'alice', other: 'bob', lock: 'db', ordinal: 1, fromUs: 12_000, untilUs: 22_000 },
    ]);
  });

  it('ends a section with the crash of its process', () => {
    const [alice] = clientViewSpans(stormTrace);
    expect(alice).toMatchObject({ process: 'alice', untilUs: 3_000 });
    expect(overlapSpans(clientViewSpans(stormTrace), leaseSpans(stormTrace))).toEqual([]);
  });
});

describe('faultSpans', () => {
  it('ends with the event that ends the fault', () => {
    const ends = faultSpans(stormTrace).map(({ kind, process, untilUs }) => [
      kind,
      process,
      untilUs,
    ]);
    expect(ends).toEqual([
      ['crash', 'alice', 9_000],
      ['partition', 'carol', 18_000],
      ['partition', 'store', 18_000],
    ]);
  });
});

const MS = 1000;

function traceOf(...events: TraceEvent[]): Trace {
  return { processes: [], events, ending: { kind: 'complete' }, unmatched: [] };
}

function clock(atUs: number, target: 'step' | 'rate', amount: number): TraceEvent {
  const rest = { index: null, processes: ['bob'], untilUs: null, target, amount };
  return { kind: 'fault', fault: 'clock', atUs, ...rest };
}

describe('clockSpans', () => {
  it('has no span if all clocks agree', () => {
    expect(clockSpans(traceOf({ kind: 'healed', atUs: 9 }), [])).toEqual([]);
  });

  it('keeps an offset forever, and a rate until the world heals', () => {
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
        kind: 'fault',
        fault: 'pause',
        atUs: 0,
        index: 0,
        processes: ['bob'],
        untilUs: 8 * MS,
        target: '',
        amount: 8 * MS,
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
