/** What the calls of a prepared history await and provide, as numbers of states. */
import type { Json } from '../core/kernel/json.ts';
import { Integers } from './integers.ts';
import type { Model } from './model.ts';
import type { CallData } from './operation.ts';
import type { PreparedHistory } from './prepare.ts';
import type { Transitions } from './transitions.ts';

/** In place of a state: there is none. In place of a return: never. */
export const none = -1;

const maxSupplyPairs = 1_000_000;

export class Awaits<State extends Json, Call extends CallData> {
  /** By class: the state that it awaits and the one that it provides, or none. */
  readonly awaited: Integers = new Integers();
  readonly provided: Integers = new Integers();
  /** By class: whether it is legal in no other state, so that it needs the one that it awaits. */
  readonly isGoal: Integers = new Integers();
  /** The awaited states, each once, in the order of the last returns that await them. */
  readonly states: readonly number[];
  /** By state: the last return of a call that awaits it, or none. */
  readonly lastAwait: Integers = new Integers();
  /**
   * By completed operation that needs a state: the last return, not after its own, at which a call
   * opens that may bring it about; or none.
   */
  readonly supplyBefore: Integers = new Integers();
  /** How many returns come before the first that needs what nothing can have brought about. */
  readonly starved: number;
  private readonly model: Model<State, Call>;
  private readonly transitions: Transitions<State, Call>;
  /** Whether there are too many states to ask about each pair of them. */
  private readonly isCoarse: boolean;

  /** Only calls that return before `horizon` must come. */
  constructor(
    model: Model<State, Call>,
    calls: readonly Call[],
    history: PreparedHistory,
    transitions: Transitions<State, Call>,
    horizon: number,
  ) {
    this.model = model;
    this.transitions = transitions;
    for (const call of calls) this.number(call);
    calls.forEach((call, callClass) => {
      this.isGoal.push(this.needsAwaited(call, callClass) ? 1 : 0);
    });
    this.lastAwait.reset(transitions.states.length, none);
    this.states = this.readAwaits(history, horizon);
    const openings = this.readOpenings(history);
    const pairs = model.approaches === undefined ? 0 : openings.size * this.states.length;
    this.isCoarse = pairs > maxSupplyPairs;
    this.starved = this.readSupplyBefore(history, horizon, openings);
  }

  private number(call: Call): void {
    const awaited = this.model.awaits?.(call);
    const provided = this.model.provides?.(call);
    const { transitions } = this;
    this.awaited.push(awaited === undefined ? none : transitions.number(awaited));
    this.provided.push(provided === undefined ? none : transitions.number(provided));
  }

  /** Those are legal in all other states alike, or in none: any one of them tells. */
  private needsAwaited(call: Call, callClass: number): boolean {
    const { model, transitions } = this;
    const awaited = this.awaited.get(callClass);
    const other = transitions.states[awaited === 0 ? 1 : 0];
    const state = transitions.states[awaited];
    if (state === undefined || other === undefined) return false;
    return model.step(state, call).length > 0 && model.step(other, call).length === 0;
  }

  /** Every state that some call provides, perhaps more than once. */
  providedStates(): readonly number[] {
    return this.provided.toArray().filter((state) => state !== none);
  }

  private readAwaits(history: PreparedHistory, horizon: number): number[] {
    const operations = history.completed + history.crashed;
    const states: number[] = [];
    for (let operation = 0; operation < operations; operation++) {
      const callClass = history.classOf.get(operation);
      const awaited = this.awaited.get(callClass);
      if (awaited === none) continue;
      if (this.lastAwait.get(awaited) === none) states.push(awaited);
      const mustCome = operation < Math.min(horizon, history.completed);
      this.lastAwait.set(awaited, mustCome ? operation : history.completed);
    }
    return states.sort((a, b) => this.lastAwait.get(a) - this.lastAwait.get(b) || a - b);
  }

  /** By provided state: the returns at which calls that provide it open, in order. */
  private readOpenings(history: PreparedHistory): Map<number, number[]> {
    const openings = new Map<number, number[]>();
    for (let operation = 0; operation < history.completed + history.crashed; operation++) {
      const provided = this.provided.get(history.classOf.get(operation));
      if (provided === none) continue;
      const known = openings.get(provided);
      const opens = history.opensAt.get(operation);
      if (known === undefined) openings.set(provided, [opens]);
      else known.push(opens);
    }
    for (const opens of openings.values()) opens.sort((a, b) => a - b);
    return openings;
  }

  /** The awaited states that a call providing `provided` may bring about. */
  private suppliedBy(provided: number): readonly number[] {
    if (this.model.approaches === undefined) return [provided];
    if (this.isCoarse) return this.states;
    return this.states.filter((awaited) => this.leadsTo(provided, awaited));
  }

  private readSupplyBefore(
    history: PreparedHistory,
    horizon: number,
    openings: Map<number, number[]>,
  ): number {
    const suppliers = new Map<number, number[][]>();
    for (const [provided, opens] of openings) {
      for (const awaited of this.suppliedBy(provided)) {
        const known = suppliers.get(awaited);
        if (known === undefined) suppliers.set(awaited, [opens]);
        else known.push(opens);
      }
    }
    let starved = horizon;
    for (let operation = 0; operation < horizon; operation++) {
      const callClass = history.classOf.get(operation);
      let before = none;
      if (this.isGoal.get(callClass) === 1) {
        const awaited = this.awaited.get(callClass);
        for (const opens of suppliers.get(awaited) ?? []) {
          before = Math.max(before, lastUpTo(opens, operation));
        }
        if (before === none && !this.leadsTo(0, awaited)) starved = Math.min(starved, operation);
      }
      this.supplyBefore.push(before);
    }
    return starved;
  }

  /** Whether `state` is `awaited`, or calls that add to it may make it so. */
  leadsTo(state: number, awaited: number): boolean {
    if (state === awaited) return true;
    if (this.model.approaches === undefined) return false;
    const from = this.transitions.states[state];
    const to = this.transitions.states[awaited];
    return from !== undefined && to !== undefined && this.model.approaches(from, to);
  }

  /** Whether calls of this class may bring `awaited` about, whatever they find. */
  supplies(callClass: number, awaited: number): boolean {
    const provided = this.provided.get(callClass);
    return provided !== none && (this.isCoarse || this.leadsTo(provided, awaited));
  }
}

/** The last of the sorted `numbers` that is not above `limit`, or none. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return numbers[low - 1] ?? none;
}
