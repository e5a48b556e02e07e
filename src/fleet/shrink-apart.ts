/**
 * Shrinks in a thread of its own, so that the main thread stays free to renew the job's lock, and a
 * plan that hangs or uses up the memory ends the thread and not the worker.
 */
import { Worker } from 'node:worker_threads';
import { type ShrunkKind, shrunkKindSchema } from './jobs.ts';
import type { ShrinkSetting } from './shrink-thread.ts';

const LIMIT_MS = 10 * 60_000;
const MEMORY_MB = 512;

/** Rejects where the thread dies or takes more than ten minutes. */
export function shrinkApart(setting: ShrinkSetting): Promise<ShrunkKind> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./shrink-thread.js', import.meta.url), {
      workerData: setting,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const limit = setTimeout(() => {
      reject(new Error(`shrinking did not end within ${LIMIT_MS / 60_000} minutes`));
      void thread.terminate();
    }, LIMIT_MS);
    thread.on('message', (answer: unknown) => resolve(shrunkKindSchema.parse(answer)));
    thread.on('error', reject);
    thread.on('exit', () => {
      clearTimeout(limit);
      reject(new Error('shrinking ended without an answer'));
    });
  });
}
