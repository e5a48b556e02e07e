import { describe, expect, test } from 'vitest';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import type { Fault } from '../plan/fault.ts';

/** When the observer sees a lease of 50 ms end that alice asked for at 0, by her own clock. */
function believedUntilUs(
  countsLeaseFrom: 'sent' | 'issued',
  skew: { readonly stepUs: number; readonly ratePpm: number },
): readonly number[] {
  const clock: Fault = { kind: 'clock', process: 'alice', when: { kind: 'at', atUs: 0 }, ...skew };
  const alice = clientOf('alice', [writeOf(1)], { ttlUs: 50 * MS, countsLeaseFrom });
  const trace = run(planOf({ clients: [alice], faults: [clock] }));
  return [...eventsOf(trace, 'enter'), ...eventsOf(trace, 'lease-test')].map(
    (event) => event.believedUntilUs,
  );
}

describe('the end of a lease that a client counts on is seen in true time', () => {
  test('where its wall clock is ahead, that much earlier', () => {
    const skew = { stepUs: 20 * MS, ratePpm: 0 };
    expect(believedUntilUs('issued', skew)).toEqual([31 * MS, 31 * MS]);
  });

  test('where its clocks are slow, later by their rate', () => {
    const skew = { stepUs: 0, ratePpm: -200_000 };
    expect(believedUntilUs('sent', skew)).toEqual([62_500, 62_500]);
  });
});
