/** What a search is asked: from where, how far, and what it may take; and how it may end. */
import type { LookAhead } from './prospects.ts';

/** What the search asks about states, by number; state 0 is the first. */
export interface Steps {
  next(state: number, callClass: number): number;
  count(transition: number): number;
  pick(transition: number, choice: number): number;
}

export interface Budget {
  readonly maxConfigurations: number;
  /** How much the memory may hold, in bytes. */
  readonly maxBytes: number;
  /** Asked every 256 configurations, and sooner where they are compared with many. */
  readonly shouldStop: (() => boolean) | undefined;
}

/** What is looked for. */
export interface Aim {
  /** How many returns an order must satisfy; what returns later may come or not. */
  readonly horizon: number;
  readonly lookAhead: LookAhead | null;
  readonly start: Start;
}

/**
 * Where the search starts: just after the return before `next`, in any of `states`. What was called
 * by then and had not returned may have come before, so that it may come or not.
 */
export interface Start {
  readonly next: number;
  readonly states: readonly number[];
}

export const theBeginning: Start = { next: 0, states: [0] };

export type Ending = 'found' | 'exhausted' | 'maxConfigurations' | 'maxBytes' | 'shouldStop';
