/**
 * Expands a scenario, one of its systems and a seed to one plan. Every draw is from a stream keyed
 * by a name, such as a client's name. Thus, all systems get the same draws for one seed, and
 * removing a client does not change the draws of the others.
 *
 * Read next: `scenario.ts` (the input), `draw.ts` (a stream of draws) and `expand-faults.ts`.
 * `read-scenario.ts` reads a file by the schema in `scenario-file.ts`. It uses `build-clients.ts`,
 * `build-systems.ts`, `build-limits.ts` and `read-faults.ts`. `vocabulary.ts` defines the allowed
 * words, and `json-schema.ts` derives a schema for editors.
 */
import { assert } from '../core/kernel/assert.ts';
import { type ClientSettings, runningAtOnce, settingsOver } from '../core/plan/client-text.ts';
import type { RangeUs } from '../core/plan/duration.ts';
import type { FaultKind } from '../core/plan/fault.ts';
import {
  type ChancePlan,
  type ClientPlan,
  type Odds,
  type Plan,
  type QueuePlan,
  type SectionPlan,
  type StepOfMachine,
  WORK_DEFAULTS,
  type Work,
} from '../core/plan/plan.ts';
import { completeStep, type Otherwise } from '../core/plan/work-text.ts';
import { transferStores } from './build-clients.ts';
import { Draw } from './draw.ts';
import { expandFaults, inSystem } from './expand-faults.ts';
import {
  type ClientScenario,
  type FaultTemplate,
  type QueueScenario,
  type Scenario,
  type SystemScenario,
  targetIn,
  type Workload,
} from './scenario.ts';
/** Returns the plan of one system for one seed, which is a safe integer from 0. */
export function expand(scenario: Scenario, systemName: string, seed: number): Plan {
  assert(Number.isSafeInteger(seed) && seed >= 0, `${seed} is not a seed`);
  const system = scenario.systems.find(({ name }) => name === systemName);
  assert(system !== undefined, `${scenario.name} has no system ${systemName}`);
  const root = new Draw(`${seed}/plan`, false);
  const isInMilliseconds = root.below(2) === 0;
  const enabled = enabledKinds(scenario, seed);
  const scale = valueScale(scenario.clients);
  const clients = scenario.clients.map((client) => {
    const draw = new Draw(`${seed}/${client.name}`, isInMilliseconds);
    return expandClient(client, { system, draw, scale });
  });
  const { lock, store, options, hosts, operations } = system;
  const listening = hosts === undefined ? {} : { hosts };
  const named = operations === undefined ? {} : { operations };
  const faults = scenario.faults
    .filter(({ kind, odds }) => odds === null || enabled.has(kind))
    .map((fault) => inSystem(system, fault));
  return {
    fencepost: 1,
    scenario: scenario.name,
    ...(scenario.use === undefined ? {} : { use: scenario.use }),
    system: { name: system.name, lock, store, options, ...listening },
    ...(scenario.epochUs === undefined ? {} : { epochUs: scenario.epochUs }),
    clients,
    ...expandQueue(scenario.queue, seed, isInMilliseconds),
    network: { link: scenario.network.link, latencyUs: scenario.network.latency.minUs },
    faults: expandFaults(faults, { clients, store, seed, isInMilliseconds, ...named }),
    chance: chancePlan(scenario, system, { seed, isInMilliseconds, faults }),
    decisions: {},
    order: [],
    limits: scenario.limits,
    bounds: scenario.bounds,
  };
}

/** Each message draws its copies from its own stream. */
function expandQueue(
  queue: QueueScenario | undefined,
  seed: number,
  isInMilliseconds: boolean,
): Pick<Plan, 'queue'> {
  if (queue === undefined) return {};
  const { plan, duplicates } = queue;
  if (duplicates === null) return { queue: plan };
  const drawn = messagesOf(plan).flatMap((step) => {
    const name = `${step.machine}/${step.steps}/${step.retries}`;
    const draw = new Draw(`${seed}/queue/${name}`, isInMilliseconds);
    return draw.happens(duplicates.odds) ? [{ ...step, afterUs: draw.time(duplicates.after) }] : [];
  });
  return { queue: { ...plan, copies: [...plan.copies, ...drawn] } };
}

/** Returns every message that can ever be in a queue. */
function messagesOf({ steps, retries, messages }: QueuePlan): readonly StepOfMachine[] {
  const machines = [...new Set(messages.map(({ machine }) => machine))];
  return machines.flatMap((machine) =>
    Array.from({ length: steps * (retries + 1) }, (_, at) => ({
      machine,
      steps: Math.floor(at / (retries + 1)),
      retries: at % (retries + 1),
    })),
  );
}

const SEEDS_COMPARED = 8;

/** Returns true if seeds change only the order of simultaneous events. Compares a few seeds. */
export function drawsNothing(scenario: Scenario, systemName: string): boolean {
  const texts = new Set<string>();
  for (let seed = 0; seed < SEEDS_COMPARED; seed += 1) {
    const { chance, ...plan } = expand(scenario, systemName, seed);
    if (chance !== null && hasDrawn(chance)) return false;
    texts.add(JSON.stringify(plan));
  }
  return texts.size === 1;
}

function hasDrawn({ latency, delay, drop, duplicate, lateTimer, jitter }: ChancePlan): boolean {
  return [latency, delay, drop, duplicate, lateTimer, jitter].some((drawn) => drawn !== null);
}

/**
 * Returns the fault kinds that this seed may draw: all kinds with odds or, with swarm, a random
 * nonempty subset. Each kind draws from its own stream, so adding a kind does not change other
 * draws.
 */
