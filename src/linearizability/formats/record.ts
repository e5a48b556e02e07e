/**
 * Data types for recorded histories of every format: events, operations, and their places in the
 * file.
 */
import type { Json } from '../../core/kernel/json.ts';

/** A place in a file. Both numbers start at 1; columns count UTF-16 units. */
export interface FilePlace {
  readonly line: number;
  readonly column: number;
}

/** An error in a file, and its place. */
export interface Malformed extends FilePlace {
  readonly what: string;
}

export function malformed({ line, column }: FilePlace, message: string): Malformed {
  return { line, column, what: message };
}

/** The fields of a record, by name. */
export type Fields = { readonly [name: string]: Json };

export const EVENT_TYPES = ['invoke', 'ok', 'fail', 'info'] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Jepsen's name for the process that injects faults. No client can have it. */
export const NEMESIS = 'nemesis';

/** The order of events: as in the file, or by their `time`. */
export const EVENT_ORDERS = ['file', 'time'] as const;

export type EventOrder = (typeof EVENT_ORDERS)[number];

/** Events out of time order: their number and the place of the first. */
export interface TimeDisorder {
  /** From 1, like `column`. */
  readonly line: number;
  readonly column: number;
  readonly count: number;
  /** Line of an earlier event with a later time than the first of these events. */
  readonly afterLine: number;
}

/** One event of a log: a process makes a call, or learns the outcome of its call. */
export interface RecordedEvent extends FilePlace {
  readonly process: string;
  readonly type: EventType;
  /** The operation; '' if a completion omits it. */
  readonly f: string;
  readonly fields: Fields;
}

/** A call and its completion. `Operation` in `model.ts` defines positions. */
export interface RecordedOperation {
  readonly process: string;
  readonly f: string;
  readonly asked: Fields;
  /** The fields of the completion; empty if there is none. */
  readonly answered: Fields;
  readonly outcome: 'ok' | 'fail' | 'info';
  readonly invoke: number;
  /** Null if the outcome is unknown. */
  readonly return: number | null;
  readonly invokedAt: FilePlace;
  /** Null if the file has no completion. An `info` completion has a place. */
  readonly returnedAt: FilePlace | null;
}

/** Receives the fields of the record at `place`. Returns an error, or null. */
export type TakeFields = (fields: Fields, place: FilePlace) => Malformed | null;

/** Receives an operation. Returns an error, or null. */
export type TakeOperation = (operation: RecordedOperation) => Malformed | null;

/** An event that belongs to no client: a fault injected by the recorder (Jepsen's nemesis). */
export interface RecordedMark {
  readonly text: string;
  /** On the same scale as an operation's `invoke`. */
  readonly position: number;
  readonly line: number;
}

/** Reads a file in pieces, which may end anywhere, and passes on its operations. */
export interface HistoryReader {
  /** Reads the next piece of the file. Must not be called after an error. */
  push(piece: string): Malformed | null;
  /** Handles the end of the file. An operation that is still open has an unknown outcome. */
  end(): Malformed | null;
  /** The faults read so far. */
  readonly marks: readonly RecordedMark[];
  /**
   * After the end, returns true if the last line has no line ending, so it may be truncated, for
   * example from `:read 12` to `:read 1`. Omitted if the format shows where a record ends.
   */
  mayBeTruncated?(): boolean;
  /** After the end, returns the contradictory times, or null. Omitted if times define the order. */
  disorder?(): TimeDisorder | null;
}

/** A format of recorded histories: one row of `formats`. */
export interface Format {
  readonly name: string;
  /** An example of a record, for people who choose a format by name. */
  readonly about: string;
  /** Returns true if `head` may begin a file of this format. The last match in `formats` wins. */
  readonly begins: (head: FileHead) => boolean;
  /** Opens a reader. `order` is `file` by default. */
  readonly open: (take: TakeOperation, order?: EventOrder) => HistoryReader;
  /**
   * True if a read of nil counts as unanswered, as in Knossos. Applies to plain and CAS registers
   * that neither begin with nil nor are set to nil.
   */
  readonly hidesReads: boolean;
  /** True if a pair may be `[key value]`, as Jepsen writes values of independent objects. */
  readonly readsPairs: boolean;
}

/** The beginning of a file, which may end anywhere. */
export interface FileHead {
  /** Without leading space and EDN comments. */
  readonly text: string;
  /** True if `[` opens a list of all records. */
  readonly isList: boolean;
  /** The same text, from the first record on. */
  readonly record: string;
}

/** Longer lines and maps are rejected, so that a file without line ends does not fill memory. */
export const MOST_RECORD_CHARACTERS = 1_000_000;

/** Deeper nesting is rejected, so that recursion over a value does not overflow the stack. */
export const MOST_DEPTH = 100;
