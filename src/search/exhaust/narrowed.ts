/**
 * Narrows a scenario for an exhaustive search, so that only faults vary. The narrowed scenario has
 * few clients and sections. All time ranges outside faults are reduced to their minimum. Seed 0
 * draws all other values, such as the lock of a section.
 */

import type { RangeUs } from '../../core/plan/duration.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { expand } from '../../scenario/expand.ts';
import { onlyOn } from '../../scenario/expand-faults.ts';
import type { ExhaustScope, Scenario } from '../../scenario/scenario.ts';

/** Returns the scenario narrowed to this scope. */
export function narrowed(scenario: Scenario, exhaust: ExhaustScope): Scenario {
  const { clients, sections } = exhaust;
  const kept = scenario.clients.slice(0, clients ?? scenario.clients.length);
  const gone = new Set(scenario.clients.slice(kept.length).map(({ name }) => name));
  const { queue } = scenario;
  return {
    ...scenario,
    exhaust,
    clients: kept.map((client) => ({
      ...client,
      sections: Math.min(client.sections, sections ?? client.sections),
      think: shortest(client.think),
    })),
    ...(queue === undefined ? {} : { queue: { ...queue, duplicates: null } }),
    network: { ...scenario.network, latency: shortest(scenario.network.latency) },
    faults: scenario.faults.map((fault) => onlyOn((name) => !gone.has(name), fault)),
    isSwarm: false,
  };
}

function shortest({ minUs }: RangeUs): RangeUs {
  return { minUs, maxUs: minUs };
}

/** Returns the plan of one system of a narrowed scenario, without faults. */
export function basePlan(scenario: Scenario, system: string): Plan {
  return { ...expand(scenario, system, 0), faults: [], chance: null };
}
