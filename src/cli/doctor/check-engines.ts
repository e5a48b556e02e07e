/** Tries what a sweep needs of Node: worker threads with shared memory, and WebAssembly. */
import { Worker } from 'node:worker_threads';
import { prepare, storeKinds } from '../../systems/store/store-kinds.ts';
import { type Check, messageOf, ok, problem, warning } from './check.ts';

/** The thread writes into shared memory, as one of a sweep does, and ends. */
const PROGRAM = `const { workerData, parentPort } = require('node:worker_threads');
workerData[0] = 7; parentPort.postMessage('written');`;

const START_MS = 30_000;

/** Starts one worker thread as a sweep would. */
export async function checkThreads(
  workerMb: number,
  program: string = PROGRAM,
  limitMs: number = START_MS,
): Promise<Check> {
  const cell = new Float64Array(new SharedArrayBuffer(8));
  const startedMs = performance.now();
  try {
    await startThread(program, { cell, workerMb, limitMs });
    if (cell[0] !== 7) throw new Error('it shares no memory with this thread');
    const tookMs = Math.round(performance.now() - startedMs);
    return ok('threads', `worker threads start, in ${tookMs} ms`);
  } catch (error) {
    const what = `worker threads do not start: ${messageOf(error)}`;
    return problem('threads', what, 'run in one thread: --workers 0; look at the memory limits');
  }
}

async function startThread(
  program: string,
  setting: { readonly cell: Float64Array; readonly workerMb: number; readonly limitMs: number },
): Promise<void> {
  const worker = new Worker(program, {
    eval: true,
    workerData: setting.cell,
    resourceLimits: { maxOldGenerationSizeMb: setting.workerMb },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const late = new Error(`none within ${setting.limitMs / 1000} s`);
      timer = setTimeout(() => reject(late), setting.limitMs);
      worker.once('message', () => resolve());
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('it ended without a word')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Loads SQLite, and asks a store in it something. */
export async function checkSql(): Promise<Check> {
  const store = 'versioned-sql';
  try {
    await prepare([{ store }]);
    const server = storeKinds.get(store)?.build('store', null);
    server?.close?.();
    return ok('sql', 'SQLite in WebAssembly loads');
  } catch (error) {
    const what = `SQLite in WebAssembly does not load: ${messageOf(error)}`;
    const fix = 'install fencepost again; Node must not run with --jitless';
    return warning('sql', `${what}; only the stores …-sql need it`, fix);
  }
}
