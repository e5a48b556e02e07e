/**
 * Law: of every scenario that ships, a seed means the plan that it did, a plan the trace, and a
 * trace the verdicts and words, also where it is odder than any that a run of ours leaves behind.
 */
import { beforeAll, test } from 'vitest';
import { builtInClaims } from '../../src/check/claims.ts';
import { explain, inWords } from '../../src/check/explain.ts';
import type { Trace } from '../../src/core/history/trace.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { renderPlan } from '../../src/core/plan/plan-text.ts';
import { judgeRun } from '../../src/examine.ts';
import { digestOf, run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { ALTERATIONS, altered } from './altered.ts';
import { digest, heldIn } from './as-before.ts';
import { scenarioOf, scenarios } from './shipped.ts';

const hold = heldIn('runs');
const SEEDS = 2;

const ways = [...ALTERATIONS.keys()];

beforeAll(() => prepare(scenarios.flatMap((at) => scenarioOf(...at).systems)));

/** Verdicts, what each breach came from, and what is measured. */
function judged(plan: Plan, trace: Trace): { readonly verdicts: unknown; readonly words: unknown } {
  const { plan: _, trace: __, causes, ...rest } = judgeRun(plan, trace, [...builtInClaims.keys()]);
  const words = rest.verdicts.flatMap((verdict) =>
    verdict.kind === 'invalid' ? [inWords(explain(trace, verdict))] : [],
  );
  return { verdicts: { ...rest, causes: [...causes] }, words };
}

test.each(scenarios)(
  '%s: a seed gives the plan, trace and verdicts that it gave',
  async (name, text) => {
    const scenario = scenarioOf(name, text);
    const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);
    const plans = scenario.systems.flatMap(({ name: system }) =>
      seeds.map((seed) => expand(scenario, system, seed)),
    );
    const traced = plans.map((plan) => ({ plan, trace: run(plan) }));
    const odd = traced.map(({ plan, trace }, at) => {
      return { plan, trace: altered(trace, ways[at % ways.length] ?? '', at) };
    });
    const ours = traced.map(({ plan, trace }) => judged(plan, trace));
    const others = odd.map(({ plan, trace }) => judged(plan, trace));
    const { tallies } = await sweep(scenario, { from: 0, to: SEEDS - 1, pool: null });
    hold(name, {
      plans: digest(plans.map((plan) => renderPlan(plan))),
      traces: digest(traced.map(({ trace }) => digestOf(trace))),
      verdicts: digest(ours.map(({ verdicts }) => verdicts)),
      words: digest(ours.map(({ words }) => words)),
      tallies: digest([...tallies]),
      'altered: verdicts': digest(others.map(({ verdicts }) => verdicts)),
      'altered: words': digest(others.map(({ words }) => words)),
    });
  },
);
