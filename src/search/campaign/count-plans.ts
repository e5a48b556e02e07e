/** Counts and numbers the plans of an exhaustive search before any plan is judged. */
import type { Scenario } from '../../scenario/scenario.ts';
import { NumberedPlans, type PlanCount } from '../exhaust/exhaust.ts';
import { rangeOfShard, type SeedRange, type Shard } from '../sweep/shards.ts';
import type { NumberRange } from '../sweep/sweep.ts';
import { performTask, type TaskContext } from '../sweep/tasks.ts';

/** All plans of one system, by number. */
export interface ExhaustedPlans {
  readonly plans: number;
  readonly numbered: NumberedPlans;
  readonly range: NumberRange;
}

/** Thrown if a system has too many plans. `plans` is a lower bound or an estimate. */
export class TooManyPlans extends Error {
  readonly system: string;
  readonly plans: number;

  constructor(system: string, plans: number) {
    super(`${system} has too many plans`);
    this.system = system;
    this.plans = plans;
  }
}

/** Stands in for a failed count: only the plan without faults. */
const NOT_COUNTED: PlanCount = { plans: 1, blocks: [], stopped: 'stopped' };

/**
 * Returns all plans of each system. Throws `TooManyPlans` if a system has too many. Calls
 * `onUncounted` with each system that could not be counted and the reason. The reason is null if
 * counting was stopped.
 */
export async function countAllPlans(
  scenario: Scenario,
  context: TaskContext,
  onUncounted: (system: string, why: string | null) => void | Promise<void>,
): Promise<ReadonlyMap<string, ExhaustedPlans>> {
  const all = new Map<string, ExhaustedPlans>();
  for (const { name: system } of scenario.systems) {
    const end = await performTask({ kind: 'count', scenario, system }, context);
    const counted = end.kind === 'counted' ? end.count : NOT_COUNTED;
    if (counted.stopped === 'too many') throw new TooManyPlans(system, counted.plans);
    if (counted.stopped === 'stopped') {
      const lost = end.kind === 'lost' ? `${end.where}: ${end.why}` : null;
      await onUncounted(system, end.kind === 'threw' ? end.error : lost);
    }
    const { plans, blocks } = counted;
    const numbered = new NumberedPlans(scenario, system, blocks);
    all.set(system, { plans, numbered, range: { from: 0, to: plans - 1, blocks } });
  }
  return all;
}

export function widest(all: ReadonlyMap<string, ExhaustedPlans>): SeedRange {
  return { from: 0, to: Math.max(...[...all.values()].map(({ plans }) => plans)) - 1 };
}

/** Returns the numbers of each system's plans that are in both `asked` and the shard. */
export function rangesOf(
  all: ReadonlyMap<string, ExhaustedPlans>,
  asked: SeedRange,
  shard: Shard | null,
): ReadonlyMap<string, NumberRange> {
  const ranges = [...all].map(([system, { range }]): [string, NumberRange] => {
    const { from, to } = shard === null ? range : rangeOfShard(range, shard);
    const overlap = { from: Math.max(from, asked.from), to: Math.min(to, asked.to) };
    return [
      system,
      { from: overlap.from, to: Math.max(overlap.to, overlap.from - 1), blocks: range.blocks },
    ];
  });
  return new Map(ranges);
}
