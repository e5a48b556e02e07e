/**
 * Reads and writes the journal of a sweep: one line per finished chunk with its counts, so that a
 * killed sweep can resume. Each line is written at once. A kill can thus truncate only the last
 * line, which is accepted. Any other damage is reported.
 */
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import {
  type Form,
  mismatchReason,
  type Origin,
  originSchema,
  seal,
  unseal,
} from './checksummed.ts';
import type { FinishedRange } from './chunk.ts';
import { countSchema, counts, countsSchema, rangeSchema, type SweepCounts } from './counts.ts';
import type { SeedRange, Shard } from './shards.ts';

/** Identifies the sweep of the chunks. */
export interface JournalHead {
  readonly origin: Origin;
  /** The requested seeds, including seeds of other shards. */
  readonly range: SeedRange;
  readonly shard: Shard | null;
}

/** A chunk and its counts. */
export interface FinishedChunk extends FinishedRange {
  readonly counts: SweepCounts;
  /** The duration of the sweep until this chunk finished, over all attempts. */
  readonly milliseconds: number;
}

const HEAD: Form = { type: 'journal', version: 3 };
const CHUNK: Form = { type: 'chunk', version: 3 };

const headSchema: z.ZodType<JournalHead> = z.strictObject({
  origin: originSchema,
  range: rangeSchema,
  shard: z.strictObject(counts('index', 'of')).nullable(),
});

const chunkSchema: z.ZodType<FinishedChunk> = z.strictObject({
  system: z.string(),
  ...counts('from', 'to'),
  counts: countsSchema,
  milliseconds: countSchema,
});

/** Returns the first line of a journal, with its line break. */
export function renderHead(head: JournalHead): string {
  return `${seal(HEAD, head)}\n`;
}

/** Returns a line for a chunk, with its line break. */
export function renderChunk(chunk: FinishedChunk): string {
  return `${seal(CHUNK, chunk)}\n`;
}

export type JournalRead =
  | {
      readonly kind: 'journal';
      readonly head: JournalHead;
      /** No two chunks of a system overlap. */
      readonly chunks: readonly FinishedChunk[];
      /** True if the last line was truncated. The read omits it. */
      readonly isTorn: boolean;
    }
  /** The file is empty: the process was killed before it wrote the first line. */
  | { readonly kind: 'empty' }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly line: number; readonly what: string };

/** Reads a journal from pieces of its text. Reports the first line that is damaged or invalid. */
export function readJournal(pieces: Iterable<string>): JournalRead {
  let head: JournalHead | null = null;
  const chunks: FinishedChunk[] = [];
  let isTorn = false;
  let number = 0;
  for (const { text, isComplete } of linesOf(pieces)) {
    number += 1;
    isTorn = !isComplete;
    if (isTorn) break;
    if (head === null) {
      const first: JournalHead | string = readLine(text, HEAD, headSchema);
      if (typeof first === 'string') return { kind: 'problem', line: number, what: first };
      head = first;
    } else {
      const chunk = readLine(text, CHUNK, chunkSchema);
      if (typeof chunk === 'string') return { kind: 'problem', line: number, what: chunk };
      chunks.push(chunk);
    }
  }
  if (number === 0) return { kind: 'empty' };
  if (head === null) return { kind: 'problem', line: 1, what: 'is damaged: truncated header' };
  return { kind: 'journal', head, chunks: withoutRepeats(chunks), isTorn };
}

interface Line {
  readonly text: string;
  readonly isComplete: boolean;
}

/** Splits the text piece by piece, since a string is limited to 512 MB. */
function* linesOf(pieces: Iterable<string>): Generator<Line> {
  let tail = '';
  for (const piece of pieces) {
    const lines = (tail + piece).split('\n');
    tail = lines.pop() ?? '';
    for (const text of lines) yield { text, isComplete: true };
  }
  if (tail !== '') yield { text: tail, isComplete: false };
}

/**
 * Removes each range that overlaps a kept one, and preserves the order. Two processes may have
 * resumed one journal and examined the same seeds, with the same result.
 */
export function withoutRepeats<T extends FinishedRange>(ranges: readonly T[]): readonly T[] {
  const kept = new Set<T>();
  let last: T | null = null;
  for (const range of [...ranges].sort(bySystemAndStart)) {
    if (last !== null && last.system === range.system && range.from <= last.to) continue;
    kept.add(range);
    last = range;
  }
  return ranges.filter((range) => kept.has(range));
}

/** Relies on a stable sort: of two ranges with the same start, the earlier one stays first. */
function bySystemAndStart(a: FinishedRange, b: FinishedRange): number {
  if (a.system !== b.system) return a.system < b.system ? -1 : 1;
  return a.from - b.from;
}

function readLine<T extends object>(line: string, form: Form, schema: z.ZodType<T>): T | string {
  const read = unseal(line, form);
  if (read.kind === 'problem') return read.what;
  const checked = check(schema, read.content);
  return checked.kind === 'value' ? checked.value : `is not a ${form.type} written by fencepost`;
}

/** Returns why a journal belongs to another sweep, as a clause, or null if it does not. */
export function whyOtherSweep(theirs: JournalHead, ours: JournalHead): string | null {
  const mismatch = mismatchReason(theirs.origin, ours.origin);
  if (mismatch !== null) return mismatch;
  const [range, other] = [theirs.range, ours.range].map(({ from, to }) => `${from}..${to}`);
  if (range !== other) return `is for the seeds ${range}, not ${other}`;
  const [shard, another] = [theirs.shard, ours.shard].map(shardText);
  return shard === another ? null : `is for ${shard}, not for ${another}`;
}

function shardText(shard: Shard | null): string {
  return shard === null ? 'all seeds' : `shard ${shard.index} of ${shard.of}`;
}
