/** The words that a scenario may use for what other parts of fencepost provide. */

export interface Vocabulary {
  /** Names of lock services: `lock-service`, `lock-service-published`. */
  readonly locks: readonly string[];
  /** Names of stores: `unfenced`, `fenced`, … */
  readonly stores: readonly string[];
  /** Names of claims with their parameters written out: `grant-order`, `linearizable(register)`. */
  readonly claims: readonly string[];
  readonly options: readonly OptionWord[];
}

/** An option of a system, e.g. `counter: volatile`. */
export interface OptionWord {
  readonly name: string;
  /** Every value that it may have; null for a whole number from 0. */
  readonly values: readonly string[] | null;
}

/** Reported for every run, but no lock can promise it while processes may pause. */
export const MEASURED_CLAIM = 'holder-overlap';
