/**
 * The journal of a sweep: which chunks are done and what they came to, one line each, so that a
 * sweep that was killed can go on. A line is written in one piece; what a kill has torn is the last
 * one, and only that is forgiven.
 */
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import type { FinishedRange } from './chunk.ts';
import { type Form, type Origin, originSchema, seal, unseal, whyForeign } from './sealed.ts';
import type { SeedRange, Shard } from './shards.ts';
import { countSchema, counts, rangeSchema, type Tally, tallySchema } from './tally.ts';

/** What the chunks of a journal are part of. */
export interface JournalHead {
  readonly origin: Origin;
  /** The seeds that were asked for, those of other shards included. */
  readonly range: SeedRange;
  readonly shard: Shard | null;
}

/** A chunk, and what it came to. */
export interface FinishedChunk extends FinishedRange {
  readonly tally: Tally;
  /** How long the sweep had been at work by then, all its attempts together. */
  readonly milliseconds: number;
}

const HEAD: Form = { type: 'journal', version: 2 };
const CHUNK: Form = { type: 'chunk', version: 2 };

const headSchema: z.ZodType<JournalHead> = z.strictObject({
  origin: originSchema,
  range: rangeSchema,
  shard: z.strictObject(counts('index', 'of')).nullable(),
});

const chunkSchema: z.ZodType<FinishedChunk> = z.strictObject({
  system: z.string(),
  ...counts('from', 'to'),
  tally: tallySchema,
  milliseconds: countSchema,
});

/** The first line of a journal, with its line break. */
export function renderHead(head: JournalHead): string {
  return `${seal(HEAD, head)}\n`;
}

/** A further line, with its line break. */
export function renderChunk(chunk: FinishedChunk): string {
  return `${seal(CHUNK, chunk)}\n`;
}

export type JournalRead =
  | {
      readonly kind: 'journal';
      readonly head: JournalHead;
      /** No two of a system have a seed in common. */
      readonly chunks: readonly FinishedChunk[];
      /** Whether the last line was cut off, and is left out. */
      readonly isTorn: boolean;
    }
  /** There is no text: it was killed before its first line was written. */
  | { readonly kind: 'empty' }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly line: number; readonly what: string };

/** A journal from the pieces of its text, or the first line that cannot be relied on. */
export function readJournal(pieces: Iterable<string>): JournalRead {
  let head: JournalHead | null = null;
  const chunks: FinishedChunk[] = [];
  let isTorn = false;
  let number = 0;
  for (const { text, isWhole } of linesOf(pieces)) {
    number += 1;
    isTorn = !isWhole;
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
  if (head === null) return { kind: 'problem', line: 1, what: 'is damaged: its head is cut off' };
  return { kind: 'journal', head, chunks: withoutRepeats(chunks), isTorn };
}

interface Line {
  readonly text: string;
  /** Whether its line break is there. */
  readonly isWhole: boolean;
}

/** Never the whole text at once: one string holds 512 MB at most. */
function* linesOf(pieces: Iterable<string>): Generator<Line> {
  let tail = '';
  for (const piece of pieces) {
    const lines = (tail + piece).split('\n');
    tail = lines.pop() ?? '';
    for (const text of lines) yield { text, isWhole: true };
  }
  if (tail !== '') yield { text: tail, isWhole: false };
}

/**
 * Ranges in their order, without those that have a seed in common with another that stays: two
 * processes that went on with one journal may have done the same seeds, to the same result.
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

/** Of two that begin alike the earlier one stays first. */
function bySystemAndStart(a: FinishedRange, b: FinishedRange): number {
  if (a.system !== b.system) return a.system < b.system ? -1 : 1;
  return a.from - b.from;
}

function readLine<T extends object>(line: string, form: Form, schema: z.ZodType<T>): T | string {
  const read = unseal(line, form);
  if (read.kind === 'problem') return read.what;
  const checked = check(schema, read.content);
  return checked.kind === 'value' ? checked.value : `is no ${form.type} that fencepost wrote`;
}

/** Why a journal is of another sweep, a clause; null where it is of this one. */
export function whyOtherSweep(theirs: JournalHead, ours: JournalHead): string | null {
  const foreign = whyForeign(theirs.origin, ours.origin);
  if (foreign !== null) return foreign;
  const [range, other] = [theirs.range, ours.range].map(({ from, to }) => `${from}..${to}`);
  if (range !== other) return `is of the seeds ${range}, not ${other}`;
  const [shard, another] = [theirs.shard, ours.shard].map(shardText);
  return shard === another ? null : `is of ${shard}, not of ${another}`;
}

function shardText(shard: Shard | null): string {
  return shard === null ? 'all of them' : `shard ${shard.index} of ${shard.of}`;
}
