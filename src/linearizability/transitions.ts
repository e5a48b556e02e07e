/**
 * Numbers the states that a history can reach. Caches the effect of each class of calls on each
 * state, so that the model is called once per pair. The table is dense for the first states and
 * sparse for the others.
 */
import type { Json } from '../core/kernel/json.ts';
import { Integers } from './integers.ts';
import { Interner } from './interner.ts';
import type { CallData, Model } from './model.ts';

/** Values of a transition other than the number of the next state. */
export const noState = -1;
const notAsked = -2;
/** A transition of this value or below leads to several states: `many[firstMany - transition]`. */
const firstMany = -3;

const denseCells = 1 << 18;
const smallestSparse = 256;
const bytesOfMany = 128;

/** The memory of the tables, reused for the next history. */
export class TransitionTables {
  readonly states: Interner = new Interner();
  /** Row by state, column by class. */
  readonly dense: Integers = new Integers();
  /** Open addressing: `[state, class, transition]`; a free place has state -1. */
  readonly sparse: Integers = new Integers();
  used = 0;
  /** Bytes of transitions to several states, which are stored elsewhere. */
  manyBytes = 0;

  reset(): void {
    this.states.reset();
    this.dense.clear();
    this.sparse.reset(3 * smallestSparse, -1);
    this.used = 0;
    this.manyBytes = 0;
  }

  /** Returns the start of a cell in the sparse table. The cell may be free. */
  place(state: number, callClass: number): number {
    const { sparse } = this;
    const mask = sparse.length / 3 - 1;
    const hash = Math.imul(Math.imul(state, 0x9e3779b1) ^ callClass, 0x85ebca6b);
    let place = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const at = 3 * place;
      const owner = sparse.get(at);
      if (owner === -1 || (owner === state && sparse.get(at + 1) === callClass)) return at;
      place = (place + 1) & mask;
    }
  }

  add(state: number, callClass: number, transition: number): void {
    if (2 * (this.used + 1) > this.sparse.length / 3) this.widen();
    const at = this.place(state, callClass);
    this.sparse.set(at, state);
    this.sparse.set(at + 1, callClass);
    this.sparse.set(at + 2, transition);
    this.used += 1;
  }

  private widen(): void {
    const old = this.sparse.take();
    this.sparse.reset(2 * old.length, -1);
    this.used = 0;
    for (let at = 0; at < old.length; at += 3) {
      const state = old[at] ?? -1;
      if (state !== -1) this.add(state, old[at + 1] ?? 0, old[at + 2] ?? 0);
    }
  }

  get bytes(): number {
    return this.states.bytes + this.dense.bytes + this.sparse.bytes + this.manyBytes;
  }

  /** Returns the bytes that more transitions would allocate; 0 if there is space. */
  get bytesToGrow(): number {
    const { used, sparse } = this;
    const isAlmostFull = 2 * (used + (used >> 4)) > sparse.length / 3;
    return this.states.bytesToGrow + (isAlmostFull ? 2 * sparse.bytes : 0);
  }
}

export class Transitions<State extends Json = Json> {
  readonly states: State[] = [];
  readonly model: Model<State>;
  /** The call of each class. */
  readonly calls: readonly CallData[];
  private readonly tables: TransitionTables;
  private readonly denseStates: number;
  private readonly many: number[][] = [];

  /** State 0 is the model's initial state. */
  constructor(model: Model<State>, calls: readonly CallData[], tables: TransitionTables) {
    this.model = model;
    this.calls = calls;
    this.tables = tables;
    this.denseStates = Math.floor(denseCells / Math.max(1, calls.length));
    tables.reset();
    this.number(model.init);
  }

  /** Returns the transition of a call of class `callClass` in `state`: see `count` and `pick`. */
  next(state: number, callClass: number): number {
    const { dense } = this.tables;
    if (state < this.denseStates) {
      const cell = state * this.calls.length + callClass;
      if (cell >= dense.length) dense.extend((state + 1) * this.calls.length, notAsked);
      const known = dense.get(cell);
      if (known !== notAsked) return known;
      const asked = this.ask(state, callClass);
      dense.set(cell, asked);
      return asked;
    }
    const place = this.tables.place(state, callClass);
    if (this.tables.sparse.get(place) !== -1) return this.tables.sparse.get(place + 2);
    const asked = this.ask(state, callClass);
    this.tables.add(state, callClass, asked);
    return asked;
  }

  /** Returns the number of states that a transition leads to. */
  count(transition: number): number {
    if (transition >= 0) return 1;
    return transition === noState ? 0 : (this.many[firstMany - transition]?.length ?? 0);
  }

  /** Returns one of the states that a transition leads to, counted from 0. */
  pick(transition: number, choice: number): number {
    return transition >= 0 ? transition : (this.many[firstMany - transition]?.[choice] ?? 0);
  }

  private ask(state: number, callClass: number): number {
    const from = this.states[state];
    const call = this.calls[callClass];
    if (from === undefined || call === undefined) return noState;
    const found = this.model.step(from, call);
    const [first] = found;
    if (first === undefined) return noState;
    if (found.length === 1) return first === from ? state : this.number(first);
    this.many.push(found.map((next) => this.number(next)));
    this.tables.manyBytes += bytesOfMany + 16 * found.length;
    return firstMany - (this.many.length - 1);
  }

  number(state: State): number {
    const key = this.model.stateKey === undefined ? state : this.model.stateKey(state);
    const number = this.tables.states.intern(key);
    if (number === this.states.length) this.states.push(state);
    return number;
  }
}
