/** A thread that shrinks one kind of failure, answers with it, and ends: see `shrink-kind.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadAgain } from '../../host/modules/load-catalogue.ts';
import { type ShrinkSetting, shrinkKind } from './shrink-kind.ts';

async function work({ modules, ...order }: ShrinkSetting): Promise<void> {
  parentPort?.postMessage(await shrinkKind(order, await loadAgain(modules)));
}

await work(workerData);
