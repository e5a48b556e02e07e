/**
 * Decides whether a candidate stays inside the plan's bounds. A plan that somebody wrote outside
 * them by hand can still be shrunk: no candidate may lie further outside than it did.
 */
import type { Fault } from '../plan/fault.ts';
import type { Plan, RangeUs } from '../plan/plan.ts';
import { amountOf, amountRangeOf, instantOf } from './fault-number.ts';
import { isStream, isWait } from './parameter.ts';
import { sectionsOf } from './simpler.ts';

/** By how much a plan leaves each of its bounds; bounds that it keeps do not appear. */
export type Excess = ReadonlyMap<string, number>;

/** How far `plan` lies outside its own bounds. */
export function excessOf(plan: Plan): Excess {
  const found = new Map<string, number>();
  const note = (bound: string, by: number): void => {
    if (by > (found.get(bound) ?? 0)) found.set(bound, by);
  };
  const { latency, think } = plan.bounds;
  note('latency', outside(plan.network.latencyUs, latency));
  for (const [name, us] of Object.entries(plan.decisions)) {
    if (!isWait(name) && !isStream(name)) note('decisions', outside(us, latency));
  }
  for (const section of sectionsOf(plan)) note('think', outside(section.thinkUs, think));
  for (const fault of plan.faults) noteFault(plan, fault, note);
  return found;
}

function noteFault(plan: Plan, fault: Fault, note: (bound: string, by: number) => void): void {
  const { bounds } = plan;
  if (fault.kind === 'clock') {
    const offsetUs = worstOffset(plan.faults, fault.process);
    note(`skew of ${fault.process}`, offsetUs - (bounds.skewUs ?? offsetUs));
    const ratePpm = Math.abs(fault.ratePpm);
    note(`drift of ${fault.process}`, ratePpm - (bounds.driftPpm ?? ratePpm));
    return;
  }
  if (bounds.durations[fault.kind] === undefined) note(fault.kind, Number.POSITIVE_INFINITY);
  const amountUs = amountOf(fault);
  if (amountUs !== null) note(fault.kind, outside(amountUs, amountRangeOf(fault, bounds)));
}

/**
 * The furthest that the steps of one process can take its clock from the truth. Steps at instants
 * happen in their order; where one is at a point, any order is reckoned with.
 */
function worstOffset(faults: readonly Fault[], process: string): number {
  const steps = faults.flatMap((fault) =>
    fault.kind === 'clock' && fault.process === process
      ? [{ stepUs: fault.stepUs, atUs: instantOf(fault) }]
      : [],
  );
  if (steps.some(({ atUs }) => atUs === null)) {
    const forwards = steps.reduce((total, { stepUs }) => total + Math.max(stepUs, 0), 0);
    const backwards = steps.reduce((total, { stepUs }) => total + Math.max(-stepUs, 0), 0);
    return Math.max(forwards, backwards);
  }
  let offsetUs = 0;
  let worstUs = 0;
  for (const { stepUs } of steps.sort((a, b) => (a.atUs ?? 0) - (b.atUs ?? 0))) {
    offsetUs += stepUs;
    worstUs = Math.max(worstUs, Math.abs(offsetUs));
  }
  return worstUs;
}

/** Whether `plan` lies inside its bounds, or at least no further outside than `allowed`. */
export function isWithin(plan: Plan, allowed: Excess): boolean {
  for (const [bound, by] of excessOf(plan)) {
    if (by > (allowed.get(bound) ?? 0)) return false;
  }
  return true;
}

function outside(us: number, range: RangeUs): number {
  return Math.max(range.minUs - us, us - range.maxUs, 0);
}
