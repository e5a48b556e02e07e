/**
 * What every format of a recorded history is read into, whoever recorded it: events, paired to
 * operations, with the places in the file where a person finds them.
 */
import type { Json } from '../../core/kernel/json.ts';

/** Both from 1; columns count UTF-16 units. */
export interface FilePlace {
  readonly line: number;
  readonly column: number;
}

/** What is wrong in a file, and where. */
export interface Malformed extends FilePlace {
  readonly what: string;
}

export function malformed({ line, column }: FilePlace, what: string): Malformed {
  return { line, column, what };
}

/** The fields of a record by name: `value`, and whatever else its recorder or a model needs. */
export type Fields = { readonly [name: string]: Json };

export const EVENT_TYPES = ['invoke', 'ok', 'fail', 'info'] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Jepsen's name for the process that injects the faults, which no client can have. */
export const NEMESIS = 'nemesis';

/** What the order of the events follows: that of the records in the file, or their `time`. */
export const EVENT_ORDERS = ['file', 'time'] as const;

export type EventOrder = (typeof EVENT_ORDERS)[number];

/** Events whose time is before that of an event above them in the file; the place of the first. */
export interface TimeDisorder {
  /** From 1, as `column` is. */
  readonly line: number;
  readonly column: number;
  readonly count: number;
  /** The line of an event above the first one that has a later time. */
  readonly afterLine: number;
}

/** One line of a log: a process calls, or hears how its call ended. */
export interface RecordedEvent extends FilePlace {
  readonly process: string;
  readonly type: EventType;
  /** What is called; '' when a completion leaves it out. */
  readonly f: string;
  readonly fields: Fields;
}

/** A call with its completion. Positions are those that `Operation` in `model.ts` asks for. */
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
  readonly invokedAt: FilePlace;
  /** Null as `return` is, but for an `info`, which stands in the file. */
  readonly returnedAt: FilePlace | null;
}

/** Takes the fields of a record that stands at `place`. */
export type TakeFields = (fields: Fields, place: FilePlace) => Malformed | null;

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
  /** Asked after the end; null if no time contradicts the order. Absent: times are the order. */
  disorder?(): TimeDisorder | null;
}

/** A way to record histories: one row of `formats`. */
export interface Format {
  readonly name: string;
  /** How a record of it looks, for people who choose one by its name. */
  readonly about: string;
  /** Whether a file that begins so is in it; of several formats the last in `formats` counts. */
  readonly begins: (head: FileHead) => boolean;
  /** `order` is `file` unless it says otherwise. */
  readonly open: (take: TakeOperation, order?: EventOrder) => HistoryReader;
  /**
   * Whether a read of nil has an unknown answer, as in Knossos, if it is one of a plain or CAS
   * register that does not begin with nil and is never set to it.
   */
  readonly hidesReads: boolean;
  /** Whether a value of two may be `[key value]`, as Jepsen writes those of independent objects. */
  readonly readsPairs: boolean;
}

/** The beginning of a file, which may end anywhere. */
export interface FileHead {
  /** Without the space and the EDN comments that it begins with. */
  readonly text: string;
  /** Whether `[` opens a list of all records. */
  readonly isList: boolean;
  /** The same from the first record on. */
  readonly record: string;
}

/** Longer lines and maps are refused, so that a file without line ends does not fill the memory. */
export const MOST_RECORD_CHARACTERS = 1_000_000;

/** Deeper brackets are refused, so that whoever walks through a value comes back. */
export const MOST_DEPTH = 100;
