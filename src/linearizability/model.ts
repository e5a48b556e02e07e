/**
 * The input of the checker: a history, which is the clients' view of some objects as a list of
 * operations; and a model, which is a sequential specification: the answers that an object may give
 * if calls come one at a time.
 */
import type { Json } from '../core/kernel/json.ts';

/** All operations that clients called, in any order. Verdicts refer to each by its index here. */
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

/** A call, with a name. Calls and states are plain data, so that equal ones are recognized. */
export type CallData = Json & { readonly name: string };

/**
 * A sequential specification of an object. `State` and `Call` are plain data, compared by content
 * and never modified. A call contains everything that its effect depends on, including its answer
 * and, if relevant, its client. A custom model is an object with three fields:
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
 * the fields after it make it faster still for objects that hold one value. The last fields produce
 * text for people.
 */
export interface Model<State extends Json = Json, Call extends CallData = CallData> {
  readonly name: string;
  readonly init: State;
  /**
   * Returns the states that may result from `call`, with its answer, in `state`; none if it is
   * illegal there. Several states represent a choice that was not observed.
   */
  step(state: State, call: Call): readonly State[];
  /** Returns true if `call` changes no state in which it is legal. By default, no call is pure. */
  isPure?(call: Call): boolean;
  /** Returns the independent object of `call`, such as its key. By default, there is only one. */
  partition?(call: Call): string;
  /** Returns the part of a state that distinguishes it from others, by default all of it. */
  stateKey?(state: State): Json;
  /**
   * Returns the error in a call that is not valid for the model, or null. `checkHistory` validates
   * every call first, because callers without type checking may pass any value. By default, no call
   * is rejected.
   */
  mistakeIn?(call: Call): string | null;
  /**
   * Returns `call` with its failure as the answer, such as a missed cas, or null if a failure of
   * this call is not an answer.
   */
  whenFailed?(call: Call): Call | null;

  /**
   * Returns the one state that `call` distinguishes; `call` treats all other states alike. Either
   * `call` is legal only in this state, or only in the others, or it has a different effect in this
   * state. Returns undefined if `call` is legal in every state with the same effect. The search
   * treats all states that no remaining call awaits as one.
   */
  awaits?(call: Call): State | undefined;
  /**
   * Returns the state that results from `call` whenever it changes the state, or undefined if the
   * result depends on the state before. Required if `awaits` is defined.
   */
  provides?(call: Call): State | undefined;
  /** Returns true if calls that provide nothing may turn `state` into `awaited`; default: never. */
  approaches?(state: State, awaited: State): boolean;

  /**
   * Returns the states in which `calls` may find the object, regardless of earlier calls. States
   * that `calls` do not distinguish may be represented by one of them, or by a state that allows
   * more. By default, returns all states that calls lead to.
   */
  startingStates?(calls: readonly Call[]): readonly State[];

  /** Decides some histories of one object without a search. Returns null for the others. */
  fastPath?(history: History<Call>, model: Model<State, Call>): FastDecision | null;
  /**
   * For the fast path of versions: returns the version that `call` created or observed, or null if
   * there is none or it is unknown.
   */
  versionOf?(call: Call): number | null;

  /** Formats `call` for a sentence: "cas(4→4)=ok". By default, as JSON. */
  describe?(call: Call): string;
  /** Describes the state that `call`, illegal in some states, needs: "the value 4". */
  needs?(call: Call): string;
  /** Describes the object in `state`: "it is 2". */
  describeState?(state: State): string;
  /** Formats a state that calls provide, as in "nothing else sets 2": "2". */
  describeValue?(state: State): string;
}

/** The decision of a fast path. Indices refer to the history that it was given. */
export type FastDecision =
  | { readonly kind: 'valid'; readonly order: readonly number[] }
  /** `at`: the operation whose return is the first that no order satisfies. */
  | { readonly kind: 'invalid'; readonly at: number };

/** The result of `step` for an illegal call. */
export const illegal: readonly never[] = [];
