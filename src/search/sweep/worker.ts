/**
 * A worker thread of a sweep: examines the chunks that it is sent and answers with tallies. Which
 * seed it is at stands in shared memory, so that the pool can name the seed of a worker that hangs.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Catalogue } from '../../catalogue.ts';
import { endEndless } from '../../host/async/endless.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { capturedOutput } from '../../host/async/printing.ts';
import { tellWhereabouts } from '../../host/async/whereabouts.ts';
import { loadAgain } from '../../host/modules/load-catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Chunk, type Examiner, examineChunk, type ReuseDifference } from './chunk.ts';
import { expectedOf } from './expected.ts';
import type { ChunkDone, ChunkOrder, LastWords, WorkerSetting } from './pool.ts';
import { performHere, type TaskOrder } from './tasks.ts';

/** The shape of an examiner module; the catalogue holds what the scenario's words mean. */
interface ExaminerModule {
  readonly examinerOf: (
    scenario: Scenario,
    catalogue: Catalogue,
    reusing: readonly string[],
    planBlocks?: Chunk['planBlocks'],
  ) => Examiner;
  /** Waited for before the first seed of each chunk, where there is one. */
  readonly prepareScenario?: (scenario: Scenario, catalogue: Catalogue) => Promise<void>;
}

async function work({
  examinerUrl,
  seedCell,
  stopCell,
  whereabouts,
}: WorkerSetting): Promise<void> {
  const module: ExaminerModule = await import(examinerUrl);
  endEndless((lastWords) => {
    const words: LastWords = { lastWords };
    parentPort?.postMessage(words);
  });
  tellWhereabouts(whereabouts);
  capturedOutput.use();
  parentPort?.on('message', async (order: ChunkOrder | TaskOrder) => {
    // Modules are named with the digests of their files, so none that has changed is taken again.
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
    // For good, since nothing else runs here: what is shared is then kept once for all chunks.
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
    const tally = await examineChunk(chunk, expect, examiner, onSeed, (found) => {
      difference ??= found;
    });
    const done: ChunkDone = { tally, difference, milliseconds: performance.now() - startedMs };
    parentPort?.postMessage(done);
  });
}

/** Those of the last order: to read and compile a driver takes longer than a chunk of seeds. */
let loaded: { readonly key: string; readonly catalogue: Catalogue } | null = null;

/** Whether globals are those of simulated processes while one runs. */
let isVirtual = false;

await work(workerData);
