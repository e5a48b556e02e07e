/** A scenario with two systems that lose updates on some seeds. Only `one` is expected to. */
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';

const read = loadScenario(
  `name: lossy
systems:
  one: { lock: none, store: unfenced, expect: { breaks: [no-lost-update] } }
  two: { lock: none, store: unfenced }
workload: { kind: read-modify-write }
`,
  'lossy.yaml',
);
if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));

export const lossy: Scenario = read.scenario;
