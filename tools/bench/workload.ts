/** The scenario that the benchmarks sweep: five clients, five read-modify-write sections each. */
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import type { Pool } from '../../src/search/sweep/pool.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';

export const FIVE_BY_FIVE = `
name: five-by-five
systems:
  fenced-reads:
    lock: lock-service
    store: fenced-reads
    expect: { holds: [grant-order, no-lost-update, read-fence, fence-monotone] }
clients: { count: 5, ttl: 30ms, sections: 5, think: 0ms..150ms, backoff: 10ms }
workload: { kind: read-modify-write }
network: { latency: 500us..2ms }
faults:
  - pause: { process: clients, before: write, for: 1ms..60ms, chance: 1/4 }
  - delay: { by: 1ms..20ms, chance: 1/50 }
`;

export const SYSTEM = 'fenced-reads';

export function fiveByFive(): Scenario {
  return scenarioOf(FIVE_BY_FIVE, 'five-by-five');
}

/** Loads a scenario from a text that is known to be valid. */
export function scenarioOf(text: string, file: string): Scenario {
  const read = loadScenario(text, file);
  if (read.kind === 'scenario') return read.scenario;
  throw new Error(`${file} does not load: ${JSON.stringify(read.problems)}`);
}

/** The first `seeds` seeds of one system of a scenario. */
interface Swept {
  readonly scenario: Scenario;
  readonly system: string;
  readonly seeds: number;
}

/** Sweeps one system, on this thread without a pool; throws if a run fails, which is fast. */
export async function sweepSeeds(
  { scenario, system, seeds }: Swept,
  pool: Pool | null = null,
): Promise<void> {
  const systems = scenario.systems.filter(({ name }) => name === system);
  const { countsBySystem } = await sweep(
    { ...scenario, systems },
    { from: 0, to: seeds - 1, pool },
  );
  const [failure] = countsBySystem.get(system)?.failures ?? [];
  if (failure !== undefined) throw new Error(`seed ${failure.seed} failed: ${failure.error}`);
}
