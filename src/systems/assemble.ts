/**
 * Assembles the system that a plan names: its servers, its clients' programs and the probe. Read
 * next: `protocol.ts` (the interface of a lock), `section.ts` (a client's sections), `work.ts` (the
 * work of a section), a lock such as `zoo/pessimistic/protocol.ts`, and `store/store-kinds.ts`.
 * `grant-recorder.ts` and `store/store-recorder.ts` report to the observer. `define-lock.ts`
 * accepts user-defined locks.
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

/** Locks and stores by the names that plans use. */
export interface SystemParts {
  readonly locks: ReadonlyMap<string, Protocol>;
  readonly stores: ReadonlyMap<string, StoreKind>;
}

/** Name of the fresh client that starts after all faults have healed. */
const PROBE = 'probe';

/** Thrown if a plan has an unknown or repeated name, or asks for something impossible. */
export class UnknownSystem extends Error {}

/** Thrown if the plan's store is not loaded yet. */
export class UnpreparedSystem extends Error {}

/** Thrown if a plan has asynchronous clients and the entry point cannot run them. */
export class AsyncSystem extends Error {}

/** Returns whether the clients of a plan's lock are asynchronous code. */
export function isAsync({ system }: Pick<Plan, 'system'>, { locks }: SystemParts): boolean {
  return locks.get(system.lock)?.buildAsync !== undefined;
}

/** Adds asynchronous clients to a world. */
export interface AsyncHosting {
  /** Makes the servers listen at the addresses of the plan's `hosts`. */
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

/** Throws `UnpreparedSystem` if the plan's store is known but not loaded yet. */
export function requirePrepared({ system }: Plan, { stores }: SystemParts): void {
  const kind = stores.get(system.store);
  if (kind === undefined || isPrepared(kind)) return;
  throw new UnpreparedSystem(
    `the store ${system.store} is not loaded: \`await prepare([plan.system])\` before the first run`,
  );
}

/**
 * Adds the servers and clients of `plan` to `world`. Clients that are asynchronous code are added
 * through `hosting`. Returns a function that releases what the stores hold outside the world; call
 * it after the run. Throws `UnknownSystem`.
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
      `${plan.system.lock} cannot check tokens for the store ${plan.system.store}`,
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
  const { requirements } = kind;
  const servers =
    replicas === undefined ? { stores, requirements } : { stores, requirements, replicas };
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

/** The parsed options of a plan for one lock and store, or an error message. */
interface ReadOptions {
  readonly protocol: Protocol;
  readonly kind: StoreKind;
  /** A copy, since the caller may change the plan's object later. */
  readonly given: Plan['system']['options'];
  readonly options: Options | string;
}

/** Cache of parsed options: all seeds of a scenario share one options object. */
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

/** Compares with `===`, since option values are strings or numbers. */
function isSame(one: Plan['system']['options'], other: Plan['system']['options']): boolean {
  const names = Object.keys(other);
  return (
    names.length === Object.keys(one).length && names.every((name) => one[name] === other[name])
  );
}

/** Steps that need a driver. Asynchronous code takes and renews locks itself. */
const STEPS_OF_DRIVERS = ['renew', 'lock', 'transition', 'memoize'] as const;

/** Returns why the lock or the store cannot run this plan, or null if they can. */
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
  if (twice !== undefined) return `two processes are named ${twice}`;
  const problem = protocol.problem?.(options, plan.clients) ?? null;
  if (problem !== null) return problem.what;
  const mistaken = replicated?.problem(options) ?? null;
  if (mistaken !== null) return `${store}: ${mistaken}`;
  if (replicated !== undefined && lock === 'optimistic') {
    return `${lock} needs a store with versions; ${store} has none`;
  }
  if (protocol.buildAsync === undefined && plan.clients.some((client) => 'concurrency' in client)) {
    return `${lock} runs one section at a time; asynchronous code can run several`;
  }
  const absent = absentHost(plan, protocol, options);
  if (absent !== null) return absent;
  const steps = stepsOf(plan);
  if (protocol.buildAsync !== undefined) {
    const step = STEPS_OF_DRIVERS.find((candidate) => steps.has(candidate));
    if (step !== undefined)
      return `${lock} does not support the step "${step}": the code of its clients does this`;
  }
  if (!protocol.takesSeveral && steps.has('lock')) return `${lock} takes only one lock per section`;
  if (protocol.takesMessages !== true && plan.queue !== undefined) {
    return `${lock} takes no messages from a queue`;
  }
  if (plan.queue === undefined && steps.has('transition')) return 'a transition needs a queue';
  if (protocol.canRenew === false && steps.has('renew')) {
    return `${lock} has no lease to renew`;
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
  return absent === undefined
    ? null
    : `${lock} has no server ${absent[1]}, which hosts names for ${absent[0]}`;
}

function clientsOf(
  { buildAsync }: Protocol,
  world: World,
  options: Options,
): SectionProgramOf | undefined {
  if (buildAsync === undefined) return undefined;
  const programOf = buildAsync(world, options);
  if (typeof programOf !== 'function') throw new Error('`buildAsync` did not return a function');
  return programOf;
}

/** Throws if `hosts` names a server without a wire protocol. */
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

/** Turns an error of user code into an `UnknownSystem`. */
function built<T>(subject: string, build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (error instanceof Defect) throw error;
    const why = errorText(error);
    throw new UnknownSystem(`${subject} cannot be built: ${why}`);
  }
}

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

/** Returns the name of the store's sequential specification, or null if it has none. */
export function modelOf(plan: Plan, { stores }: SystemParts): string | null {
  return stores.get(plan.system.store)?.model ?? null;
}

/** Returns whether the sections of a plan acquire a lock. */
export function hasGrants(plan: Plan, { locks }: SystemParts): boolean {
  return locks.get(plan.system.lock)?.hasGrants !== false;
}

/** Returns whether the plan's store is supposed to remember the highest token. */
export function isFenced(plan: Plan, { stores }: SystemParts): boolean {
  return stores.get(plan.system.store)?.isFenced !== false;
}

/** Returns whether the plan's store itself adds increments to the current value. */
export function addsItself(plan: Plan, { stores }: SystemParts): boolean {
  return stores.get(plan.system.store)?.requirements.addsItself === true;
}

/** Returns the stores that the plan's work uses, in order of first use. Default: `store`. */
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
