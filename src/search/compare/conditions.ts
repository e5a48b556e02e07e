/**
 * What is compared, and under what: how much the systems get in each other's way, and what goes
 * wrong. A level of contention is how many clients want how few rows how often; each section draws
 * a row, which has a lock of its own, reads its counter and writes it back one higher.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Ending } from '../../core/history/trace.ts';
import { assert } from '../../core/kernel/assert.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { loadScenario } from '../../load.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { Options } from '../../systems/protocol.ts';
import { suggest } from '../../text/problem.ts';
import type { ComparedCondition, Roles } from './comparison.ts';
import { measureRun, type RunMeasures } from './measure-run.ts';

interface Level {
  readonly contention: 'low' | 'medium' | 'high';
  readonly clients: number;
  readonly rows: number;
  readonly think: string;
}

const LEVELS: readonly Level[] = [
  { contention: 'low', clients: 3, rows: 12, think: '0ms..60ms' },
  { contention: 'medium', clients: 6, rows: 4, think: '0ms..20ms' },
  { contention: 'high', clients: 8, rows: 1, think: '0ms..2ms' },
];

const SECTIONS = 6;

/** The same in words, for people. */
export const FAULTS_ABOUT: string =
  'a client paused for 5–60 ms before a write (1 in 2) or at some time (1 in 4), a message 5–30 ms ' +
  'late (1 in 100) or lost with its connection (1 in 200), a client that crashes and is back after ' +
  '10–50 ms (1 in 8)';

const FAULTS = [
  { pause: { process: 'clients', before: 'write', for: '5ms..60ms', chance: '1/2' } },
  { pause: { process: 'clients', at: '0ms..150ms', for: '5ms..60ms', chance: '1/4' } },
  { delay: { by: '5ms..30ms', chance: '1/100' } },
  { drop: { chance: '1/200' } },
  { crash: { process: 'clients', at: '0ms..150ms', restart: '10ms..50ms', chance: '1/8' } },
];

/** What holds under every level. */
export const TERMS_ABOUT: string = `${SECTIONS} sections a client, leases of 30 ms, 1–2 ms one way`;

/** A condition, and the scenario whose seeds are run under it. */
export interface ComparedTrial {
  readonly condition: ComparedCondition;
  readonly scenario: Scenario;
}

/** The levels without faults, then with them, for these systems. */
export function trialsFor(systems: readonly SystemScenario[]): readonly ComparedTrial[] {
  return [false, true].flatMap((hasFaults) =>
    LEVELS.map((level) => ({
      condition: { contention: level.contention, hasFaults, about: aboutLevel(level) },
      scenario: { ...scenarioOf(level, hasFaults), systems },
    })),
  );
}

/** The work and the faults of a scenario as it stands, and the same without its faults. */
export function trialsAsWritten(scenario: Scenario): readonly ComparedTrial[] {
  const limits = { ...scenario.limits, probe: false };
  const { length } = scenario.clients;
  const about = `${length} ${length === 1 ? 'client' : 'clients'} as in ${scenario.name}`;
  const withFaults = scenario.faults.length === 0 ? [false] : [false, true];
  return withFaults.map((hasFaults) => ({
    condition: { contention: 'as written', hasFaults, about },
    scenario: { ...scenario, faults: hasFaults ? scenario.faults : [], limits },
  }));
}

/** `6 clients, 4 rows, think time 0–20 ms`. */
function aboutLevel({ clients, rows, think }: Level): string {
  const range = think.replace('ms..', '–').replace('ms', ' ms');
  return `${clients} clients, ${rows === 1 ? '1 row' : `${rows} rows`}, think time ${range}`;
}

function scenarioOf({ contention, clients, rows, think }: Level, hasFaults: boolean): Scenario {
  const file = {
    name: `compare-${contention}`,
    systems: { any: { lock: 'none', store: 'unfenced' } },
    clients: { count: clients, ttl: '30ms', sections: SECTIONS, think },
    workload: { kind: 'read-modify-write', locks: rows },
    network: { latency: '1ms..2ms' },
    jitter: '1/2',
    faults: hasFaults ? FAULTS : [],
    swarm: false,
    probe: false,
  };
  const read = loadScenario(JSON.stringify(file), 'compare');
  assert(read.kind === 'scenario', 'the conditions are scenarios that load');
  return read.scenario;
}

interface TrialRun {
  readonly measures: RunMeasures;
  readonly ending: Ending;
}

