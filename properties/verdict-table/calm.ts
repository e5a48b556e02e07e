/**
 * The last row of the verdict table: every system without faults, with drawn latencies and times
 * that tie. It holds every claim, except those that its lock or store lists as not guaranteed.
 */
import { claims } from '../../src/check/claims.ts';
import type { Json } from '../../src/core/kernel/json.ts';
import { loadScenario } from '../../src/load.ts';
import { protocols } from '../../src/parts.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { storeKinds } from '../../src/systems/store/store-kinds.ts';

/** A lock with the stores that it is meaningful with. */
export interface Calm {
  readonly lock: string;
  readonly stores: readonly string[];
  readonly options?: Readonly<Record<string, Json>>;
  readonly works: readonly CalmWork[];
  /** Claims that these options guarantee in addition to those of the lock. */
  readonly promises?: readonly string[];
}

export interface CalmWork {
  readonly name: string;
  readonly file: Readonly<Record<string, Json>>;
  /** Claims that are not guaranteed for this workload. */
  readonly notGuaranteed: readonly string[];
}

const FAST: CalmWork['file'] = {
  clients: { count: 2, ttl: '40ms', sections: 2, think: '0ms..10ms', backoff: '1ms' },
  network: { latency: '500us..2ms' },
};

function work(name: string, workload: Json, notGuaranteed: readonly string[] = []): CalmWork {
  return { name, file: { ...FAST, workload }, notGuaranteed };
}

/** The same at a pace for leases of whole seconds, in which each worker has its own job. */
function inSeconds({ name, file, notGuaranteed }: CalmWork): CalmWork {
  const clients = {
    count: 2,
    ttl: '2s',
    sections: 2,
    think: '0s..1s',
    backoff: '200ms',
    lockTimeout: '1s',
  };
  return { name, file: { ...file, clients, network: { latency: '1ms..20ms' } }, notGuaranteed };
}

const JOB = { clients: { count: 2, ttl: '40ms', sections: 1, think: '0ms..10ms' } };

function jobOf(name: string, tick: number): readonly [string, Json] {
  return [name, { workload: { steps: [{ job: { tick, for: '5ms' } }, 'write'] } }];
}

const W1 = work('W1', { kind: 'blind-writes' });
const W1_SEVERAL = work('W1, several writes', { steps: ['write', 'read', 'write'] });
const W2 = work('W2', { kind: 'read-modify-write' });
const W3 = work('W3', { kind: 'transfer' });
const W4: CalmWork = {
  name: 'W4',
  file: {
    ...FAST,
    clients: {
      ...JOB.clients,
      each: Object.fromEntries([jobOf('alice', 1), jobOf('bob', 2)]),
    },
  },
  notGuaranteed: [],
};
/** Every worker gets every job. */
const W4_REPEATED = work('W4, repeated', { steps: [{ job: { for: '5ms' } }, 'write'] });
const MEMOIZE = work('memoize', { steps: [{ memoize: { for: '5ms' } }] });
const RENEWED = work('W1, renewed', { steps: ['renew', 'write', 'renew', 'write'] });

const ONE_WRITE = [W1, W2, W3, W4];
const WORKS = [...ONE_WRITE, W1_SEVERAL, RENEWED];
const IN_SECONDS = [W1, W1_SEVERAL, W2, W3].map(inSeconds);
const SLOW = IN_SECONDS.concat(W4);

const tokenStores = [...storeKinds].filter(([, { requirements }]) => !requirements.hasVersions);
/** With these stores a grant writes once. */
const STRICT = ['fenced-strict'];
/** It stores nothing, so no claim is exercised. */
export const SABOTEUR = 'drops-writes';
const TOKEN_STORES = tokenStores
  .map(([name]) => name)
  .filter((name) => !STRICT.includes(name) && name !== SABOTEUR);
const COMPARING = ['fenced', 'fenced-reads', 'fenced-open', 'fenced-sequenced', 'unique-token'];
const PLAIN = ['unfenced', 'fenced'];
const VERSIONED = [...storeKinds.keys()].filter(
  (store) => storeKinds.get(store)?.requirements.hasVersions,
);

const leases = ['lease-dynamodb', 'lease-memcached', 'lease-redis'];
/** A key with the fence lets each holder repeat a job, even without faults. */
const IDEMPOTENCIES = [
  ['marked', ['at-most-once']],
  ['step', ['at-most-once']],
  ['step-fence', []],
] as const;

const CACHE_LOCK_CURED = { countsFrom: 'request', extends: 'owner', release: 'compare-and-delete' };

