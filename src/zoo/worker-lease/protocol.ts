/** The leases for at-least-once workers as protocols, one per back end. */

import {
  type LockDefinition,
  type Options,
  optionsFor,
  type QueuePlan,
  type World,
} from '../../servers.ts';
import { CacheBackEnd, type LeaseCacheSetting } from './cache-back-end.ts';
import { type DispatchManner, PRIMARY, STANDBY } from './dispatch.ts';
import { WorkerDriver } from './driver.ts';
import { JobGuard } from './job-guard.ts';
import { type LeaseTerms, LeaseTime } from './lease-rules.ts';
import { KEY_TTL_SECONDS } from './leases.ts';
import { QueueServer } from './queue-server.ts';
import { tableBackEnd } from './table-back-end.ts';

const KEYS = 'lock-keys';
/** The name of the queue's process in scenarios. */
const QUEUE = 'lock-queue';

const shared = optionsFor(
  {
    clock: ['client', 'server'],
    seconds: ['whole', 'truncated', 'exact'],
    takeover: ['raises', 'keeps'],
    timeout: ['recorded', 'own'],
    standby: ['no', 'yes'],
    onDenied: ['waits', 'flips'],
    idempotency: ['none', 'marked', 'step', 'step-fence'],
  },
  {
    clock: 'clock that determines expiry; as published, that of the requesting client',
    seconds: 'resolution of time: whole seconds (a ttl rounded up, or truncated), or exact',
    takeover: 'whether taking over an expired lease raises the fence token',
    timeout: 'whether a lease ends as recorded, or after the requesting worker’s own ttl',
    standby: 'whether a secondary with its own tokens serves while the primary is unreachable',
    onDenied: 'whether a worker waits for a held lease, or switches back ends as on a system error',
    idempotency: 'detection of repeated steps: a mark after each run, or a key claimed before it',
  },
);

const ofCaches = optionsFor(
  {
    keyTtl: { range: [1, 1_000_000_000], fallback: KEY_TTL_SECONDS },
    absent: ['one', 'clock'],
  },
  {
    keyTtl: 'seconds until a stored key expires; as published, 24 hours',
    absent: 'first fence token of an absent lease: 1, or the time in microseconds',
  },
);

const ofMemcached = optionsFor(
  { vacant: ['add', 'set'] },
  {
    vacant: 'storing a first lease: only if none exists, or, as in early versions, replacing any',
  },
);

const ofRedis = optionsFor(
  { persistence: ['none', 'always'], expiry: ['wall', 'monotonic'] },
  {
    persistence: 'whether the leases in Redis survive a crash',
    expiry: 'clock of the node that determines key expiry; in Redis, the wall clock',
  },
);

/** Option defaults that differ in the published dispatch. */
const PUBLISHED: Readonly<Record<string, string>> = { standby: 'yes', onDenied: 'flips' };

/** Claims that may break without any fault if two back ends issue tokens. */
const LOST_BY_FLIPPING: readonly string[] = [
  'mutual-exclusion',
  'tokens-unique',
  'tokens-increase',
  'lease-conservative',
  'progress',
  'grant-order',
  'fence-monotone',
  'read-fence',
  'no-lost-update',
  'cross-key',
  'linearizable',
];

interface Kept extends Pick<Required<LockDefinition>, 'about' | 'options'> {
  /** Returns the settings of the cache, or null if a table keeps the leases. */
  readonly cacheOf: (options: Options) => LeaseCacheSetting | null;
}

type Leases = LockDefinition & Pick<Required<LockDefinition>, 'options' | 'notGuaranteed'>;

