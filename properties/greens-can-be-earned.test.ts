/**
 * Law: a correct lock can be green, also in asynchronous code whose server notes no grants: what
 * can break a claim is met where the lock kept it from doing so, and not only where it broke.
 */
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../src/scenario/scenario.ts';
import { judgeSystem } from '../src/search/sweep/expectation.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../src/search/sweep/tally.ts';
import { ownKinds, ownLocks, ownScenario } from './own-locks.ts';

const SEEDS = { from: 0, to: 79 };
const whole = { isWhole: true, isSingle: false };

interface Swept {
  readonly tally: Tally;
  readonly met: boolean | null;
}

async function sweptOf(scenario: Scenario): Promise<ReadonlyMap<string, Swept>> {
  const { tallies } = await sweep(scenario, { ...SEEDS, pool: null, catalogue: ownLocks });
  return new Map(
    scenario.systems.map((system) => {
      const tally = tallies.get(system.name) ?? EMPTY_TALLY;
      return [system.name, { tally, met: judgeSystem(scenario, system, tally, whole).met }];
    }),
  );
}

describe.each(ownKinds.map((kind) => [kind.title, kind] as const))('%s', (_, kind) => {
  test('is green alone, where its hazard arose', async () => {
    const correct = (await sweptOf(ownScenario(kind, true))).get('correct');
    expect(correct?.met).toBe(true);
    const { exercised, broken } = claimTally(correct?.tally ?? EMPTY_TALLY, kind.claim);
    expect([broken, exercised > 10]).toEqual([0, true]);
  });

  test('is green beside its broken sibling, which is red', async () => {
    const swept = await sweptOf(ownScenario(kind, false));
    expect([...swept.values()].map(({ met }) => met)).toEqual([true, true]);
    expect(
      claimTally(swept.get('broken')?.tally ?? EMPTY_TALLY, kind.claim).broken,
    ).toBeGreaterThan(2);
  });
});
