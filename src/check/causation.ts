/**
 * Data about the cause of a breach, found by neighboring runs that each differ in one thing: an
 * event neutralized, a number moved to the other side of the boundary, or, as a cure, another
 * store, option or client setting. The turning point is the first event on the way to the breach
 * that differs in a run in which the claim holds; the change that made it hold is a cause.
 * `search/evidence/` performs the runs; reports and JSON carry this result.
 */
import type { Trace } from '../core/history/trace.ts';
import { isRemovalByNonOwner } from './leases.ts';
import type { Evidence } from './verdict.ts';

/** The cause of a breach. The same pinned plan always gives the same result. */
export interface Causation {
  /**
   * The events without which the claim holds, each alone unless `isPair`: faults first, both groups
   * in trace order.
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
  /** The number of possible causes, and how many of them were tested within the budget. */
  readonly tested: { readonly tested: number; readonly of: number };
  /** First difference on the way to the breach, or null if no neighbor holds. */
  readonly turn: {
    /**
     * `answer`: the same call got another answer; `grant`: another client had the lock; `order`: a
     * server handled two calls in another order; `only here`: the event occurred in no other run.
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
   * tested, then the other side of the boundary, then the cure.
   */
  readonly neighbours: readonly {
    readonly kind: 'intervention' | 'boundary' | 'cure';
    /** `without the pause of alice`, `with a pause of alice of 10 ms`, `with store: fenced`. */
    readonly what: string;
    /** Index of the fault that was removed from the plan, or null if none was. */
    readonly fault: number | null;
    /**
     * `otherwise`: the claim also breaks there, but by another rule or for another cause. `stalls`:
     * it does not break, but the sections of the breach did not run.
     */
    readonly outcome: 'holds' | 'breaks' | 'otherwise' | 'stalls';
  }[];
  /**
   * A change of the system or its clients under which the same plan keeps the claim and the work
   * still progresses, or null if no run showed one.
   */
  readonly cure: {
    /** `store: fenced`, `expires: kept`. */
    readonly change: string;
    /** The sentence of the explanation, without a period. */
    readonly text: string;
  } | null;
  /**
   * The events of the verdict's evidence, the reported causes and the turning point, in trace
   * order. Every picture includes them. The role of a cause is its kind of fault, or
   * `foreign release`, or its kind; the role of the turning point is `turning point`, unless the
   * event has a role.
   */
  readonly evidence: readonly Evidence[];
}

export type CauseKind = ProvenCause['kind'];
export type ProvenCause = Causation['causes'][number];
export type TurningPoint = NonNullable<Causation['turn']>;
export type Neighbour = Causation['neighbours'][number];
export type ProvenCure = NonNullable<Causation['cure']>;

/**
 * Returns the causes that words and pictures report. Messages, orders, and what clients did to
 * their own locks are part of any run, so they are a reason only if no fault is a cause.
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
