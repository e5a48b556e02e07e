/**
 * Law: a correct lock can pass, also in asynchronous code whose server records no grants: a claim
 * is exercised if the lock prevented its breach, not only if it broke; and next to a broken twin
 * the result states how often the lock avoided the twin's hazard.
 */
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../src/scenario/scenario.ts';
import { avoidedOn, countAvoided } from '../src/search/sweep/counterfactual.ts';
import { claimCounts, NO_COUNTS, type SweepCounts } from '../src/search/sweep/counts.ts';
import { judgeSystem } from '../src/search/sweep/expectation.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { runs } from './runs.ts';
import { userLockKinds, userLocks, userScenario, worldOf } from './user-locks.ts';

const SEEDS = { from: 0, to: Math.max(60, runs(120)) - 1 };
const complete = { isComplete: true, isSingle: false };

interface Swept {
  readonly counts: SweepCounts;
  readonly avoided: number;
  readonly met: boolean | null;
}

async function sweptOf(scenario: Scenario, claim: string): Promise<ReadonlyMap<string, Swept>> {
  const { countsBySystem } = await sweep(scenario, { ...SEEDS, pool: null, catalogue: userLocks });
  const avoided = await countAvoided(scenario, countsBySystem, { catalogue: userLocks });
  return new Map(
    scenario.systems.map((system) => {
      const counts = countsBySystem.get(system.name) ?? NO_COUNTS;
      const { met } = judgeSystem(scenario, system, counts, {
        ...complete,
        avoided,
        countsBySystem,
      });
      return [system.name, { counts, met, avoided: avoidedOn(avoided, system.name, claim) }];
    }),
  );
}

describe.each(userLockKinds.map((kind) => [kind.title, kind] as const))('%s', (_, kind) => {
  test('passes alone if a fault could outlast its lease, and is not judged otherwise', async () => {
    const correct = (await sweptOf(userScenario(kind, true), kind.claim)).get('correct');
    const isOutlasted = !kind.title.endsWith('shorter than its lease');
    expect(correct?.met).toBe(isOutlasted ? true : null);
    const { exercised, broken } = claimCounts(correct?.counts ?? NO_COUNTS, kind.claim);
    expect([broken, exercised > 10]).toEqual([0, isOutlasted]);
  });

  test('passes next to its twin, which breaks the claim, and avoids its hazard', async () => {
    const swept = await sweptOf(userScenario(kind, false), kind.claim);
    expect([...swept.values()].map(({ met }) => met)).toEqual([true, true]);
    const [broken, correct] = ['broken', 'correct'].map((name) => swept.get(name));
    expect(claimCounts(broken?.counts ?? NO_COUNTS, kind.claim).broken).toBeGreaterThan(2);
    expect(correct?.avoided).toBeGreaterThan(0);
  });
});

test('a cure passes even if it has no place for the fault that breaks its twin', async () => {
  const [kind] = userLockKinds;
  if (kind === undefined) throw new Error('there are kinds');
  const del = 'pause: { process: clients, before: del, for: 20ms..60ms, chance: 1/2 }';
  const swept = await sweptOf(userScenario({ ...kind, world: worldOf(del) }, false), kind.claim);
  const [broken, correct] = ['broken', 'correct'].map((name) => swept.get(name));
  expect(claimCounts(broken?.counts ?? NO_COUNTS, kind.claim).broken).toBeGreaterThan(2);
  expect(correct?.counts.faults).toEqual({});
  expect(correct?.avoided).toBeGreaterThan(0);
  expect(correct?.met).toBe(true);
});
