/**
 * Measures the cost of a realm per process: one lock, `SET NX` and a script that compares, on
 * fencepost's own client with and without realms, and on ioredis with its modules reused and
 * reloaded. Each without faults, and with pauses by which more than half of the seeds break; a
 * sweep examines each of those again with all modules reloaded.
 */
import { fileURLToPath } from 'node:url';
import { builtIn, type Catalogue, extend } from '../../src/catalogue.ts';
import { loadScenarioFile, type ScenarioFileRead } from '../../src/host/modules/load-files.ts';
import { definitionIn } from '../../src/host/realm/per-process-instances.ts';
import { examinerOf } from '../../src/search/sweep/examiner.ts';
import { formatRatio, measure, type Row, rates, type Subject, type Timing } from './measure.ts';

/** Two blocks. */
const SEEDS = 64;
const placeOf = (path: string): string =>
  fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));

type Loaded = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

async function loaded(path: string): Promise<Loaded> {
  const read = await loadScenarioFile(placeOf(path));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read;
}

/** The same definition with one shared instance of its modules, as Node loads it. */
async function withoutRealms(path: string): Promise<Catalogue> {
  const definition = definitionIn(await import(placeOf(path)));
  if (definition === null) throw new Error(`${path} defines no system`);
  return extend(builtIn, definition);
}

/** The same scenario without its faults. */
function calm({ scenario, ...others }: Loaded): Loaded {
  return { ...others, scenario: { ...scenario, faults: [] } };
}

/** Examines seeds of a system as a sweep does. */
async function sweep(
  { scenario, catalogue }: Loaded,
  { system, isReusing }: { readonly system: string; readonly isReusing: boolean },
): Promise<void> {
  const examine = examinerOf(scenario, catalogue, isReusing ? [system] : []);
  for (let seed = 0; seed < SEEDS; seed += 1) await examine(system, seed);
}

/** The lock in its settings, by name. */
interface Grounds {
  readonly shared: Loaded;
  readonly isolated: Loaded;
  readonly driver: Loaded;
}

async function* rowsOf(about: string, { shared, isolated, driver }: Grounds): AsyncIterable<Row> {
  const [onClient, onDriver] = ['alone', 'my-lock'];
  const took = await measure({
    shared: () => sweep(shared, { system: onClient, isReusing: false }),
    isolated: () => sweep(isolated, { system: onClient, isReusing: false }),
    again: () => sweep(driver, { system: onDriver, isReusing: true }),
    reloaded: () => sweep(driver, { system: onDriver, isReusing: false }),
  });
  const row = (label: string, timing: Timing, target: string): Row => ({
    what: `seeds of a lock ${label}, ${about}`,
    ...rates(SEEDS, timing),
    ratio: `${formatRatio(timing, took('shared'))} the time without realms`,
    target,
  });
  yield row('on RedisClient, without realms', took('shared'), '');
  yield row('on RedisClient, a realm for each process', took('isolated'), '≤ 1.3×');
  yield row('on ioredis, modules of packages used again', took('again'), '≥ 200/s');
  yield row('on ioredis, all modules reloaded', took('reloaded'), '≥ 50/s');
}

async function* rows(): AsyncIterable<Row> {
  const isolated = await loaded('guide/my-lock.yaml');
  const shared = { ...isolated, catalogue: await withoutRealms('guide/my-lock.fencepost.mjs') };
  const driver = await loaded('driver/lock.yaml');
  const still = { isolated: calm(isolated), shared: calm(shared), driver: calm(driver) };
  yield* rowsOf('without faults', still);
  yield* rowsOf('paused', { isolated, shared, driver });
}

export const realms: Subject = {
  name: 'realms',
  about: 'the cost of a realm per process, and of a lock on ioredis in it',
  isLong: false,
  rows,
};
