/** Measures a sweep on one core, its parts, and the gain from a second worker. */
import { readFileSync } from 'node:fs';
import { judge } from '../../src/check/claims.ts';
import { termsOf } from '../../src/check/terms.ts';
import { builtInParts } from '../../src/parts.ts';
import { run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { countAvoided } from '../../src/search/sweep/counterfactual.ts';
import { addCoverage, NO_COVERAGE } from '../../src/search/sweep/coverage.ts';
import { claimsJudged } from '../../src/search/sweep/examiner.ts';
import { SectionCounter } from '../../src/search/sweep/sections.ts';
import { openPool, sweep } from '../../src/search/sweep/sweep.ts';
import { isFenced, modelOf } from '../../src/systems/assemble.ts';
import {
  formatRatio,
  measure,
  PASSES,
  type Row,
  rates,
  type Subject,
  type Timing,
  times,
  wallRatio,
} from './measure.ts';
import { fiveByFive, SYSTEM, scenarioOf, sweepSeeds } from './workload.ts';

const SEEDS = 1_000;
const WORKER_SEEDS = 3_000;
/** Passes of a sweep until all of its code is compiled. */
const WARM_UPS = 5;

async function* seedRows(): AsyncIterable<Row> {
  yield* rowsOf('5 clients × 5 sections', fiveByFive(), SYSTEM, '≥ 1200/s (stretch 2000)');
  const file = new URL('../../fixtures/zombie-writer.yaml', import.meta.url);
  const zombie = scenarioOf(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
  yield* rowsOf('the zombie writer', zombie, 'unfenced', '≥ 2400/s');
}

async function* rowsOf(
  label: string,
  scenario: Scenario,
  system: string,
  target: string,
): AsyncIterable<Row> {
  const sweepAll = (): Promise<void> => sweepSeeds({ scenario, system, seeds: SEEDS });
  // Before a million events exist, which each garbage collection would traverse.
  const alone = await measure({ sweep: sweepAll }, PASSES, WARM_UPS);
  const claims = claimsJudged([]);
  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);
  const plans = seeds.map((seed) => expand(scenario, system, seed));
  const runs = plans.map((plan) => ({ plan, trace: run(plan) }));
  const events = runs.reduce((sum, { trace }) => sum + trace.events.length, 0);
  const took = await measure({
    sweep: sweepAll,
    expand: () => seeds.map((seed) => expand(scenario, system, seed).faults.length),
    run: () => plans.map((plan) => run(plan).events.length),
    check: () =>
      runs.map(
        ({ plan, trace }) =>
          judge(
            trace,
            termsOf(
              plan,
              { model: modelOf(plan, builtInParts), isFenced: isFenced(plan, builtInParts) },
              100_000,
            ),
            claims,
          ).length,
      ),
  });
  const share = (name: 'expand' | 'run' | 'check'): string =>
    `${name} ${((100 * took(name).cpuMs) / took('sweep').cpuMs).toFixed(0)} %`;
  yield {
    what: `seeds of ${label}, ${Math.round(events / SEEDS)} events, all claims`,
    ...rates(SEEDS, alone('sweep')),
    ratio: `${share('expand')}, ${share('run')}, ${share('check')}`,
    target,
  };
  yield {
    what: 'events of those runs, without the checks',
    ...rates(events, took('run')),
    ratio: `${formatRatio(took('run'), took('sweep'))} the time of the sweep`,
    target: '',
  };
}

async function* workerRows(): AsyncIterable<Row> {
  // As in a long sweep, the workers are started and warm.
  const pools = { one: openPool({ workers: 1 }), two: openPool({ workers: 2 }) };
  const sweep = { scenario: fiveByFive(), system: SYSTEM, seeds: WORKER_SEEDS };
  const took = await measure({
    one: () => sweepSeeds(sweep, pools.one),
    two: () => sweepSeeds(sweep, pools.two),
  });
  await pools.one.close();
  await pools.two.close();
  const [one, two] = [took('one').wallMs, took('two').wallMs];
  yield {
    what: `two workers, ${WORKER_SEEDS} seeds`,
    ...rates(WORKER_SEEDS, took('two')),
    ratio: `${wallRatio(one, two)} the seeds/s of one worker, on the wall`,
    target: '≥ 1.7×',
  };
}

export const seeds: Subject = {
  name: 'seeds',
  about: 'a sweep in one thread with all claims checked, and its parts',
  isLong: false,
  rows: seedRows,
};

/** Measures the cost of section counts and counterfactuals, which decide if claims can pass. */
async function* greenRows(): AsyncIterable<Row> {
  const file = new URL('../../fixtures/zombie-writer.yaml', import.meta.url);
  const scenario = scenarioOf(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
  const range = { from: 0, to: SEEDS - 1, pool: null };
  const { countsBySystem } = await sweep(scenario, range);
  const runs = scenario.systems.flatMap(({ name }) =>
    Array.from({ length: SEEDS }, (_, seed) => {
      const plan = expand(scenario, name, seed);
      return { seed, plan, trace: run(plan) };
    }),
  );
  const took = await measure({
    sweep: () => sweep(scenario, range),
    sections: () => {
      const counter = new SectionCounter();
      const coverage = { ...NO_COVERAGE };
      for (const { seed, plan, trace } of runs) {
        counter.add(seed, plan, trace);
        addCoverage(coverage, plan, trace);
      }
      return counter.counts();
    },
    avoided: () => countAvoided(scenario, countsBySystem),
  });
  const [all, sections, avoided] = [took('sweep'), took('sections'), took('avoided')];
  const without = all.cpuMs - sections.cpuMs;
  const share = ({ cpuMs }: Timing): string => `${((100 * cpuMs) / without).toFixed(1)} %`;
  const more = { cpuMs: sections.cpuMs + avoided.cpuMs, wallMs: sections.wallMs + avoided.wallMs };
  yield {
    what: `counts of sections and counterfactuals, ${runs.length} seeds of zombie-writer`,
    ...times(more),
    ratio: `${share(more)} more than a sweep without (${share(sections)} + ${share(avoided)})`,
    target: '≤ 15 %',
  };
}

export const greens: Subject = {
  name: 'greens',
  about: 'the cost of section counts and counterfactuals in a sweep',
  isLong: false,
  rows: greenRows,
};

export const workers: Subject = {
  name: 'workers',
  about: 'two worker threads against one',
  isLong: false,
  rows: workerRows,
};
