/**
 * A model is a sequential specification: what an object may answer when calls come one at a time.
 */
import type { Json } from '../kernel/json.ts';
import type { CallData } from './operation.ts';

/**
 * `State` and `Call` are plain data. They are compared by content and never changed, and a call
 * holds all that its effect depends on, its answer and, where it matters, its client included.
 */
export interface Model<State extends Json, Call extends CallData> {
  readonly name: string;
  readonly init: State;
  /**
   * The states that `call`, with the answer that it holds, may leave behind; none when it is
   * illegal in `state`. Several stand for a choice that nobody saw.
   */
  step(state: State, call: Call): readonly State[];
  /** Whether `call` leaves every state in which it is legal as it was. Absent: none does. */
  isPure?(call: Call): boolean;
  /** The independent object that `call` acts on, e.g. its key. Absent: all act on one. */
  partition?(call: Call): string;
  /** What tells states apart, where that is less than the whole state. */
  stateKey?(state: State): Json;
}

/** What `step` returns for a call that is illegal. */
export const illegal: readonly never[] = [];
