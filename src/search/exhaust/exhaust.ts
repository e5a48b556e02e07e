/**
 * Examines every plan of a narrowed scenario with at most a given number of faults. Faults are
 * placed at all points, messages and processes that the scenario allows, with lengths at every
 * threshold.
 *
 * Read next: `narrowed.ts` (what may vary), `slots.ts` (where a fault can be placed), `swaps.ts`
 * (which tied events can be reordered) and `placements.ts` (enumerates and numbers the plans). This
 * file counts the plans and finds them by number. `sweep/sweep.ts` examines the plans like seeds,
 * in chunks, on threads and in shards.
 *
 * Bounding the faults and trying all of them follows the small scope hypothesis (D. Jackson) and
 * iterative context bounding (M. Musuvathi, S. Qadeer, 2007).
 */
import { assert } from '../../core/kernel/assert.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ExhaustScope, Scenario } from '../../scenario/scenario.ts';
import { basePlan } from './narrowed.ts';
import {
  type Departures,
  departing,
  type Placement,
  Placements,
  type PlanBlock,
  plansIn,
} from './placements.ts';
import type { Watching } from './slots.ts';

/** All plans of one system, numbered from 0. */
export interface PlanCount {
  readonly plans: number;
  /** In ascending order. */
  readonly blocks: readonly PlanBlock[];
  /** The reason why counting ended early, or null if all plans were counted. */
  readonly stopped: 'too many' | 'stopped' | null;
}

/** Maximum number of plans. A smaller scope gives an answer sooner. */
export const MOST_PLANS = 1_000_000;

interface CountOptions extends Watching {
  /** Called before each run that may add plans. */
  readonly shouldStop?: () => boolean;
  /** Maximum number of plans. Default: `MOST_PLANS`. */
  readonly most?: number;
}

/** Counts the plans of a system of a narrowed scenario. The stores must be prepared. */
export async function countPlans(
  scenario: Scenario,
  system: string,
  { shouldStop = () => false, most = MOST_PLANS, ...watching }: CountOptions,
): Promise<PlanCount> {
  const placements = new Placements(basePlan(scenario, system), scenario.faults, watching);
  const blocks: PlanBlock[] = [];
  let plans = 1;
  for (const { grown, more, keep } of growthsOf(placements, scenario.exhaust)) {
    const expected = plans + (await aboutAfter(grown, more));
    if (expected > 2 * most) return { plans: expected, blocks, stopped: 'too many' };
    for (const departures of grown) {
      if (shouldStop()) return { plans, blocks, stopped: 'stopped' };
      const placed = await more(departures);
      const found = plansIn({ departures, placed });
      if (found.length === 0) continue;
      blocks.push({ from: plans, to: plans + found.length - 1, departures, placed });
      plans += found.length;
      if (plans > most) return { plans, blocks, stopped: 'too many' };
      keep(found);
    }
  }
  return { plans, blocks, stopped: null };
}

/** The plans in `grown`, to which `more` adds a departure. `keep` stores the resulting plans. */
interface Growth {
  readonly grown: readonly Departures[];
  readonly more: (departures: Departures) => Promise<readonly Placement[]>;
  readonly keep: (found: readonly Departures[]) => void;
}

/**
 * Yields plans in order of their number of faults, then of swaps. Each plan results from the plan
 * without its last departure.
 */
function* growthsOf(placements: Placements, scope?: ExhaustScope): Generator<Growth> {
  const { faults: most = 0, ties = 0 } = scope ?? {};
  const grid: Departures[][][] = [];
  const at = (faults: number, swaps: number): Departures[] => grid[faults]?.[swaps] ?? [];
  for (let faults = 0; faults <= most; faults += 1) {
    grid.push(Array.from({ length: ties + 1 }, () => []));
    for (let swaps = 0; swaps <= ties; swaps += 1) {
      const all = at(faults, swaps);
      if (faults + swaps === 0) all.push([]);
      const isLast = faults === most && swaps === ties;
      const keep = (found: readonly Departures[]): void => {
        if (!isLast) for (const departures of found) all.push(departures);
      };
      if (faults > 0) {
        yield { grown: at(faults - 1, swaps), more: (from) => placements.after(from), keep };
      }
      for (let by = 1; by <= swaps; by += 1) {
        const more: Growth['more'] = (from) => placements.swapsAfter(from, by);
        yield { grown: at(faults, swaps - by), more, keep };
      }
    }
  }
}

/** Number of evenly spread plans whose extensions are counted for an estimate. */
const SAMPLE = 32;

async function aboutAfter(plans: readonly Departures[], more: Growth['more']): Promise<number> {
  if (plans.length < 8 * SAMPLE) return 0;
  const step = Math.floor(plans.length / SAMPLE);
  let found = 0;
  for (let at = 0; at < SAMPLE; at += 1) {
    const departures = plans[at * step] ?? [];
    found += plansIn({ departures, placed: await more(departures) }).length;
  }
  return Math.round((found / SAMPLE) * plans.length);
}

/** The plans of one system by number. Their blocks must be known. */
export class NumberedPlans {
  private readonly base: Plan;
  private readonly blocks: readonly PlanBlock[];
  private latest: { readonly block: PlanBlock; readonly plans: readonly Departures[] } | null =
    null;

  constructor(scenario: Scenario, system: string, blocks: readonly PlanBlock[]) {
    this.base = basePlan(scenario, system);
    this.blocks = blocks;
  }

  planOf(number: number): Plan {
    if (number === 0) return this.base;
    const { block, plans } = this.blockOf(number);
    const departures = plans[number - block.from];
    assert(departures !== undefined, `block ${block.from}..${block.to} lacks plan ${number}`);
    return departing(this.base, departures);
  }

  private blockOf(number: number): {
    readonly block: PlanBlock;
    readonly plans: readonly Departures[];
  } {
    if (this.latest !== null && isIn(this.latest.block, number)) return this.latest;
    const block = this.blocks.find((candidate) => isIn(candidate, number));
    assert(block !== undefined, `the block of plan ${number} is not known`);
    this.latest = { block, plans: plansIn(block) };
    return this.latest;
  }

  /** Returns the base plan with the faults and the order of another system's plan. */
  planWith({ faults, order }: Plan): Plan {
    return { ...this.base, faults, order };
  }
}

function isIn({ from, to }: PlanBlock, number: number): boolean {
  return from <= number && number <= to;
}

export function blocksIn(
  blocks: readonly PlanBlock[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly PlanBlock[] {
  return blocks.filter((block) => block.from <= to && from <= block.to);
}
