/**
 * Arbitrary well-formed plans of every form for fast-check, with names that are hard to write as
 * YAML and numbers at their limits.
 */
import fc from 'fast-check';
import { runningAtOnce } from './client-text.ts';
import { ASYNC_EPOCH_US, type RangeUs } from './duration.ts';
import {
  FAULT_KINDS,
  type Fault,
  type FaultField,
  type FaultKind,
  type FieldType,
  type FieldTypes,
  faultWith,
  fieldsOfKind,
  type When,
  type Which,
} from './fault.ts';
import type { Plan, Work } from './plan.ts';

const us = fc.oneof(
  fc.constantFrom(0, 1, 999, 1_000, 9_999, 10_000, 1_500_000, 86_400_000_000),
  fc.nat(100_000),
  fc.maxSafeNat(),
);
const positiveUs = us.map((value) => Math.max(1, value));
const stepUs = fc.oneof(
  us,
  us.map((value) => 0 - value),
);
const orNever = fc.option(us, { nil: null });
const range: fc.Arbitrary<RangeUs> = fc
  .tuple(us, us)
  .map(([a, b]) => ({ minUs: Math.min(a, b), maxUs: Math.max(a, b) }));
const odds = fc
  .tuple(fc.nat(1_000), fc.nat(1_000))
  .map(([a, b]) => ({ numerator: Math.min(a, b), denominator: Math.max(a, b, 1) }));
const often = fc.tuple(odds, range).map(([a, b]) => ({ ...a, ...b }));
const positive = fc.integer({ min: 1, max: 64 });
const safe = fc.maxSafeInteger();

/** Names that YAML could read as something else. */
const name = fc.constantFrom(
  ...'alice bob true null ~ 1e3 0x1F - *a &a !b #c a: { 1/2 yes = <<'.split(' '),
  ...'it\'s " ключ .inf 2001-01-01 % @ ` [] > | ?'.split(' '),
);
const plainName = name.filter((text) => !text.includes('/'));
const point = fc.oneof(fc.constantFrom('alice/1/write', 'lock/expire'), name);

const when: fc.Arbitrary<When> = fc.oneof(
  us.map((atUs): When => ({ kind: 'at', atUs })),
  point.map((of): When => ({ kind: 'before', point: of })),
  point.map((of): When => ({ kind: 'after', point: of })),
);
const which: fc.Arbitrary<Which> = fc.oneof(
  point.map((message): Which => ({ kind: 'message', message })),
  fc.record({ kind: fc.constant('link'), from: plainName, to: plainName, atUs: us }),
);

const fieldArbitraries: { readonly [Type in FieldType]: fc.Arbitrary<FieldTypes[Type]> } = {
  process: plainName,
  group: fc.array(plainName, { minLength: 1, maxLength: 3 }),
  message: which,
  timer: fc.oneof(
    fc.record({ kind: fc.constant('timer' as const), timer: point }),
    fc.record({ kind: fc.constant('process' as const), process: plainName, atUs: us }),
  ),
  when,
  duration: us,
  durationOrNever: orNever,
  step: stepUs,
  rate: fc.integer({ min: -999_999, max: 9_999_999 }),
  key: plainName,
  direction: fc.constantFrom('both', 'one-way'),
  clocks: fc.constantFrom('run', 'freeze'),
};

/** Any fault of a kind, in all its forms. */
export function faultArbitrary(kind: FaultKind): fc.Arbitrary<Fault> {
  return faultFrom(kind, ({ type }) => fieldArbitraries[type]);
}

/** A fault of a kind with independently drawn fields. */
export function faultFrom(
  kind: FaultKind,
  drawn: (field: FaultField) => fc.Arbitrary<FieldTypes[FieldType]>,
): fc.Arbitrary<Fault> {
  const fields = fieldsOfKind(kind);
  return fc
    .tuple(...fields.map(drawn))
    .map((values) => faultWith(kind, (field) => values[fields.indexOf(field)] ?? null));
}

