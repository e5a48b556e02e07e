/**
 * Puts the system that a plan names together: its servers, its clients' programs and the probe. A
 * newcomer reads from here: `protocol.ts` (what a lock is), `section.ts` (what every client does)
 * and `work.ts` (what it does under its grant), one lock, such as `zoo/pessimistic/protocol.ts` and
 * its server, and `store/store-kinds.ts` (what a lock guards). `grant-book.ts` and
 * `store/witness.ts` tell the observer; `define-lock.ts` takes locks that people define.
 */

import { Defect } from '../core/kernel/assert.ts';
import { QUEUE } from '../core/plan/operation-names.ts';
import { type ClientPlan, longestTtlUs, type Plan, type Work } from '../core/plan/plan.ts';
import { probeSections } from '../core/plan/probe.ts';
import type { World } from '../core/world/world.ts';
import { errorText } from '../text/error-text.ts';
import { Options } from './options.ts';
import type { AsyncClientSetting, Protocol, SectionProgramOf, Servers } from './protocol.ts';
import { sections } from './section.ts';
import { isPrepared, type StoreKind } from './store/store-kinds.ts';

/** Locks and stores by the names that plans give them. */
export interface SystemParts {
  readonly locks: ReadonlyMap<string, Protocol>;
  readonly stores: ReadonlyMap<string, StoreKind>;
}

/** The fresh client that comes after healing. */
const PROBE = 'probe';

/** A plan that names a lock, a store or an option that does not exist, or two processes alike. */
export class UnknownSystem extends Error {}

/** A plan whose store is to be loaded first. */
export class UnpreparedSystem extends Error {}

/** A plan whose clients are asynchronous code, where such code cannot be run. */
export class AsyncSystem extends Error {}

/** Whether the clients of a plan's lock are real asynchronous code. */
export function isAsync({ system }: Pick<Plan, 'system'>, { locks }: SystemParts): boolean {
  return locks.get(system.lock)?.buildAsync !== undefined;
}

/** How clients that are asynchronous code come into a world. */
export interface AsyncHosting {
  /** Lets the servers listen at the addresses of the plan's `hosts`. */
  readonly openHosts: () => void;
  readonly addClient: (setting: AsyncClientSetting) => void;
}

const NO_ASYNC: AsyncHosting = {
  openHosts: () => {},
  addClient: ({ plan }) => {
    throw new AsyncSystem(
      `${plan.name} is asynchronous code: use examineAsync, runAsync or pinAsync`,
    );
  },
};

/** Throws `UnpreparedSystem` unless the plan's store is unknown, or ready to be used. */
export function requirePrepared({ system }: Plan, { stores }: SystemParts): void {
  const kind = stores.get(system.store);
  if (kind === undefined || isPrepared(kind)) return;
  throw new UnpreparedSystem(
    `the store ${system.store} is not loaded: \`await prepare([plan.system])\` before the first run`,
  );
}

/**
 * Fills `world` with the servers and clients of `plan`; throws `UnknownSystem`. Clients that are
 * asynchronous code are added by `hosting`. What it returns gives back, after the run, what
 * servers hold outside of it.
 */