/** Options that are other correct settings. */
const SETTINGS: readonly (readonly [string, Record<string, Json>, readonly CalmWork[]])[] = [
  ['lock-service', { lockDelay: 20 }, WORKS],
  ['lock-service', { waits: 'in-line' }, WORKS],
  ['lock-service', { clock: 'wall' }, WORKS],
  ['lease-dynamodb', { clock: 'server' }, SLOW],
  ['lease-dynamodb', { seconds: 'exact' }, SLOW],
  ['lease-dynamodb', { standby: 'yes' }, SLOW],
  ['lease-memcached', { absent: 'clock' }, SLOW],
  ['cache-lock', CACHE_LOCK_CURED, ONE_WRITE],
  ['redlock', { nodes: 3, asks: 'in-turn' }, ONE_WRITE],
  ['redlock', { nodes: 5 }, ONE_WRITE],
  ['pessimistic', { onDeadlock: 'abort' }, ONE_WRITE],
];

/** Every system. */
export const calm: readonly Calm[] = [
  ...['lock-service', 'lock-service-published'].flatMap((lock) => [
    { lock, stores: TOKEN_STORES, works: WORKS },
    { lock, stores: STRICT, works: ONE_WRITE },
  ]),
  ...SETTINGS.map(([lock, options, works]) => ({ lock, stores: ['fenced'], options, works })),
  ...leases.flatMap((lock) => [
    { lock, stores: ['unfenced', ...COMPARING], works: SLOW },
    ...IDEMPOTENCIES.map(([idempotency, promises]) => ({
      lock,
      stores: ['fenced'],
      options: { idempotency },
      works: [W4_REPEATED],
      promises,
    })),
  ]),
  // The published variants break these without a fault; one option cures them.
  ...leases.map((lock) => ({
    lock: `${lock}-published`,
    stores: ['fenced'],
    options: { onDenied: 'waits' },
    works: SLOW,
    promises: ['mutual-exclusion', 'tokens-unique', 'tokens-increase', 'progress'],
  })),
  { lock: 'etcd', stores: ['unfenced', 'check-sequencer', ...COMPARING], works: SLOW },
  { lock: 'kubernetes', stores: PLAIN, works: IN_SECONDS },
  { lock: 'zookeeper', stores: ['unfenced', ...COMPARING], works: SLOW },
  { lock: 'cache-lock', stores: PLAIN, works: [...ONE_WRITE, MEMOIZE] },
  { lock: 'redis', stores: PLAIN, works: WORKS },
  { lock: 'redlock', stores: PLAIN, options: { nodes: 3 }, works: ONE_WRITE },
  { lock: 'pessimistic', stores: PLAIN, works: ONE_WRITE },
  { lock: 'postgres', stores: PLAIN, works: ONE_WRITE },
  {
    lock: 'postgres',
    stores: COMPARING,
    options: { token: 'sequence' },
    works: ONE_WRITE,
    promises: ['tokens-unique', 'tokens-increase'],
  },
  {
    lock: 'postgres',
    stores: PLAIN,
    works: ONE_WRITE,
    options: { pooler: 'transaction', level: 'transaction' },
  },
  { lock: 'optimistic', stores: VERSIONED, works: [W1, W2] },
  { lock: 'none', stores: ['unfenced'], works: [W1, W2, W3] },
];

/** Returns true for the two locks that are combined with every store. */
export function isLockService({ lock }: Calm): boolean {
  return lock.startsWith('lock-service');
}

/** The lock and its options. */
export function calmTitle({ lock, options = {} }: Calm): string {
  return [lock, ...Object.entries(options).map(([name, value]) => `${name}: ${value}`)].join(' ');
}

/** Returns one scenario with this workload for all systems; throws for an unknown word. */
export function calmScenario(
  { lock, stores, options = {} }: Calm,
  { name, file }: CalmWork,
): Scenario {
  const systems = Object.fromEntries(stores.map((store) => [store, { lock, store, options }]));
  const text = JSON.stringify({ name: 'calm', systems, ...file });
  const read = loadScenario(text, `${lock} · ${name}`);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  if (read.warnings.length > 0) throw new Error(JSON.stringify(read.warnings));
  return read.scenario;
}

/** Returns the claims that this lock with this store guarantees for this workload. */
export function promisedBy(
  { lock, promises = [] }: Calm,
  store: string,
  { notGuaranteed }: CalmWork,
): string[] {
  const kind = storeKinds.get(store);
  const left = [
    'holder-overlap',
    ...notGuaranteed,
    ...(kind?.model === null ? ['linearizable'] : []),
    ...(protocols.get(lock)?.notGuaranteed ?? []).filter((claim) => !promises.includes(claim)),
    ...(kind?.notGuaranteed ?? []),
  ];
  return [...claims.keys()].filter((claim) => !claim.includes('(') && !left.includes(claim));
}
