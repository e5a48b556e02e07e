/**
 * Data about the cause of a breach, found by neighboring runs that each differ in one thing: a
 * fault removed, a number moved to the other side of the boundary, or, as a cure, another store,
 * option or client setting. The turning point is the first event on the way to the breach that
 * differs in a run in which the claim holds; the change that made it hold is a cause.
 * `search/evidence/` performs the runs; reports and JSON carry this result.
 */
import type { Evidence } from './verdict.ts';

/** The cause of a breach. The same pinned plan always gives the same result. */
export interface Causation {
  /** Faults that are each necessary for the breach, in trace order. */
  readonly causes: readonly {
    /** Index in the plan's faults. */
    readonly fault: number;
    /** Index in the trace. */
    readonly event: number;
    /** A clause without a period: `the reply to alice's acquire came 20 ms late`. */
    readonly text: string;
  }[];
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
   * Runs that each differ from the breaking one in one thing: one per fault, then the other side of
   * the boundary, then the cure.
   */
  readonly neighbours: readonly {
    readonly kind: 'without fault' | 'boundary' | 'cure';
    /** `without the pause of alice`, `with a pause of alice of 10 ms`, `with store: fenced`. */
    readonly what: string;
    /** Index of the fault that was removed from the plan, or null if none was. */
    readonly fault: number | null;
    /** `otherwise`: the claim also breaks there, but by another rule or for another cause. */
    readonly outcome: 'holds' | 'breaks' | 'otherwise';
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
   * The events of the verdict's evidence, the causes and the turning point, in trace order. Every
   * picture includes them. The role of a cause is its kind of fault; the role of the turning point
   * is `turning point`, unless the event already has a role.
   */
  readonly evidence: readonly Evidence[];
}

export type ProvenCause = Causation['causes'][number];
export type TurningPoint = NonNullable<Causation['turn']>;
export type Neighbour = Causation['neighbours'][number];
export type ProvenCure = NonNullable<Causation['cure']>;
