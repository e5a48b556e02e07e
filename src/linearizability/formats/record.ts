/**
 * What every format of a recorded history is read into, whoever recorded it: events, paired to
 * operations, with the places in the file where a person finds them.
 */
import type { Json } from '../../core/kernel/json.ts';

/** Both from 1; columns count UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong in a file, and where. */
export interface Malformed extends Place {
  readonly what: string;
}

export function malformed({ line, column }: Place, what: string): Malformed {
  return { line, column, what };
}

/** The fields of a record by name: `value`, and whatever else its recorder or a model needs. */
export type Fields = { readonly [name: string]: Json };

export const EVENT_TYPES = ['invoke', 'ok', 'fail', 'info'] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** One line of a log: a process calls, or hears how its call ended. */
export interface RecordedEvent extends Place {
  readonly process: string;
  readonly type: EventType;
  /** What is called; '' when a completion leaves it out. */
  readonly f: string;
  readonly fields: Fields;
}

/** A call with its completion. Positions are those that `Operation` in `operation.ts` asks for. */
export interface RecordedOperation {
  readonly process: string;
  readonly f: string;
  readonly asked: Fields;
  /** What the completion holds; empty when there is none. */
  readonly answered: Fields;
  readonly outcome: 'ok' | 'fail' | 'info';
  readonly invoke: number;
  /** Null when nothing was heard of it. */
  readonly return: number | null;
  readonly invokedAt: Place;
  /** Null as `return` is, but for an `info`, which stands in the file. */
  readonly returnedAt: Place | null;
}

/** Takes an operation; says what is wrong with it, and null when nothing is. */
export type TakeOperation = (operation: RecordedOperation) => Malformed | null;

/** What happened to no client: a fault that the recorder put in, in Jepsen the nemesis. */
export interface RecordedMark {
  readonly text: string;
  /** On the same scale as an operation's `invoke`. */
  readonly position: number;
  readonly line: number;
}

/** Reads a file that arrives in pieces, which may end anywhere, and gives its operations away. */
export interface HistoryReader {
  /** The next piece of the file. After something malformed nothing may follow. */
  push(piece: string): Malformed | null;
  /** The file ended. What is still open is an operation whose outcome is unknown. */
  end(): Malformed | null;
  /** So far. */
  readonly marks: readonly RecordedMark[];
  /**
   * Asked after the end: whether what came last reads well, but no line end closes it, so that it
   * may have been longer, `:read 1` for `:read 12`. Absent: the format shows where a record ends.
   */
  mayBeCut?(): boolean;
}

/** Longer lines and maps are refused, so that a file without line ends does not fill the memory. */
export const MOST_CHARACTERS = 1_000_000;

/** Deeper brackets are refused, so that whoever walks through a value comes back. */
export const MOST_DEPTH = 100;