/** Leases with a correct dispatch, unless options change it. */
function leases({ about, options, cacheOf }: Kept): Leases {
  return {
    about,
    source: 'https://github.com/Workiva/aws-lambda-fsm-workflows',
    options: [...shared.infos, ...options],
    servers: (chosen) =>
      chosen.word('idempotency') === 'none' ? backEndsOf(chosen) : [...backEndsOf(chosen), KEYS],
    canRenew: false,
    takesMessages: true,
    problem: (chosen) => {
      if (chosen.word('onDenied') === 'waits' || chosen.word('standby') === 'yes') return null;
      const what = 'onDenied: flips needs a secondary; set standby: yes';
      return { option: 'onDenied', what };
    },
    notGuaranteed: ['at-most-once'],
    build: (world, chosen, queue) =>
      build(world, chosen, { cache: cacheOf(chosen), releases: 'held', queue }),
  };
}

/** The same back end with the published dispatch. */
function published(kept: Kept): Leases {
  const lock = leases(kept);
  return {
    ...lock,
    about: `${lock.about.split(':')[0]}, as published: switches back ends even on a held lease, and always releases`,
    options: lock.options.map((option) => ({
      ...option,
      fallback: PUBLISHED[option.name] ?? option.fallback,
    })),
    notGuaranteed: [...lock.notGuaranteed, ...LOST_BY_FLIPPING],
    build: (world, options, queue) =>
      build(world, options, { cache: kept.cacheOf(options), releases: 'always', queue }),
  };
}

const memcached: Kept = {
  about: 'leases of at-least-once workers in memcached (gets, cas, add), which may evict them',
  options: [...ofCaches.infos, ...ofMemcached.infos],
  cacheOf: (options) => {
    const { vacant } = ofMemcached.read(options);
    return { keyTtlUs: keyTtlUs(options), isDurable: false, expiry: 'monotonic', vacant };
  },
};

const onRedis: Kept = {
  about: 'leases of at-least-once workers on one Redis node (WATCH, MULTI)',
  options: [...ofCaches.infos, ...ofRedis.infos],
  cacheOf: (options) => {
    const { persistence, expiry } = ofRedis.read(options);
    const isDurable = persistence === 'always';
    return { keyTtlUs: keyTtlUs(options), isDurable, expiry, vacant: 'add' };
  },
};

const dynamodb: Kept = {
  about: 'leases of at-least-once workers in DynamoDB: one conditional update, durable tokens',
  options: [],
  cacheOf: () => null,
};

export const leaseMemcached: LockDefinition = leases(memcached);
export const leaseMemcachedPublished: LockDefinition = published(memcached);
export const leaseRedis: LockDefinition = leases(onRedis);
export const leaseRedisPublished: LockDefinition = published(onRedis);
export const leaseDynamodb: LockDefinition = leases(dynamodb);
export const leaseDynamodbPublished: LockDefinition = published(dynamodb);

function keyTtlUs(options: Options): number {
  return ofCaches.read(options).keyTtl * 1_000_000;
}

function backEndsOf(options: Options): readonly string[] {
  return options.word('standby') === 'yes' ? [PRIMARY, STANDBY] : [PRIMARY];
}

interface Built {
  readonly cache: LeaseCacheSetting | null;
  readonly releases: DispatchManner['releases'];
  readonly queue: QueuePlan | undefined;
}

function build(
  world: World,
  options: Options,
  { cache, releases, queue }: Built,
): ReturnType<NonNullable<LockDefinition['build']>> {
  const { takeover, timeout, seconds, clock, idempotency, onDenied } = shared.read(options);
  const absent = cache === null ? 'one' : ofCaches.read(options).absent;
  const rules = { takeover, timeout };
  const terms: LeaseTerms = { rules, time: new LeaseTime(seconds), clock, absent };
  const backEnds = backEndsOf(options).map((name) =>
    cache === null ? tableBackEnd(world, name, terms) : new CacheBackEnd(world, name, terms, cache),
  );
  const guard = idempotency === 'none' ? null : new JobGuard(world, KEYS, idempotency);
  const parts = { backEnds, guard, manner: { onDenied, releases } };
  if (queue === undefined) return () => new WorkerDriver(parts, null);
  const process = { name: QUEUE, role: 'lock' } as const;
  const server = world.addServer(process, new QueueServer(QUEUE, queue));
  return (_, role) => new WorkerDriver(parts, role === 'probe' ? null : { server, plan: queue });
}