/** The same trial, system and seed give the same numbers. */
export async function runTrial(
  { scenario }: ComparedTrial,
  system: string,
  seed: number,
  catalogue: Catalogue = builtIn,
): Promise<TrialRun> {
  const plan = expand(scenario, system, seed);
  const trace = await runAsync(plan, catalogue);
  return { measures: measureRun(plan, trace), ending: trace.ending };
}

/** Compared where nothing is named; the first three are those of the folklore. */
export const FAMILIAR: readonly SystemScenario[] = [
  systemOf('pessimistic', { lock: 'pessimistic', store: 'unfenced' }),
  systemOf('optimistic', { lock: 'optimistic', store: 'versioned' }),
  systemOf('fenced-lease', { lock: 'lock-service', store: 'fenced-reads' }),
  systemOf('plain-lease', { lock: 'lock-service', store: 'unfenced' }),
];

function systemOf(
  name: string,
  { lock, store }: { readonly lock: string; readonly store: string },
  catalogue: Catalogue = builtIn,
): SystemScenario {
  const protocol = catalogue.locks.get(lock);
  const options = Options.read(protocol?.options ?? [], {});
  const system: SystemScenario = {
    ...{ name, lock, store, options: {} },
    servers: typeof options === 'string' ? [] : (protocol?.servers(options) ?? []),
    clients: {},
    expect: { holds: [], breaks: [] },
  };
  return patiently(system, catalogue);
}

/** The system with clients that wait in line for ever, where its lock has a line. */
export function patiently(system: SystemScenario, { locks }: Catalogue = builtIn): SystemScenario {
  if (locks.get(system.lock)?.waitsInLine !== true) return system;
  return { ...system, clients: { lockTimeout: null, checksLease: false, ...system.clients } };
}

type Chosen =
  | { readonly kind: 'systems'; readonly systems: readonly SystemScenario[] }
  | { readonly kind: 'problem'; readonly what: string };

/**
 * The systems that `text` names, comma-separated: each one of `known` by its name, or any other as
 * `lock/store`. All of `known` where it is null.
 */
export function chooseSystems(
  text: string | null,
  known: readonly SystemScenario[],
  catalogue: Catalogue = builtIn,
): Chosen {
  if (text === null) return { kind: 'systems', systems: known };
  const systems: SystemScenario[] = [];
  for (const name of text.split(',').map((part) => part.trim())) {
    const system = known.find((one) => one.name === name) ?? composed(name, catalogue);
    if (typeof system === 'string') return { kind: 'problem', what: system };
    if (system === null) {
      const names = known.map((one) => one.name);
      const what = `unknown system "${name}"${suggest(name, names)}; name one as lock/store`;
      return { kind: 'problem', what };
    }
    if (systems.some((one) => one.name === system.name)) {
      return { kind: 'problem', what: `"${name}" stands here twice` };
    }
    systems.push(system);
  }
  return { kind: 'systems', systems };
}

/** `lock/store`; null where it is no such name, or in words what is wrong with it. */
function composed(name: string, catalogue: Catalogue): SystemScenario | string | null {
  const { locks, stores } = catalogue;
  const [lock, store, ...rest] = name.split('/');
  if (lock === undefined || store === undefined || rest.length > 0) return null;
  if (!locks.has(lock)) return unknown('lock', lock, [...locks.keys()]);
  if (!stores.has(store)) return unknown('store', store, [...stores.keys()]);
  return systemOf(name, { lock, store }, catalogue);
}

function unknown(noun: string, word: string, known: readonly string[]): string {
  return `unknown ${noun} "${word}"${suggest(word, known)}`;
}

/** Which of these stand for the systems of the folklore, the first of each kind. */
export function folkloreRolesOf(
  systems: readonly SystemScenario[],
  { stores }: Catalogue = builtIn,
): Roles {
  const first = (is: (system: SystemScenario) => boolean): SystemScenario | undefined =>
    systems.find(is);
  const isLease = ({ lock }: SystemScenario): boolean => !NO_LEASE.has(lock);
  const isFenced = ({ store }: SystemScenario): boolean => stores.get(store)?.isFenced === true;
  const fenced = first((system) => isLease(system) && isFenced(system));
  const unfenced = first((system) => system.lock === fenced?.lock && !isFenced(system));
  return {
    pessimistic: first(({ lock }) => lock === 'pessimistic')?.name ?? null,
    optimistic: first(({ lock }) => lock === 'optimistic')?.name ?? null,
    fenced: fenced?.name ?? null,
    unfenced: unfenced?.name ?? null,
  };
}

/** Locks that never end by themselves. */
const NO_LEASE: ReadonlySet<string> = new Set(['none', 'optimistic', 'pessimistic']);
