/**
 * The causes of a breach as data. They are found by comparing the run with its neighbors: runs that
 * each differ in one thing, which is a neutralized event, a number moved to the other side of the
 * boundary, or a cure (another store, option or client setting). An event is a cause if the claim
 * holds without it. The turning point is the first event on the way to the breach that differs in a
 * neighbor without this breach. `search/evidence/` chooses the runs; reports and JSON contain this
 * result.
 */
import type { Trace } from '../core/history/trace.ts';
import { isRemovalByNonOwner } from './leases.ts';
import type { Evidence } from './verdict.ts';

/** The causes of a breach. The same pinned plan always gives the same result. */
export interface Causation {
  /**
   * The events without which the claim holds: each alone or, if `isPair`, both together. Faults
   * come first, then timers, then the other events in trace order.
   */
  readonly causes: readonly {
    readonly kind: 'fault' | 'message' | 'timer' | 'expiry' | 'renewal' | 'release' | 'order';
    /** Index in the plan's faults, or null for another kind of event. */
    readonly fault: number | null;
    /** Index in the trace. */
    readonly event: number;
    /** A clause without a period: `the reply to alice's acquire came 20 ms late`. */
    readonly text: string;
  }[];
  /** True if there are two causes, either of which is enough for the breach. */
  readonly isPair: boolean;
  /** The number of possible causes (`of`), and of those that were tested within the budget. */
  readonly tested: { readonly tested: number; readonly of: number };
  /**
   * First difference on the way to the breach, or null if every neighbor breaks in the same way.
   */
  readonly turn: {
    /**
     * `answer`: the same call got another answer; `grant`: another client had the lock; `order`: a
     * server handled two calls in another order; `only here`: the event did not occur in the
     * neighbor.
     */
    readonly kind: 'answer' | 'grant' | 'order' | 'only here';
    /** Index in the trace. */
    readonly event: number;
    /** Index of the neighbor that shows it. */
    readonly neighbour: number;
    /** A clause without a period. */
    readonly text: string;
  } | null;
  /**
   * Runs that each differ from the breaking one in one thing: one per possible cause that was
   * tested (or for a pair of causes), then the other side of the boundary, then the cure.
   */
  readonly neighbours: readonly {
    readonly kind: 'intervention' | 'boundary' | 'cure';
    /** `without the pause of alice`, `with a pause of alice of 10 ms`, `with store: fenced`. */
    readonly what: string;
    /** Index of the fault that was removed from the plan, or null if none was. */
    readonly fault: number | null;
    /**
     * `otherwise`: the claim also breaks there, but by another rule or for another cause. `stalls`:
     * the claim does not break there, but it could not be judged, or the sections of the breach did
     * not run.
     */
    readonly outcome: 'holds' | 'breaks' | 'otherwise' | 'stalls';
  }[];
  /**
   * A change of the system or its clients with which the claim holds under the same plan and work
   * continues, or null if no run showed one.
   */
  readonly cure: {
    /** `store: fenced`, `expires: kept`. */
    readonly change: string;
    /** The sentence of the explanation, without a period. */
    readonly text: string;
  } | null;
  /**
   * The events of the verdict's evidence, the reported causes and the turning point, in trace
   * order. Every picture includes them. Events of the verdict's evidence keep their roles. The role
   * of a cause is the kind of its fault, `foreign release`, or else the kind of the cause. The role
   * of the turning point is `turning point`.
   */
  readonly evidence: readonly Evidence[];
}

export type CauseKind = ProvenCause['kind'];
export type ProvenCause = Causation['causes'][number];
export type TurningPoint = NonNullable<Causation['turn']>;
export type Neighbour = Causation['neighbours'][number];
export type ProvenCure = NonNullable<Causation['cure']>;

/**
 * Returns the causes to report in words and pictures. If a fault is a cause, only faults, expiries
 * and removals of another client's key are reported: messages, timers, orders, and clients' actions
 * on their own locks are part of any run.
 */
export function reportedCauses(
  { events }: Trace,
  causes: readonly ProvenCause[],
): readonly ProvenCause[] {
  const isFaultless = causes.every(({ kind }) => kind !== 'fault');
  return causes.filter(({ kind, event: index }) => {
    const event = events[index];
    const isByNonOwner = event !== undefined && isRemovalByNonOwner(event);
    return isFaultless || isByNonOwner || kind === 'fault' || kind === 'expiry';
  });
}
