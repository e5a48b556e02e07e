/** Which sweep people mean who give its id, or how it begins, or nothing. */
import type { ListedSweep } from '../adapters/fleet/sweep-queue.ts';
import { groupDigits } from '../text/prose.ts';
import { UserError } from './exit.ts';

/** The sweeps whose id begins so; all for null. */
export function sweepsOf(
  sweeps: readonly ListedSweep[],
  id: string | null,
): readonly ListedSweep[] {
  const fitting = sweeps.filter((sweep) => id === null || sweep.id.startsWith(id));
  if (id !== null && fitting.length === 0) throw new UserError([`${id}: no such sweep is there`]);
  return fitting;
}

/**
 * The sweep that is meant; refused where none or several could be. Of several the only one in the
 * `preferred` state is.
 */
export function onlySweep(
  sweeps: readonly ListedSweep[],
  id: string | null,
  preferred?: ListedSweep['entry']['state'],
): ListedSweep {
  const fitting = sweepsOf(sweeps, id);
  const favoured = fitting.filter(({ entry }) => entry.state === preferred);
  const [first, ...others] = favoured.length === 1 ? favoured : fitting;
  if (first === undefined) throw new UserError(['no sweep is on this queue']);
  if (others.length === 0) return first;
  throw new UserError(['which sweep? there are several:', ...[first, ...others].map(choiceLine)]);
}

function choiceLine({ id, entry }: ListedSweep): string {
  const { origin, range } = entry.sweep;
  const seeds = `seeds ${groupDigits(range.from)}..${groupDigits(range.to)}`;
  return `  ${id}  ${origin.scenario}, ${seeds}, ${entry.state}`;
}
