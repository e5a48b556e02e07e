/**
 * Determines which of two plans is simpler, independently of the passes. A candidate that is not
 * strictly simpler is never run, so shrinking terminates.
 */
import { instantOf } from '../plan/fault.ts';
import type { Plan, SectionPlan, Work } from '../plan/plan.ts';
import { parametersOf } from './parameter.ts';
import { digitsOf } from './round.ts';

type Scale = (plan: Plan) => number;

/**
 * Measures of complexity, most important first. The first scale on which two plans differ decides.
 * All values are non-negative integers, so the order is well-founded.
 */
export const scales: ReadonlyMap<string, Scale> = new Map<string, Scale>([
  ['chance', (plan) => (plan.chance === null ? 0 : 1)],
  ['clients', (plan) => plan.clients.length],
  ['probe', (plan) => (plan.limits.probe ? 1 : 0)],
  ['faults', (plan) => plan.faults.length],
  ['messages', ({ queue }) => (queue?.messages.length ?? 0) + (queue?.copies.length ?? 0)],
  ['sections', (plan) => sectionsOf(plan).length],
  ['steps of work', (plan) => workOf(plan).length],
  ['decisions', (plan) => Object.keys(plan.decisions).length],
  ['order', (plan) => plan.order.length],
  ['features', countFeatures],
  ['instants', (plan) => plan.faults.filter((fault) => (instantOf(fault) ?? 0) > 0).length],
  ['digits', (plan) => sum(parametersOf(plan).map(({ value }) => digitsOf(value)))],
  ['time', (plan) => sum(parametersOf(plan).map(({ value }) => value))],
  ['values', (plan) => sum(workOf(plan).map(writtenValue))],
]);

/** Returns true if `candidate` is strictly simpler than `other`. */
export function isSimpler(candidate: Plan, other: Plan): boolean {
  for (const scale of scales.values()) {
    const difference = scale(candidate) - scale(other);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export function sectionsOf(plan: Plan): readonly SectionPlan[] {
  return plan.clients.flatMap((client) => client.sections);
}

export function workOf(plan: Plan): readonly Work[] {
  return sectionsOf(plan).flatMap((section) => section.work);
}

/** Counts the differences of clients, partitions and writes from the plainest plan. */
function countFeatures(plan: Plan): number {
  const members = plan.faults.map((fault) =>
    fault.kind === 'partition' ? fault.from.length + fault.to.length : 0,
  );
  const hasty = workOf(plan).filter((work) => work.kind === 'write' && !work.awaits);
  const features = plan.clients.map(
    ({ pool, tries, attempts, releases, concurrency = 1 }) =>
      pool - 1 + tries - 1 + attempts - 1 + concurrency - 1 + (releases ? 1 : 0),
  );
  return sum(features) + sum(members) + hasty.length;
}

function writtenValue(work: Work): number {
  if (work.kind === 'write' || work.kind === 'memoize') return Math.abs(work.value);
  if (work.kind === 'increment') return Math.max(0, Math.abs(work.by ?? 1) - 1);
  return work.kind === 'transfer' ? Math.abs(work.amount) : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
