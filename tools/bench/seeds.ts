/** Measures a sweep on one core, where its time goes, and what a second worker is worth. */
import { judge } from '../../src/check/claims.ts';
import { termsOf } from '../../src/check/terms.ts';
import { run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import { claimsJudged } from '../../src/search/sweep/examiner.ts';
import { openPool } from '../../src/search/sweep/sweep.ts';
import { isFenced, modelOf } from '../../src/systems/assemble.ts';
import { formatRate, formatRatio, medianMs, type Row, type Subject } from './measure.ts';
import { fiveByFive, SYSTEM, sweepSeeds } from './workload.ts';

const SEEDS = 1_000;
const WORKER_SEEDS = 3_000;

async function seedRows(): Promise<readonly Row[]> {
  const scenario = fiveByFive();
  const claims = claimsJudged([]);
  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);
  const plans = seeds.map((seed) => expand(scenario, SYSTEM, seed));
  const runs = plans.map((plan) => ({ plan, trace: run(plan) }));
  const events = runs.reduce((sum, { trace }) => sum + trace.events.length, 0);
  const took = await medianMs({
    sweep: () => sweepSeeds(SEEDS, null),
    expand: () => seeds.map((seed) => expand(scenario, SYSTEM, seed).faults.length),
    run: () => plans.map((plan) => run(plan).events.length),
    check: () =>
      runs.map(
        ({ plan, trace }) =>
          judge(
            trace,
            termsOf(plan, { model: modelOf(plan), isFenced: isFenced(plan) }, 100_000),
            claims,
          ).length,
      ),
  });
  const ms = (name: string): number => took.get(name) ?? Number.NaN;
  const share = (name: string): string =>
    `${name} ${((100 * ms(name)) / ms('sweep')).toFixed(0)} %`;
  return [
    {
      what: `seeds of 5 clients × 5 sections, ${Math.round(events / SEEDS)} events, all claims`,
      figure: formatRate(SEEDS, ms('sweep')),
      ratio: `${share('expand')}, ${share('run')}, ${share('check')}`,
      target: '≥ 1000/s (stretch 2000)',
    },
    {
      what: 'events of those runs, without the checks',
      figure: formatRate(events, ms('run')),
      ratio: `${formatRatio(ms('run'), ms('sweep'))} the time of the sweep`,
      target: '',
    },
  ];
}

async function workerRows(): Promise<readonly Row[]> {
  // As in a long sweep, the workers have been started and are warm.
  const pools = { one: openPool({ workers: 1 }), two: openPool({ workers: 2 }) };
  const took = await medianMs({
    one: () => sweepSeeds(WORKER_SEEDS, pools.one),
    two: () => sweepSeeds(WORKER_SEEDS, pools.two),
  });
  await pools.one.close();
  await pools.two.close();
  const one = took.get('one') ?? Number.NaN;
  const two = took.get('two') ?? Number.NaN;
  return [
    {
      what: `two workers, ${WORKER_SEEDS} seeds`,
      figure: formatRate(WORKER_SEEDS, two),
      ratio: `${formatRatio(one, two)} the seeds/s of one worker`,
      target: '≥ 1.7×',
    },
  ];
}

export const seeds: Subject = {
  name: 'seeds',
  about: 'a sweep in one thread with all claims checked, and where its time goes',
  isLong: false,
  rows: seedRows,
};

export const workers: Subject = {
  name: 'workers',
  about: 'two worker threads against one',
  isLong: false,
  rows: workerRows,
};
