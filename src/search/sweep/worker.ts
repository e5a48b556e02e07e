/**
 * A worker thread of a sweep: examines the chunks that it is sent and answers with tallies. Which
 * seed it is at stands in shared memory, so that the pool can name the seed of a worker that hangs.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Catalogue } from '../../catalogue.ts';
import { loadAgain } from '../../host/modules/load-catalogue.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type Examiner, examineChunk } from './chunk.ts';
import type { ChunkDone, ChunkOrder, WorkerSetting } from './pool.ts';

/** The shape of an examiner module; the catalogue holds what the scenario's words mean. */
interface ExaminerModule {
  readonly examinerOf: (scenario: Scenario, catalogue: Catalogue) => Examiner;
  /** Waited for before the first seed of each chunk, where there is one. */
  readonly prepareScenario?: (scenario: Scenario, catalogue: Catalogue) => Promise<void>;
}

async function work({ examinerUrl, seedCell }: WorkerSetting): Promise<void> {
  const module: ExaminerModule = await import(examinerUrl);
  parentPort?.on('message', async ({ scenario, modules, chunk }: ChunkOrder) => {
    const catalogue = await loadAgain(modules);
    await module.prepareScenario?.(scenario, catalogue);
    const startedMs = performance.now();
    const system = scenario.systems.find(({ name }) => name === chunk.system);
    const expect = system?.expect ?? { holds: [], breaks: [] };
    const examiner = module.examinerOf(scenario, catalogue);
    const tally = await examineChunk(chunk, expect, examiner, (seed) => {
      seedCell[0] = seed;
    });
    const done: ChunkDone = { tally, milliseconds: performance.now() - startedMs };
    parentPort?.postMessage(done);
  });
}

await work(workerData);
