/**
 * Laws of runs without faults: chance only in the latencies, clients that count their lease from
 * its request and await every answer, and sections that fit their ttl. Then every claim holds with
 * every store, except `holder-overlap`, which is only measured and which no lock guarantees.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { claims, isJudgedUnlisted } from '../src/check/claims.ts';
import type { ClientPlan, Plan, SectionPlan, Work } from '../src/core/plan/plan.ts';
import { examine } from '../src/harness.ts';
import { builtInParts, protocols } from '../src/parts.ts';
import { modelOf } from '../src/systems/assemble.ts';
import { prepare, storeKinds } from '../src/systems/store/store-kinds.ts';
import { BOUNDS, LIMITS } from './plans.ts';
import { runs } from './runs.ts';

const LATENCY = { minUs: 500, maxUs: 2_000 };
const ROUND_TRIP_US = 2 * LATENCY.maxUs;
const COMPUTE_US = 1_000;

/** The longest duration of one step, with an `open` before it. */
const STEP_US = 5 * ROUND_TRIP_US;

function ttlFor(steps: number): number {
  return ROUND_TRIP_US + steps * STEP_US;
}

type Kind = Exclude<Work['kind'], 'lock' | 'job' | 'transition' | 'memoize'>;

/** Meaningful workloads: no client adds to a counter that others overwrite. */
const WORKLOADS: readonly (readonly Kind[])[] = [
  ['write', 'read'],
  ['increment', 'read'],
  ['transfer'],
];

function step(kind: Kind, id: number, value: number): Work {
  const place = { id, store: 'store', key: 'x' };
  switch (kind) {
    case 'write':
      return { kind, ...place, value, awaits: true };
    case 'read':
    case 'increment':
      return { kind, ...place };
    case 'transfer':
      return { kind, id, from: 'store', to: 'other', key: 'x', amount: value };
    case 'compute':
      return { kind, id, forUs: COMPUTE_US };
    case 'renew':
      return { kind, id, ttlUs: ttlFor(3) };
  }
}

function sectionOf(workload: readonly Kind[], isSingle: boolean): fc.Arbitrary<SectionPlan> {
  const kinds = isSingle
    ? fc.tuple(fc.constantFrom<Kind>('compute', 'renew'), fc.constantFrom(...workload))
    : fc.array(fc.constantFrom<Kind>(...workload, ...workload, 'compute', 'renew'), {
        minLength: 1,
        maxLength: 3,
      });
  return fc.record({ kinds, thinkUs: fc.nat(10_000), value: fc.integer({ min: 1, max: 99 }) }).map(
    (drawn): SectionPlan => ({
      id: 1,
      thinkUs: drawn.thinkUs,
      lock: 'db',
      work: drawn.kinds.map((kind, at) => step(kind, at + 1, drawn.value * 10 + at)),
    }),
  );
}

function clientOf(name: string, section: fc.Arbitrary<SectionPlan>): fc.Arbitrary<ClientPlan> {
  return fc.record({
    name: fc.constant(name),
    ttlUs: fc.integer({ min: ttlFor(3), max: 2 * ttlFor(3) }),
    lockTimeoutUs: fc.option(fc.constant(2 * ROUND_TRIP_US), { nil: null }),
    storeTimeoutUs: fc.option(fc.constant(3 * ROUND_TRIP_US), { nil: null }),
    pool: fc.integer({ min: 1, max: 3 }),
    checksLease: fc.boolean(),
    countsLeaseFrom: fc.constant('sent'),
    leaseEnds: fc.constant('at'),
    tries: fc.integer({ min: 1, max: 3 }),
    backoffUs: fc.integer({ min: 100, max: 3_000 }),
    attempts: fc.integer({ min: 1, max: 20 }),
    releases: fc.boolean(),
    sections: fc
      .array(section, { minLength: 1, maxLength: 3 })
      .map((sections) => sections.map((one, at) => ({ ...one, id: at + 1 }))),
  });
}

/** Plans without faults; `isSingle` limits each grant to one write. */
function calmPlans(system: { lock: string; store: string }, isSingle: boolean): fc.Arbitrary<Plan> {
  return fc.constantFrom(...WORKLOADS).chain((workload) => {
    const section = sectionOf(workload, isSingle);
    const clients = ['alice', 'bob', 'carol', 'dave'].map((name) => clientOf(name, section));
    const chance = fc.record({
      seed: fc.nat(),
      latency: fc.constant(LATENCY),
      latencyStepUs: fc.constantFrom(1, 500),
      delay: fc.constant(null),
      drop: fc.constant(null),
      duplicate: fc.constant(null),
      lateTimer: fc.constant(null),
      jitter: fc.constant(null),
    });
    return fc.record({
      fencepost: fc.constant(1 as const),
      scenario: fc.constant('calm'),
      system: fc.constant({ name: system.store, ...system, options: {} }),
      clients: fc
        .tuple(fc.integer({ min: 1, max: 4 }), ...clients)
        .map(([count, ...all]) => all.slice(0, count)),
      network: fc.record({
        link: fc.constantFrom('connection' as const, 'datagram' as const),
        latencyUs: fc.constant(LATENCY.maxUs),
      }),
      faults: fc.constant([]),
      decisions: fc.constant({}),
      order: fc.constant([]),
      chance: fc.option(chance, { nil: null }),
      limits: fc.constant({ ...LIMITS, healAtUs: 10_000_000 }),
      bounds: fc.constant(BOUNDS),
    });
  });
}

