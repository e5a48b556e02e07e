/**
 * The law of the table's last row: no false alarms. `FENCEPOST_SEEDS` sets the number of seeds per
 * system.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { claimCounts, mergeCounts, NO_COUNTS } from '../../src/search/sweep/counts.ts';
import { prepare, storeKinds } from '../../src/systems/store/store-kinds.ts';
import { runs } from '../runs.ts';
import { type Calm, calmScenario, calmTitle, promisedBy } from './calm.ts';
import { countsOf, objections } from './judging.ts';

const SEEDS = Number(process.env['FENCEPOST_SEEDS'] ?? runs(250));
const TIMEOUT_MS = 600_000;

/** Tests that each of these systems holds all its guarantees without faults. */
export function testCalm(systems: readonly Calm[]): void {
  beforeAll(async () => {
    for (const { stores } of systems) await prepare(stores.map((store) => ({ store })));
  });

  const titled = systems.map((system) => [calmTitle(system), system] as const);
  describe.each(titled)('%s · any work · none', (_, system) => {
    test.each(system.stores)(
      '%s: holds all its guarantees',
      async (store) => expect(await alarmsOf(system, store)).toEqual([]),
      TIMEOUT_MS,
    );
  });
}

async function alarmsOf(system: Calm, store: string): Promise<string[]> {
  const budget = { holding: Math.ceil(SEEDS / system.works.length), breaking: 0 };
  let all = NO_COUNTS;
  const alarms: string[] = [];
  for (const work of system.works) {
    const scenario = calmScenario(system, work);
    const found = scenario.systems.find(({ name }) => name === store);
    if (found === undefined) throw new Error(`there is no system ${store}`);
    const expected = { holds: promisedBy(system, store, work), breaks: [] };
    const promising = { ...found, expect: expected };
    const counts = await countsOf(scenario, promising, budget);
    all = mergeCounts(all, counts);
    const lines = objections(scenario, promising, counts);
    alarms.push(...lines.map((line) => `${work.name}: ${line}`));
  }
  const untested = testedIn(system, store).filter(
    (claim) => claimCounts(all, claim).exercised === 0,
  );
  return [...alarms, ...untested.map((claim) => `${claim} was never exercised`)];
}

/** Claims that are exercised even without faults, if guaranteed. */
function testedIn({ lock, promises = [] }: Calm, store: string): readonly string[] {
  if (lock === 'none') return [];
  const tested = lock === 'optimistic' ? ['no-lost-update'] : ['mutual-exclusion', 'progress'];
  const notGuaranteed = storeKinds.get(store)?.notGuaranteed ?? [];
  return [...promises, ...tested.filter((claim) => !notGuaranteed.includes(claim))];
}