export function assemble(
  plan: Plan,
  world: World,
  parts: SystemParts,
  hosting: AsyncHosting = NO_ASYNC,
): () => void {
  const protocol = parts.locks.get(plan.system.lock);
  const kind = parts.stores.get(plan.system.store);
  if (protocol === undefined) throw new UnknownSystem(`there is no lock ${plan.system.lock}`);
  if (kind === undefined) throw new UnknownSystem(`there is no store ${plan.system.store}`);
  const options = optionsIn(plan, protocol, kind);
  if (typeof options === 'string') throw new UnknownSystem(options);
  const storeNames = storeNamesOf(plan);
  const why = whyImpossible(plan, { protocol, kind, options, storeNames });
  if (why !== null) throw new UnknownSystem(why);
  const lock = `the lock ${plan.system.lock}`;
  const asked = kind.asksLock ? built(lock, () => protocol.buildAsked?.(world, options)) : null;
  if (asked === undefined) {
    throw new UnknownSystem(
      `${plan.system.lock} cannot be asked by the store ${plan.system.store}`,
    );
  }
  const programOf = built(lock, () => clientsOf(protocol, world, options));
  requireListeners(plan, world);
  hosting.openHosts();
  const driverOf =
    asked?.driverOf ?? built(lock, () => protocol.build?.(world, options, plan.queue));
  const { replicated } = kind;
  const replicas = replicated?.build(world, storeNames, options);
  const alone = replicated === undefined ? storeNames : [];
  const guarded = alone.map((name) => ({
    name,
    server: built(`the store ${plan.system.store}`, () =>
      kind.build(name, asked?.check ?? null, options),
    ),
  }));
  const stores = new Map(
    guarded.map(({ name, server }) => [name, world.addServer({ name, role: 'store' }, server)]),
  );
  const { manners } = kind;
  const servers = replicas === undefined ? { stores, manners } : { stores, manners, replicas };
  const add = (client: ClientPlan, role: 'client' | 'probe'): void => {
    if (programOf !== undefined) {
      const hasGrants = protocol.hasGrants !== false;
      hosting.addClient({ plan: client, role, hasGrants, programOf, ...servers });
    }
    if (driverOf !== undefined) addClient(world, client, { driverOf, ...servers }, role);
  };
  for (const client of plan.clients) add(client, 'client');
  const patient = protocol.waitsInLine === true ? { lockTimeoutUs: null } : null;
  if (plan.limits.probe) add({ ...probeOf(plan), ...patient }, 'probe');
  return () => {
    for (const { server } of guarded) server.close?.();
  };
}

/** What the options of a plan come to, for a lock and a store; or what is wrong with them. */
interface ReadOptions {
  readonly protocol: Protocol;
  readonly kind: StoreKind;
  /** As the plan had them then: whoever changes a plan gets what it says now. */
  readonly given: Plan['system']['options'];
  readonly options: Options | string;
}

/** All seeds of a scenario share the options of a system, which are read once. */
const readOptions: WeakMap<Plan['system']['options'], ReadOptions> = new WeakMap();

function optionsIn({ system }: Plan, protocol: Protocol, kind: StoreKind): Options | string {
  const known = readOptions.get(system.options);
  if (known?.protocol === protocol && known.kind === kind && isSame(known.given, system.options)) {
    return known.options;
  }
  const options = Options.read([...protocol.options, ...(kind.options ?? [])], system.options);
  const given = Object.assign({}, system.options);
  readOptions.set(system.options, { protocol, kind, given, options });
  return options;
}

/** Whether two have the same options; a value is a word or a number. */
function isSame(one: Plan['system']['options'], other: Plan['system']['options']): boolean {
  const names = Object.keys(other);
  return (
    names.length === Object.keys(one).length && names.every((name) => one[name] === other[name])
  );
}

/** Steps that take a lock themselves, which asynchronous code does in its own way. */
const STEPS_OF_DRIVERS = ['renew', 'lock', 'transition', 'memoize'] as const;

