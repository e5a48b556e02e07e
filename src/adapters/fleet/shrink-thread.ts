/** A thread that shrinks one kind of failure, answers with it, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { LoadedModule } from '../../catalogue.ts';
import { loadAgain } from '../../host/modules/load-catalogue.ts';
import { type ShrinkOrder, shrinkKind } from './shrink-kind.ts';

/** What the thread is started with. */
export interface ShrinkSetting extends ShrinkOrder {
  /** Where the scenario's own words come from. */
  readonly modules: readonly LoadedModule[];
}

async function work({ modules, ...order }: ShrinkSetting): Promise<void> {
  parentPort?.postMessage(await shrinkKind(order, await loadAgain(modules)));
}

await work(workerData);
