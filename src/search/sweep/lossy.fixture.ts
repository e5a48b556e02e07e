/** A scenario whose two systems lose updates on some seeds, which is expected only of `one`. */
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
