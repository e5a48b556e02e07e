/**
 * Law: a correct lock can pass, also in asynchronous code whose server records no grants: a claim
 * is exercised if the lock prevented its breach, not only if it broke; and next to a broken twin
 * the result states how often the lock avoided the twin's hazard.
 */
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../src/scenario/scenario.ts';
import { avoidedOn, countAvoided } from '../src/search/sweep/counterfactual.ts';
import { judgeSystem } from '../src/search/sweep/expectation.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../src/search/sweep/tally.ts';
import { ownKinds, ownLocks, ownScenario, worldOf } from './own-locks.ts';
import { runs } from './runs.ts';

const SEEDS = { from: 0, to: Math.max(60, runs(120)) - 1 };
const whole = { isWhole: true, isSingle: false };

interface Swept {
  readonly tally: Tally;
  readonly avoided: number;
  readonly met: boolean | null;
}

async function sweptOf(scenario: Scenario, claim: string): Promise<ReadonlyMap<string, Swept>> {
  const { tallies } = await sweep(scenario, { ...SEEDS, pool: null, catalogue: ownLocks });
  const avoided = await countAvoided(scenario, tallies, { catalogue: ownLocks });
  return new Map(
    scenario.systems.map((system) => {
      const tally = tallies.get(system.name) ?? EMPTY_TALLY;
      const { met } = judgeSystem(scenario, system, tally, { ...whole, avoided, tallies });
      return [system.name, { tally, met, avoided: avoidedOn(avoided, system.name, claim) }];
    }),
  );
}

describe.each(ownKinds.map((kind) => [kind.title, kind] as const))('%s', (_, kind) => {
  test('passes alone if a fault could outlast its lease, and is not judged otherwise', async () => {
    const correct = (await sweptOf(ownScenario(kind, true), kind.claim)).get('correct');
    const isOutlasted = !kind.title.endsWith('that its lease outlasts');
    expect(correct?.met).toBe(isOutlasted ? true : null);
    const { exercised, broken } = claimTally(correct?.tally ?? EMPTY_TALLY, kind.claim);
    expect([broken, exercised > 10]).toEqual([0, isOutlasted]);
  });

  test('passes next to its twin, which breaks the claim, and avoids its hazard', async () => {
    const swept = await sweptOf(ownScenario(kind, false), kind.claim);
    expect([...swept.values()].map(({ met }) => met)).toEqual([true, true]);
    const [broken, correct] = ['broken', 'correct'].map((name) => swept.get(name));
    expect(claimTally(broken?.tally ?? EMPTY_TALLY, kind.claim).broken).toBeGreaterThan(2);
    expect(correct?.avoided).toBeGreaterThan(0);
  });
});

test('a cure passes even if it has no place for the fault that breaks its twin', async () => {
  const [kind] = ownKinds;
  if (kind === undefined) throw new Error('there are kinds');
  const del = 'pause: { process: clients, before: del, for: 20ms..60ms, chance: 1/2 }';
  const swept = await sweptOf(ownScenario({ ...kind, world: worldOf(del) }, false), kind.claim);
  const [broken, correct] = ['broken', 'correct'].map((name) => swept.get(name));
  expect(claimTally(broken?.tally ?? EMPTY_TALLY, kind.claim).broken).toBeGreaterThan(2);
  expect(correct?.tally.faults).toEqual({});
  expect(correct?.avoided).toBeGreaterThan(0);
  expect(correct?.met).toBe(true);
});
