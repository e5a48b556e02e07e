/**
 * Keeps the journal of a sweep in the output folder: begun before the first seed, a line after each
 * chunk, gone once the command has reported all of it.
 */
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { countOf } from '../report/prose.ts';
import type { Chunk } from '../sweep/chunk.ts';
import {
  type FinishedChunk,
  type JournalHead,
  readJournal,
  renderChunk,
  renderHead,
  whyOtherSweep,
} from '../sweep/journal.ts';
import type { Tally } from '../sweep/tally.ts';
import { UserError } from './exit.ts';
import { systemMessage, writeText } from './files.ts';
import type { Terminal } from './terminal.ts';

export interface JournalOptions {
  /** Whether to go on with what is there; else it is begun anew. */
  readonly isResumed: boolean;
  readonly terminal: Pick<Terminal, 'note' | 'warn'>;
}

/** Opens the journal at `file` for a sweep; refuses one that is damaged or of another sweep. */
export function openJournal(file: string, head: JournalHead, options: JournalOptions): Journal {
  const { isResumed, terminal } = options;
  const finished = isResumed ? finishedIn(file, head, terminal) : [];
  // Written whole, also to be rid of a line that was cut off.
  writeText(file, [renderHead(head), ...finished.map(renderChunk)].join(''));
  return new Journal(file, finished, terminal);
}

/** The chunks of a journal that is there; none where there is no journal. */
function finishedIn(
  file: string,
  head: JournalHead,
  terminal: JournalOptions['terminal'],
): readonly FinishedChunk[] {
  if (!existsSync(file)) {
    terminal.note(`  resume: there is no ${file}, so all seeds are examined`);
    return [];
  }
  const anew = 'without --resume the sweep begins anew';
  const read = readJournal(textOf(file));
  if (read.kind === 'problem') {
    throw new UserError([`${file}:${read.line}:1: this journal ${read.what}; ${anew}`]);
  }
  const why = whyOtherSweep(read.head, head);
  if (why !== null) throw new UserError([`${file}:1:1: this journal ${why}; ${anew}`]);
  if (read.isTorn) {
    terminal.warn(`warning: ${file}: the last line was cut off; its seeds are examined again`);
  }
  terminal.note(`  resume: ${countOf(read.chunks.length, 'chunk')} of seeds done before`);
  return read.chunks;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError([`${file}:1:1: ${systemMessage(error)}`]);
  }
}

export class Journal {
  /** What was done before. */
  readonly finished: readonly FinishedChunk[];
  /** How long earlier attempts took. */
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
    this.milliseconds = Math.max(0, ...finished.map(({ milliseconds }) => milliseconds));
    this.descriptor = openSync(file, 'a');
  }

  /** Adds a line; where that fails the sweep goes on, and cannot be resumed from there. */
  add({ system, from, to }: Chunk, tally: Tally): void {
    if (this.descriptor === null) return;
    const milliseconds = Math.round(this.milliseconds + performance.now() - this.startedMs);
    try {
      const line = renderChunk({ system, from, to, tally, milliseconds });
      appendFileSync(this.descriptor, line);
    } catch (error) {
      this.close();
      this.terminal.warn(`warning: ${this.file}: ${systemMessage(error)}; --resume will miss some`);
    }
  }

  close(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }

  /** Deletes it: nothing is left to go on with. */
  remove(): void {
    this.close();
    rmSync(this.file, { force: true });
  }
}
