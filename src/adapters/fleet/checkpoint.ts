/**
 * The file from which a coordinator that was killed goes on: which chunks are counted, what they
 * add up to, and how the sweep was cut. It is written whole, and before any of these results is
 * taken off the queue; so a result is always in one of the two places.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { check } from '../../core/plan/document.ts';
import { type Form, seal, unseal } from '../../search/sweep/sealed.ts';
import { countSchema, tallySchema } from '../../search/sweep/tally.ts';
import type { CountsState } from './chunk-counts.ts';
import { chunksIn } from './chunks.ts';
import { type ShrunkKind, shrunkKindSchema } from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf, sweepRecordSchema } from './sweep-record.ts';
import { type TwoResults, twoResultsSchema } from './two-results.ts';

export interface Checkpoint {
  readonly sweep: SweepRecord;
  readonly counts: CountsState;
  /** How long coordinators were at work, all attempts together. */
  readonly milliseconds: number;
  /** What workers have shrunk, one a kind of failure. */
  readonly shrunk: readonly ShrunkKind[];
  /** Of chunks that came to two results, the first. */
  readonly alarm: TwoResults | null;
}

const FORM: Form = { type: 'fleet-checkpoint', version: 2 };

const schema = z.strictObject({
  sweep: sweepRecordSchema,
  /** Of the second line. */
  digests: z.string(),
  tallies: z.record(z.string(), tallySchema),
  milliseconds: countSchema,
  shrunk: z.array(shrunkKindSchema),
  alarm: twoResultsSchema.nullable(),
});

/** Two lines: what is known, sealed, and of each chunk two bytes a system in base64. */
export function renderCheckpoint({ counts, ...rest }: Checkpoint): string {
  const { buffer, byteOffset, byteLength } = counts.digests;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const { tallies } = counts;
  const head = seal(FORM, { ...rest, digests: checksumOf(bytes), tallies });
  return `${head}\n${bytes.toString('base64')}\n`;
}

function checksumOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

type CheckpointRead =
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly what: string };

/** A checkpoint of the sweep with this id, or why the text is none to go on from. */
export function readCheckpoint(text: string, sweepId: string): CheckpointRead {
  const [head = '', body = ''] = text.split('\n');
  const read = unseal(head, FORM);
  if (read.kind === 'problem') return read;
  const checked = check(schema, read.content);
  if (checked.kind !== 'value') return problem('is none that fencepost wrote');
  const { digests, tallies, ...rest } = checked.value;
  if (sweepIdOf(rest.sweep) !== sweepId) return problem('is of another sweep');
  const bytes = Buffer.from(body, 'base64');
  if (checksumOf(bytes) !== digests) {
    return problem('is damaged: its chunks are not those that it was written with');
  }
  if (bytes.length !== 2 * chunksIn(rest.sweep) * Object.keys(tallies).length) {
    return problem('has not one digest a chunk and system');
  }
  const words = new Uint16Array(bytes.length / 2);
  Buffer.from(words.buffer).set(bytes);
  return { kind: 'checkpoint', checkpoint: { ...rest, counts: { digests: words, tallies } } };
}

function problem(what: string): CheckpointRead {
  return { kind: 'problem', what };
}
