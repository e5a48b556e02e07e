import { expect, test } from 'vitest';
import { builtInClaims } from '../../check/claims.ts';
import { loadScenario } from '../../load.ts';
import { protocols } from '../../parts.ts';
import { scenarioFileSchema } from '../../scenario/scenario-file.ts';
import { storeKinds } from '../../systems/store/store-kinds.ts';
import { type LockOptions, SCENARIO_FIELDS, type WrittenHere } from './options.ts';
import type { ScenarioFields } from './scenario-fields.ts';

/** Every field with a value, each once. */
const everything: Required<ScenarioFields> = {
  description: 'all of it',
  hosts: {},
  clients: {
    names: ['alice', 'bob'],
    ttl: '20ms',
    lockTimeout: 'never',
    storeTimeout: '1s',
    pool: 2,
    checksLease: false,
    countsLeaseFrom: 'reply',
    leaseEnds: 'after',
    tries: 2,
    backoff: 0,
    attempts: 5,
    releases: false,
    sections: 2,
    think: '0ms..5ms',
    each: { bob: { ttl: '1.5s', workload: { steps: ['write', { transition: { for: '1ms' } }] } } },
  },
  workload: {
    kind: 'read-modify-write',
    writesPerGrant: 2,
    awaits: false,
    locks: 2,
    keys: ['x', 'y'],
    stores: 1,
  },
  network: { link: 'datagram', latency: '1ms..2ms' },
  jitter: '25%',
  faults: [
    { pause: { before: 'write', for: '1ms..40ms', clocks: 'freeze', chance: '1/2' } },
    { delay: { message: 'write', leg: 'reply', by: '5ms', chance: '20%' } },
    { drop: { chance: '1/20' } },
    { duplicate: { by: '1ms', chance: '1/20' } },
    { partition: { from: 'clients', to: 'stores', direction: 'one-way', for: '5ms' } },
    { clock: { process: 'alice', at: '0ms', step: '-5ms..5ms', rate: '-200ppm..200ppm' } },
    { crash: { process: ['alice', 'bob'], after: 'acquire', restart: '1ms..2ms' } },
    { reset: { from: 'bob', to: 'lock', at: '3ms' } },
    { failover: { process: 'lock', lag: '1ms' } },
    { evict: { process: 'store', key: 'x' } },
    { 'late-timer': { process: 'clients', by: '1ms', chance: '1/10' } },
  ],
  swarm: false,
  clocks: { skew: '5ms', drift: '200ppm' },
  epoch: '2030-06-01',
  queue: {
    steps: 2,
    retries: 1,
    visibility: '30s',
    messages: [{ machine: 'db', steps: 0, at: '1ms' }],
    copies: [{ machine: 'db', steps: 0, retries: 0, after: '2ms' }],
    duplicates: { chance: '1/2', after: '1ms..2ms' },
  },
  time: '300ms',
  slack: '10ms',
  probe: false,
  maxEvents: 1000,
};

test('the typed fields are those of a scenario file, with valid values', () => {
  const text = JSON.stringify({
    ...everything,
    name: 'everything',
    systems: { one: { lock: 'lease-dynamodb', store: 'unfenced' } },
  });
  const read = loadScenario(text, 'everything.yaml');
  expect(read.kind === 'problems' ? read.problems : []).toEqual([]);
  expect([...Object.keys(everything)].sort()).toEqual([...SCENARIO_FIELDS].sort());
});

test('every field of a scenario file is typed', () => {
  const [issue] = scenarioFileSchema.safeParse({ unknown: 1 }).error?.issues.slice(-1) ?? [];
  const known = issue?.message.replace('field: ', '').split(' ') ?? [];
  const accepted = known.filter((field) => !['name', 'use', 'systems'].includes(field));
  expect(accepted.sort()).toEqual([...SCENARIO_FIELDS].sort());
});

test('an epoch may be typed as a day, as a time in UTC, or as 0, and is accepted', () => {
  const epochs: readonly NonNullable<ScenarioFields['epoch']>[] = [
    '2024-01-01',
    '2024-01-01T12:30:00Z',
    '2024-01-01T12:30:00.5Z',
    0,
  ];
  for (const epoch of epochs) {
    const systems = { one: { lock: 'lease-dynamodb', store: 'unfenced' } };
    const text = JSON.stringify({ ...everything, epoch, name: 'everything', systems });
    const read = loadScenario(text, 'everything.yaml');
    expect(read.kind === 'problems' ? read.problems : []).toEqual([]);
  }
  // @ts-expect-error A time without its zone is no instant.
  const local: ScenarioFields['epoch'] = '2024-01-01T12:30:00';
  expect(local).not.toMatch(/Z$/);
});

type Literals<Field, Names extends readonly string[]> = readonly Extract<Field, Names[number]>[];

const LOCK_NAMES = [
  'cache-lock',
  'etcd',
  'kubernetes',
  'lock-service',
  'lock-service-published',
  'none',
  'optimistic',
  'pessimistic',
  'postgres',
  'lease-dynamodb',
  'lease-dynamodb-published',
  'lease-memcached',
  'lease-memcached-published',
  'lease-redis',
  'lease-redis-published',
  'redis',
  'redlock',
  'zookeeper',
] as const;

const STORE_NAMES = [
  'unfenced',
  'fenced',
  'fenced-strict',
  'fenced-reads',
  'fenced-open',
  'fenced-sequenced',
  'fenced-volatile',
  'fenced-per-key',
  'unique-token',
  'fence-inverted',
  'fence-equality',
  'highest-not-updated',
  'highest-on-one-replica',
  'client-side-fence',
  'drops-writes',
  'token-missing-accepted',
  'check-sequencer',
  'quorum',
  'versioned',
  'timestamped',
  'timestamped-by-client',
  'versioned-sql',
  'timestamped-sql',
  'stock',
  'stock-sql',
] as const;

const CLAIM_NAMES = [
  'grant-order',
  'mutual-exclusion',
  'tokens-unique',
  'tokens-increase',
  'token-stable',
  'token-bound',
  'fence-monotone',
  'fence-durable',
  'read-fence',
  'holder-order',
  'no-lost-update',
  'no-write-after-release',
  'owner-only-release',
  'renew-live',
  'lease-conservative',
  'no-orphan',
  'cross-key',
  'at-most-once',
  'single-flight',
  'progress',
  'acknowledged-durable',
  'linearizable',
  'linearizable(register)',
  'linearizable(counter)',
  'linearizable(fenced-register)',
  'linearizable(fenced-register-with-reads)',
  'holder-overlap',
  'loss-noticed',
  'no-revival',
] as const;

test('the names of locks, stores and claims are typed for completion, and others accepted', () => {
  // If the field were a plain string, these lines would not compile.
  const locks: Literals<LockOptions['lock'], typeof LOCK_NAMES> = LOCK_NAMES;
  const stores: Literals<WrittenHere['store'], typeof STORE_NAMES> = STORE_NAMES;
  type Claims = NonNullable<WrittenHere['holds'] | WrittenHere['breaks']>[number];
  const claims: Literals<Claims, typeof CLAIM_NAMES> = CLAIM_NAMES;
  expect(locks).toEqual([...protocols.keys()]);
  expect(stores).toEqual([...storeKinds.keys()]);
  expect(claims).toEqual([...builtInClaims.keys()]);
  const definition: LockOptions = {
    lock: 'my-lock',
    store: 'my-store',
    holds: ['mine'],
    faults: [],
  };
  expect(definition.lock).toBe('my-lock');
});
