/**
 * Measures what a realm for each process costs: the guide's lock with realms and without, and the
 * lock of `fixtures/packages/ioredis` with its modules used again and loaded anew.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtIn, type Catalogue, extend } from '../../src/catalogue.ts';
import { examineEither } from '../../src/host/async/run-async.ts';
import { loadScenarioFile, type ScenarioFileRead } from '../../src/host/modules/load-files.ts';
import { definitionIn } from '../../src/host/realm/own-instances.ts';
import { BLOCK_SEEDS, RealmBlock } from '../../src/host/realm/realm-blocks.ts';
import { expand } from '../../src/scenario/expand.ts';
import { claimsJudged } from '../../src/search/sweep/examiner.ts';
import { formatRatio, measure, type Row, rates, type Subject } from './measure.ts';

const OWN_SEEDS = 320;
const DRIVER_SEEDS = 96;
const placeOf = (path: string): string =>
  fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));

type Loaded = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

async function loaded(path: string): Promise<Loaded> {
  const read = await loadScenarioFile(placeOf(path));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read;
}

/** The same definition with one instance of its modules for all, as Node loads it. */
async function withoutRealms(path: string): Promise<Catalogue> {
  const definition = definitionIn(await import(placeOf(path)));
  if (definition === null) throw new Error(`${path} defines no system`);
  return extend(builtIn, definition);
}

async function examineAll(
  { scenario, catalogue }: Pick<Loaded, 'scenario' | 'catalogue'>,
  { system, seeds, isReusing }: { system: string; seeds: number; isReusing: boolean },
): Promise<void> {
  const claims = claimsJudged([], catalogue);
  let realms = new RealmBlock();
  for (let seed = 0; seed < seeds; seed += 1) {
    if (seed % BLOCK_SEEDS === 0) realms = new RealmBlock();
    const manner = isReusing ? { realms } : {};
    await examineEither(expand(scenario, system, seed), claims, catalogue, manner);
  }
}

async function* rows(): AsyncIterable<Row> {
  const own = await loaded('guide/my-lock.yaml');
  const shared = { ...own, catalogue: await withoutRealms('guide/my-lock.fencepost.mjs') };
  const ofOwn = { system: 'with-token', seeds: OWN_SEEDS, isReusing: false };
  const took = await measure({
    apart: () => examineAll(own, ofOwn),
    together: () => examineAll(shared, ofOwn),
  });
  yield {
    what: 'seeds of a lock of one’s own, a realm for each process',
    ...rates(OWN_SEEDS, took('apart')),
    ratio: `${formatRatio(took('apart'), took('together'))} the time without realms`,
    target: '≤ 1.3×',
  };
  if (!existsSync(placeOf('packages/ioredis/node_modules'))) {
    process.stderr.write('ioredis: npm ci --ignore-scripts --prefix fixtures/packages/ioredis\n');
    return;
  }
  const driver = await loaded('packages/ioredis/resent-set.yaml');
  const ofDriver = { system: 'looks', seeds: DRIVER_SEEDS };
  const tookDriver = await measure({
    again: () => examineAll(driver, { ...ofDriver, isReusing: true }),
    anew: () => examineAll(driver, { ...ofDriver, isReusing: false }),
  });
  yield {
    what: 'seeds of a lock on ioredis, modules of packages used again',
    ...rates(DRIVER_SEEDS, tookDriver('again')),
    ratio: `${formatRatio(tookDriver('again'), tookDriver('anew'))} the time of all loaded anew`,
    target: '≥ 200/s',
  };
  yield {
    what: 'seeds of a lock on ioredis, all loaded anew',
    ...rates(DRIVER_SEEDS, tookDriver('anew')),
    ratio: `${formatRatio(tookDriver('anew'), tookDriver('again'))} the time of modules used again`,
    target: '≥ 50/s',
  };
}

export const realms: Subject = {
  name: 'realms',
  about: 'what a realm for each process costs, and a lock on ioredis in it',
  isLong: false,
  rows,
};
