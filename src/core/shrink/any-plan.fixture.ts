/**
 * Arbitrary plans within some bounds, and predicates that they meet, for property tests of
 * shrinking.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Fault, When } from '../plan/fault.ts';
import { amountOf } from '../plan/fault.ts';
import type { ClientPlan, Plan, SectionPlan, Work } from '../plan/plan.ts';
import { sectionsOf, workOf } from './simpler.ts';

const NAMES = ['alice', 'bob', 'carol', 'dave'] as const;
const PAUSE = { minUs: 1_000, maxUs: 40_000 };
const DELAY = { minUs: 500, maxUs: 20_000 };
const SKEW_US = 5_000;
const THINK = { minUs: 100, maxUs: 30_000 };
const LATENCY = { minUs: 300, maxUs: 2_000 };

const within = (range: { minUs: number; maxUs: number }): fc.Arbitrary<number> =>
  fc.integer({ min: range.minUs, max: range.maxUs });

const client = fc.constantFrom<string>(...NAMES);
const point = fc
  .tuple(client, fc.integer({ min: 1, max: 3 }), fc.constantFrom('write', 'acquire', 'read'))
  .map(([name, id, verb]) => `${name}/${id}/${verb}`);
const when: fc.Arbitrary<When> = fc.oneof(
  within({ minUs: 0, maxUs: 90_000 }).map((atUs) => ({ kind: 'at' as const, atUs })),
  point.map((name) => ({ kind: 'before' as const, point: name })),
);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({
    kind: fc.constant('pause' as const),
    process: client,
    when,
    forUs: within(PAUSE),
    clocks: fc.constant('run' as const),
  }),
  fc.record({
    kind: fc.constant('delay' as const),
    which: point.map((name) => ({ kind: 'message' as const, message: `${name}/1/request` })),
    byUs: within(DELAY),
  }),
  fc.record({
    kind: fc.constant('partition' as const),
    from: fc.uniqueArray(client, { minLength: 1, maxLength: 3 }),
    to: fc.constant(['lock', 'store']),
    direction: fc.constant('both' as const),
    when,
    forUs: within(PAUSE),
  }),
  fc.record({
    kind: fc.constant('clock' as const),
    process: client,
    when,
    stepUs: fc.integer({ min: -1_000, max: 1_000 }),
    ratePpm: fc.integer({ min: -200, max: 200 }),
  }),
  fc.record({ kind: fc.constant('evict' as const), process: client, key: fc.constant('x'), when }),
);

const work = (id: number): fc.Arbitrary<Work> =>
  fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      id: fc.constant(id),
      store: fc.constant('db'),
      key: fc.constant('x'),
      value: fc.integer({ min: 1, max: 500 }),
      awaits: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('increment' as const),
      id: fc.constant(id),
      store: fc.constant('db'),
      key: fc.constant('x'),
    }),
    fc.record({
      kind: fc.constant('compute' as const),
      id: fc.constant(id),
      forUs: fc.nat(9_000),
    }),
  );

const section = (id: number): fc.Arbitrary<SectionPlan> =>
  fc.record({
    id: fc.constant(id),
    thinkUs: within(THINK),
    lock: fc.constant('db'),
    work: fc.oneof(fc.tuple(work(1)), fc.tuple(work(1), work(2)), fc.constant([])),
  });

const clientPlan = (name: string): fc.Arbitrary<ClientPlan> =>
  fc.record({
    name: fc.constant(name),
    ttlUs: fc.constant(10_000),
    lockTimeoutUs: fc.constant(null),
    storeTimeoutUs: fc.constant(null),
    pool: fc.integer({ min: 1, max: 3 }),
    checksLease: fc.boolean(),
    countsLeaseFrom: fc.constant('sent' as const),
    leaseEnds: fc.constant('at' as const),
    tries: fc.integer({ min: 1, max: 3 }),
    backoffUs: fc.constant(2_000),
    attempts: fc.integer({ min: 1, max: 9 }),
    releases: fc.boolean(),
    sections: fc
      .integer({ min: 1, max: 3 })
      .chain((count) => fc.tuple(...[1, 2, 3].slice(0, count).map(section))),
  });

export const plan: fc.Arbitrary<Plan> = fc.record({
  fencepost: fc.constant(1 as const),
  scenario: fc.constant('any'),
  system: fc.constant({ name: 'any', lock: 'lock', store: 'store', options: {} }),
  clients: fc
    .integer({ min: 1, max: 4 })
    .chain((count) => fc.tuple(...NAMES.slice(0, count).map(clientPlan))),
  network: fc.record({ link: fc.constant('connection' as const), latencyUs: within(LATENCY) }),
  faults: fc.array(fault, { maxLength: 5 }),
  chance: fc.constant(null),
  decisions: fc.dictionary(
    point.map((name) => `${name}/1/request`),
    within(LATENCY),
    { maxKeys: 12, noNullPrototype: true },
  ),
  order: fc.uniqueArray(point, { maxLength: 3 }),
  limits: fc.constant({
    healAtUs: 100_000,
    probe: true,
    slackUs: 10_000,
    endUs: 200_000,
    maxEvents: 10_000,
  }),
  bounds: fc.constant({
    latency: LATENCY,
    think: THINK,
    durations: { pause: PAUSE, delay: DELAY, partition: PAUSE, evict: { minUs: 0, maxUs: 0 } },
    skewUs: SKEW_US,
    driftPpm: 200,
  }),
});

export type Predicate = (candidate: Plan) => boolean;

/** Predicates that `original` meets: some of its own properties, or pseudo-random answers. */
const predicateOf = (original: Plan): fc.Arbitrary<Predicate> => {
  const needs: Predicate[] = [
    () => true,
    ...original.clients.map(
      ({ name }): Predicate =>
        (one) =>
          one.clients.some((other) => other.name === name),
    ),
    ...original.faults.map((needed): Predicate => {
      const enough = Math.floor((amountOf(needed) ?? 0) / 2);
      return (one) =>
        one.faults.some((other) => other.kind === needed.kind && (amountOf(other) ?? 0) >= enough);
    }),
    ...Object.keys(original.decisions).map(
      (name): Predicate =>
        (one) =>
          name in one.decisions,
    ),
    (one) => workOf(one).length >= Math.min(2, workOf(original).length),
    (one) => sectionsOf(one).length % 2 === sectionsOf(original).length % 2,
  ];
  const together = fc.subarray(needs, { minLength: 1, maxLength: 4 }).map(
    (chosen): Predicate =>
      (one) =>
        chosen.every((need) => need(one)),
  );
  const senseless = fc.integer({ min: 2, max: 5 }).map((modulus): Predicate => {
    const start = JSON.stringify(original);
    return (one) => {
      const text = JSON.stringify(one);
      return text === start || hash(text) % modulus === 0;
    };
  });
  return fc.oneof({ weight: 3, arbitrary: together }, { weight: 1, arbitrary: senseless });
};

function hash(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at += 1)
    value = (value * 31 + text.charCodeAt(at)) % 1_000_003;
  return value;
}

/** A plan, and a predicate that it meets. */
export const cases: fc.Arbitrary<[Plan, Predicate]> = plan.chain((original) =>
  fc.tuple(fc.constant(original), predicateOf(original)),
);

export function expectInBounds(candidate: Plan): void {
  const isIn = (us: number, range: { minUs: number; maxUs: number }): void => {
    expect(Number.isSafeInteger(us) && us >= range.minUs && us <= range.maxUs).toBe(true);
  };
  isIn(candidate.network.latencyUs, LATENCY);
  for (const us of Object.values(candidate.decisions)) isIn(us, LATENCY);
  for (const { thinkUs } of sectionsOf(candidate)) isIn(thinkUs, THINK);
  for (const one of candidate.faults) {
    if (one.kind === 'pause' || one.kind === 'partition') isIn(one.forUs, PAUSE);
    if (one.kind === 'delay') isIn(one.byUs, DELAY);
    if (one.kind === 'clock') isIn(Math.abs(one.stepUs), { minUs: 0, maxUs: SKEW_US });
  }
}
