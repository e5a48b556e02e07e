/**
 * Keeps the globals replaced for as long as a test goes on, since to replace them for each run
 * takes as long as a run; and sees whether builtin modules can be replaced here at all.
 */
import timers, { setTimeout } from 'node:timers';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { SimTestError } from './sim-test-error.ts';
import { breathe } from './stopwatch.ts';

/** Runs `work`; whoever comes after it finds the globals as they were. */
export async function withGlobals<R>(work: () => Promise<R>): Promise<R> {
  const restore = virtualizeGlobals();
  try {
    return await work();
  } finally {
    restore();
    await breathe(); // the last run gives them back in the next turn
  }
}

/**
 * Throws a `SimTestError`, while globals are replaced, in a context of `node:vm`: there, what was
 * imported from a builtin module stays what it was.
 */
export function requireLiveBindings(): void {
  if (setTimeout === timers.setTimeout) return;
  throw new SimTestError([
    'asynchronous code cannot be simulated here: builtin modules cannot be replaced in the pools',
    "vmThreads and vmForks; run this file with `pool: 'forks'` or `pool: 'threads'`",
  ]);
}
