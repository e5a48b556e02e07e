/** A handwritten plan for tests of single passes: three clients with two sections each. */
import type { Fault, FaultOf } from '../plan/fault.ts';
import type { ClientPlan, Plan } from '../plan/plan.ts';

export function client(name: string, thinkUs: number): ClientPlan {
  const section = (id: number): ClientPlan['sections'][number] => ({
    id,
    thinkUs,
    lock: 'db',
    work: [
      { kind: 'write', id: 1, store: 'db', key: 'x', value: 40 + id, awaits: true },
      { kind: 'write', id: 2, store: 'db', key: 'x', value: 50 + id, awaits: false },
    ],
  });
  return {
    name,
    ttlUs: 10_000,
    lockTimeoutUs: null,
    storeTimeoutUs: null,
    pool: 2,
    checksLease: true,
    countsLeaseFrom: 'sent',
    leaseEnds: 'at',
    tries: 3,
    backoffUs: 2_000,
    attempts: 8,
    releases: true,
    sections: [section(1), section(2)],
  };
}

export function pause(process: string, forUs: number): FaultOf<'pause'> {
  return { kind: 'pause', process, when: { kind: 'at', atUs: 7_345 }, forUs, clocks: 'run' };
}

export function planWith(faults: readonly Fault[]): Plan {
  return {
    fencepost: 1,
    scenario: 'any',
    system: { name: 'any', lock: 'lock-service', store: 'unfenced', options: {} },
    clients: [client('alice', 1_234), client('bob', 2_345), client('carol', 3_456)],
    network: { link: 'connection', latencyUs: 734 },
    faults,
    chance: null,
    decisions: {
      'alice/1/write/1/request': 812,
      'alice/1/write-2/1/request': 813,
      'alice/2/write/1/request': 814,
      'alice2/1/write/1/request': 815,
      'bob/1/backoff-2': 2_500,
    },
    order: ['alice/1/write', 'bob/1/acquire'],
    limits: { healAtUs: 100_000, probe: true, slackUs: 5_000, endUs: 200_000, maxEvents: 9_999 },
    bounds: {
      latency: { minUs: 500, maxUs: 1_500 },
      think: { minUs: 0, maxUs: 20_000 },
      durations: { pause: { minUs: 2_000, maxUs: 50_000 }, delay: { minUs: 0, maxUs: 9_000 } },
      skewUs: 5_000,
      driftPpm: 0,
    },
  };
}
