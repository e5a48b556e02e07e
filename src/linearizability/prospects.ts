/**
 * Looks ahead for models that say what their calls await: states that no remaining call can tell
 * apart become one, and a configuration is given up when some call that must still come needs a
 * state that nothing left can bring about.
 */
import type { Json } from '../core/kernel/json.ts';
import { Awaits, none } from './awaits.ts';
import { Criticals } from './criticals.ts';
import { Integers } from './integers.ts';
import type { Model } from './model.ts';
import type { CallData } from './operation.ts';
import type { PreparedHistory } from './prepare.ts';
import type { Transitions } from './transitions.ts';

/** What the look-ahead asks of completed and crashed operations that are open. */
export interface OpenOperations {
  isPlaced(operation: number): boolean;
  /** Of one that returns: whether it comes from here on, and not perhaps before. */
  mustCome(operation: number): boolean;
}

/** What the search asks; states are numbers of the transitions, `next` is the next return. */
export interface LookAhead {
  /** The state that stands for all that what remains at `next` cannot tell from `state`. */
  canonical(next: number, state: number): number;
  /** Whether some call that must come from here on cannot. */
  isHopeless(next: number, state: number, open: OpenOperations): boolean;
}

export class Prospects<State extends Json, Call extends CallData> implements LookAhead {
  private readonly history: PreparedHistory;
  private readonly awaits: Awaits<State, Call>;
  private readonly criticals: Criticals | null;
  private readonly horizon: number;
  private readonly doStatesGrow: boolean;
  /**
   * Where states grow, by state: before which return some call is known to tell it apart, and from
   * which return on none does.
   */
  private readonly knownUntil: Integers = new Integers();
  private readonly unknownFrom: Integers = new Integers();
  /** A state that nothing tells apart from `blindFrom` on: it stands for all such there. */
  private blind = none;
  private blindFrom = Number.POSITIVE_INFINITY;

  /**
   * Only calls that return before `horizon` must come. Null for a model that does not say what its
   * calls await. Without `givesUp` nothing is hopeless.
   */
  static of<S extends Json, C extends CallData>(
    model: Model<S, C>,
    calls: readonly C[],
    history: PreparedHistory,
    transitions: Transitions<S, C>,
    { horizon, givesUp }: { readonly horizon: number; readonly givesUp: boolean },
  ): Prospects<S, C> | null {
    if (model.awaits === undefined || model.provides === undefined) return null;
    const awaits = new Awaits(model, calls, history, transitions, horizon);
    const criticals = givesUp ? new Criticals(awaits, history, horizon) : null;
    const doStatesGrow = model.approaches !== undefined;
    return new Prospects(history, awaits, criticals, { horizon, doStatesGrow });
  }

  private constructor(
    history: PreparedHistory,
    awaits: Awaits<State, Call>,
    criticals: Criticals | null,
    { horizon, doStatesGrow }: { readonly horizon: number; readonly doStatesGrow: boolean },
  ) {
    this.history = history;
    this.awaits = awaits;
    this.criticals = criticals;
    this.horizon = horizon;
    this.doStatesGrow = doStatesGrow;
  }

  /** How many returns come before the first that is hopeless from the start. */
  get starved(): number {
    return this.awaits.starved;
  }

  /** Whether `statesAt` knows: where calls add to a state, it may be any. */
  get knowsStates(): boolean {
    return !this.doStatesGrow;
  }

  /** The states that an order may have at `next`. */
  statesAt(next: number): readonly number[] {
    return [...new Set([0, ...this.awaits.providedStates()].map((s) => this.canonical(next, s)))];
  }

  canonical(next: number, state: number): number {
    const { lastAwait } = this.awaits;
    if (state < lastAwait.length && lastAwait.get(state) >= next) return state;
    if (this.doStatesGrow && this.mayGrow(next, state)) return state;
    // The search goes back to earlier returns, where more is still awaited.
    if (next < this.blindFrom) {
      this.blind = state;
      this.blindFrom = next;
    }
    return this.blind;
  }

  /** Whether calls may make a state of `state` that is still awaited at `next`. */
  private mayGrow(next: number, state: number): boolean {
    const { knownUntil, unknownFrom } = this;
    if (state >= knownUntil.length) {
      knownUntil.extend(state + 1, 0);
      unknownFrom.extend(state + 1, this.horizon + 1);
    }
    if (next < knownUntil.get(state)) return true;
    if (next >= unknownFrom.get(state)) return false;
    const { states, lastAwait } = this.awaits;
    for (let place = this.firstAwaited(next); place < states.length; place++) {
      const awaited = states[place] ?? 0;
      if (!this.awaits.leadsTo(state, awaited)) continue;
      knownUntil.set(state, lastAwait.get(awaited) + 1);
      return true;
    }
    unknownFrom.set(state, next);
    return false;
  }

  /** The place of the first awaited state that is still awaited at `next`. */
  private firstAwaited(next: number): number {
    const { states, lastAwait } = this.awaits;
    let low = 0;
    let high = states.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastAwait.get(states[middle] ?? 0) < next) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  isHopeless(next: number, state: number, open: OpenOperations): boolean {
    if (this.criticals === null) return false;
    if (this.isSomeOpenHopeless(next, state, open)) return true;
    const end = this.criticals.from(next + 1);
    for (let place = this.criticals.from(next); place < end; place++) {
      const awaited = this.criticals.at(place);
      if (this.awaits.leadsTo(state, awaited)) continue;
      if (!this.isSupplied(next, awaited, open)) return true;
    }
    return false;
  }

  /** Whether some open call needs a state that nothing can bring about before it returns. */
  private isSomeOpenHopeless(next: number, state: number, open: OpenOperations): boolean {
    const { history, awaits } = this;
    const end = history.openStart.get(next + 1);
    for (let place = history.openStart.get(next); place < end; place++) {
      const operation = history.open.get(place);
      if (operation >= this.horizon) return false;
      const callClass = history.classOf.get(operation);
      if (awaits.isGoal.get(callClass) === 0 || awaits.supplyBefore.get(operation) > next) continue;
      const awaited = awaits.awaited.get(callClass);
      if (awaits.leadsTo(state, awaited) || open.isPlaced(operation)) continue;
      if (!open.mustCome(operation)) continue;
      if (!this.isSupplied(next, awaited, open, operation)) return true;
    }
    return false;
  }

  /** Whether some open call that is not placed may bring `awaited` about. */
  private isSupplied(
    next: number,
    awaited: number,
    open: OpenOperations,
    needing: number = none,
  ): boolean {
    const { history, awaits } = this;
    const maySupply = (operation: number): boolean =>
      operation !== needing &&
      awaits.supplies(history.classOf.get(operation), awaited) &&
      !open.isPlaced(operation);
    const end = history.openStart.get(next + 1);
    for (let place = history.openStart.get(next); place < end; place++) {
      if (maySupply(history.open.get(place))) return true;
    }
    for (let crashed = 0; crashed < history.crashedOpen.get(next); crashed++) {
      if (maySupply(history.completed + crashed)) return true;
    }
    return false;
  }
}
