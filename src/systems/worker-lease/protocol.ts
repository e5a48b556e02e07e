/** The leases for at-least-once workers as protocols, one for each back end that keeps them. */

import { QUEUE } from '../../core/plan/operation-names.ts';
import type { QueuePlan } from '../../core/plan/plan.ts';
import type { World } from '../../core/world/world.ts';
import {
  type DriverOf,
  numberOption,
  type OptionInfo,
  type OptionProblem,
  type Options,
  type Protocol,
  wordOption,
} from '../protocol.ts';
import { CacheBackEnd, LeaseCacheServer, type LeaseCacheSetting } from './cache-back-end.ts';
import { type DispatchManner, type LeaseBackEnd, PRIMARY, STANDBY } from './dispatch.ts';
import { WorkerDriver } from './driver.ts';
import { JobGuard, JobKeys } from './job-guard.ts';
import { LeaseBook } from './lease-book.ts';
import { type LeaseTerms, LeaseTime } from './lease-rules.ts';
import { KEY_LIFE_SECONDS } from './leases.ts';
import { QueueServer } from './queue-server.ts';
import { LeaseTableServer, TableBackEnd } from './table-back-end.ts';

/** Keeps the idempotency keys. */
const KEYS = 'lock-keys';

const shared: readonly OptionInfo[] = [
  {
    ...wordOption('clock', 'client', 'server'),
    about: 'whose clock judges whether a lease has timed out: as published, the asking client’s',
  },
  {
    ...wordOption('seconds', 'whole', 'truncated', 'exact'),
    about: 'how time is counted: whole seconds (a ttl rounded up, or truncated), or exactly',
  },
  {
    ...wordOption('takeover', 'raises', 'keeps'),
    about: 'whether taking over a lease that timed out raises the fence token',
  },
  {
    ...wordOption('timeout', 'recorded', 'own'),
    about: 'whether a lease lasts as it was recorded, or as the asking worker’s own ttl says',
  },
  {
    ...wordOption('standby', 'no', 'yes'),
    about: 'whether there is a secondary, with tokens of its own, for when the primary is away',
  },
  {
    ...wordOption('onDenied', 'waits', 'flips'),
    about: 'whether a lease that somebody holds is waited for, or flips like a system error',
  },
  {
    ...wordOption('idempotency', 'none', 'marked', 'step', 'step-fence'),
    about: 'how a step that comes again is known: marked after it ran, or its key claimed before',
  },
];

const ofCaches: readonly OptionInfo[] = [
  ...shared,
  {
    ...numberOption('keyLife', KEY_LIFE_SECONDS, [1, 1_000_000_000]),
    about: 'seconds that a key lives after it was stored; the published 24 hours by default',
  },
  {
    ...wordOption('absent', 'one', 'clock'),
    about: 'what the fence of an absent lease begins at: 1, or the time in microseconds',
  },
];

const common: Omit<Protocol, 'about' | 'options' | 'build'> = {
  source: 'https://github.com/Workiva/aws-lambda-fsm-workflows',
  servers,
  takesSeveral: false,
  canRenew: false,
  takesMessages: true,
  problem,
  unpromised: ['at-most-once'],
};

function problem(given: Options): OptionProblem | null {
  if (given.word('onDenied') === 'waits' || given.word('standby') === 'yes') return null;
  const what = 'onDenied: flips needs a secondary to flip to, and this has standby: no';
  return { option: 'onDenied', what };
}

/** What the published dispatch does where the options do not say otherwise. */
const PUBLISHED: Readonly<Record<string, string>> = { standby: 'yes', onDenied: 'flips' };

/** What two holders at a time, with tokens of two counters, break without any fault. */
const LOST_BY_FLIPPING: readonly string[] = [
  ...['mutual-exclusion', 'tokens-unique', 'tokens-increase', 'lease-conservative', 'progress'],
  ...['grant-order', 'fence-monotone', 'read-fence', 'no-lost-update', 'cross-key', 'linearizable'],
];

/** The same back end under the dispatch as it was published. */
function published(lock: Protocol, build: BuildLeases): Protocol {
  return {
    ...lock,
    about: `${lock.about.split(':')[0]}, to the letter: a held lease flips too, release always`,
    options: lock.options.map((option) => ({
      ...option,
      fallback: PUBLISHED[option.name] ?? option.fallback,
    })),
    unpromised: [...lock.unpromised, ...LOST_BY_FLIPPING],
    build: (world, given, queue) => build(world, given, { isPublished: true, queue }),
  };
}

type BuildLeases = (
  world: World,
  given: Options,
  dispatch: Pick<Kept, 'isPublished' | 'queue'>,
) => DriverOf;

