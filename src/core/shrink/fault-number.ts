/**
 * The numbers of a fault: its amount (how long, how late, how far) and its instant, read and
 * replaced. Amounts are magnitudes in microseconds; a clock's step keeps its sign.
 */
import type { Fault } from '../plan/fault.ts';
import type { Bounds, RangeUs } from '../plan/plan.ts';

/** How long the fault lasts, how late it makes its message, how far it steps; null for none. */
export function amountOf(fault: Fault): number | null {
  switch (fault.kind) {
    case 'pause':
    case 'partition':
      return fault.forUs;
    case 'crash':
      return fault.restartAfterUs;
    case 'failover':
      return fault.lagUs;
    case 'delay':
    case 'duplicate':
    case 'late-timer':
      return fault.byUs;
    case 'clock':
      return fault.stepUs === 0 ? null : Math.abs(fault.stepUs);
    default:
      return null;
  }
}

/** The same fault with another amount; a fault that has none stays as it is. */
export function withAmount(fault: Fault, amountUs: number): Fault {
  if (amountOf(fault) === null) return fault;
  switch (fault.kind) {
    case 'pause':
    case 'partition':
      return { ...fault, forUs: amountUs };
    case 'crash':
      return { ...fault, restartAfterUs: amountUs };
    case 'failover':
      return { ...fault, lagUs: amountUs };
    case 'delay':
    case 'duplicate':
    case 'late-timer':
      return { ...fault, byUs: amountUs };
    case 'clock':
      return { ...fault, stepUs: amountUs === 0 ? 0 : Math.sign(fault.stepUs) * amountUs };
    default:
      return fault;
  }
}

/** Where the fault's amount may lie; a kind that the bounds do not name may only get smaller. */
export function amountRangeOf(fault: Fault, bounds: Bounds): RangeUs {
  const amountUs = amountOf(fault) ?? 0;
  if (fault.kind === 'clock') return { minUs: 0, maxUs: bounds.skewUs ?? amountUs };
  return bounds.durations[fault.kind] ?? { minUs: 0, maxUs: amountUs };
}

/** The instant at or from which the fault strikes; null when it strikes at something named. */
export function instantOf(fault: Fault): number | null {
  switch (fault.kind) {
    case 'delay':
    case 'drop':
    case 'duplicate':
      return fault.which.kind === 'link' ? fault.which.atUs : null;
    case 'late-timer':
      return fault.which.kind === 'process' ? fault.which.atUs : null;
    default:
      return fault.when.kind === 'at' ? fault.when.atUs : null;
  }
}

/** The same fault at another instant; a fault that strikes at something named stays as it is. */
export function withInstant(fault: Fault, atUs: number): Fault {
  switch (fault.kind) {
    case 'delay':
    case 'drop':
    case 'duplicate':
      return fault.which.kind === 'link' ? { ...fault, which: { ...fault.which, atUs } } : fault;
    case 'late-timer':
      return fault.which.kind === 'process' ? { ...fault, which: { ...fault.which, atUs } } : fault;
    default:
      return fault.when.kind === 'at' ? { ...fault, when: { kind: 'at', atUs } } : fault;
  }
}

/** Whom or what the fault strikes, for people: `alice`, `alice/1/write/1/request`. */
export function targetOf(fault: Fault): string {
  switch (fault.kind) {
    case 'delay':
    case 'drop':
    case 'duplicate':
      if (fault.which.kind === 'message') return fault.which.message;
      return `${fault.which.from} to ${fault.which.to}`;
    case 'late-timer':
      return fault.which.kind === 'timer' ? fault.which.timer : fault.which.process;
    case 'partition':
      return `${fault.from.join(', ')} and ${fault.to.join(', ')}`;
    case 'reset':
      return `${fault.from} to ${fault.to}`;
    default:
      return fault.process;
  }
}
