/**
 * What a breach came from, as runs beside it show that differ in one thing: a fault taken out, a
 * number moved to the boundary's other side, or, as a cure, another store, option or client
 * setting. The first event on the way to the breach that a run which holds does not have so is the
 * turning point, and what was changed is a cause. `search/evidence/` does the runs; here is what
 * becomes of them, as data that reports and JSON carry.
 */
import type { Evidence } from './verdict.ts';

/** What a breach came from; the same plan, pinned, gives the same. */
export interface Causation {
  /** The faults without each of which the run does not break so, in the order of the trace. */
  readonly causes: readonly {
    /** Its place in the plan's faults. */
    readonly fault: number;
    /** Its place in the trace. */
    readonly event: number;
    /** `the reply to alice's acquire came 20 ms late`: a clause without its final stop. */
    readonly text: string;
  }[];
  /** The first difference on the way to the breach; null where no neighbor holds. */
  readonly turn: {
    /**
     * `answer`: the same call was answered otherwise; `grant`: another had the lock; `order`: a
     * server handled two calls in another order; `only here`: it happened in no other run.
     */
    readonly kind: 'answer' | 'grant' | 'order' | 'only here';
    /** Its place in the trace. */
    readonly event: number;
    /** Which of the neighbours shows it. */
    readonly neighbour: number;
    /** A clause without its final stop. */
    readonly text: string;
  } | null;
  /**
   * Runs that differ from the one that breaks in one thing: one per fault, then the boundary's
   * other side, then the cure.
   */
  readonly neighbours: readonly {
    readonly kind: 'without fault' | 'boundary' | 'cure';
    /** `without the pause of alice`, `with a pause of alice of 10 ms`, `with store: fenced`. */
    readonly what: string;
    /** The plan's fault that was taken out; null where none was. */
    readonly fault: number | null;
    /** `otherwise`: the claim breaks there too, but by another rule or in another way. */
    readonly outcome: 'holds' | 'breaks' | 'otherwise';
  }[];
  /**
   * A change of the system or its clients under which the same plan keeps the claim, while the work
   * goes on; null where no run showed one.
   */
  readonly cure: {
    /** `store: fenced`, `expires: kept`. */
    readonly change: string;
    /** The sentence of the explanation, without its final stop. */
    readonly text: string;
  } | null;
  /**
   * The events of the verdict's evidence, with the causes and the turning point: what no picture
   * may leave out, each with its role, in the order of the trace. A cause has its fault's kind as
   * its role, the turning point, unless it has a role already, `turning point`.
   */
  readonly evidence: readonly Evidence[];
}

export type ProvenCause = Causation['causes'][number];
export type TurningPoint = NonNullable<Causation['turn']>;
export type Neighbour = Causation['neighbours'][number];
export type ProvenCure = NonNullable<Causation['cure']>;
