/**
 * Looks ahead of the search, for models that define the states that a call awaits, and those that
 * it provides. This saves configurations in two ways, without losing an order:
 *
 * - States that no remaining call distinguishes count as one.
 * - A configuration is abandoned if a call needs a state that no remaining call can bring about.
 *
 * For example, in a history of a register that begins with 0:
 *
 *     w(1) ├────┤      r=1 ├──┤
 *     w(2) ├───────┤   w(3) ├────┤    r=3 ├──┤
 *
 * - r=1 is a *goal*: it is legal only in state 1. A read of 7, which no call provides, would make
 *   the history *infeasible* from the return of the read on.
 * - The last call that provides 1 opens at the first return. From there until r=1 opens, 1 is
 *   *critical*. A search that places w(1) and then w(2) is in state 2 with no w(1) left. It gives
 *   up at once and continues with w(2), w(1).
 * - Once r=1 has returned, only 3 is awaited. States 1 and 2 are then equivalent, and the search
 *   visits one of them.
 *
 * `lastAwait` is the last return of a call that awaits a state. `supplyBefore` is the last return
 * at which a call that provides the state opens. In a model of appends, a call also provides each
 * state that its result `approaches`.
 */
import { addTo } from '../core/kernel/entries.ts';
import { Integers } from './integers.ts';
import type { CallData } from './model.ts';
import type { PreparedHistory } from './prepare.ts';
import type { Transitions } from './transitions.ts';

/** The progress of the open operations, completed or crashed. */
export interface OpenOperations {
  isPlaced(operation: number): boolean;
  /** Returns true if a completed operation cannot have happened before the search starts. */
  mustCome(operation: number): boolean;
}

/** Stands for no state, or for a return that does not exist. */
const none = -1;

/** The look-ahead for a search. States are transition numbers; `next` is the next return. */
export class LookAhead {
  private readonly history: PreparedHistory;
  private readonly awaits: Awaits;
  private readonly criticals: Criticals | null;
  private readonly horizon: number;
  /**
   * For each state of a model of appends: some call before `knownUntil` distinguishes the state,
   * and no call from `unknownFrom` on does.
   */
  private readonly knownUntil: Integers = new Integers();
  private readonly unknownFrom: Integers = new Integers();
  /** From `blindFrom` on, no call distinguishes this state; it represents all such states. */
  private blind = none;
  private blindFrom = Number.POSITIVE_INFINITY;

  /**
   * Creates a look-ahead. Returns null for a model without `awaits` or `provides`. Only calls that
   * return before `horizon` must be placed. If `givesUp` is false, no configuration counts as
   * hopeless.
   */
  static of(
    history: PreparedHistory,
    transitions: Transitions,
    { horizon, givesUp }: { readonly horizon: number; readonly givesUp: boolean },
  ): LookAhead | null {
    const { awaits, provides } = transitions.model;
    if (awaits === undefined || provides === undefined) return null;
    return new LookAhead(history, new Awaits(history, transitions, horizon), givesUp);
  }

  private constructor(history: PreparedHistory, awaits: Awaits, givesUp: boolean) {
    this.history = history;
    this.awaits = awaits;
    this.criticals = givesUp ? new Criticals(awaits, history) : null;
    this.horizon = awaits.horizon;
  }

  /** Number of returns before the first infeasible one. */
  get infeasible(): number {
    return this.awaits.infeasible;
  }

  /** True if `statesAt` returns all possible states; false if calls may add to a state. */
  get knowsStates(): boolean {
    return !this.awaits.doStatesGrow;
  }

  /** Returns the states that the object may have at return `next`. */
  statesAt(next: number): readonly number[] {
    return [...new Set([0, ...this.awaits.providedStates()].map((s) => this.canonical(next, s)))];
  }

  /** Returns the representative of all states that the calls from `next` on cannot distinguish. */
  canonical(next: number, state: number): number {
    const { lastAwait } = this.awaits;
    if (state < lastAwait.length && lastAwait.get(state) >= next) return state;
    if (this.awaits.doStatesGrow && this.mayGrow(next, state)) return state;
    // The search may go back to earlier returns, at which more states are still awaited.
    if (next < this.blindFrom) {
      this.blind = state;
      this.blindFrom = next;
    }
    return this.blind;
  }

  /** Returns true if calls may turn `state` into a state that is still awaited at `next`. */
  private mayGrow(next: number, state: number): boolean {
    const { knownUntil, unknownFrom } = this;
    if (state >= knownUntil.length) {
      knownUntil.extend(state + 1, 0);
      unknownFrom.extend(state + 1, this.horizon + 1);
    }
    if (next < knownUntil.get(state)) return true;
    if (next >= unknownFrom.get(state)) return false;
    const { states, lastAwait } = this.awaits;
    const isOver = (place: number): boolean => lastAwait.get(states[place] ?? 0) < next;
    for (let place = firstNot(isOver, 0, states.length); place < states.length; place++) {
      const awaited = states[place] ?? 0;
      if (!this.awaits.leadsTo(state, awaited)) continue;
      knownUntil.set(state, lastAwait.get(awaited) + 1);
      return true;
    }
    unknownFrom.set(state, next);
    return false;
  }

