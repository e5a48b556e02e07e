/**
 * Shrinks in a thread of its own, so that the main thread stays free to renew the job's lock, and a
 * plan that hangs or uses up the memory ends the thread and not the worker.
 */
import { Worker } from 'node:worker_threads';
import { type ShrunkKind, shrunkKindSchema } from './jobs.ts';
import { noneShrunk } from './shrink-kind.ts';
import type { ShrinkSetting } from './shrink-thread.ts';

export interface ApartOptions {
  /** The module that the thread runs. */
  readonly thread: URL;
  readonly limitMs: number;
  readonly memoryMb: number;
}

const APART: ApartOptions = {
  thread: new URL('./shrink-thread.js', import.meta.url),
  limitMs: 2 * 60_000,
  memoryMb: 512,
};

/**
 * There is no plan where the thread dies or takes more than two minutes. That is an answer and no
 * failure: trying again would keep a worker, perhaps the only one, from the seeds.
 */
export function shrinkApart(
  setting: ShrinkSetting,
  { thread: module, limitMs, memoryMb }: ApartOptions = APART,
): Promise<ShrunkKind> {
  return new Promise((resolve) => {
    const thread = new Worker(module, {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const giveUp = (why: string): void => resolve(noneShrunk(setting.job, why));
    const limit = setTimeout(() => {
      giveUp(`shrinking did not end within ${limitMs / 1000} s`);
      void thread.terminate();
    }, limitMs);
    thread.on('message', (answer: unknown) => {
      const read = shrunkKindSchema.safeParse(answer);
      if (read.success) resolve(read.data);
      else giveUp('what it was shrunk to is too large to be told');
    });
    thread.on('error', (error: Error) => giveUp(`shrinking failed: ${error.message}`));
    thread.on('exit', () => {
      clearTimeout(limit);
      giveUp('shrinking ended without an answer');
    });
  });
}
