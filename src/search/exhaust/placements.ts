/**
 * Every plan that differs from a base by at most so many faults, each set of them once. The faults
 * of a plan stand in the order in which they strike. Nothing that happens before a fault strikes
 * depends on it, so a plan with one fault more is found from the run of the plan without its last
 * one: the next fault is placed at, or after, where the last one struck. Of several at one place
 * the order of their keys is taken.
 *
 * Plans are numbered: first the base, then all with one fault, then all with two, so that the first
 * counterexample has the fewest. All that one run leads to have numbers in a row, a `PlanBlock`,
 * which says all of them: nothing need be run again to find a plan by its number, on any machine.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { FaultTemplate } from '../../scenario/scenario.ts';
import { amountsOf } from './amounts.ts';
import { amountingTo, keyOf, type Slot, Slots, struckAt, type Watched, watchRun } from './slots.ts';

/** In the order in which they strike. */
export type Faults = readonly Fault[];

/** A fault at one place, with each of the amounts that it is tried with; null where it has none. */
export interface Placement {
  readonly fault: Fault;
  readonly amounts: readonly number[] | null;
}

/** The plans with these faults and one more, in their order; both numbers are included. */
export interface PlanBlock {
  readonly from: number;
  readonly to: number;
  readonly faults: Faults;
  readonly next: readonly Placement[];
}

/** The faults of each plan of a block. */
export function plansIn({ faults, next }: Pick<PlanBlock, 'faults' | 'next'>): readonly Faults[] {
  return next.flatMap(({ fault, amounts }) => {
    if (amounts === null) return [[...faults, fault]];
    return amounts.map((us) => [...faults, amountingTo(fault, us)]);
  });
}

/** Finds what may follow the faults of a plan. */
export class Placements {
  private readonly base: Plan;
  private readonly catalogue: Catalogue;
  private readonly slots: Slots;

  constructor(base: Plan, templates: readonly FaultTemplate[], catalogue: Catalogue) {
    this.base = base;
    this.catalogue = catalogue;
    this.slots = new Slots(templates);
  }

  planOf(faults: Faults): Plan {
    return { ...this.base, faults };
  }

  /** What may strike next; nothing where the last of these does not strike. */
  async after(faults: Faults): Promise<readonly Placement[]> {
    const watched = await watchRun(this.planOf(faults), this.catalogue);
    const next: Placement[] = [];
    for (const slot of followersOf(this.slots.in(watched), watched)) {
      const { range, fault } = slot;
      if (range === null || range.minUs === range.maxUs) {
        next.push({ fault: fault(range?.minUs ?? 0), amounts: null });
        continue;
      }
      const longest = this.planOf([...faults, fault(range.maxUs)]);
      const largest = await watchRun(longest, this.catalogue);
      next.push({ fault: fault(range.minUs), amounts: amountsOf(slot, range, largest) });
    }
    return next;
  }
}

/** The slots that may follow the last fault of the run. */
function followersOf(
  slots: readonly Slot[],
  { plan: { faults }, strikes }: Watched,
): readonly Slot[] {
  const last = faults.at(-1);
  if (last === undefined) return slots;
  const lastStrike = strikes.get(faults.length - 1);
  if (lastStrike === undefined) return [];
  const [lastPlace, lastKey] = [struckAt(last), keyOf(last)];
  return slots.filter(({ place, position, key }) => {
    return place === lastPlace ? key > lastKey : position > lastStrike;
  });
}
