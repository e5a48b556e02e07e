/**
 * Law: a seed means the plan that it did, a plan the trace, and a trace the verdicts and words: of
 * every scenario that ships, of locks that people bring, and of traces with gaps, ties and other
 * oddities that no run of ours leaves behind.
 */
import { beforeAll, test } from 'vitest';
import { builtIn, type Catalogue } from '../../src/catalogue.ts';
import { builtInClaims } from '../../src/check/claims.ts';
import { explain, inWords } from '../../src/check/explain.ts';
import type { Trace } from '../../src/core/history/trace.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { renderPlan } from '../../src/core/plan/plan-text.ts';
import { judgeRun } from '../../src/examine.ts';
import { examineEither } from '../../src/host/async/run-async.ts';
import { digestOf, run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { keyUsersScenario, withKeyUsers } from '../key-users.ts';
import { ownKinds, ownLocks, ownScenario } from '../own-locks.ts';
import { ALTERATIONS, altered } from './altered.ts';
import { digest, heldIn } from './as-before.ts';
import { families, planOf, scenarioOf, scenarios } from './shipped.ts';

const hold = heldIn('runs');
const SEEDS = 2;

const ways = [...ALTERATIONS.keys()];

interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly catalogue: Catalogue;
}

const cases: readonly Case[] = [
  ...scenarios.map(([name, text]) => {
    return { name, scenario: scenarioOf(name, text), catalogue: builtIn };
  }),
  ...ownKinds.map((kind) => {
    return { name: kind.title, scenario: ownScenario(kind, false), catalogue: ownLocks };
  }),
  { name: 'keys of others', scenario: keyUsersScenario(), catalogue: withKeyUsers },
];

const kept = families.map(([family, files]) => {
  return { name: `kept: ${family}`, plans: files.map((file) => planOf(...file)) };
});

beforeAll(() => prepare(kept.flatMap(({ plans }) => plans.map(({ system }) => system))));
beforeAll(() => prepare(cases.flatMap(({ scenario }) => scenario.systems)));

/** Verdicts, what each breach came from, and what is measured. */
function judged(
  plan: Plan,
  trace: Trace,
  catalogue: Catalogue,
): Record<'verdicts' | 'words', unknown> {
  const claims = [...builtInClaims.keys()];
  const { plan: _, trace: __, causes, ...rest } = judgeRun(plan, trace, claims, catalogue);
  const words = rest.verdicts.flatMap((verdict) =>
    verdict.kind === 'invalid' ? [inWords(explain(trace, verdict))] : [],
  );
  return { verdicts: { ...rest, causes: [...causes] }, words };
}

test.each(cases)('$name: a seed gives the plan, trace and verdicts that it gave', async (one) => {
  const { name, scenario, catalogue } = one;
  const ours: ReturnType<typeof judged>[] = [];
  const others: ReturnType<typeof judged>[] = [];
  const traces: string[] = [];
  const plans = scenario.systems.flatMap(({ name: system }) =>
    Array.from({ length: SEEDS }, (_, seed) => expand(scenario, system, seed)),
  );
  for (const [at, plan] of plans.entries()) {
    const { trace } = await examineEither(plan, [], catalogue);
    traces.push(digestOf(trace));
    ours.push(judged(plan, trace, catalogue));
    others.push(judged(plan, altered(trace, ways[at % ways.length] ?? '', at), catalogue));
  }
  const { tallies } = await sweep(scenario, { from: 0, to: SEEDS - 1, pool: null, catalogue });
  hold(name, {
    plans: digest(plans.map((plan) => renderPlan(plan))),
    traces: digest(traces),
    verdicts: digest(ours.map(({ verdicts }) => verdicts)),
    words: digest(ours.map(({ words }) => words)),
    tallies: digest([...tallies]),
    'altered: verdicts': digest(others.map(({ verdicts }) => verdicts)),
    'altered: words': digest(others.map(({ words }) => words)),
  });
});

test.each(kept)('$name: a plan gives the verdicts and words that it gave', ({ name, plans }) => {
  const runs = plans.map((plan) => ({ plan, trace: run(plan) }));
  const ours = runs.map(({ plan, trace }) => judged(plan, trace, builtIn));
  const others = runs.flatMap(({ plan, trace }, at) =>
    [2 * at, 2 * at + 1].map((which) =>
      judged(plan, altered(trace, ways[which % ways.length] ?? '', which), builtIn),
    ),
  );
  hold(name, {
    traces: digest(runs.map(({ trace }) => digestOf(trace))),
    verdicts: digest(ours.map(({ verdicts }) => verdicts)),
    words: digest(ours.map(({ words }) => words)),
    'altered: verdicts': digest(others.map(({ verdicts }) => verdicts)),
    'altered: words': digest(others.map(({ words }) => words)),
  });
});