const id = fc.integer({ min: 1, max: 1_000 });
const place = { store: plainName, key: plainName };
const work: fc.Arbitrary<Work> = fc.oneof(
  fc.record({ kind: fc.constant('write'), id, ...place, value: safe, awaits: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('read', 'increment'), id, ...place }),
  fc.record({
    kind: fc.constant('increment'),
    id,
    ...place,
    // 1 is the default, which is not written.
    by: fc.oneof(fc.integer({ min: -9, max: 9 }), safe).map((by) => (by === 1 ? 2 : by)),
  }),
  fc
    .record({
      kind: fc.constant('transfer'),
      id,
      from: plainName,
      to: plainName,
      key: plainName,
      amount: safe,
    })
    .filter(({ from, to }) => from !== to),
  fc.record({ kind: fc.constant('compute'), id, forUs: us }),
  fc.record({ kind: fc.constant('renew'), id, ttlUs: positiveUs }),
  fc.record({ kind: fc.constant('lock'), id, lock: plainName }),
  fc.record({
    kind: fc.constant('job'),
    id,
    tick: fc.maxSafeNat().map((tick) => Math.max(1, tick)),
    retries: fc.nat(9),
    forUs: us,
  }),
  fc.record({
    kind: fc.constant('memoize'),
    id,
    ...place,
    value: safe,
    forUs: us,
    pieces: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({
    kind: fc.constant('memoize'),
    id,
    ...place,
    value: safe,
    forUs: us,
    pieces: fc.constant(1),
    withoutLock: fc.constant('gives-up'),
  }),
);

const section = fc.record({
  id,
  thinkUs: us,
  lock: fc.oneof(fc.constant('db'), plainName),
  work: fc.uniqueArray(work, { maxLength: 4, selector: (step) => step.id }).map((steps) => {
    const alone = steps.find(({ kind }) => kind === 'memoize');
    return alone === undefined ? steps : [alone];
  }),
});

const client = fc
  .record({
    // no step's store can have this name
    name: fc.nat(1_000).map((at) => `client-${at}`),
    ttlUs: positiveUs,
    lockTimeoutUs: orNever,
    storeTimeoutUs: orNever,
    pool: positive,
    checksLease: fc.boolean(),
    countsLeaseFrom: fc.constantFrom('sent', 'reply', 'issued'),
    leaseEnds: fc.constantFrom('at', 'after', 'refused'),
    tries: positive,
    backoffUs: us,
    attempts: positive,
    releases: fc.boolean(),
    concurrency: fc.constantFrom(1, 1, 3),
    sections: fc.uniqueArray(section, { maxLength: 3, selector: (part) => part.id }),
  })
  .map(({ concurrency, ...fields }) => ({ ...fields, ...runningAtOnce(concurrency) }));

const nullable = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.option(value, { nil: null });

const clocks = { skewUs: nullable(us), driftPpm: nullable(fc.nat(1_000_000)) };

const boundFields = {
  latency: range,
  think: range,
  durations: fc
    .dictionary(
      fc.constantFrom(...FAULT_KINDS),
      fc.oneof(range, fc.array(range, { minLength: 1, maxLength: 3 })),
    )
    .map((all) => ({ ...all })),
  ...clocks,
};
const bounds = fc.oneof(
  fc.record(boundFields),
  fc.record({ ...boundFields, declared: fc.record(clocks) }),
);

/** Up to the last microsecond of 2199. */
const epoch = fc.integer({ min: 0, max: 7_258_118_399_999_999 });

const NAMED = { minKeys: 1, noNullPrototype: true } as const;

const systemFields = {
  name: plainName,
  lock: plainName,
  store: plainName,
  options: fc.dictionary(
    plainName,
    fc.oneof(fc.boolean(), safe, fc.constantFrom('durable', '1', ' a: b ', '')),
    { noNullPrototype: true },
  ),
};

const address = fc.constantFrom('redis-1:6379', 'Redis.example.com:1', '10.0.0.5:80', '[::1]:7000');

const planFields = {
  fencepost: fc.constant(1 as const),
  scenario: fc.string({ maxLength: 30 }).filter((text) => !/\p{Cc}/u.test(text)),
  system: fc.oneof(
    fc.record(systemFields),
    fc.record({ ...systemFields, hosts: fc.dictionary(address, plainName, NAMED) }),
  ),
  clients: fc.uniqueArray(client, { maxLength: 3, selector: (one) => one.name }),
  network: fc.record({ link: fc.constantFrom('connection', 'datagram'), latencyUs: us }),
  faults: fc.array(fc.oneof(...FAULT_KINDS.map(faultArbitrary)), { maxLength: 6 }),
  chance: nullable(
    fc.record({
      seed: fc.maxSafeNat(),
      latency: nullable(range),
      latencyStepUs: positiveUs,
      delay: nullable(often),
      drop: nullable(odds),
      duplicate: nullable(often),
      lateTimer: nullable(often),
      jitter: nullable(odds),
    }),
  ),
  decisions: fc.dictionary(point, us, { noNullPrototype: true }),
  order: fc.array(point, { maxLength: 4 }),
  limits: fc.record({
    healAtUs: us,
    probe: fc.boolean(),
    slackUs: us,
    endUs: positiveUs,
    maxEvents: fc.integer({ min: 1, max: 1_000_000 }),
  }),
  bounds,
};

const planWithQueue = fc
  .record({
    plan: fc.record(planFields),
    steps: fc.integer({ min: 1, max: 9 }),
    retries: fc.nat(9),
    visibilityUs: positiveUs,
    lists: fc.array(
      fc.record({
        machine: fc.constantFrom('abc', 'db'),
        steps: fc.nat(8),
        retries: fc.nat(9),
        us,
        isCopy: fc.boolean(),
      }),
    ),
  })
  .map(({ plan, steps, retries, visibilityUs, lists }): Plan => {
    const transition = { kind: 'transition', id: 2, forUs: 1 } as const;
    const sections = ['abc', 'db'].map((lock, at) => {
      const first = { kind: 'read', id: 1, store: 'store', key: 'x' } as const;
      return { id: at + 1, thinkUs: 0, lock, work: [first, transition] };
    });
    const clients = plan.clients.map((one) => ({ ...one, sections }));
    const fitting = lists.filter((one) => one.steps < steps && one.retries <= retries);
    const bring = ({ machine, steps: at, retries: again }: (typeof lists)[number]) => {
      return { machine, steps: at, retries: again };
    };
    const messages = fitting
      .filter(({ isCopy }) => !isCopy)
      .map((one) => ({ ...bring(one), atUs: one.us }));
    const copies = fitting
      .filter(({ isCopy }) => isCopy)
      .map((one) => ({ ...bring(one), afterUs: one.us }));
    const queue = { steps, retries, visibilityUs, messages, copies };
    return clients.length === 0 ? plan : { ...plan, clients, queue };
  });

/** Any well-formed plan. Most of them would do nothing useful when run. */
export const planArbitrary: fc.Arbitrary<Plan> = fc.oneof(
  planWithQueue,
  fc.record(planFields),
  fc.record({
    ...planFields,
    use: fc.dictionary(
      fc.constantFrom('./lock.mjs', './a b/lock.js', './#1?.mjs'),
      fc
        .tuple(
          fc.constantFrom('0', 'a'),
          fc.constantFrom('', ' ../b.ts=0123456789abcdef @c/d@1.0.0-x'),
        )
        .map(([digit, parts]) => `sha256:${digit.repeat(64)}${parts}`),
      { minKeys: 1, noNullPrototype: true },
    ),
    epochUs: fc.oneof(fc.constantFrom(0, ASYNC_EPOCH_US), fc.nat(100_000), epoch),
    expect: fc.record(
      {
        claim: fc.constantFrom('grant-order', 'linearizable(register)'),
        outcome: fc.constantFrom('reproduced', 'fixed', 'inert', 'diverged'),
        cause: fc.record({
          rule: fc.constantFrom('stale-write', 'read-of-later'),
          isByNonOwnerRelease: fc.boolean(),
          faults: fc.array(
            fc.record({
              kind: fc.constantFrom(...FAULT_KINDS),
              what: fc.constantFrom('of a b', ''),
            }),
            { maxLength: 2 },
          ),
        }),
      },
      { requiredKeys: ['claim', 'outcome'] },
    ),
  }),
);
