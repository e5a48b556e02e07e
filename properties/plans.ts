/**
 * Plans that can be run: every fault names a process, a point, a message or a timer that the plan
 * really has, so that a property over them meets real strikes and not mere leftovers.
 */
import fc from 'fast-check';
import type { Fault, FaultKind, When, Which } from '../src/plan/fault.ts';
import type { ChancePlan, ClientPlan, NetworkPlan, Plan, Work } from '../src/plan/plan.ts';
import { storeNamesOf } from '../src/systems/assemble.ts';

/** What the plans of one property have in common. */
export interface PlanSetting {
  /** Kinds of fault that may appear; all of them if absent. */
  readonly kinds?: readonly FaultKind[];
  /** Stores to choose from; `fenced` if absent. */
  readonly stores?: readonly string[];
  /** Whether each client has a lock and a store of its own; false if absent. */
  readonly areApart?: boolean;
  readonly probe?: boolean;
}

export const ALL_KINDS: readonly FaultKind[] = [
  ...(['pause', 'crash', 'partition', 'clock', 'evict', 'failover', 'reset'] as const),
  ...(['delay', 'drop', 'duplicate', 'late-timer'] as const),
];

const NAMES = ['alice', 'bob', 'carol', 'dave'] as const;
export const LATEST_FAULT_US = 150_000;
const HEAL_AT_US = 200_000;

/** In half of the cases whole milliseconds, so that events tie. */
function span(minUs: number, maxUs: number): fc.Arbitrary<number> {
  const whole = fc.integer({ min: Math.ceil(minUs / 1_000), max: Math.floor(maxUs / 1_000) });
  return fc.oneof(
    whole.map((ms) => ms * 1_000),
    fc.integer({ min: minUs, max: maxUs }),
  );
}

const odds = fc.constantFrom(
  { numerator: 1, denominator: 20 },
  { numerator: 1, denominator: 4 },
  { numerator: 1, denominator: 1 },
);
const range = fc
  .tuple(span(0, 8_000), span(0, 8_000))
  .map(([a, b]) => ({ minUs: Math.min(a, b), maxUs: Math.max(a, b) }));
const often = fc.tuple(odds, range).map(([a, b]) => ({ ...a, ...b }));

function orNull<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { nil: null });
}

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
      ...{ kind: fc.constant('write' as const), id, store, key },
      ...{ value: fc.integer({ min: 1, max: 99 }), awaits: fc.boolean() },
    }),
    fc.record({ kind: fc.constantFrom('read' as const, 'increment' as const), id, store, key }),
    fc.record({
      ...{ kind: fc.constant('transfer' as const), id, key },
      ...{ from: fc.constant(from), to: fc.constant(to), amount: fc.integer({ min: 1, max: 9 }) },
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
  const own: Territory = { locks: [`${name}-db`], stores: [`${name}-store`, `${name}-other`] };
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
    sections: sectionsOf(areApart ? own : shared),
  });
}

function clientsOf(areApart: boolean): fc.Arbitrary<readonly ClientPlan[]> {
  return fc
    .tuple(fc.integer({ min: 1, max: 4 }), ...NAMES.map((name) => clientOf(name, areApart)))
    .map(([count, ...clients]) => clients.slice(0, count));
}

/** What there is to strike in the runs of some clients. */
interface Targets {
  readonly clients: readonly string[];
  readonly servers: readonly string[];
  readonly locks: readonly string[];
  readonly operations: readonly string[];
  readonly timers: readonly string[];
}

const VERBS: Readonly<Record<Work['kind'], readonly string[]>> = {
  write: ['write'],
  read: ['read'],
  increment: ['read', 'write'],
  transfer: ['read-from', 'read-to', 'write-from', 'write-to'],
  compute: [],
  renew: ['renew'],
};

function targetsOf(clients: readonly ClientPlan[]): Targets {
  const operations: string[] = [];
  const timers: string[] = [];
  const locks = new Set<string>();
  for (const { name, sections } of clients) {
    for (const { id, lock, work } of sections) {
      locks.add(lock);
      operations.push(
        ...['acquire', 'acquire-2', 'release'].map((verb) => `${name}/${id}/${verb}`),
      );
      timers.push(...['think', 'backoff', 'compute'].map((verb) => `${name}/${id}/${verb}`));
      for (const step of work) {
        const number = step.id === 1 ? '' : `-${step.id}`;
        operations.push(...VERBS[step.kind].map((verb) => `${name}/${id}/${verb}${number}`));
      }
    }
  }
  const names = clients.map(({ name }) => name);
  const servers = ['lock', ...storeNamesOf({ clients })];
  return { clients: names, servers, locks: [...locks], operations, timers };
}

function whenOf({ operations, clients }: Targets): fc.Arbitrary<When> {
  const marks = clients.map((name) => `${name}/1/checked`);
  const point = fc.constantFrom(...operations, ...marks);
  const at = span(0, LATEST_FAULT_US);
  // Most of what happens happens early.
  const early = span(0, 30_000);
  return fc.oneof(
    early.map((atUs): When => ({ kind: 'at', atUs })),
    at.map((atUs): When => ({ kind: 'at', atUs })),
    point.map((of): When => ({ kind: 'before', point: of })),
    point.map((of): When => ({ kind: 'after', point: of })),
  );
}