  /** Returns true if some call that must still be placed cannot be placed. */
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

  /** Returns true if an open call needs a state that no other call can bring about. */
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

  /** Returns true if an open, unplaced call other than `needing` may bring about `awaited`. */
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

const maxSupplyPairs = 1_000_000;

/** The states that the calls of a prepared history await and provide, as numbers. */
class Awaits {
  /** By class of calls, the awaited state and the provided state, or none. */
  readonly awaited: Integers = new Integers();
  readonly provided: Integers = new Integers();
  /** By class of calls, 1 if the call is legal only in the state that it awaits. */
  readonly isGoal: Integers = new Integers();
  /** The distinct awaited states, ordered by `lastAwait`. */
  readonly states: readonly number[];
  /** By state, the last return of a call that awaits it, or none. */
  readonly lastAwait: Integers = new Integers();
  /**
   * For each operation that needs a state: the last call before its return that can provide this
   * state, or none.
   */
  readonly supplyBefore: Integers = new Integers();
  /** Number of returns before the first infeasible one, or `horizon`. */
  readonly infeasible: number;
  /** Only calls that return earlier must be placed. */
  readonly horizon: number;
  /** True if calls may add to a state, as appends do. */
  readonly doStatesGrow: boolean;
  private readonly transitions: Transitions;
  /** True if there are too many states to compare each pair. */
  private readonly isCoarse: boolean;

  constructor(history: PreparedHistory, transitions: Transitions, horizon: number) {
    const { calls, model } = transitions;
    this.transitions = transitions;
    this.horizon = horizon;
    this.doStatesGrow = model.approaches !== undefined;
    for (const call of calls) this.number(call);
    calls.forEach((call, callClass) => {
      this.isGoal.push(this.needsAwaited(call, callClass) ? 1 : 0);
    });
    this.lastAwait.reset(transitions.states.length, none);
    this.states = this.readAwaits(history);
    const openings = this.readOpenings(history);
    const pairs = this.doStatesGrow ? openings.size * this.states.length : 0;
    this.isCoarse = pairs > maxSupplyPairs;
    this.infeasible = this.readSupplyBefore(history, openings);
  }

  private number(call: CallData): void {
    const { transitions } = this;
    const awaited = transitions.model.awaits?.(call);
    const provided = transitions.model.provides?.(call);
    this.awaited.push(awaited === undefined ? none : transitions.number(awaited));
    this.provided.push(provided === undefined ? none : transitions.number(provided));
  }

  /** Returns true if a call is legal only in its awaited state. Tests only one other state. */
  private needsAwaited(call: CallData, callClass: number): boolean {
    const { model, states } = this.transitions;
    const awaited = this.awaited.get(callClass);
    const other = states[awaited === 0 ? 1 : 0];
    const state = states[awaited];
    if (state === undefined || other === undefined) return false;
    return model.step(state, call).length > 0 && model.step(other, call).length === 0;
  }

  providedStates(): readonly number[] {
    return this.provided.toArray().filter((state) => state !== none);
  }

  private readAwaits(history: PreparedHistory): number[] {
    const operations = history.completed + history.crashed;
    const states: number[] = [];
    for (let operation = 0; operation < operations; operation++) {
      const callClass = history.classOf.get(operation);
      const awaited = this.awaited.get(callClass);
      if (awaited === none) continue;
      if (this.lastAwait.get(awaited) === none) states.push(awaited);
      const mustCome = operation < Math.min(this.horizon, history.completed);
      this.lastAwait.set(awaited, mustCome ? operation : history.completed);
    }
    return states.sort((a, b) => this.lastAwait.get(a) - this.lastAwait.get(b) || a - b);
  }

  /** Returns, by provided state, the sorted openings of the calls that provide it. */
  private readOpenings(history: PreparedHistory): Map<number, number[]> {
    const openings = new Map<number, number[]>();
    for (let operation = 0; operation < history.completed + history.crashed; operation++) {
      const provided = this.provided.get(history.classOf.get(operation));
      if (provided === none) continue;
      addTo(openings, provided, history.opensAt.get(operation));
    }
    for (const opens of openings.values()) opens.sort((a, b) => a - b);
    return openings;
  }

  /** Returns the awaited states that `provided` equals or may grow into. */
  private suppliedBy(provided: number): readonly number[] {
    if (!this.doStatesGrow) return [provided];
    if (this.isCoarse) return this.states;
    return this.states.filter((awaited) => this.leadsTo(provided, awaited));
  }

