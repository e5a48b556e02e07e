/**
 * `fencepost/fast-check`: the plans of a scenario as a fast-check arbitrary, for user-written
 * properties. A failing plan is shrunk by fencepost's own shrinker.
 */
import { Arbitrary, integer, type Random, Stream, Value } from 'fast-check';
import { requireVersions } from './adapters/installed-version.ts';
import type { Plan as PlanData } from './core/plan/plan.ts';
import { shrink } from './core/shrink/shrink.ts';
import { isSimpler } from './core/shrink/simpler.ts';
import { Plan, type Scenario } from './library.ts';
import { pin } from './run.ts';
import { expand } from './scenario/expand.ts';
import { isAsync } from './systems/assemble.ts';

requireVersions(['fast-check']);

/**
 * Returns an arbitrary of the plans of one system in a scenario. Each plan is expanded from a
 * random seed. A counterexample is pinned and then shrunk by fencepost, because a smaller seed is
 * not a simpler plan.
 *
 * @param options `maxSeed`: the highest seed, `2³¹ − 1` by default.
 */
export function planArbitrary(
  scenario: Scenario,
  system: string,
  { maxSeed = MAX_SEED }: { readonly maxSeed?: number } = {},
): Arbitrary<Plan> {
  return new PlanArbitrary(scenario, system, maxSeed);
}

const MAX_SEED = 2 ** 31 - 1;
/** Maximum number of candidates that fast-check gets for one plan. */
const MAX_CANDIDATES = 1_000;

class PlanArbitrary extends Arbitrary<Plan> {
  private readonly scenario: Scenario;
  private readonly system: string;
  private readonly seeds: Arbitrary<number>;

  constructor(scenario: Scenario, system: string, maxSeed: number) {
    super();
    if (!scenario.systems.includes(system)) {
      throw new Error(`${scenario.name} has no system ${system}`);
    }
    this.scenario = scenario;
    this.system = system;
    this.seeds = integer({ min: 0, max: maxSeed });
  }

  override generate(random: Random): Value<Plan> {
    // Unbiased: a bias toward small seeds would try the same few again and again.
    const seed = this.seeds.generate(random, undefined).value;
    const { data, catalogue } = this.scenario;
    return new Value(new Plan(expand(data, this.system, seed), catalogue), undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is Plan {
    return value instanceof Plan;
  }

  override shrink({ data, catalogue }: Plan): Stream<Value<Plan>> {
    // Pinning asynchronous code needs a run, which cannot be awaited here.
    const isAsIs = data.chance === null || isAsync(data, catalogue);
    const simpler = isAsIs ? candidatesOf(data) : [pin(data, catalogue)].values();
    return new Stream(simpler).map((candidate) => {
      return new Value(new Plan(candidate, catalogue), undefined);
    });
  }
}

/** Yields the candidates that the shrinker tries if none of them breaks the claim. */
function* candidatesOf(plan: PlanData): IterableIterator<PlanData> {
  const steps = shrink(plan, { maxRuns: MAX_CANDIDATES });
  let step = steps.next();
  let isPlanItself = true;
  while (step.done !== true) {
    // The search for the boundary uses plans that are not simpler; skip them.
    if (!isPlanItself && isSimpler(step.value, plan)) yield step.value;
    step = steps.next(isPlanItself);
    isPlanItself = false;
  }
}
