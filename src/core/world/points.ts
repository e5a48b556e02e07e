/**
 * The named points of a run at which a plan places faults: before or after an operation, or at a
 * mark.
 */
import { addTo } from '../kernel/entries.ts';
import type { Name } from '../kernel/name.ts';
import type { Fault } from '../plan/fault.ts';

export type Side = 'before' | 'after';

export class Points {
  private readonly before: Map<string, number[]> = new Map();
  private readonly after: Map<string, number[]> = new Map();
  private readonly injectFault: (index: number) => void;

  constructor(faults: readonly Fault[], injectFault: (index: number) => void) {
    this.injectFault = injectFault;
    faults.forEach((fault, index) => {
      if (!('when' in fault) || fault.when.kind === 'at') return;
      const side = fault.when.kind === 'before' ? this.before : this.after;
      addTo(side, fault.when.point, index);
    });
  }

  /** Injects the faults that wait at this point, each once. Returns true if there were any. */
  pass(side: Side, point: Name): boolean {
    const waiting = side === 'before' ? this.before : this.after;
    if (waiting.size === 0) return false;
    const indexes = waiting.get(point.text);
    if (indexes === undefined) return false;
    waiting.delete(point.text);
    for (const index of indexes) this.injectFault(index);
    return true;
  }
}
