/**
 * The causes of a breach as data. They are found by comparing the run with similar runs, its
 * neighbors. Each neighbor omits one event, changes one number so that the claim holds, or
 * applies a cure, such as another store. An event is a cause if the claim holds
 * without it. The turning point is the first difference from a neighbor without the breach.
 * `search/evidence/` chooses the runs; reports and JSON contain this result.
 */
import type { Trace } from '../core/history/trace.ts';
import { isWrongChange } from './leases.ts';
import type { Evidence } from './verdict.ts';

/** The causes of a breach. The same pinned plan always gives the same result. */
export interface Causation {
  /**
   * The events without which the claim holds. If `isPair`, the claim holds only without both.
   * Faults come first, then timers, then other events in trace order.
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
  /** `of` counts the possible causes, and `tested` the ones that were tested within the budget. */
  readonly tested: { readonly tested: number; readonly of: number };
  /**
   * The first difference on the way to the breach, or null if all neighbors break in the same way.
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
    /** Index of the neighbor that shows the difference. */
    readonly neighbour: number;
    /** A clause without a period. */
    readonly text: string;
  } | null;
  /**
   * The neighbors: one per tested cause or pair of causes, then the other side of the boundary,
   * then the cure.
   */
  readonly neighbours: readonly {
    readonly kind: 'intervention' | 'boundary' | 'cure';
    /** `without the pause of alice`, `with a pause of alice of 10 ms`, `with store: fenced`. */
    readonly what: string;
    /** Index of the fault that was removed from the plan, or null if none was. */
    readonly fault: number | null;
    /**
     * `otherwise`: the claim breaks by another rule or for another cause. `stalls`: the claim could
     * not be judged, or the sections of the breach did not run.
     */
    readonly outcome: 'holds' | 'breaks' | 'otherwise' | 'stalls';
  }[];
  /**
   * A change of the system or its clients that makes the claim hold while work continues, or null
   * if no run showed one.
   */
  readonly cure: {
    /** `store: fenced`, `expires: kept`. */
    readonly change: string;
    /** The sentence of the explanation, without a period. */
    readonly text: string;
  } | null;
  /**
   * The verdict's evidence, the reported causes and the turning point, in trace order. Every
   * picture includes these events. The verdict's evidence keeps its roles. A cause has its kind as
   * its role, such as `pause` or `expiry`, or the role `foreign release`.
   */
  readonly evidence: readonly Evidence[];
}

export type CauseKind = ProvenCause['kind'];
export type ProvenCause = Causation['causes'][number];
/** A cause to describe. */
export interface NamedCause extends Pick<ProvenCause, 'kind' | 'event'> {
  /** The timer, the request whose lease expired, or the first of two calls. */
  readonly named: string;
  /** True if a server's record of the request expired instead of a lease. */
  readonly isRecord?: boolean;
}
export type TurningPoint = NonNullable<Causation['turn']>;
export type Neighbour = Causation['neighbours'][number];
export type ProvenCure = NonNullable<Causation['cure']>;

/** Maximum number of causes of kind `order` to report. Only the last ones are reported. */
const MOST_ORDERS = 2;

/**
 * Returns the causes to report. Faults, expiries and the first wrong change of a key are always
 * reported. Other kinds occur in any run: they are reported only if no fault and no wrong change is
 * a cause. A client's release of its own key is reported only if nothing else is a cause.
 */
export function reportedCauses(
  trace: Trace,
  causes: readonly ProvenCause[],
): readonly ProvenCause[] {
  const first = causes.find(({ event }) => isWrongChange(trace, event));
  const isSpecial = (cause: ProvenCause): boolean => cause.kind === 'fault' || cause === first;
  const special = causes.filter((cause) => isSpecial(cause) || cause.kind === 'expiry');
  if (special.some(isSpecial)) return special;
  const others = causes.filter(({ kind }) => kind !== 'release');
  const orders = others.filter(({ kind }) => kind === 'order').slice(0, -MOST_ORDERS);
  return others.length === 0 ? causes : others.filter((cause) => !orders.includes(cause));
}
