/**
 * What the linearizability checker judges: the clients' view of one object, as a list of
 * operations.
 */
import type { Json } from '../core/kernel/json.ts';

/**
 * Every operation that clients called, in any order; an operation's index here is its name in
 * verdicts.
 */
export type History<Call> = readonly Operation<Call>[];

export interface Operation<Call> {
  readonly client: string;
  /** What was asked together with what was answered, as the model defines it. */
  readonly call: Call;
  /** Position of its call in the common order of events, e.g. an event's number or a time. */
  readonly invoke: number;
  /** Position of its answer, not before `invoke`; null when none came. Equal positions overlap. */
  readonly return: number | null;
  /**
   * `ok`: answered; `fail`: it did not happen; `info`: it may have happened, any time after its
   * call.
   */
  readonly outcome: 'ok' | 'fail' | 'info';
}

/**
 * Calls and states are plain data, so that equal ones can be recognised; a call says its own name.
 */
export type CallData = Json & { readonly name: string };
