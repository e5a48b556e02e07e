/** A coordinator on a queue in memory, while a test decides what becomes of the jobs. */
import { expect } from 'vitest';
import { readCheckpoint } from './checkpoint.ts';
import { chunksIn } from './chunks.ts';
import {
  type CoordinateOptions,
  type CoordinatorTiming,
  coordinate,
  type FleetResult,
} from './coordinate.ts';
import type { MemoryQueue } from './memory-queue.fixture.ts';
import { resultOf, smallScenario, smallSweep } from './sweep.fixture.ts';
import type { ChunkJob, ShrinkJob } from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';

export const sweep: SweepRecord = smallSweep();
export const id: string = sweepIdOf(sweep);
export const chunks: number = chunksIn(sweep);
export const timing: CoordinatorTiming = {
  ...{ pollMs: 1, beatMs: 5, saveMs: 0 },
  ...{ addAgainMs: 1e9, quietMs: 1e9 },
};

export function work(job: ChunkJob | ShrinkJob): unknown {
  if (job.kind === 'chunk') return resultOf(sweep, job.chunk);
  const { system, claim, seed } = job;
  const found = { plan: 'a plan', boundary: null, whyNoBoundary: 'no number decides', others: [] };
  return { system, claim, seed, ...found, headline: 'it broke', signature: 'abcd' };
}

export interface Kept {
  text: string | null;
}

export function options(
  queue: MemoryQueue,
  kept: Kept,
  change: Partial<CoordinateOptions> = {},
): CoordinateOptions {
  const read = kept.text === null ? null : readCheckpoint(kept.text, id);
  return {
    ...{ sweep, scenario: smallScenario(), queue, timing },
    checkpoint: read?.kind === 'checkpoint' ? read.checkpoint : null,
    save: (text) => {
      kept.text = text;
    },
    planFileOf: (system, claim) => `reports/small-${system}-${claim}.yaml`,
    onShrunk: () => {},
    note: () => {},
    coordinator: 'first',
    shouldStop: () => false,
    ...change,
  };
}

/** Coordinates while `step` is called now and then, until it ends. */
export async function run(
  queue: MemoryQueue,
  change: Partial<CoordinateOptions> & { readonly kept?: Kept },
  step: (round: number) => void,
): Promise<FleetResult> {
  const { kept = { text: null }, ...rest } = change;
  let isOver = false;
  let round = 0;
  const turn = (): void => {
    if (isOver) return;
    round += 1;
    if (round > 5_000) throw new Error('it does not end');
    step(round);
    setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  try {
    return await coordinate(options(queue, kept, rest));
  } finally {
    isOver = true;
  }
}

/** The same queue as one coordinator sees it: what is replaced in it is not for the others. */
export function viewOf(queue: MemoryQueue): MemoryQueue {
  const view: MemoryQueue = Object.create(queue);
  return view;
}

/** Where something waits until it is let go. */
export class Gate {
  isShut = false;
  private readonly waiting: (() => void)[] = [];

  /** How many are waiting. */
  get held(): number {
    return this.waiting.length;
  }

  async pass(): Promise<void> {
    if (this.isShut) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  open(): void {
    this.isShut = false;
    for (const go of this.waiting.splice(0)) go();
  }
}

/** Comes back once `isSo`, or rejects. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 3_000; turn += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error('it never came to be');
}

export function requireWhole({ end, tallies }: FleetResult): void {
  expect(end).toBe('whole');
  expect(tallies.get('unfenced')).toMatchObject({ seeds: 100, broken: 33 });
  expect(tallies.get('fenced')?.seeds).toBe(100);
}