function whichOf({ operations, clients, servers }: Targets): fc.Arbitrary<Which> {
  const leg = fc.constantFrom('request', 'reply');
  const named = fc
    .tuple(fc.constantFrom(...operations), fc.integer({ min: 1, max: 2 }), leg)
    .map(([of, tried, way]): Which => ({ kind: 'message', message: `${of}/${tried}/${way}` }));
  const link = fc
    .tuple(fc.constantFrom(...clients), fc.constantFrom(...servers), fc.boolean(), span(0, 50_000))
    .map(([client, server, isForth, atUs]): Which => {
      const [from, to] = isForth ? [client, server] : [server, client];
      return { kind: 'link', from, to, atUs };
    });
  return fc.oneof(named, link);
}

/** One arbitrary for each kind of fault, over what the clients have. */
function faultsOf(targets: Targets): Readonly<Record<FaultKind, fc.Arbitrary<Fault>>> {
  const { clients, servers, locks, timers } = targets;
  const when = whenOf(targets);
  const which = whichOf(targets);
  const byUs = span(0, 40_000);
  const forUs = span(0, 60_000);
  const process = fc.constantFrom(...clients, ...clients, ...servers);
  const server = fc.constantFrom(...servers);
  const client = fc.constantFrom(...clients);
  const kind = <Kind extends FaultKind>(name: Kind): fc.Arbitrary<Kind> => fc.constant(name);
  return {
    pause: fc.record({
      ...{ kind: kind('pause'), process, when, forUs, clocks: fc.constantFrom('run', 'freeze') },
    }),
    crash: fc.record({ kind: kind('crash'), process, when, restartAfterUs: orNull(forUs) }),
    partition: fc.record({
      ...{ kind: kind('partition'), from: client.map((one) => [one]), when, forUs },
      ...{ to: server.map((one) => [one]), direction: fc.constantFrom('both', 'one-way') },
    }),
    clock: fc.record({
      ...{ kind: kind('clock'), process, when, stepUs: fc.integer({ min: -30_000, max: 30_000 }) },
      ratePpm: fc.constantFrom(0, 200, -200, 500_000, -500_000),
    }),
    evict: fc.record({
      ...{ kind: kind('evict'), process: server, when },
      key: fc.constantFrom(...locks, 'x', 'y'),
    }),
    failover: fc.record({ kind: kind('failover'), process: server, when, lagUs: byUs }),
    reset: fc.record({ kind: kind('reset'), from: client, to: server, when }),
    delay: fc.record({ kind: kind('delay'), which, byUs }),
    drop: fc.record({ kind: kind('drop'), which }),
    duplicate: fc.record({ kind: kind('duplicate'), which, byUs }),
    'late-timer': fc.record({
      ...{ kind: kind('late-timer'), byUs },
      which: fc.oneof(
        fc.record({ kind: fc.constant('timer' as const), timer: fc.constantFrom(...timers) }),
        fc.record({
          ...{ kind: fc.constant('process' as const), process: client },
          atUs: span(0, 50_000),
        }),
      ),
    }),
  };
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

/** Wide enough for all that is drawn above. */
export const BOUNDS: Plan['bounds'] = {
  latency: { minUs: 0, maxUs: 8_000 },
  think: { minUs: 0, maxUs: 10_000 },
  durations: Object.fromEntries(ALL_KINDS.map((kind) => [kind, { minUs: 0, maxUs: 60_000 }])),
  skewUs: null,
  driftPpm: null,
};

export const LIMITS: Plan['limits'] = {
  ...{ healAtUs: HEAL_AT_US, probe: true, slackUs: 10_000, endUs: 100_000_000, maxEvents: 50_000 },
};

/** Plans of 1–4 clients, 1–3 sections and 0–5 faults. */
export function runnablePlans(setting: PlanSetting = {}): fc.Arbitrary<Plan> {
  const kinds = setting.kinds ?? ALL_KINDS;
  const areApart = setting.areApart ?? false;
  const probe = setting.probe === undefined ? fc.boolean() : fc.constant(setting.probe);
  return clientsOf(areApart).chain((clients) => {
    const arbitraries = faultsOf(targetsOf(clients));
    const fault = fc.oneof(...kinds.map((kind) => arbitraries[kind]));
    return fc.record({
      fencepost: fc.constant(1 as const),
      scenario: fc.constant('property'),
      system: fc.constantFrom(...(setting.stores ?? ['fenced'])).map((store) => ({
        ...{ name: store, lock: 'lock-service', store, options: {} },
      })),
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

/** Plans as a fixed list: the same on every machine. */
export function samplePlans(
  plans: fc.Arbitrary<Plan>,
  count: number,
  seed: number,
): readonly Plan[] {
  return fc.sample(plans, { numRuns: count, seed });
}
