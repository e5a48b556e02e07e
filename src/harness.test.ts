/** After shrinking, a fault is removed if the claim breaks in the same place without it. */
import { describe, expect, test } from 'vitest';
import { elsewhere, needless } from './blaming-claim.fixture.ts';
import type { Catalogue } from './catalogue.ts';
import type { Fault } from './core/plan/fault.ts';
import type { Plan } from './core/plan/plan.ts';
import type { ShrinkResult } from './core/shrink/shrink.ts';
import { breaks, shrinkFailure } from './harness.ts';
import { clientOf, MS, planOf, writeOf } from './systems/plan.fixture.ts';

function paused(process: string): Fault {
  const when = { kind: 'at', atUs: MS } as const;
  return { kind: 'pause', process, when, forUs: MS, clocks: 'run' };
}

const plan: Plan = planOf({
  clients: [clientOf('alice', [writeOf(1)]), clientOf('bob', [writeOf(2)])],
  faults: [paused('lock'), paused('store')],
});

function processesIn({ faults }: Plan): readonly string[] {
  return faults.map((fault) => ('process' in fault ? fault.process : ''));
}

function shrunk(catalogue: Catalogue, maxRuns = 1000): ShrinkResult {
  return shrinkFailure(plan, 'own', { catalogue, maxRuns });
}

describe('a fault whose removal gives the breach another cause', () => {
  test('is removed if the claim still breaks in the same section and at the same key', () => {
    const result = shrunk(needless);
    expect(processesIn(result.plan)).toEqual(['store']);
    expect(breaks(result.plan, 'own', needless)).toBe(true);
    expect(result).toMatchObject({ reproduced: true, isMinimal: true, others: [] });
    expect(result.passes).toContainEqual({ pass: 'drop needless faults', runs: 3, accepted: 1 });
  });

  test('stays if the claim breaks elsewhere, and the plan without it is reported', () => {
    const result = shrunk(elsewhere);
    expect(processesIn(result.plan)).toEqual(['lock', 'store']);
    expect(result.isMinimal).toBe(true);
    const others = result.others.filter(({ isElsewhere }) => isElsewhere);
    expect(others.map(({ cause }) => cause)).toEqual(['own: pause of a store']);
    expect(others.map((other) => processesIn(other.plan))).toEqual([['store']]);
  });

  test('is removed within the budget, or the plan is not called minimal', () => {
    const minimal = [1, 2, 9, 30, 50, 70, 100, 150].filter((most) => {
      const { runs, isMinimal, plan: least } = shrunk(needless, most);
      expect(runs).toBeLessThanOrEqual(most);
      if (isMinimal) expect(processesIn(least)).toEqual(['store']);
      return isMinimal;
    });
    expect(minimal.length).toBeGreaterThan(0);
    expect(minimal).not.toContain(30);
  });
});

test('the clock of a lock server is no part of a sum that a lost write left wrong', () => {
  const ends = { from: 'store-1', to: 'store-2', key: 'x', amount: 1 };
  const rate: Fault = {
    kind: 'clock',
    process: 'lock',
    when: { kind: 'after', point: 'bob/1/read-to' },
    stepUs: 0,
    ratePpm: 100,
  };
  const which = { kind: 'message', message: 'bob/1/write-from/1/request' } as const;
  const wrong = planOf({
    lock: 'pessimistic',
    store: 'highest-on-one-replica',
    clients: [clientOf('bob', [{ kind: 'transfer', id: 1, ...ends }])],
    faults: [rate, { kind: 'drop', which }],
  });
  const { plan: least } = shrinkFailure(wrong, 'cross-key');
  expect(least.faults.map(({ kind }) => kind)).toEqual(['drop']);
});
