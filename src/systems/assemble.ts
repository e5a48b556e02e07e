/** Puts the system that a plan names together: its servers, its clients' programs and the probe. */
import type { Json } from '../kernel/json.ts';
import type { ClientPlan, Plan, SectionPlan, Work } from '../plan/plan.ts';
import type { World } from '../world/world.ts';
import { LockServer, type LockServerOptions } from './lock-service/lock-server.ts';
import { sections } from './section.ts';
import type { Servers } from './section-calls.ts';
import { stores } from './store/fence.ts';
import { StoreServer } from './store/store-server.ts';

/** The lock services by name, with what `fencepost list` says of them. */
export const locks: ReadonlyMap<string, { isPublished: boolean; about: string }> = new Map([
  [
    'lock-service',
    {
      isPublished: false,
      about: 'leases with fencing tokens; its own clock, a renew or release names its grant',
    },
  ],
  [
    'lock-service-published',
    {
      isPublished: true,
      about:
        'the same to the letter of the book: expiry by the caller’s clock, release by client id',
    },
  ],
]);

export interface OptionInfo {
  readonly name: string;
  /** The values it may have; `integer` is any from 0. */
  readonly values: readonly string[] | 'integer';
  readonly fallback: string | number;
  readonly about: string;
}

/** The options of the lock services. */
export const options: readonly OptionInfo[] = [
  {
    name: 'counter',
    values: ['durable', 'volatile'],
    fallback: 'durable',
    about: 'whether the token counter survives a crash of the lock service',
  },
  {
    name: 'clock',
    values: ['monotonic', 'wall'],
    fallback: 'monotonic',
    about: 'which clock of the lock service judges expiry',
  },
  {
    name: 'firstToken',
    values: 'integer',
    fallback: 1,
    about: 'the token of the first grant',
  },
];

/** Names of processes that no client may have. */
const LOCK = 'lock';
const PROBE = 'probe';

/** A plan that names a lock, a store or an option that does not exist, or two processes alike. */
export class UnknownSystem extends Error {}

/** Fills `world` with the servers and clients of `plan`; throws `UnknownSystem`. */
export function assemble(plan: Plan, world: World): void {
  const lockInfo = locks.get(plan.system.lock);
  const rule = stores.get(plan.system.store);
  if (lockInfo === undefined) throw new UnknownSystem(`there is no lock ${plan.system.lock}`);
  if (rule === undefined) throw new UnknownSystem(`there is no store ${plan.system.store}`);
  const names = [LOCK, PROBE, ...storeNamesOf(plan), ...plan.clients.map(({ name }) => name)];
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UnknownSystem(`there are two processes ${twice}`);
  const lockOptions = readOptions(lockInfo.isPublished, plan.system.options);
  const servers: Servers = {
    lock: world.addServer({ name: LOCK, role: 'lock' }, new LockServer(LOCK, lockOptions)),
    stores: new Map(
      storeNamesOf(plan).map((name) => [
        name,
        world.addServer({ name, role: 'store' }, new StoreServer(name, rule)),
      ]),
    ),
    needsOpen: rule.needsOpen,
  };
  for (const client of plan.clients) addClient(world, client, servers, 'client');
  if (plan.limits.probe) addClient(world, probeOf(plan), servers, 'probe');
}

function addClient(
  world: World,
  client: ClientPlan,
  servers: Servers,
  role: 'client' | 'probe',
): void {
  world.addClient(
    { name: client.name, role },
    { pool: client.pool, factory: (self, from) => sections(self, from, client, servers) },
  );
}

