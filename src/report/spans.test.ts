import { describe, expect, it } from 'vitest';
import type { Trace } from '../core/history/trace.ts';
import { zombieTrace } from './sample.fixture.ts';
import { beliefSpans, faultSpans, leaseSpans, overlapSpans } from './spans.ts';
import { stormTrace } from './storm.fixture.ts';

describe('leaseSpans', () => {
  it('lasts from the grant until the service ends it', () => {
    expect(leaseSpans(zombieTrace).map(({ fromUs, untilUs }) => [fromUs, untilUs])).toEqual([
      [1_000, 11_000],
      [12_000, 22_000],
    ]);
  });

  it('ends with a release, and grows with a renewal', () => {
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

describe('overlapSpans', () => {
  it('is the time in which a holder acts on while another client holds the lock', () => {
    const overlaps = overlapSpans(beliefSpans(zombieTrace), leaseSpans(zombieTrace));
    expect(overlaps).toEqual([
      { process: 'alice', other: 'bob', lock: 'db', ordinal: 1, fromUs: 12_000, untilUs: 22_000 },
    ]);
  });

  it('ends a section with the crash of its process', () => {
    const [alice] = beliefSpans(stormTrace);
    expect(alice).toMatchObject({ process: 'alice', untilUs: 3_000 });
    expect(overlapSpans(beliefSpans(stormTrace), leaseSpans(stormTrace))).toEqual([]);
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