const PROMISED: readonly string[] = [...claims.keys()].filter(isJudgedUnlisted);

beforeAll(() => prepare([...storeKinds.keys()].map((store) => ({ store }))));

describe.each(['lock-service', 'lock-service-published'])('%s', (lock) => {
  test.each([...storeKinds.keys()])('with a %s store breaks no claim without faults', (store) => {
    fc.assert(
      fc.property(calmPlans({ lock, store }, store === 'fenced-strict'), (plan) => {
        const isJudged = (claim: string): boolean =>
          claim !== 'linearizable' || modelOf(plan, builtInParts) !== null;
        const notGuaranteed = storeKinds.get(store)?.notGuaranteed ?? [];
        const claims = PROMISED.filter((claim) => !notGuaranteed.includes(claim));
        const { verdicts } = examine(plan, claims);
        const alarms = verdicts.filter(
          ({ kind, claim }) => kind === 'invalid' || (kind === 'unknown' && isJudged(claim)),
        );
        expect(alarms).toEqual([]);
      }),
      { seed: 1, numRuns: runs(60) },
    );
  });
});

/** Removes renewals, which a lock without leases refuses. */
function withoutRenewals(plan: Plan): Plan {
  const clients = plan.clients.map((client) => ({
    ...client,
    sections: client.sections.map((section) => ({
      ...section,
      work: section.work.filter(({ kind }) => kind !== 'renew'),
    })),
  }));
  return { ...plan, clients };
}

describe.each(['lease-dynamodb', 'lease-memcached', 'lease-redis'])('%s', (lock) => {
  test('breaks no claim without faults', () => {
    fc.assert(
      fc.property(calmPlans({ lock, store: 'fenced' }, false), (calm) => {
        const plan = withoutRenewals(calm);
        const alarms = examine(plan, PROMISED).verdicts.filter(({ kind }) => kind !== 'valid');
        expect(alarms).toEqual([]);
      }),
      { seed: 1, numRuns: runs(60) },
    );
  });
});

describe.each(['unfenced', 'fenced', 'fenced-reads'])('pessimistic with a %s store', (store) => {
  test.each(['wait', 'abort'])('breaks no claim without faults (onDeadlock: %s)', (onDeadlock) => {
    fc.assert(
      fc.property(calmPlans({ lock: 'pessimistic', store }, false), (calm) => {
        const system = { ...calm.system, options: { onDeadlock } };
        const plan = { ...withoutRenewals(calm), system };
        const alarms = examine(plan, PROMISED).verdicts.filter(({ kind }) => kind !== 'valid');
        expect(alarms).toEqual([]);
      }),
      { seed: 1, numRuns: runs(60) },
    );
  });
});

describe.each(['redis', 'redlock'])('%s, whose grants have no tokens,', (lock) => {
  test.each(['unfenced', 'fenced'])('with a %s store breaks no claim without faults', (store) => {
    const notGuaranteed = protocols.get(lock)?.notGuaranteed ?? [];
    const claims = PROMISED.filter((claim) => !notGuaranteed.includes(claim));
    fc.assert(
      fc.property(calmPlans({ lock, store }, false), (plan) => {
        const alarms = examine(plan, claims).verdicts.filter(({ kind }) => kind !== 'valid');
        expect(alarms).toEqual([]);
      }),
      { seed: 1, numRuns: runs(60) },
    );
  });
});

describe.each([...storeKinds].filter(([, { requirements }]) => requirements.hasVersions))(
  'no lock, with a store that is %s,',
  (store, { notGuaranteed }) => {
    test('breaks only transfers and, if versions are times, counters without faults', () => {
      const left = ['cross-key', ...notGuaranteed];
      const claims = PROMISED.filter((claim) => !left.includes(claim) && claim !== 'linearizable');
      fc.assert(
        fc.property(calmPlans({ lock: 'optimistic', store }, false), (calm) => {
          const plan = withoutRenewals(calm);
          const alarms = examine(plan, claims).verdicts.filter(({ kind }) => kind !== 'valid');
          expect(alarms).toEqual([]);
        }),
        { seed: 1, numRuns: runs(60) },
      );
    });
  },
);

test('a store that refuses equal tokens breaks `progress` when a grant writes twice', () => {
  const plans = fc.sample(calmPlans({ lock: 'lock-service', store: 'fenced-strict' }, false), {
    numRuns: runs(60),
    seed: 2,
  });
  const broken = plans.filter(
    (plan) => examine(plan, ['progress']).verdicts[0]?.kind === 'invalid',
  );
  expect(broken.length).toBeGreaterThan(0);
});
