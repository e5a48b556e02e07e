/** Measures how long the zombie writer of `fixtures/zombie-writer.yaml` takes to shrink. */
import { readFileSync } from 'node:fs';
import { breaks, shrinkFailure } from '../../src/harness.ts';
import { expand } from '../../src/scenario/expand.ts';
import {
  measure,
  median,
  medianTiming,
  type Row,
  type Subject,
  type Timing,
  times,
} from './measure.ts';
import { scenarioOf } from './workload.ts';

const SEEDS = 300;
const CLAIM = 'grant-order';

async function* rows(): AsyncIterable<Row> {
  const file = new URL('../../fixtures/zombie-writer.yaml', import.meta.url);
  const scenario = scenarioOf(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
  const failing = Array.from({ length: SEEDS }, (_, seed) => expand(scenario, 'unfenced', seed))
    .filter((plan) => breaks(plan, CLAIM))
    .slice(0, 9);
  const shrinks: Timing[] = [];
  const examinations: Timing[] = [];
  for (const plan of failing) {
    const took = await measure({
      shrink: () => shrinkFailure(plan, CLAIM),
      examine: () => breaks(plan, CLAIM),
    });
    shrinks.push(took('shrink'));
    examinations.push(took('examine'));
  }
  const runs = median(failing.map((plan) => shrinkFailure(plan, CLAIM).runs));
  const [shrink, examine] = [medianTiming(shrinks), medianTiming(examinations)];
  yield {
    what: `the zombie shrinks, median of ${failing.length} seeds, ${runs} runs`,
    ...times(shrink),
    ratio: `${(shrink.cpuMs / examine.cpuMs).toFixed(0)}× one run and check`,
    target: '≤ 200 ms',
  };
}

export const shrinking: Subject = {
  name: 'shrinking',
  about: 'a real counterexample from its seed to the smallest plan',
  isLong: false,
  rows,
};