/** Why a protocol cannot do what a plan asks of it, in words; null when it can. */
function whyImpossible(
  plan: Plan,
  {
    protocol,
    kind: { replicated },
    options,
    storeNames,
  }: {
    readonly protocol: Protocol;
    readonly kind: StoreKind;
    readonly options: Options;
    readonly storeNames: readonly string[];
  },
): string | null {
  const { lock, store } = plan.system;
  const names = [...protocol.servers(options)];
  if (plan.queue !== undefined) names.push(QUEUE);
  for (const name of storeNames) {
    if (replicated === undefined) names.push(name);
    else names.push(...replicated.names(name, options));
  }
  names.push(PROBE);
  for (const { name } of plan.clients) names.push(name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `there are two processes ${twice}`;
  const problem = protocol.problem?.(options, plan.clients) ?? null;
  if (problem !== null) return problem.what;
  const mistaken = replicated?.problem(options) ?? null;
  if (mistaken !== null) return `${store}: ${mistaken}`;
  if (replicated !== undefined && lock === 'optimistic') {
    return `${store} has no versions, by which ${lock} works`;
  }
  if (protocol.buildAsync === undefined && plan.clients.some((one) => 'concurrency' in one)) {
    return `${lock} runs one section at a time; asynchronous code can run several`;
  }
  const absent = absentHost(plan, protocol, options);
  if (absent !== null) return absent;
  const steps = stepsOf(plan);
  if (protocol.buildAsync !== undefined) {
    const step = STEPS_OF_DRIVERS.find((one) => steps.has(one));
    if (step !== undefined)
      return `the clients of ${lock} have no step "${step}": their code does it`;
  }
  if (!protocol.takesSeveral && steps.has('lock')) return `${lock} takes one lock a section`;
  if (protocol.takesMessages !== true && plan.queue !== undefined) {
    return `${lock} takes no messages from a queue`;
  }
  if (plan.queue === undefined && steps.has('transition')) return 'a transition needs a queue';
  if (protocol.canRenew === false && steps.has('renew')) {
    return `${lock} has no lease that could be renewed`;
  }
  return null;
}

function absentHost({ system }: Plan, protocol: Protocol, options: Options): string | null {
  const { hosts, lock } = system;
  if (hosts === undefined) return null;
  const absent = Object.entries(hosts).find(
    ([, server]) =>
      protocol.buildAsync === undefined || !protocol.servers(options).includes(server),
  );
  return absent === undefined ? null : `${lock} has no server ${absent[1]} for ${absent[0]}`;
}

/** What the clients of an asynchronous lock do; undefined where it is none. */
function clientsOf(
  { buildAsync }: Protocol,
  world: World,
  options: Options,
): SectionProgramOf | undefined {
  if (buildAsync === undefined) return undefined;
  const programOf = buildAsync(world, options);
  if (typeof programOf !== 'function') throw new Error('`buildAsync` gives no function');
  return programOf;
}

/** Throws where a server that the lock added is to listen, and understands no driver. */
function requireListeners({ system }: Plan, world: World): void {
  if (system.hosts === undefined) return;
  for (const [address, name] of Object.entries(system.hosts)) {
    const server = world.serverNamed(name);
    if (server === undefined || server.speaks !== undefined) continue;
    throw new UnknownSystem(
      `no driver can connect to ${name} at ${address}: only a \`RedisNode\` can be named in hosts`,
    );
  }
}

/** What `build` gives; what it throws, where it is a user's own, makes the plan impossible. */
function built<T>(what: string, build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (error instanceof Defect) throw error;
    const why = errorText(error);
    throw new UnknownSystem(`${what} cannot be built: ${why}`);
  }
}

/** The kinds of step that any client of a plan has. */
function stepsOf({ clients }: Plan): ReadonlySet<Work['kind']> {
  const kinds = new Set<Work['kind']>();
  for (const { sections } of clients) {
    for (const { work } of sections) for (const { kind } of work) kinds.add(kind);
  }
  return kinds;
}

function addClient(
  world: World,
  client: ClientPlan,
  servers: Servers,
  role: 'client' | 'probe',
): void {
  world.addClient(
    { name: client.name, role },
    {
      pool: client.pool,
      factory: (self, from) => sections(self, from, { plan: client, role, servers }),
    },
  );
}

/**
 * The sequential specification that a plan's store promises to its clients, where one is written.
 */
export function modelOf(plan: Plan, { stores }: SystemParts): string | null {
  return stores.get(plan.system.store)?.model ?? null;
}

/** Whether the sections of a plan acquire a lock. */
export function hasGrants(plan: Plan, { locks }: SystemParts): boolean {
  return locks.get(plan.system.lock)?.hasGrants !== false;
}

/** Whether a plan's store is meant to remember the highest token. */
export function isFenced(plan: Plan, { stores }: SystemParts): boolean {
  return stores.get(plan.system.store)?.isFenced !== false;
}

/** Whether a plan's store adds increments itself, to what it holds. */
export function addsItself(plan: Plan, { stores }: SystemParts): boolean {
  return stores.get(plan.system.store)?.manners.addsItself === true;
}

/** The stores that the plan's work touches, in the order of their first use; at least `store`. */
export function storeNamesOf(plan: Pick<Plan, 'clients'>): readonly string[] {
  const names = new Set<string>();
  let last: string | null = null;
  for (const client of plan.clients) {
    for (const section of client.sections) {
      for (const work of section.work) {
        if (work.kind === 'transfer') names.add(work.from).add(work.to);
        else if ('store' in work && work.store !== last) {
          last = work.store;
          names.add(work.store);
        }
      }
    }
  }
  return names.size === 0 ? ['store'] : [...names];
}

/**
 * A fresh client that takes each lock of the plan once and does a first step of the work it guards.
 */
function probeOf(plan: Plan): ClientPlan {
  const ttlUs = Math.max(1, longestTtlUs(plan));
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
    sections: probeSections(plan),
  };
}
