/** Reads a recorded history from a file, piece by piece, so that no large text is ever held. */
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { formatOf, formats, TELLING_CHARACTERS } from '../linearizability/formats/formats.ts';
import {
  type BuildOptions,
  type BuiltHistory,
  HistoryBuilder,
} from '../linearizability/formats/history-builder.ts';
import type {
  FilePlace,
  Format,
  HistoryReader,
  Malformed,
  RecordedMark,
} from '../linearizability/formats/record.ts';
import { UserError } from './exit.ts';
import { systemMessage } from './files.ts';

export interface ReadOptions extends Omit<BuildOptions, 'hidesReads' | 'readsPairs'> {
  /** Null: as the file's beginning tells. */
  readonly format: Format | null;
  /** Told now and then how many operations have been read. */
  readonly onProgress: (operations: number) => void;
  /** Ends the reading, which then throws an `AbortError`. */
  readonly signal?: AbortSignal;
}

export interface ReadHistory extends BuiltHistory {
  readonly format: Format;
  readonly marks: readonly RecordedMark[];
  /** As `HistoryReader` has it. */
  readonly mayBeCut: boolean;
}

/** The history in a file, `-` for standard input; what is wrong with it is in the `UserError`. */
export async function readHistory(file: string, options: ReadOptions): Promise<ReadHistory> {
  const reading = new Reading(file, options);
  const { signal = new AbortController().signal } = options;
  try {
    for await (const chunk of openFile(file, signal)) {
      if (chunk instanceof Uint8Array) reading.push(chunk);
      options.onProgress(reading.size);
    }
  } catch (error) {
    // Others are ours.
    if (!isOfSystem(error) || signal.aborted) throw error;
    return reading.fail(systemMessage(error));
  }
  return reading.finish();
}

function openFile(file: string, signal: AbortSignal): Readable {
  if (file === '-') return addAbortSignal(signal, process.stdin);
  return createReadStream(file, { highWaterMark: CHUNK_BYTES, signal });
}

function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

const CHUNK_BYTES = 1 << 18;
const FIRST: FilePlace = { line: 1, column: 1 };

interface Opened {
  readonly format: Format;
  readonly reader: HistoryReader;
  readonly builder: HistoryBuilder;
}

/** From bytes to a history. */
class Reading {
  private readonly file: string;
  private readonly options: ReadOptions;
  private readonly decoder: InstanceType<typeof TextDecoder> = new TextDecoder('utf-8', {
    fatal: true,
  });
  private isFirst = true;
  /** What the format is told by, until it is. */
  private head = '';
  private opened: Opened | null = null;

  constructor(file: string, options: ReadOptions) {
    this.file = file;
    this.options = options;
  }

  get size(): number {
    return this.opened?.builder.size ?? 0;
  }

  push(chunk: Uint8Array): void {
    const isCompressed = this.isFirst && chunk[0] === 0x1f && chunk[1] === 0x8b;
    if (isCompressed) this.fail('the file is compressed; gunzip it first');
    if (chunk.includes(0)) this.fail('this is a binary file, not a history');
    this.isFirst = false;
    const piece = this.decode(chunk);
    if (this.opened !== null) {
      this.refuse(this.opened.reader.push(piece));
      return;
    }
    this.head += piece;
    if (this.head.length >= TELLING_CHARACTERS) this.open();
  }

  finish(): ReadHistory {
    this.head += this.decode(null);
    if (this.opened === null && this.head.trim() === '') this.fail('the file is empty');
    const { format, reader, builder } = this.opened ?? this.open();
    this.refuse(reader.end());
    const built = builder.finish();
    if ('what' in built) this.fail(built.what, built);
    return { ...built, format, marks: reader.marks, mayBeCut: reader.mayBeCut?.() ?? false };
  }

  fail(what: string, { line, column }: FilePlace = FIRST): never {
    throw new UserError([`${this.file}:${line}:${column}: ${what}`]);
  }

  private open(): Opened {
    const format = this.options.format ?? formatOf(this.head);
    if (format === null) {
      const names = formats.map(({ name }) => name).join(', ');
      this.fail(`this begins like no history; name its format with --format: ${names}`);
    }
    const { hidesReads, readsPairs } = format;
    const builder = new HistoryBuilder({ ...this.options, hidesReads, readsPairs });
    const reader = format.open((operation) => builder.take(operation));
    this.opened = { format, reader, builder };
    this.refuse(reader.push(this.head));
    this.head = '';
    return this.opened;
  }

  private refuse(problem: Malformed | null): void {
    if (problem !== null) this.fail(problem.what, problem);
  }

  /** Null: the file ended. */
  private decode(chunk: Uint8Array | null): string {
    try {
      return chunk === null ? this.decoder.decode() : this.decoder.decode(chunk, { stream: true });
    } catch {
      return this.fail('this is no UTF-8 text');
    }
  }
}
