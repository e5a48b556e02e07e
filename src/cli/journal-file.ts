/**
 * Stores the journal of a sweep in the output folder: created before the first seed, extended after
 * each chunk, and deleted once the command has reported everything.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Chunk } from '../search/sweep/chunk.ts';
import type { SweepCounts } from '../search/sweep/counts.ts';
import {
  type FinishedChunk,
  type JournalHead,
  type JournalRead,
  readJournal,
  renderChunk,
  renderHead,
  whyOtherSweep,
} from '../search/sweep/journal.ts';
import { countOf } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { allowed, systemMessage, writeText } from './files.ts';
import type { Terminal } from './terminal.ts';

const PIECE_BYTES = 1_000_000;
const LINE_BREAK = 10;

export interface JournalOptions {
  /** True to resume an existing journal; otherwise it is overwritten. */
  readonly isResumed: boolean;
  readonly terminal: Pick<Terminal, 'note' | 'warn'>;
}

/** Opens the journal of a sweep. Refuses a file that is damaged or belongs to another sweep. */
export function openJournal(file: string, head: JournalHead, options: JournalOptions): Journal {
  const { isResumed, terminal } = options;
  if (isResumed && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new UserError([`${file}:1:1: symbolic link; journals are not written through links`]);
  }
  const finished = isResumed ? finishedIn(file, head, terminal) : null;
  if (finished === null) writeText(file, renderHead(head));
  return new Journal(file, finished ?? [], terminal);
}

/** Reads the chunks and removes a truncated last line. Returns null if there is no journal. */
function finishedIn(
  file: string,
  head: JournalHead,
  terminal: JournalOptions['terminal'],
): readonly FinishedChunk[] | null {
  if (!existsSync(file)) {
    terminal.note(`  resume: no ${file}; running all seeds`);
    return null;
  }
  const remedy = 'omit --resume to restart';
  const { read, completeBytes } = readFile(file);
  if (read.kind === 'empty') {
    terminal.note(`  resume: ${file} is empty; running all seeds`);
    return null;
  }
  if (read.kind === 'problem') {
    throw new UserError([`${file}:${read.line}:1: journal ${read.what}; ${remedy}`]);
  }
  const why = whyOtherSweep(read.head, head);
  if (why !== null) throw new UserError([`${file}:1:1: journal ${why}; ${remedy}`]);
  if (read.isTorn) {
    terminal.warn(`warning: ${file}: truncated last line; its seeds run again`);
    allowed(`${file}:1:1: cannot be written`, () => truncateSync(file, completeBytes));
  }
  terminal.note(`  resume: ${countOf(read.chunks.length, 'chunk')} of seeds already done`);
  return read.chunks;
}

interface FileRead {
  readonly read: JournalRead;
  /** The total length of the complete lines. */
  readonly completeBytes: number;
}

function readFile(file: string): FileRead {
  let [bytes, completeBytes] = [0, 0];
  const decoder = new StringDecoder('utf8');
  function* texts(): Generator<string> {
    for (const piece of piecesOf(file)) {
      const end = piece.lastIndexOf(LINE_BREAK) + 1;
      if (end > 0) completeBytes = bytes + end;
      bytes += piece.length;
      yield decoder.write(piece);
    }
    yield decoder.end();
  }
  return { read: readJournal(texts()), completeBytes };
}

/** Yields the bytes of a file in pieces. A piece is valid until the next one is requested. */
function* piecesOf(file: string): Generator<Buffer> {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      for (;;) {
        const length = readSync(descriptor, piece);
        if (length === 0) return;
        yield piece.subarray(0, length);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UserError([`${file}:1:1: ${systemMessage(error)}`]);
  }
}

export class Journal {
  /** Chunks of earlier attempts. */
  readonly finished: readonly FinishedChunk[];
  /** The time that earlier attempts took. */
  readonly milliseconds: number;
  private readonly file: string;
  private readonly terminal: JournalOptions['terminal'];
  private readonly startedMs = performance.now();
  private descriptor: number | null;

  constructor(
    file: string,
    finished: readonly FinishedChunk[],
    terminal: JournalOptions['terminal'],
  ) {
    this.file = file;
    this.finished = finished;
    this.terminal = terminal;
    this.milliseconds = finished.reduce((most, chunk) => Math.max(most, chunk.milliseconds), 0);
    this.descriptor = allowed(`${file}:1:1: cannot be written`, () => openSync(file, 'a'));
  }

  /** Appends a line. If that fails, the sweep continues without a journal. */
  add({ system, from, to }: Chunk, counts: SweepCounts): void {
    if (this.descriptor === null) return;
    const milliseconds = Math.round(this.milliseconds + performance.now() - this.startedMs);
    const { size } = fstatSync(this.descriptor);
    try {
      const line = renderChunk({ system, from, to, counts, milliseconds });
      appendFileSync(this.descriptor, line);
    } catch (error) {
      // Remove the partial line: on a full disk, the results need its space.
      try {
        ftruncateSync(this.descriptor, size);
      } catch {}
      this.close();
      this.terminal.warn(`warning: ${this.file}: ${systemMessage(error)}; --resume will miss some`);
    }
  }

  /** Removes the chunks of a system whose sweep starts again. */
  forget(system: string): void {
    if (this.descriptor === null) return;
    try {
      const { read } = readFile(this.file);
      if (read.kind !== 'journal') return;
      const left = read.chunks.filter((chunk) => chunk.system !== system);
      truncateSync(this.file, 0);
      for (const text of [renderHead(read.head), ...left.map(renderChunk)]) {
        appendFileSync(this.descriptor, text);
      }
    } catch (error) {
      this.close();
      rmSync(this.file, { force: true });
      this.terminal.warn(
        `warning: ${this.file}: ${systemMessage(error)}; --resume will not find it`,
      );
    }
  }

  close(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }

  /** Deletes the journal, since there is nothing left to resume. */
  remove(): void {
    this.close();
    rmSync(this.file, { force: true });
  }
}
