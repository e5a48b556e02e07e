/** A small scenario. The claim breaks on system `unfenced` and holds on `fenced`. */
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { CampaignSetting, Subject } from './setting.ts';
import { SHRINK_LIMITS } from './shrink-failures.ts';

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

export function smallSubject(): Subject {
  return { scenario: smallScenario(), file: 'small.yaml', catalogue: builtIn };
}

/** A campaign over ten seeds in this thread, without output. */
export const QUIET: CampaignSetting = {
  range: { from: 0, to: 9 },
  shard: null,
  pool: null,
  keptPlans: () => [],
  repeats: { seeds: 1 },
  reusesRealms: false,
  journal: () => null,
  stop: () => null,
  isInterrupted: () => false,
  findsEdges: false,
  shrinking: SHRINK_LIMITS,
  describe: async () => null,
  emit: () => undefined,
};
