/** A small scenario, for the tests of this folder. */
import { loadScenario } from '../load.ts';
import type { Scenario } from '../scenario/scenario.ts';

const TEXT = `
name: small
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { breaks: [fence-monotone] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [fence-monotone] } }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]
`;

export function smallScenario(): Scenario {
  const read = loadScenario(TEXT, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}
