/**
 * What the checker takes: a history, the clients' view of some objects as a list of operations; and
 * a model, a sequential specification: what an object may answer when calls come one at a time.
 */
import type { Json } from '../core/kernel/json.ts';

/** Every operation that clients called, in any order; verdicts name each by its index here. */
export type History<Call = CallData> = readonly Operation<Call>[];

/** One call of a client, and how it ended. */
export interface Operation<Call = CallData> {
  readonly client: string;
  /** What was asked together with what was answered, as the model defines it. */
  readonly call: Call;
  /** Position of its call in the common order of events, e.g. an event's number or a time. */
  readonly invoke: number;
  /** Position of its answer, not before `invoke`; null when none came. Equal positions overlap. */
  readonly return: number | null;
  /** `ok`: answered; `fail`: did not happen; `info`: it may have, at any time after its call. */
  readonly outcome: 'ok' | 'fail' | 'info';
}

/** Calls and states are plain data, so that equal ones are recognised; a call says its name. */
export type CallData = Json & { readonly name: string };

/**
 * `State` and `Call` are plain data. They are compared by content and never changed, and a call
 * holds all that its effect depends on, its answer and, where it matters, its client included. So a
 * user's model is an object with three fields:
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
 * All else is optional: `isPure` and `partition` make the search quicker by much; `awaits` and what
 * follows it by more, on objects that hold one value; the rest is for people to read.
 */
export interface Model<State extends Json = Json, Call extends CallData = CallData> {
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
  /**
   * What is wrong with a call that is none of the model's, as an untyped caller may bring it; null:
   * nothing. `checkHistory` asks it of every call first. Absent: no call is refused.
   */
  mistakeIn?(call: Call): string | null;
  /** What a failed call says where it is an answer, e.g. that a cas missed; null: nothing. */
  whenFailed?(call: Call): Call | null;

  /**
   * The one state that `call` tells from all others, which are alike to it: it is legal there only,
   * or everywhere else, or everywhere and does there what it does nowhere else. Undefined: in every
   * state it is legal and does the same. With it, states that no remaining call awaits count as
   * one.
   */
  awaits?(call: Call): State | undefined;
  /**
   * The state that `call` leaves behind when it changes any, whatever it finds; undefined when what
   * it leaves depends on what it finds. A model with `awaits` must have it.
   */
  provides?(call: Call): State | undefined;
  /** Whether calls that provide nothing may make `awaited` of `state`. Absent: there are none. */
  approaches?(state: State, awaited: State): boolean;

  /**
   * The states in which `calls` may find the object, whatever came before them; of those that they
   * cannot tell apart one, or one that allows more. Absent: all that calls lead to.
   */
  startingStates?(calls: readonly Call[]): readonly State[];

  /** Decides some histories of one object without a search; null: not this one. */
  fastPath?(history: History<Call>, model: Model<State, Call>): FastDecision | null;
  /** For the fast path of versions: the one that `call` made or saw; null: none, or unknown. */
  versionOf?(call: Call): number | null;

  /** `call` as it reads in a sentence: "cas(4→4)=ok". Absent: as JSON. */
  describe?(call: Call): string;
  /** What `call` needs: "the value 4". Asked of calls that are illegal somewhere. */
  needs?(call: Call): string;
  /** The object in `state`: "it is 2". */
  describeState?(state: State): string;
  /** A state that calls provide, as it stands after "nothing else sets": "2". */
  describeValue?(state: State): string;
}

/** What a fast path may say; indices are those of the history that it was given. */
export type FastDecision =
  | { readonly kind: 'valid'; readonly order: readonly number[] }
  /** `at`: the operation whose return is the first that no order satisfies. */
  | { readonly kind: 'invalid'; readonly at: number };

/** What `step` returns for a call that is illegal. */
export const illegal: readonly never[] = [];
