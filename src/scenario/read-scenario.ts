/**
 * Reads the text of a scenario file: the scenario that it means, or everything that is wrong with
 * it.
 */
import { parseFile, type SourceFile } from '../core/plan/document.ts';
import { check } from '../core/plan/findings.ts';
import type { Finding, Problem } from '../text/problem.ts';
import { buildClients } from './build-clients.ts';
import { buildFaults } from './build-faults.ts';
import { buildBounds, buildLimits, latencyOf, warnings } from './build-limits.ts';
import { buildQueue } from './build-queue.ts';
import { buildSystems } from './build-systems.ts';
import { buildUse } from './build-use.ts';
import type { Scenario } from './scenario.ts';
import { type ScenarioFile, scenarioFileSchema } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

export type ScenarioRead =
  | {
      readonly kind: 'scenario';
      readonly scenario: Scenario;
      /** What is allowed and probably not meant. */
      readonly warnings: readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Everything that `source.text` says, with every default filled in. */
export function readScenario(
  source: SourceFile & { readonly vocabulary: Vocabulary },
): ScenarioRead {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const checked = check(scenarioFileSchema, parsed.value);
  if (checked.kind === 'findings') {
    return { kind: 'problems', problems: parsed.locate(checked.findings) };
  }
  const built = build(checked.value, source.vocabulary);
  if (built.findings.length > 0) {
    return { kind: 'problems', problems: parsed.locate(built.findings) };
  }
  const { scenario, warned } = built;
  return { kind: 'scenario', scenario, warnings: parsed.locate(warned) };
}

interface Built {
  readonly scenario: Scenario;
  readonly findings: readonly Finding[];
  readonly warned: readonly Finding[];
}

function build(file: ScenarioFile, vocabulary: Vocabulary): Built {
  const used = buildUse(file, vocabulary);
  const cast = buildClients(file);
  const { clients, stores } = cast;
  const systems = buildSystems(file, { vocabulary, clients });
  const queue = buildQueue(file, clients, vocabulary);
  const limits = buildLimits(file, clients);
  const locks = [...new Set(systems.systems.flatMap(({ servers }) => servers))];
  const operations = [...new Set(systems.systems.flatMap((system) => system.operations ?? []))];
  const { healAtUs } = limits;
  const faults = buildFaults(file, { clients, stores, locks, operations, healAtUs });
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
    findings: [used, systems, cast, queue, faults].flatMap(({ findings }) => findings),
    warned: warnings(file, clients, { systems: systems.systems, limits }),
  };
}
