/**
 * Measures the share of a block of seeds that isolating them takes: the walk over all state that
 * processes share, once per block, and the comparison of the globals after each run, with globals
 * replaced once. The seeds are those of a lock on fencepost's own client, and on ioredis.
 */
import { fileURLToPath } from 'node:url';
import { sharedState } from '../../src/host/async/global-objects.ts';
import { virtualizeGlobals } from '../../src/host/async/globals.ts';
import { loadScenarioFile } from '../../src/host/modules/load-files.ts';
import { BLOCK_SEEDS } from '../../src/host/realm/realm-blocks.ts';
import { examinerOf } from '../../src/search/sweep/examiner.ts';
import { measure, type Row, type Subject } from './measure.ts';

const LOCKS = [
  { about: 'the own client', path: 'guide/my-lock.yaml', system: 'alone', isReusing: false },
  { about: 'ioredis', path: 'driver/lock.yaml', system: 'my-lock', isReusing: true },
] as const;

/** Repetitions of an action that takes only a millisecond or two. */
const TIMES = 50;

function repeatedly(times: number, action: () => unknown): void {
  for (let time = 0; time < times; time += 1) action();
}

async function* rows(): AsyncIterable<Row> {
  for (const { about, path, system, isReusing } of LOCKS) {
    const read = await loadScenarioFile(
      fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url)),
    );
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const { scenario, catalogue } = read;
    const restore = virtualizeGlobals();
    sharedState.renewAll();
    const took = await measure({
      block: async () => {
        const examine = examinerOf(scenario, catalogue, isReusing ? [system] : []);
        for (let seed = 0; seed < BLOCK_SEEDS; seed += 1) await examine(system, seed);
      },
      walks: () => repeatedly(TIMES, () => sharedState.takeBackAll()),
      lists: () => repeatedly(TIMES * BLOCK_SEEDS, () => sharedState.takeBack()),
    });
    restore();
    const replaced = await measure({
      patches: () => repeatedly(TIMES, () => virtualizeGlobals()()),
    });
    const { cpuMs: blockMs } = took('block');
    const row = (label: string, cpuMs: number, target: string): Row => ({
      what: `${label}, ${about}`,
      cpu: `${(cpuMs / TIMES).toFixed(2)} ms`,
      wall: '',
      ratio: `${((100 * cpuMs) / TIMES / blockMs).toFixed(2)} % of a block of ${blockMs.toFixed(0)} ms`,
      target,
    });
    yield row('the walk over what is shared', took('walks').cpuMs, '≤ 3 %');
    const listMs = took('lists').cpuMs + replaced('patches').cpuMs;
    yield row('the list after each run, and replacing globals', listMs, '');
  }
}

export const isolation: Subject = {
  name: 'isolation',
  about: 'the cost of finding changes of state that all processes share',
  isLong: false,
  rows,
};
