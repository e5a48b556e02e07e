/**
 * Law: the shrinker, which never sees a system, makes of a plan what it made, in as many tries,
 * whatever it is told: that a plan breaks as long as it keeps some of the first one's faults,
 * clients and work, and now and then that it does so by another cause or out of place.
 */
import alea from 'seedrandom/lib/alea.js';
import { beforeAll, test } from 'vitest';
import { amountOf } from '../../src/core/plan/fault.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import type { Tried } from '../../src/core/shrink/search.ts';
import { shrinkWith } from '../../src/core/shrink/shrink.ts';
import { workOf } from '../../src/core/shrink/simpler.ts';
import { pin } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import { shapeOf } from '../../src/search/corpus/signature.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { digest, heldIn } from './as-before.ts';
import { scenarioOf, scenarios } from './shipped.ts';

const hold = heldIn('shrinks');
const MAX_RUNS = 160;

beforeAll(() => prepare(scenarios.flatMap((at) => scenarioOf(...at).systems)));

/** What a plan must keep of `whole` to break as that does; the seed says what. */
function predicate(whole: Plan, seed: number): (plan: Plan) => Tried {
  const below = alea(`predicate ${seed}`);
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(below() * list.length)];
  const fault = one(whole.faults);
  const [share, client, kind] = [below(), one(whole.clients), one(workOf(whole))?.kind];
  return (plan) => {
    if (client !== undefined && !plan.clients.some(({ name }) => name === client.name))
      return false;
    if (kind !== undefined && !workOf(plan).some((work) => work.kind === kind)) return false;
    const least = share * ((fault === undefined ? null : amountOf(fault)) ?? 0);
    const alike = plan.faults.filter((other) => other.kind === fault?.kind);
    if (fault !== undefined && !alike.some((other) => (amountOf(other) ?? 0) >= least))
      return false;
    const mood = alea(JSON.stringify(plan))();
    if (mood < 0.05 && plan !== whole) return { otherCause: 'another' };
    return mood > 0.95 && plan !== whole ? 'out of place' : true;
  };
}

test.each(scenarios)('%s: its plans are shrunk to what they were', (name, text) => {
  const scenario = scenarioOf(name, text);
  const results = scenario.systems.slice(-2).map(({ name: system }, at) => {
    const plan = pin(expand(scenario, system, 100 + at));
    return shrinkWith(plan, predicate(plan, at), { maxRuns: MAX_RUNS });
  });
  hold(name, {
    plans: digest(...results.map(({ plan }) => plan)),
    tries: digest(...results.map(({ plan: _, boundary: __, others: ___, ...tries }) => tries)),
    boundaries: digest(...results.map(({ boundary }) => boundary)),
    others: digest(...results.map(({ others }) => others)),
    shapes: digest(...results.map(({ plan }) => shapeOf(plan))),
  });
});
