import { describe, expect, test } from 'vitest';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import type { Fault } from '../plan/fault.ts';

/**
 * Returns the end, as the observer sees it, of a lease of 50 ms that alice requested at 0 and
 * measures by her own clock.
 */
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

describe('the lease end that a client assumes is seen in true time', () => {
  test('earlier by the lead of its wall clock', () => {
    const skew = { stepUs: 20 * MS, ratePpm: 0 };
    expect(believedUntilUs('issued', skew)).toEqual([31 * MS, 31 * MS]);
  });

  test('later by the rate of its slow clocks', () => {
    const skew = { stepUs: 0, ratePpm: -200_000 };
    expect(believedUntilUs('sent', skew)).toEqual([62_500, 62_500]);
  });
});
