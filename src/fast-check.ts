/**
 * `fencepost/fast-check`: the plans of a scenario as a fast-check arbitrary, for properties that
 * people write themselves. A plan that fails one is made smaller by fencepost's own shrinker.
 */
import { Arbitrary, integer, type Random, Stream, Value } from 'fast-check';
import { requireVersions } from './adapters/installed-version.ts';
import { builtIn, type Catalogue } from './catalogue.ts';
import type { Plan } from './core/plan/plan.ts';
import { shrink } from './core/shrink/shrink.ts';
import { isSimpler } from './core/shrink/simpler.ts';
import { pin } from './run.ts';
import { expand } from './scenario/expand.ts';
import type { Scenario } from './scenario/scenario.ts';
import { isAsync } from './systems/assemble.ts';

requireVersions(['fast-check']);

export interface PlanArbitraryOptions {
  /** The highest seed; `2³¹ − 1` by default. */
  readonly maxSeed?: number;
  /** What the scenario's words mean; built-in ones by default. */
  readonly catalogue?: Catalogue;
}

/**
 * Plans of one system of a scenario, each expanded from a seed: inside the ranges and bounds that
 * the scenario allows. `await prepare(scenario.systems)` comes first where a store needs it. A
 * counterexample is pinned, and then loses clients, sections and faults, and its times get lower
 * and rounder, as long as the property fails; smaller seeds would mean nothing.
 */
export function planArbitrary(
  scenario: Scenario,
  system: string,
  options: PlanArbitraryOptions = {},
): Arbitrary<Plan> {
  return new PlanArbitrary(scenario, system, options);
}

const MAX_SEED = 2 ** 31 - 1;
/** As many candidates of one plan as fast-check is offered. */
const MAX_CANDIDATES = 1_000;

class PlanArbitrary extends Arbitrary<Plan> {
  private readonly scenario: Scenario;
  private readonly system: string;
  private readonly catalogue: Catalogue;
  private readonly seeds: Arbitrary<number>;

  constructor(
    scenario: Scenario,
    system: string,
    { maxSeed = MAX_SEED, catalogue = builtIn }: PlanArbitraryOptions,
  ) {
    super();
    if (!scenario.systems.some(({ name }) => name === system)) {
      throw new Error(`${scenario.name} has no system ${system}`);
    }
    this.scenario = scenario;
    this.system = system;
    this.catalogue = catalogue;
    this.seeds = integer({ min: 0, max: maxSeed });
  }

  override generate(random: Random): Value<Plan> {
    // Without the bias towards small seeds, which would try the same few again and again.
    const seed = this.seeds.generate(random, undefined).value;
    return new Value(expand(this.scenario, this.system, seed), undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is Plan {
    return typeof value === 'object' && value !== null && 'fencepost' in value;
  }

  override shrink(plan: Plan): Stream<Value<Plan>> {
    const { catalogue } = this;
    // To pin asynchronous code takes a run that nobody here could wait for.
    const isAsIs = plan.chance === null || isAsync(plan, catalogue);
    const simpler = isAsIs ? candidatesOf(plan) : [pin(plan, catalogue)].values();
    return new Stream(simpler).map((candidate) => new Value(candidate, undefined));
  }
}

/** What the shrinker would try on `plan` next, one after the other, if none of it failed. */
function* candidatesOf(plan: Plan): IterableIterator<Plan> {
  const steps = shrink(plan, { maxRuns: MAX_CANDIDATES });
  let step = steps.next();
  let isPlanItself = true;
  while (step.done !== true) {
    // Where the boundary lies is asked with plans that are no simpler, and is not of interest here.
    if (!isPlanItself && isSimpler(step.value, plan)) yield step.value;
    step = steps.next(isPlanItself);
    isPlanItself = false;
  }
}