  private readSupplyBefore(
    history: PreparedHistory,
    openings: ReadonlyMap<number, readonly number[]>,
  ): number {
    const { horizon } = this;
    const suppliers = new Map<number, (readonly number[])[]>();
    for (const [provided, opens] of openings) {
      for (const awaited of this.suppliedBy(provided)) {
        addTo(suppliers, awaited, opens);
      }
    }
    let infeasible = horizon;
    for (let operation = 0; operation < horizon; operation++) {
      const callClass = history.classOf.get(operation);
      let before = none;
      if (this.isGoal.get(callClass) === 1) {
        const awaited = this.awaited.get(callClass);
        for (const opens of suppliers.get(awaited) ?? []) {
          before = Math.max(before, lastUpTo(opens, operation));
        }
        if (before === none && !this.leadsTo(0, awaited))
          infeasible = Math.min(infeasible, operation);
      }
      this.supplyBefore.push(before);
    }
    return infeasible;
  }

  /** Returns true if `state` equals `awaited` or may grow into it. */
  leadsTo(state: number, awaited: number): boolean {
    if (state === awaited) return true;
    if (!this.doStatesGrow) return false;
    const { model, states } = this.transitions;
    const from = states[state];
    const to = states[awaited];
    return from !== undefined && to !== undefined && (model.approaches?.(from, to) ?? false);
  }

  /** Returns true if calls of this class may bring about `awaited`, whatever state they find. */
  supplies(callClass: number, awaited: number): boolean {
    const provided = this.provided.get(callClass);
    return provided !== none && (this.isCoarse || this.leadsTo(provided, awaited));
  }
}

/**
 * Finds the first place from `low` on at which `holds` is false, by binary search. Returns `high`
 * if there is none.
 */
function firstNot(holds: (place: number) => boolean, low: number, high: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Returns the last of the sorted `numbers` up to `limit`, or none. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  return numbers[firstNot((at) => (numbers[at] ?? 0) <= limit, 0, numbers.length) - 1] ?? none;
}

const mostCriticals = 8;
const mostLookedAt = 32;

/**
 * The few most urgent states to check at each return. A call that needs such a state opens later,
 * and all calls that may supply the state in time have already opened.
 */
class Criticals {
  private readonly starts: Integers = new Integers();
  private readonly states: Integers = new Integers();

  constructor(awaits: Awaits, history: PreparedHistory) {
    const { opensAt } = history;
    const begin = (operation: number): number => awaits.supplyBefore.get(operation);
    const waiting = waitingOperations(awaits, history);
    waiting.sort((a, b) => begin(a) - begin(b) || opensAt.get(a) - opensAt.get(b));
    const active: number[] = [];
    let head = 0;
    let begun = 0;
    for (let next = 0; next < awaits.horizon; next++) {
      for (; begun < waiting.length; begun++) {
        const operation = waiting[begun] ?? 0;
        if (begin(operation) > next) break;
        insert(active, head, operation, opensAt);
      }
      while (head < active.length && opensAt.get(active[head] ?? 0) <= next) head++;
      this.starts.push(this.states.length);
      const end = Math.min(active.length, head + mostLookedAt);
      for (let place = head; place < end; place++) {
        const operation = active[place] ?? 0;
        this.add(awaits.awaited.get(history.classOf.get(operation)));
      }
    }
    this.starts.push(this.states.length);
  }

  private add(state: number): void {
    const start = this.starts.get(this.starts.length - 1);
    if (this.states.length - start >= mostCriticals) return;
    for (let place = start; place < this.states.length; place++) {
      if (this.states.get(place) === state) return;
    }
    this.states.push(state);
  }

  /** The states at `next` are `at(place)` for places from `from(next)` up to `from(next + 1)`. */
  from(next: number): number {
    return this.starts.get(next);
  }

  at(place: number): number {
    return this.states.get(place);
  }
}

/** Returns operations that need a state and open later than all calls that may bring it about. */
function waitingOperations(awaits: Awaits, history: PreparedHistory): number[] {
  const waiting: number[] = [];
  for (let operation = 0; operation < awaits.horizon; operation++) {
    if (awaits.isGoal.get(history.classOf.get(operation)) === 0) continue;
    if (awaits.supplyBefore.get(operation) < history.opensAt.get(operation))
      waiting.push(operation);
  }
  return waiting;
}

/** Inserts an operation into `active`, which is sorted by opening from `head` on. */
function insert(active: number[], head: number, operation: number, opensAt: Integers): void {
  const opensAtUs = opensAt.get(operation);
  const isBefore = (place: number): boolean => opensAt.get(active[place] ?? 0) <= opensAtUs;
  active.splice(firstNot(isBefore, head, active.length), 0, operation);
}
