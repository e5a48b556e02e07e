/** Arbitraries of fast-check for faults of every kind, over names in the runs of some clients. */
import fc from 'fast-check';
import {
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  type FieldType,
  type FieldTypes,
  type When,
  type Which,
} from '../src/core/plan/fault.ts';
import type { ClientPlan, Work } from '../src/core/plan/plan.ts';
import { faultFrom } from '../src/core/plan/plan-arbitrary.fixture.ts';
import { storeNamesOf } from '../src/systems/assemble.ts';

/** Every kind. Draws by a fixed seed depend on the order, so new kinds come last. */
export const ALL_KINDS: readonly FaultKind[] = [
  ...new Set<FaultKind>([
    'pause',
    'crash',
    'partition',
    'clock',
    'evict',
    'failover',
    'reset',
    'delay',
    'drop',
    'duplicate',
    'late-timer',
    ...FAULT_KINDS,
  ]),
];

const LATEST_FAULT_US = 150_000;

/** Draws whole milliseconds in half of the cases, so that events tie. */
export function span(minUs: number, maxUs: number): fc.Arbitrary<number> {
  const milliseconds = fc.integer({
    min: Math.ceil(minUs / 1_000),
    max: Math.floor(maxUs / 1_000),
  });
  return fc.oneof(
    milliseconds.map((ms) => ms * 1_000),
    fc.integer({ min: minUs, max: maxUs }),
  );
}

export function orNull<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { nil: null });
}

/** Possible targets of faults in the runs of some clients. */
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
  lock: ['lock'],
  job: [],
  transition: [],
  memoize: ['read', 'write'],
};

export function targetsOf(clients: readonly ClientPlan[]): Targets {
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
  // Most events happen early.
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

/** Returns an arbitrary per fault kind: a special one, or one from the types of its fields. */
export function faultsOf(targets: Targets): (kind: FaultKind) => fc.Arbitrary<Fault> {
  const arbitraries = arbitraryFaults(targets);
  const { clients, servers, locks, operations } = targets;
  const byType: { readonly [Type in FieldType]: fc.Arbitrary<FieldTypes[Type]> } = {
    process: fc.constantFrom(...clients, ...servers),
    group: fc.constantFrom(...clients, ...servers).map((one) => [one]),
    message: whichOf(targets),
    timer: fc.constantFrom(...operations).map((timer) => ({ kind: 'timer', timer })),
    when: whenOf(targets),
    duration: span(0, 60_000),
    durationOrNever: orNull(span(0, 60_000)),
    step: fc.integer({ min: -30_000, max: 30_000 }),
    rate: fc.constantFrom(0, 200, -200),
    key: fc.constantFrom(...locks, 'x', 'y'),
    direction: fc.constantFrom('both', 'one-way'),
    clocks: fc.constantFrom('run', 'freeze'),
  };
  return (kind) => arbitraries[kind] ?? faultFrom(kind, ({ type }) => byType[type]);
}

/** Arbitraries of the kinds whose processes are drawn in a special way. */
function arbitraryFaults(
  targets: Targets,
): Readonly<Partial<Record<FaultKind, fc.Arbitrary<Fault>>>> {
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
      kind: kind('pause'),
      process,
      when,
      forUs,
      clocks: fc.constantFrom('run', 'freeze'),
    }),
    crash: fc.record({ kind: kind('crash'), process, when, restartAfterUs: orNull(forUs) }),
    partition: fc.record({
      kind: kind('partition'),
      from: client.map((one) => [one]),
      when,
      forUs,
      to: server.map((one) => [one]),
      direction: fc.constantFrom('both', 'one-way'),
    }),
    clock: fc.record({
      kind: kind('clock'),
      process,
      when,
      stepUs: fc.integer({ min: -30_000, max: 30_000 }),
      ratePpm: fc.constantFrom(0, 200, -200, 500_000, -500_000),
    }),
    evict: fc.record({
      kind: kind('evict'),
      process: server,
      when,
      key: fc.constantFrom(...locks, 'x', 'y'),
    }),
    failover: fc.record({ kind: kind('failover'), process: server, when, lagUs: byUs }),
    reset: fc.record({ kind: kind('reset'), from: client, to: server, when }),
    delay: fc.record({ kind: kind('delay'), which, byUs }),
    drop: fc.record({ kind: kind('drop'), which }),
    duplicate: fc.record({ kind: kind('duplicate'), which, byUs }),
    'late-timer': fc.record({
      kind: kind('late-timer'),
      byUs,
      which: fc.oneof(
        fc.record({ kind: fc.constant('timer' as const), timer: fc.constantFrom(...timers) }),
        fc.record({
          kind: fc.constant('process' as const),
          process: client,
          atUs: span(0, 50_000),
        }),
      ),
    }),
  };
}
