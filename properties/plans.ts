/**
 * Runnable plans: every fault names a process, point, message or timer of the plan, so that faults
 * in a property fire instead of having no effect.
 */
import fc from 'fast-check';
import type { FaultKind } from '../src/core/plan/fault.ts';
import type { ChancePlan, ClientPlan, NetworkPlan, Plan, Work } from '../src/core/plan/plan.ts';
import { ALL_KINDS, faultsOf, orNull, span, targetsOf } from './plan-faults.ts';

/** Common settings of the plans of one property. */
export interface PlanSetting {
  /** Kinds of fault that may occur; default: all. */
  readonly kinds?: readonly FaultKind[];
  /** Stores to choose from; default: `fenced`. */
  readonly stores?: readonly string[];
  /** True if each client has its own lock and store; default: false. */
  readonly areApart?: boolean;
  readonly probe?: boolean;
}

const NAMES = ['alice', 'bob', 'carol', 'dave'] as const;
const HEAL_AT_US = 200_000;

const odds = fc.constantFrom(
  { numerator: 1, denominator: 20 },
  { numerator: 1, denominator: 4 },
  { numerator: 1, denominator: 1 },
);
const range = fc
  .tuple(span(0, 8_000), span(0, 8_000))
  .map(([a, b]) => ({ minUs: Math.min(a, b), maxUs: Math.max(a, b) }));
const often = fc.tuple(odds, range).map(([a, b]) => ({ ...a, ...b }));

/** The locks and stores that one client may use. */
interface Territory {
  readonly locks: readonly string[];
  readonly stores: readonly [string, string];
}

function workOf({ stores }: Territory): fc.Arbitrary<Work> {
  const id = fc.constant(1);
  const store = fc.constantFrom(...stores);
  const key = fc.constantFrom('x', 'y');
  const [from, to] = stores;
  return fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      id,
      store,
      key,
      value: fc.integer({ min: 1, max: 99 }),
      awaits: fc.boolean(),
    }),
    fc.record({ kind: fc.constantFrom('read' as const, 'increment' as const), id, store, key }),
    fc.record({
      kind: fc.constant('transfer' as const),
      id,
      key,
      from: fc.constant(from),
      to: fc.constant(to),
      amount: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ kind: fc.constant('compute' as const), id, forUs: span(0, 8_000) }),
    fc.record({ kind: fc.constant('renew' as const), id, ttlUs: span(2_000, 20_000) }),
  );
}

function sectionsOf(territory: Territory): fc.Arbitrary<ClientPlan['sections']> {
  const section = fc.record({
    thinkUs: span(0, 10_000),
    lock: fc.constantFrom(...territory.locks),
    work: fc.array(workOf(territory), { minLength: 1, maxLength: 3 }),
  });
  return fc.array(section, { minLength: 1, maxLength: 3 }).map((sections) =>
    sections.map(({ work, ...rest }, at) => ({
      id: at + 1,
      ...rest,
      work: work.map((step, place) => ({ ...step, id: place + 1 })),
    })),
  );
}

function clientOf(name: string, areApart: boolean): fc.Arbitrary<ClientPlan> {
  const shared: Territory = { locks: ['db', 'db', 'aux'], stores: ['store', 'other'] };
  const territory: Territory = {
    locks: [`${name}-db`],
    stores: [`${name}-store`, `${name}-other`],
  };
  return fc.record({
    name: fc.constant(name),
    ttlUs: span(3_000, 20_000),
    lockTimeoutUs: orNull(span(1_000, 30_000)),
    storeTimeoutUs: orNull(span(1_000, 30_000)),
    pool: fc.integer({ min: 1, max: 3 }),
    checksLease: fc.boolean(),
    countsLeaseFrom: fc.constantFrom('sent', 'reply', 'issued'),
    leaseEnds: fc.constantFrom('at', 'after'),
    tries: fc.integer({ min: 1, max: 3 }),
    backoffUs: span(100, 3_000),
    attempts: fc.integer({ min: 1, max: 20 }),
    releases: fc.boolean(),
    sections: sectionsOf(areApart ? territory : shared),
  });
}

function clientsOf(areApart: boolean): fc.Arbitrary<readonly ClientPlan[]> {
  return fc
    .tuple(fc.integer({ min: 1, max: 4 }), ...NAMES.map((name) => clientOf(name, areApart)))
    .map(([count, ...clients]) => clients.slice(0, count));
}

const network: fc.Arbitrary<NetworkPlan> = fc.record({
  link: fc.constantFrom('connection', 'datagram'),
  latencyUs: span(0, 3_000),
});

function chanceOf(kinds: readonly FaultKind[]): fc.Arbitrary<ChancePlan | null> {
  const where = <Value>(kind: FaultKind, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
    kinds.includes(kind) ? orNull(value) : fc.constant(null);
  return orNull(
    fc.record({
      seed: fc.nat(),
      latency: orNull(range),
      latencyStepUs: fc.constantFrom(1, 1_000),
      delay: where('delay', often),
      drop: where('drop', odds),
      duplicate: where('duplicate', often),
      lateTimer: where('late-timer', often),
      jitter: orNull(odds),
    }),
  );
}

/** Wide enough for all times drawn above. */
export const BOUNDS: Plan['bounds'] = {
  latency: { minUs: 0, maxUs: 8_000 },
  think: { minUs: 0, maxUs: 10_000 },
  durations: Object.fromEntries(ALL_KINDS.map((kind) => [kind, { minUs: 0, maxUs: 60_000 }])),
  skewUs: null,
  driftPpm: null,
};

export const LIMITS: Plan['limits'] = {
  healAtUs: HEAL_AT_US,
  probe: true,
  slackUs: 10_000,
  endUs: 100_000_000,
  maxEvents: 50_000,
};

/** Plans of 1–4 clients, 1–3 sections and 0–5 faults. */
export function runnablePlans(setting: PlanSetting = {}): fc.Arbitrary<Plan> {
  const kinds = setting.kinds ?? ALL_KINDS;
  const areApart = setting.areApart ?? false;
  const probe = setting.probe === undefined ? fc.boolean() : fc.constant(setting.probe);
  return clientsOf(areApart).chain((clients) => {
    const fault = fc.oneof(...kinds.map(faultsOf(targetsOf(clients))));
    return fc.record({
      fencepost: fc.constant(1 as const),
      scenario: fc.constant('property'),
      system: fc
        .constantFrom(...(setting.stores ?? ['fenced']))
        .map((store) => ({ name: store, lock: 'lock-service', store, options: {} })),
      clients: fc.constant(clients),
      network,
      faults: fc.array(fault, { maxLength: kinds.length === 0 ? 0 : 5 }),
      chance: chanceOf(kinds),
      decisions: fc.constant({}),
      order: fc.constant([]),
      limits: probe.map((isProbed) => ({ ...LIMITS, probe: isProbed })),
      bounds: fc.constant(BOUNDS),
    });
  });
}

/** Returns plans as a fixed list, the same on every machine. */
export function samplePlans(
  plans: fc.Arbitrary<Plan>,
  count: number,
  seed: number,
): readonly Plan[] {
  return fc.sample(plans, { numRuns: count, seed });
}
