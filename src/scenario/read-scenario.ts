/** Reads the text of a scenario file. The result is a scenario, or all problems in the file. */
import { check, isRecord, parseFile, type SourceFile } from '../core/plan/document.ts';
import { CAPS, type QueuePlan } from '../core/plan/plan.ts';
import { completeQueue, queueFindings, transitionFindings } from '../core/plan/queue-text.ts';
import type { PathStep, Problem, UnplacedProblem } from '../text/problem.ts';
import { buildClients } from './build-clients.ts';
import { buildBounds, buildLimits, latencyOf, sizeFindings, warnings } from './build-limits.ts';
import { buildSystems } from './build-systems.ts';
import { paletteOf } from './palette.ts';
import { buildFaults } from './read-faults.ts';
import type { ClientScenario, Scenario } from './scenario.ts';
import {
  ALL,
  type ListedFile,
  type ReadWorkload,
  type ScenarioFile,
  scenarioFileSchema,
} from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

export type ScenarioRead =
  | {
      readonly kind: 'scenario';
      readonly scenario: Scenario;
      /** Probable mistakes in a valid file. */
      readonly warnings: readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Reads `source.text` and fills in all defaults. */
export function readScenario(
  source: SourceFile & { readonly vocabulary: Vocabulary },
): ScenarioRead {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const checked = check(scenarioFileSchema, parsed.value);
  if (checked.kind === 'findings') {
    const refused = withMixed(checked.findings, mixedFindings(parsed.value));
    const others = foundBeside(refused, parsed.value, source.vocabulary);
    return { kind: 'problems', problems: parsed.locate([...refused, ...others]) };
  }
  const built = build(checked.value, source.vocabulary);
  if (built.findings.length > 0) {
    return { kind: 'problems', problems: parsed.locate(built.findings) };
  }
  const { scenario, warned } = built;
  return { kind: 'scenario', scenario, warnings: parsed.locate(warned) };
}

/**
 * Returns further problems in a file that the schema refused. The refused parts are removed first.
 * If they are not all faults, only problems of systems are returned, since the removal may cause
 * other problems.
 */
function foundBeside(
  refused: readonly UnplacedProblem[],
  file: unknown,
  vocabulary: Vocabulary,
): readonly UnplacedProblem[] {
  const rest: unknown = structuredClone(file);
  if (!isMap(rest)) return [];
  const { faults } = rest;
  const gone = new Set(refused.map(({ path: [part, at] }) => (part === 'faults' ? at : part)));
  const places = Array.isArray(faults) ? [...faults.keys()].filter((at) => !gone.has(at)) : [];
  if (Array.isArray(faults)) rest['faults'] = places.map((at) => faults[at]);
  const others = refused.filter(({ path: [part, at] }) => part !== 'faults' || at === undefined);
  for (const { path } of others) takeAway(rest, path);
  const checked = check(scenarioFileSchema, rest);
  if (checked.kind === 'findings') return [];
  return build(checked.value, vocabulary).findings.flatMap((finding): UnplacedProblem[] => {
    const [part, at, ...inside] = finding.path;
    if (part === 'faults' && typeof at === 'number') {
      return others.length > 0 ? [] : [{ ...finding, path: [part, places[at] ?? at, ...inside] }];
    }
    return others.length === 0 || part === 'systems' ? [finding] : [];
  });
}

function takeAway(from: unknown, [step, ...rest]: readonly PathStep[]): void {
  if (step === undefined || !isMap(from)) return;
  if (rest.length === 0) delete from[step];
  else takeAway(from[step], rest);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !Array.isArray(value);
}

/** Adds problems with `all` in a list of faults. They replace other problems of these entries. */
function withMixed(
  findings: readonly UnplacedProblem[],
  mixed: readonly UnplacedProblem[],
): readonly UnplacedProblem[] {
  const isReported = ({ path }: UnplacedProblem): boolean =>
    mixed.some((problem) => problem.path.every((step, at) => step === path[at]));
  return [...mixed, ...findings.filter((finding) => !isReported(finding))];
}

function mixedFindings(file: unknown): readonly UnplacedProblem[] {
  const faults = isRecord(file) ? file['faults'] : null;
  if (!Array.isArray(faults)) return [];
  return faults.flatMap((fault: unknown, index): UnplacedProblem[] => {
    if (fault !== ALL && !(isRecord(fault) && ALL in fault)) return [];
    const instead = `write faults: ${ALL}, or list kinds`;
    const what = `\`${ALL}\` includes every kind and cannot be in a list: ${instead}`;
    return [{ path: ['faults', index], isKey: false, what }];
  });
}

interface Built {
  readonly scenario: Scenario;
  readonly findings: readonly UnplacedProblem[];
  readonly warned: readonly UnplacedProblem[];
}

/** Builds a scenario. The palette of `faults: all` depends on all other parts. */
function build(file: ScenarioFile, vocabulary: Vocabulary): Built {
  const { faults = [] } = file;
  if (faults !== ALL) return buildListed({ ...file, faults }, vocabulary);
  const calm = buildListed({ ...file, faults: [] }, vocabulary);
  if (calm.findings.length > 0) return calm;
  const palette = paletteOf(file, calm.scenario, vocabulary);
  const built = buildListed({ ...file, faults: palette.faults }, vocabulary);
  const systems = built.scenario.systems.map((system, at) => {
    return { ...system, spared: palette.spared[at] ?? {} };
  });
  return { ...built, scenario: { ...built.scenario, systems } };
}

function buildListed(file: ListedFile, vocabulary: Vocabulary): Built {
  const used = buildUse(file, vocabulary);
  const cast = buildClients(file);
  const { clients } = cast;
  const { stores, ...systems } = buildSystems(file, { vocabulary, clients, stores: cast.stores });
  const queue = buildQueue(file, clients, vocabulary);
  const limits = buildLimits(file, clients);
  const locks = [...new Set(systems.systems.flatMap(({ servers }) => servers))];
  const operations = [...new Set(systems.systems.flatMap((system) => system.operations ?? []))];
  const { healAtUs } = limits;
  const isDatagram = file.network?.link === 'datagram';
  const faults = buildFaults(file.faults, {
    clients,
    stores,
    locks,
    operations,
    healAtUs,
    isDatagram,
    clocks: file.clocks ?? {},
  });
  const scenario: Scenario = {
    name: file.name,
    description: file.description ?? '',
    ...used.fields,
    systems: systems.systems,
    clients,
    ...queue.fields,
    network: { link: file.network?.link ?? 'connection', latency: latencyOf(file) },
    jitter: file.jitter ?? null,
    faults: faults.faults,
    isSwarm: file.swarm ?? true,
    ...(file.epoch === undefined ? {} : { epochUs: file.epoch }),
    limits,
    bounds: buildBounds(file, clients, faults.faults),
  };
  return {
    scenario,
    findings: [
      ...[used, systems, cast, queue, faults].flatMap(({ findings }) => findings),
      ...sizeFindings(clients),
    ],
    warned: warnings(file, clients, {
      systems: systems.systems,
      limits,
      hasServer: ({ lock, options }) =>
        (vocabulary.locks.get(lock)?.servers(options) ?? []).length > 0,
    }),
  };
}

interface BuiltUse {
  readonly fields: Pick<Scenario, 'use'>;
  readonly findings: readonly UnplacedProblem[];
}

function buildUse({ use }: ScenarioFile, { modules = {} }: Vocabulary): BuiltUse {
  if (use === undefined) return { fields: {}, findings: [] };
  const paths = typeof use === 'string' ? [use] : use;
  const known = paths.flatMap((path) => {
    const digest = Object.hasOwn(modules, path) ? modules[path] : undefined;
    return digest === undefined ? [] : [[path, digest] as const];
  });
  const findings = paths.flatMap((path, at): UnplacedProblem[] => {
    if (Object.hasOwn(modules, path)) return [];
    const place = typeof use === 'string' ? ['use'] : ['use', at];
    return [{ path: place, isKey: false, what: `${path} was not loaded` }];
  });
  return { fields: { use: Object.fromEntries(known) }, findings };
}

interface BuiltQueue {
  readonly fields: Pick<Scenario, 'queue'>;
  readonly findings: readonly UnplacedProblem[];
}

function buildQueue(
  file: ScenarioFile,
  clients: readonly ClientScenario[],
  { locks }: Vocabulary,
): BuiltQueue {
  const { queue } = file;
  const findings = workloadsOf(file).flatMap(({ steps = [], path }) =>
    transitionFindings(steps, queue !== undefined, (at) => [...path, 'steps', at]),
  );
  if (queue === undefined) return { fields: {}, findings };
  const serving = clients.filter(({ workload }) =>
    workload.steps.some(({ kind }) => kind === 'transition'),
  );
  const machines = [...new Set(serving.flatMap(({ workload }) => workload.locks))];
  const plan = completeQueue(queue, machines);
  if (machines.length === 0) {
    const what = 'no client receives a message: no section has a transition step';
    return { fields: {}, findings: [{ path: ['queue'], isKey: true, what }] };
  }
  for (const [name, { lock }] of Object.entries(file.systems)) {
    const word = locks.get(lock);
    if (word === undefined || word.takesMessages === true) continue;
    const others = [...locks].flatMap(([other, it]) => (it.takesMessages === true ? [other] : []));
    const what = `${lock} takes no messages from a queue; these do: ${others.join(', ')}`;
    findings.push({ path: ['systems', name, 'lock'], isKey: false, what });
  }
  const { duplicates } = queue;
  const drawn =
    duplicates === undefined
      ? null
      : { odds: duplicates.chance, after: duplicates.after ?? { minUs: 0, maxUs: 0 } };
  return {
    fields: { queue: { plan, duplicates: drawn } },
    findings: [
      ...findings,
      ...queueFindings(plan, new Set(machines)),
      ...(drawn === null ? [] : duplicatesFindings(plan)),
    ],
  };
}

/** Reports more copies than a plan allows. Every possible message may draw a copy. */
function duplicatesFindings(plan: QueuePlan): readonly UnplacedProblem[] {
  const { steps, retries, messages, copies } = plan;
  const machines = new Set(messages.map(({ machine }) => machine)).size;
  const drawn = machines * steps * (retries + 1);
  const most = CAPS.sectionsPerClient - copies.length;
  if (drawn <= most) return [];
  const of = `${machines} × ${steps} × ${retries + 1} (machines × steps × attempts)`;
  const what = `duplicates may draw ${drawn} copies, ${of}; a plan has room for ${most}`;
  return [{ path: ['queue', 'duplicates'], isKey: true, what }];
}

function workloadsOf({
  workload,
  clients,
}: ScenarioFile): readonly (ReadWorkload & { readonly path: readonly PathStep[] })[] {
  const found = workload === undefined ? [] : [{ ...workload, path: ['workload'] }];
  if (typeof clients !== 'object' || !('each' in clients || 'workload' in clients)) return found;
  const { workload: shared, each = {} } = clients;
  if (shared !== undefined) found.push({ ...shared, path: ['clients', 'workload'] });
  for (const [name, settings] of Object.entries(each)) {
    if (settings.workload === undefined) continue;
    found.push({ ...settings.workload, path: ['clients', 'each', name, 'workload'] });
  }
  return found;
}