export const leaseMemcached: Protocol = {
  ...common,
  about: 'leases of at-least-once workers in memcached (gets, cas, add), which may evict them',
  options: [
    ...ofCaches,
    {
      ...wordOption('vacant', 'add', 'set'),
      about: 'how a first lease is stored: only where none is, or, as in early versions, over any',
    },
  ],
  build: (world, given, queue) => buildMemcached(world, given, { isPublished: false, queue }),
};

function buildMemcached(...[world, given, dispatch]: Parameters<BuildLeases>): DriverOf {
  const vacant = given.oneOf('vacant', ['add', 'set']);
  const cache = { isDurable: false, expiry: 'monotonic', vacant } as const;
  return build(world, given, { cache, ...dispatch });
}

export const leaseMemcachedPublished: Protocol = published(leaseMemcached, buildMemcached);

export const leaseRedis: Protocol = {
  ...common,
  about: 'leases of at-least-once workers on one Redis node (WATCH, MULTI)',
  options: [
    ...ofCaches,
    {
      ...wordOption('persistence', 'none', 'always'),
      about: 'whether Redis finds its leases again after a crash',
    },
    {
      ...wordOption('expiry', 'wall', 'monotonic'),
      about: 'which clock of Redis counts the life of a key; in Redis it is the wall clock',
    },
  ],
  build: (world, given, queue) => buildRedis(world, given, { isPublished: false, queue }),
};

function buildRedis(...[world, given, dispatch]: Parameters<BuildLeases>): DriverOf {
  const isDurable = given.word('persistence') === 'always';
  const expiry = given.oneOf('expiry', ['wall', 'monotonic']);
  return build(world, given, { cache: { isDurable, expiry, vacant: 'add' }, ...dispatch });
}

export const leaseRedisPublished: Protocol = published(leaseRedis, buildRedis);

export const leaseDynamodb: Protocol = {
  ...common,
  about: 'leases of at-least-once workers in DynamoDB: one conditional update, tokens are kept',
  options: shared,
  build: (world, given, queue) => buildDynamodb(world, given, { isPublished: false, queue }),
};

function buildDynamodb(...[world, given, dispatch]: Parameters<BuildLeases>): DriverOf {
  return build(world, given, { cache: null, ...dispatch });
}

export const leaseDynamodbPublished: Protocol = published(leaseDynamodb, buildDynamodb);

function backEndsOf(given: Options): readonly string[] {
  return given.word('standby') === 'yes' ? [PRIMARY, STANDBY] : [PRIMARY];
}

function servers(given: Options): readonly string[] {
  return given.word('idempotency') === 'none' ? backEndsOf(given) : [...backEndsOf(given), KEYS];
}

interface Kept {
  /** Null where a table keeps the leases. */
  readonly cache: Omit<LeaseCacheSetting, 'keyLifeUs'> | null;
  readonly isPublished: boolean;
  readonly queue: QueuePlan | undefined;
}

function build(world: World, given: Options, { cache, isPublished, queue }: Kept): DriverOf {
  const absent = cache === null ? 'one' : given.oneOf('absent', ['one', 'clock']);
  const terms = { ...termsOf(given), absent } as const;
  const backEnds = backEndsOf(given).map((name): LeaseBackEnd => {
    const process = { name, role: 'lock' } as const;
    const book = new LeaseBook(name, terms);
    if (cache === null) {
      const server = new LeaseTableServer(terms, book);
      return new TableBackEnd(world.addServer(process, server), terms, book);
    }
    const setting = { keyLifeUs: given.whole('keyLife') * 1_000_000, ...cache };
    const server = new LeaseCacheServer(setting, book);
    return new CacheBackEnd(world.addServer(process, server), terms, book);
  });
  const idempotency = given.oneOf('idempotency', ['none', 'marked', 'step', 'step-fence']);
  const guard =
    idempotency === 'none'
      ? null
      : new JobGuard(world.addServer({ name: KEYS, role: 'lock' }, new JobKeys()), idempotency);
  const manner: DispatchManner = {
    onDenied: given.oneOf('onDenied', ['waits', 'flips']),
    releases: isPublished ? 'always' : 'held',
  };
  const parts = { backEnds, guard, manner };
  if (queue === undefined) return () => new WorkerDriver(parts, null);
  const process = { name: QUEUE, role: 'lock' } as const;
  const server = world.addServer(process, new QueueServer(QUEUE, queue));
  return (_, role) =>
    role === 'probe'
      ? new WorkerDriver(parts, null)
      : new WorkerDriver(parts, { server, plan: queue });
}

function termsOf(given: Options): Omit<LeaseTerms, 'absent'> {
  return {
    rules: {
      takeover: given.oneOf('takeover', ['raises', 'keeps']),
      timeout: given.oneOf('timeout', ['recorded', 'own']),
    },
    time: new LeaseTime(given.oneOf('seconds', ['whole', 'truncated', 'exact'])),
    clock: given.oneOf('clock', ['client', 'server']),
  };
}