function enabledKinds({ faults, isSwarm }: Scenario, seed: number): ReadonlySet<FaultKind> {
  const drawn = new Set(faults.flatMap(({ kind, odds }) => (odds === null ? [] : [kind])));
  if (!isSwarm) return drawn;
  const isEnabled = (kind: FaultKind): boolean =>
    new Draw(`${seed}/swarm/${kind}`, false).below(2) === 1;
  const enabled = new Set([...drawn].filter(isEnabled));
  return enabled.size > 0 ? enabled : drawn;
}

interface ClientContext {
  readonly system: SystemScenario;
  readonly draw: Draw;
  readonly scale: ValueScale;
}

function expandClient(client: ClientScenario, { system, draw, scale }: ClientContext): ClientPlan {
  const settings: ClientSettings = settingsOver(client.settings, system.clients);
  const sections: SectionPlan[] = [];
  for (let id = 1; id <= client.sections; id += 1) {
    const thinkUs = draw.time(client.think);
    const lock = draw.oneOf(client.workload.locks) ?? '';
    const values = { scale, client: client.number, section: id };
    const work = expandWork(client.workload, { draw, values, ttlUs: settings.ttlUs });
    sections.push({ id, thinkUs, lock, work });
  }
  return { name: client.name, ...settings, ...runningAtOnce(client.concurrency), sections };
}

interface ChanceContext {
  readonly seed: number;
  readonly isInMilliseconds: boolean;
  readonly faults: readonly FaultTemplate[];
}

/** Returns the odds and ranges for draws during the run. */
function chancePlan(
  scenario: Scenario,
  system: SystemScenario,
  { seed, isInMilliseconds, faults }: ChanceContext,
): ChancePlan {
  const { latency } = scenario.network;
  const isFixed = latency.minUs === latency.maxUs;
  const hasMilliseconds = latency.minUs % 1_000 === 0 && latency.maxUs - latency.minUs >= 1_000;
  const forAny = (kind: FaultKind): FaultTemplate | undefined =>
    faults.find((fault) => fault.kind === kind && targetIn(fault)?.value.kind === 'any');
  const by = (kind: FaultKind): (Odds & RangeUs) | null => {
    const { odds = null, fields = [] } = forAny(kind) ?? {};
    const length = fields.find(({ type }) => type === 'duration');
    return odds === null || length?.type !== 'duration' ? null : { ...odds, ...length.value };
  };
  return {
    seed,
    latency: isFixed ? null : latency,
    latencyStepUs: isInMilliseconds && !isFixed && hasMilliseconds ? 1_000 : 1,
    delay: by('delay'),
    drop: forAny('drop')?.odds ?? null,
    duplicate: by('duplicate'),
    lateTimer: by('late-timer'),
    jitter: scenario.jitter ?? system.jitter ?? null,
  };
}

/**
 * Powers of ten that make every written value of a run unique. The digits of a value are client,
 * section and, if sections have several steps, step. For example, client 1 writes 12 in section 2
 * or, in the third step of that section, 123.
 */
interface ValueScale {
  readonly client: number;
  readonly section: number;
}

function valueScale(clients: readonly ClientScenario[]): ValueScale {
  let sections = 1;
  let steps = 1;
  for (const client of clients) {
    sections = Math.max(sections, client.sections);
    const { workload } = client;
    for (const [at, { id }] of workload.steps.entries()) steps = Math.max(steps, id ?? at + 1);
    steps = Math.max(steps, workload.writesPerGrant);
  }
  const section = steps === 1 ? 1 : powerAbove(steps);
  return { section, client: section * powerAbove(sections) };
}

function powerAbove(count: number): number {
  let power = 10;
  while (power <= count) power *= 10;
  return power;
}

interface WorkContext {
  readonly draw: Draw;
  readonly values: {
    readonly scale: ValueScale;
    readonly client: number;
    readonly section: number;
  };
  readonly ttlUs: number;
}

function expandWork(workload: Workload, context: WorkContext): readonly Work[] {
  if (workload.kind === 'steps') {
    const otherwise = otherwiseDrawn(workload, context);
    return workload.steps.map((step, at) => {
      const work = completeStep(step, at + 1, otherwise);
      assert(work !== undefined, 'a scenario has a value for every field that a step omits');
      return work;
    });
  }
  const work: Work[] = [];
  for (let id = 1; id <= workload.writesPerGrant; id += 1) {
    work.push(oneStep(workload, id, context));
  }
  return work;
}

function otherwiseDrawn(workload: Workload, context: WorkContext): Otherwise {
  const { draw, values, ttlUs } = context;
  return {
    store: () => draw.oneOf(workload.stores) ?? WORK_DEFAULTS.store,
    key: () => draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key,
    value: (_, id) => writtenValue(id, context),
    ends: (step) => transferStores(step, workload.stores),
    awaits: workload.awaits,
    tick: values.section,
    ttlUs,
  };
}

function oneStep(workload: Workload, id: number, context: WorkContext): Work {
  const { draw } = context;
  const key = draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key;
  if (workload.kind === 'transfer') {
    const [first = '', second = ''] = workload.stores;
    const isForth = draw.below(2) === 0;
    const [from, to] = isForth ? [first, second] : [second, first];
    return { kind: 'transfer', id, from, to, key, amount: WORK_DEFAULTS.amount };
  }
  const store = draw.oneOf(workload.stores) ?? WORK_DEFAULTS.store;
  if (workload.kind === 'read-modify-write') return { kind: 'increment', id, store, key };
  const { awaits } = workload;
  return { kind: 'write', id, store, key, value: writtenValue(id, context), awaits };
}

function writtenValue(step: number, { values: { scale, client, section } }: WorkContext): number {
  return client * scale.client + section * scale.section + (scale.section === 1 ? 0 : step);
}
