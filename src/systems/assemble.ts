/** Puts the system that a plan names together: its servers, its clients' programs and the probe. */
import type { ClientPlan, Plan, SectionPlan, Work } from '../plan/plan.ts';
import type { World } from '../world/world.ts';
import { Options } from './protocol.ts';
import { protocols } from './protocols.ts';
import { sections } from './section.ts';
import type { Servers } from './section-calls.ts';
import { type FenceModel, isPrepared, storeKinds } from './store/store-kinds.ts';

/** The fresh client that comes after healing. */
const PROBE = 'probe';

/** A plan that names a lock, a store or an option that does not exist, or two processes alike. */
export class UnknownSystem extends Error {}

/** A plan whose store is to be loaded first. */
export class UnpreparedSystem extends Error {}

/** Throws `UnpreparedSystem` unless the plan's store is unknown, or ready to be used. */
export function requirePrepared({ system }: Plan): void {
  const kind = storeKinds.get(system.store);
  if (kind === undefined || isPrepared(kind)) return;
  throw new UnpreparedSystem(
    `the store ${system.store} is not loaded: \`await prepare([plan.system])\` before the first run`,
  );
}

/**
 * Fills `world` with the servers and clients of `plan`; throws `UnknownSystem`. What it returns
 * gives back, after the run, what servers hold outside of it.
 */
export function assemble(plan: Plan, world: World): () => void {
  const protocol = protocols.get(plan.system.lock);
  const kind = storeKinds.get(plan.system.store);
  if (protocol === undefined) throw new UnknownSystem(`there is no lock ${plan.system.lock}`);
  if (kind === undefined) throw new UnknownSystem(`there is no store ${plan.system.store}`);
  const options = Options.read(protocol.options, plan.system.options);
  if (typeof options === 'string') throw new UnknownSystem(options);
  const locks = protocol.servers(options);
  const names = [...locks, PROBE, ...storeNamesOf(plan), ...plan.clients.map(({ name }) => name)];
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UnknownSystem(`there are two processes ${twice}`);
  if (!protocol.takesSeveral && plan.clients.some(hasLockStep)) {
    throw new UnknownSystem(`${plan.system.lock} takes one lock a section`);
  }
  const asked = kind.asksLock ? protocol.buildAsked?.(world, options) : null;
  if (asked === undefined) {
    throw new UnknownSystem(
      `${plan.system.lock} cannot be asked by the store ${plan.system.store}`,
    );
  }
  const driverOf = asked?.driverOf ?? protocol.build(world, options);
  const built = storeNamesOf(plan).map((name) => ({
    name,
    server: kind.build(name, asked?.check ?? null),
  }));
  const servers: Servers = {
    driverOf,
    stores: new Map(
      built.map(({ name, server }) => [name, world.addServer({ name, role: 'store' }, server)]),
    ),
    manners: kind.manners,
  };
  for (const client of plan.clients) addClient(world, client, servers, 'client');
  const probe = probeOf(plan);
  const patient = protocol.waitsInLine === true ? { lockTimeoutUs: null } : null;
  if (plan.limits.probe) addClient(world, { ...probe, ...patient }, servers, 'probe');
  return () => {
    for (const { server } of built) server.close?.();
  };
}

function hasLockStep({ sections }: ClientPlan): boolean {
  return sections.some(({ work }) => work.some(({ kind }) => kind === 'lock'));
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

/**
 * The sequential specification that a plan's store promises to its clients, where one is written.
 */
export function modelOf(plan: Plan): FenceModel | null {
  return storeKinds.get(plan.system.store)?.model ?? null;
}

/** Whether a plan's store is meant to remember the highest token. */
export function isFenced(plan: Plan): boolean {
  return storeKinds.get(plan.system.store)?.isFenced !== false;
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
      const work = section.work.find((step) => PROBED.has(step.kind));
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

/** The steps of which a probe does the like. */
const PROBED: ReadonlySet<Work['kind']> = new Set([
  ...(['write', 'read', 'increment', 'transfer', 'memoize'] as const),
]);

/** Larger than any value that a workload writes, so that the probe's write is told apart. */
const PROBE_VALUE = 1_000_000_000;

/**
 * Reads what the others left behind, then writes: as one increment or transfer where they do so
 * too. Where they memoize it does not: it would find the value and never ask for the lock.
 */
function probing(work: Work): readonly Work[] {
  if (work.kind === 'increment' || work.kind === 'transfer') return [{ ...work, id: 1 }];
  if (work.kind !== 'write' && work.kind !== 'read' && work.kind !== 'memoize') return [];
  const { store, key } = work;
  const place = { id: 1, store, key };
  return [
    { kind: 'read', ...place },
    { kind: 'write', ...place, value: PROBE_VALUE, awaits: true },
  ];
}