function readOptions(
  isPublished: boolean,
  given: Readonly<Record<string, Json>>,
): LockServerOptions {
  for (const [name, value] of Object.entries(given)) {
    const option = options.find((candidate) => candidate.name === name);
    if (option === undefined) throw new UnknownSystem(`there is no option ${name}`);
    if (!mayBe(option, value)) {
      throw new UnknownSystem(`there is no option ${name}: ${JSON.stringify(value)}`);
    }
  }
  const { counter, clock, firstToken } = given;
  return {
    isPublished,
    counter: counter === 'volatile' ? 'volatile' : 'durable',
    clock: clock === 'wall' ? 'wall' : 'monotonic',
    firstToken: typeof firstToken === 'number' ? firstToken : 1,
  };
}

function mayBe({ values }: OptionInfo, value: Json): boolean {
  if (values !== 'integer') return typeof value === 'string' && values.includes(value);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * The sequential specification that a plan's store promises to its clients, where one is written.
 */
export function modelOf(plan: Plan): FenceModel | null {
  const rule = stores.get(plan.system.store);
  if (rule === undefined || rule.refuses === 'lower-or-repeated') return null;
  if (rule.refuses === 'lower-or-equal') return 'fenced-register-strict';
  return rule.coversReads ? 'fenced-register-with-reads' : 'fenced-register';
}

type FenceModel = 'fenced-register' | 'fenced-register-strict' | 'fenced-register-with-reads';

/** Whether a plan's store is meant to remember the highest token. */
export function isFenced(plan: Plan): boolean {
  return stores.get(plan.system.store)?.refuses !== 'nothing';
}

/** The stores that the plan's work touches, in the order of their first use; at least `store`. */
export function storeNamesOf(plan: Pick<Plan, 'clients'>): readonly string[] {
  const names = new Set<string>();
  for (const client of plan.clients) {
    for (const section of client.sections) {
      for (const work of section.work) {
        if ('store' in work) names.add(work.store);
        else if (work.kind === 'transfer') names.add(work.from).add(work.to);
      }
    }
  }
  return names.size === 0 ? ['store'] : [...names];
}

/**
 * A fresh client that takes each lock of the plan once and does a first step of the work it guards.
 */
function probeOf(plan: Plan): ClientPlan {
  const byLock = new Map<string, SectionPlan>();
  for (const client of plan.clients) {
    for (const section of client.sections) {
      if (byLock.has(section.lock)) continue;
      const work = section.work.find((step) => step.kind !== 'compute' && step.kind !== 'renew');
      byLock.set(section.lock, {
        id: byLock.size + 1,
        thinkUs: 0,
        lock: section.lock,
        work: work === undefined ? [] : probing(work),
      });
    }
  }
  const ttlUs = Math.max(1, ...plan.clients.flatMap(ttlsOf));
  return {
    name: PROBE,
    ttlUs,
    lockTimeoutUs: ttlUs,
    storeTimeoutUs: null,
    pool: 1,
    checksLease: false,
    countsLeaseFrom: 'sent',
    leaseEnds: 'at',
    tries: 3,
    backoffUs: Math.max(1, Math.floor(ttlUs / 20)),
    attempts: 1000,
    releases: true,
    sections: [...byLock.values()],
  };
}

/** The lengths of all leases that a client asks for. */
function ttlsOf({ ttlUs, sections }: ClientPlan): readonly number[] {
  const works = sections.flatMap(({ work }) => work);
  return [ttlUs, ...works.flatMap((step) => (step.kind === 'renew' ? [step.ttlUs] : []))];
}

/** Larger than any value that a workload writes, so that the probe's write is told apart. */
const PROBE_VALUE = 1_000_000_000;

/**
 * Reads what the others left behind, then writes: as one increment or transfer where they do so
 * too.
 */
function probing(work: Work): readonly Work[] {
  if (work.kind === 'increment' || work.kind === 'transfer') return [{ ...work, id: 1 }];
  if (work.kind !== 'write' && work.kind !== 'read') return [];
  const { store, key } = work;
  const place = { id: 1, store, key };
  return [
    { kind: 'read', ...place },
    { kind: 'write', ...place, value: PROBE_VALUE, awaits: true },
  ];
}
