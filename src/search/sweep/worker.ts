/**
 * Runs on a worker thread of a sweep: examines chunks and answers with their counts. The current
 * seed is in shared memory, so that the pool can name the seed if the worker hangs.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Catalogue } from '../../catalogue.ts';
import { endEndless } from '../../host/async/endless.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { capturedOutput } from '../../host/async/printing.ts';
import { publishProgress } from '../../host/async/progress-beacon.ts';
import { loadAgain } from '../../host/modules/load-catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, type Examiner, examineChunk, type ReuseDifference } from './chunk.ts';
import { expectedOf } from './expected.ts';
import type { ChunkDone, ChunkOrder, LastWords, WorkerSetting } from './pool.ts';
import { performHere, type TaskOrder } from './tasks.ts';

/** The interface of an examiner module. The catalogue resolves the names in the scenario. */
interface ExaminerModule {
  readonly examinerOf: (
    scenario: Scenario,
    catalogue: Catalogue,
    reusing: readonly string[],
    planBlocks?: Chunk['planBlocks'],
  ) => Examiner;
  /** Awaited before the first seed of each chunk, if present. */
  readonly prepareScenario?: (scenario: Scenario, catalogue: Catalogue) => Promise<void>;
}

async function work({ examinerUrl, seedCell, stopCell, beacon }: WorkerSetting): Promise<void> {
  const module: ExaminerModule = await import(examinerUrl);
  endEndless((lastWords) => {
    const words: LastWords = { lastWords };
    parentPort?.postMessage(words);
  });
  publishProgress(beacon);
  capturedOutput.use();
  parentPort?.on('message', async (order: ChunkOrder | TaskOrder) => {
    // Modules are identified by the digests of their files, so a changed module is loaded again.
    const key = JSON.stringify(order.modules);
    if (loaded?.key !== key) loaded = { key, catalogue: await loadAgain(order.modules) };
    const { catalogue } = loaded;
    if ('task' in order) {
      const shouldStop = (): boolean => Atomics.load(stopCell, 0) !== 0;
      parentPort?.postMessage(await performHere(order.task, catalogue, shouldStop));
      return;
    }
    const { scenario, chunk } = order;
    await module.prepareScenario?.(scenario, catalogue);
    const startedMs = performance.now();
    // Nothing else runs here, so globals stay replaced and shared state is saved only once.
    if (chunk.isWalked === true && !isVirtual) {
      isVirtual = true;
      virtualizeGlobals();
    }
    const expect = expectedOf(scenario.systems.find(({ name }) => name === chunk.system));
    const reusing = chunk.isReusing === true ? [chunk.system] : [];
    const examiner = module.examinerOf(scenario, catalogue, reusing, chunk.planBlocks);
    const onSeed = (seed: number): void => {
      seedCell[0] = seed;
    };
    let difference: ReuseDifference | null = null;
    const counts = await examineChunk(chunk, expect, examiner, onSeed, (found) => {
      difference ??= found;
    });
    const done: ChunkDone = { counts, difference, milliseconds: performance.now() - startedMs };
    parentPort?.postMessage(done);
  });
}

/** The modules of the last order, kept because loading a driver takes longer than a chunk. */
let loaded: { readonly key: string; readonly catalogue: Catalogue } | null = null;

let isVirtual = false;

await work(workerData);
