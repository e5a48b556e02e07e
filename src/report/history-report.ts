/** What was found out about a recorded history: the text, the page and `--json` are its views. */

export interface HistoryReport {
  readonly file: string;
  readonly format: string;
  readonly model: string;
  /** Whether the model was told by the words of the history and not by a person. */
  readonly isTold: boolean;
  readonly operations: number;
  readonly processes: number;
  readonly verdict: PartReport['verdict'];
  readonly configurations: number;
  /** In the order in which the history first completes an operation of each. */
  readonly parts: readonly PartReport[];
  /** What a reader must know to trust the verdict, each a sentence. */
  readonly notes: readonly string[];
}

/** One independent object of the history. */
export interface PartReport {
  /** Its name, '' when there is one only. */
  readonly key: string;
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly operations: number;
  readonly configurations: number;
  /** Why it is not valid, in one sentence; '' when it is. */
  readonly because: string;
  /**
   * The contradiction, in the order of the calls; empty unless it is invalid. It stands whatever
   * the object held before it and whatever else happened meanwhile, at any time or never.
   */
  readonly core: readonly ReportedOperation[];
  /** Whether each operation of the core was tried alone. */
  readonly isMinimal: boolean;
  /** How many completed operations there are. */
  readonly returns: number;
  /** How many return before the bad one: an order satisfies those, unless it is perhaps late. */
  readonly satisfied: number;
  /** Whether the bad return is one that no order satisfies, but perhaps not the first such. */
  readonly isPerhapsLate: boolean;
  /** What to draw: the core and what lies around it, in the order of the calls; may be empty. */
  readonly drawn: readonly ReportedOperation[];
  /** Faults that its recorder put in while that happened. */
  readonly marks: readonly ReportedMark[];
}

export interface ReportedOperation {
  /** Its index in the part. */
  readonly index: number;
  readonly process: string;
  /** With its answer: `cas(4→4)=ok`. */
  readonly text: string;
  readonly isKnown: boolean;
  /** Positions in the common order of events; null when nobody knows how it ended. */
  readonly invoke: number;
  readonly return: number | null;
  /** Where a person finds both in the file; null when it never completed. */
  readonly invokeLine: number;
  readonly returnLine: number | null;
  readonly role: 'first bad' | 'core' | 'other';
  /** Its place in the order that was found, and the position at which it takes effect there. */
  readonly effect: Effect | null;
}

export interface Effect {
  /** From 1. */
  readonly rank: number;
  readonly position: number;
  /** What the object is after it: `it is 2`; '' when that is not told. */
  readonly state: string;
}

export interface ReportedMark {
  readonly text: string;
  readonly position: number;
  readonly line: number;
}

/** `line 12`, `lines 12–15`. */
export function linesOf({ invokeLine, returnLine }: ReportedOperation): string {
  if (returnLine === null || returnLine === invokeLine) return `line ${invokeLine}`;
  return `lines ${invokeLine}–${returnLine}`;
}
