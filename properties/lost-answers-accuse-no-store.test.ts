/**
 * Law: a client that never learns whether its call took effect learns nothing about the store. So
 * with lost or late requests and answers, and clients that give up and retry, no store that meets
 * its specification is judged to break it.
 */
import { beforeAll, expect, test } from 'vitest';
import { examine } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { prepare, storeKinds } from '../src/systems/store/store-kinds.ts';
import { runs } from './runs.ts';

const STORES = [...storeKinds].flatMap(([name, { model, notGuaranteed }]) =>
  model === null || notGuaranteed.includes('linearizable') ? [] : [name],
);

/** Leases are short and answers are often lost, so that holders overlap and tokens interleave. */
function scenarioOf(tries: number): Scenario {
  const systems = STORES.map((store) => `  ${store}: { lock: lock-service, store: ${store} }`);
  const text = `name: lost-answers
systems:
${systems.join('\n')}
clients: { count: 3, ttl: 5ms, sections: 6, think: 0ms..5ms, storeTimeout: 8ms, tries: ${tries} }
workload: { steps: [read: {}, read: {}, write: {}] }
network: { latency: 1ms..3ms }
faults:
  - drop: { chance: 25% }
  - delay: { chance: 25%, by: 5ms..40ms }
  - reset: { from: clients, to: stores, at: 0ms..60ms, chance: 1/4 }
`;
  const read = loadScenario(text, 'lost-answers.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

beforeAll(() => prepare(scenarioOf(1).systems));

test.each(STORES)('%s meets its specification, and is not judged to break it', (store) => {
  let judged = 0;
  let lost = 0;
  for (const tries of [1, 3]) {
    const scenario = scenarioOf(tries);
    for (let seed = 0; seed < runs(200); seed += 1) {
      const { trace, verdicts } = examine(expand(scenario, store, seed), ['linearizable']);
      expect(verdicts[0]?.kind, `tries ${tries}, seed ${seed}`).not.toBe('invalid');
      if (verdicts[0]?.kind === 'valid') judged += 1;
      lost += trace.events.filter((one) => one.kind === 'return' && one.outcome === 'info').length;
    }
  }
  expect(judged).toBeGreaterThan(runs(200));
  expect(lost).toBeGreaterThan(runs(200));
});
