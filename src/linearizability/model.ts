/**
 * The input of the checker. A history is the clients' view of some objects, as a list of
 * operations. A model is a sequential specification: the answers that an object may give to one
 * call at a time.
 */
import type { Json } from '../core/kernel/json.ts';

/** All operations that clients called, in any order. Verdicts refer to them by index. */
export type History<Call = CallData> = readonly Operation<Call>[];

/** One call of a client, and its outcome. */
export interface Operation<Call = CallData> {
  readonly client: string;
  /** The request and its answer, as the model defines them. */
  readonly call: Call;
  /** Position of the call in the common order of events, such as an event's number or a time. */
  readonly invoke: number;
  /**
   * Position of the answer, not before `invoke`, or null if unanswered. Equal positions overlap.
   */
  readonly return: number | null;
  /** `ok`: answered; `fail`: did not happen; `info`: may have happened, any time after its call. */
  readonly outcome: 'ok' | 'fail' | 'info';
}

/** A call, with a name. Calls and states are plain data, so that equal values are recognized. */
export type CallData = Json & { readonly name: string };

/**
 * A sequential specification of an object. `State` and `Call` are plain data, compared by content
 * and never modified. A call contains everything that determines its effect, including the answer
 * and, if relevant, the client. A custom model is an object with three fields:
 *
 * ```ts
 * type FlagCall =
 *   | { readonly name: 'raise' }
 *   | { readonly name: 'look'; readonly isRaised: boolean };
 *
 * const flag: Model<boolean, FlagCall> = {
 *   name: 'flag',
 *   init: false,
 *   step(isRaised, call) {
 *     if (call.name === 'raise') return [true];
 *     return call.isRaised === isRaised ? [isRaised] : illegal;
 *   },
 * };
 * checkHistory(history, flag);
 * ```
 *
 * All other fields are optional. `isPure` and `partition` make the search much faster. `awaits` and
 * the next fields speed up the search further for objects that hold one value. The last fields
 * produce text for people.
 */
export interface Model<State extends Json = Json, Call extends CallData = CallData> {
  readonly name: string;
  readonly init: State;
  /**
   * Returns the possible states after `call` and its answer in `state`; none if the call is
   * illegal. Several states represent an unobserved choice.
   */
  step(state: State, call: Call): readonly State[];
  /** Returns true if `call` changes no state in which it is legal. By default, no call is pure. */
  isPure?(call: Call): boolean;
  /** Returns the independent object of `call`, such as its key. By default, there is only one. */
  partition?(call: Call): string;
  /** Returns the part of a state that distinguishes it. By default, the complete state. */
  stateKey?(state: State): Json;
  /**
   * Returns the error in an invalid call, or null. `checkHistory` validates every call, since
   * callers may lack type checking. By default, all calls are valid.
   */
  mistakeIn?(call: Call): string | null;
  /**
   * Returns `call` with a failure as its answer, such as a missed cas. Returns null if this call
   * cannot answer with a failure.
   */
  whenFailed?(call: Call): Call | null;

  /**
   * Returns the only state in which the legality or effect of `call` differs from all other states.
   * Returns undefined if `call` treats all states alike. The search merges states that no remaining
   * call awaits.
   */
  awaits?(call: Call): State | undefined;
  /**
   * Returns the state that results whenever `call` changes the state. Returns undefined if the
   * result depends on the previous state. Required if `awaits` is defined.
   */
  provides?(call: Call): State | undefined;
  /** Returns true if calls that provide nothing may turn `state` into `awaited`; default: never. */
  approaches?(state: State, awaited: State): boolean;

  /**
   * Returns the states in which `calls` may find the object, regardless of earlier calls. One state
   * may represent all states that `calls` treat alike or that allow less. By default, returns all
   * states that calls lead to.
   */
  startingStates?(calls: readonly Call[]): readonly State[];

  /** Decides some histories of one object without a search. Returns null for the others. */
  fastPath?(history: History<Call>, model: Model<State, Call>): FastDecision | null;
  /**
   * Returns the version that `call` created or observed, or null if unknown. Used by the fast path
   * of versions.
   */
  versionOf?(call: Call): number | null;

  /** Formats `call` for a sentence: "cas(4→4)=ok". By default, as JSON. */
  describe?(call: Call): string;
  /** Describes the state that `call` needs: "the value 4". */
  needs?(call: Call): string;
  /** Describes the object in `state`: "it is 2". */
  describeState?(state: State): string;
  /** Formats a state that calls provide, as in "nothing else sets 2": "2". */
  describeValue?(state: State): string;
}

/** The decision of a fast path. Indices refer to its input history. */
export type FastDecision =
  | { readonly kind: 'valid'; readonly order: readonly number[] }
  /** `at` is the operation at whose return the history first has no order. */
  | { readonly kind: 'invalid'; readonly at: number };

/** The result of `step` for an illegal call. */
export const illegal: readonly never[] = [];
