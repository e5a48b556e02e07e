import { describe, expect, test } from 'vitest';
import type { Fault, FaultOf } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { client, pause, planWith } from './sample-plan.fixture.ts';
import { excessOf } from './search.ts';
import type { ShrinkResult } from './shrink.ts';
import { shrinkWith } from './shrink-with.fixture.ts';
import { isSimpler, workOf } from './simpler.ts';

/** Returns the pauses of alice, or none if she no longer writes. */
function pausesOfAlice(plan: Plan): readonly FaultOf<'pause'>[] {
  const writes = plan.clients.some(
    ({ name, sections }) =>
      name === 'alice' && sections.some(({ work }) => work.some(({ kind }) => kind === 'write')),
  );
  if (!writes) return [];
  return plan.faults.flatMap((one) =>
    one.kind === 'pause' && one.process === 'alice' ? [one] : [],
  );
}

const needsPause = (plan: Plan): boolean => pausesOfAlice(plan).some(({ forUs }) => forUs >= 9_876);

describe('a plan that needs one write under one pause', () => {
  const result = shrinkWith(
    planWith([pause('bob', 30_000), pause('alice', 31_234), pause('alice', 3_000)]),
    needsPause,
  );

  test('keeps only these', () => {
    expect(result.plan.clients).toEqual([
      {
        ...client('alice', 0),
        pool: 1,
        tries: 1,
        attempts: 1,
        releases: false,
        sections: [
          {
            id: 1,
            thinkUs: 0,
            lock: 'db',
            work: [expect.objectContaining({ kind: 'write', value: 1, awaits: true })],
          },
        ],
      },
    ]);
    expect(result.plan.decisions).toEqual({});
    expect(result.plan.order).toEqual([]);
    expect(result.plan.limits).toEqual({ ...planWith([]).limits, probe: false });
    expect(result.plan.network.latencyUs).toBe(500);
    expect(result.plan.faults).toEqual([{ ...pause('alice', 10_000), when: expect.anything() }]);
    expect(result.isMinimal).toBe(true);
  });

  test('has an exact boundary, although the plan keeps a round number', () => {
    expect(result.boundary).toMatchObject({
      what: 'pause of alice',
      parameter: 'faults[0].forUs',
      breaksAtUs: 9_876,
      holdsAtUs: 9_875,
      keepsUs: 10_000,
      isOnlyOne: true,
    });
  });
});

describe('faults', () => {
  test('of two kinds stay if both are needed', () => {
    const which = { kind: 'message', message: 'alice/1/write/1/request' } as const;
    const faults: Fault[] = [pause('alice', 12_000), { kind: 'delay', which, byUs: 8_765 }];
    const needsBoth = (plan: Plan): boolean =>
      plan.faults.some(({ kind }) => kind === 'delay') && pausesOfAlice(plan).length > 0;
    const { plan } = shrinkWith(planWith([...faults, pause('carol', 5_000)]), needsBoth);
    expect(plan.faults.map(({ kind }) => kind)).toEqual(['pause', 'delay']);
    expect(plan.faults).toMatchObject([{ forUs: 2_000 }, { byUs: 0 }]);
  });

  test('that add up are replaced by one, as far as the bounds allow', () => {
    const total = (plan: Plan): number =>
      pausesOfAlice(plan).reduce((sum, { forUs }) => sum + forUs, 0);
    const start = planWith([pause('alice', 12_000), pause('alice', 13_000)]);
    expect(shrinkWith(start, (one) => total(one) >= 24_000).plan.faults).toMatchObject([
      { forUs: 24_000 },
    ]);
    const pauses = [30_000, 30_000, 30_000].map((forUs) => pause('alice', forUs));
    const tooMuch = shrinkWith(planWith(pauses), (one) => total(one) >= 70_000);
    expect(tooMuch.plan.faults.length).toBe(2);
  });

  test('move from an instant to the first given point at which the claim still breaks', () => {
    const isAtWrite = (plan: Plan): boolean =>
      pausesOfAlice(plan).some(
        ({ when }) => when.kind === 'at' || when.point === 'alice/1/checked',
      );
    const points = (): string[] => ['alice/1/entered', 'alice/1/checked'];
    const { plan } = shrinkWith(planWith([pause('alice', 12_000)]), isAtWrite, { points });
    expect(plan.faults).toMatchObject([{ when: { kind: 'before', point: 'alice/1/checked' } }]);
  });

  test('of a clock never exceed the skew that the bounds allow', () => {
    const step = (stepUs: number, atUs: number): Fault => {
      const when = { kind: 'at', atUs } as const;
      return { kind: 'clock', process: 'alice', when, stepUs, ratePpm: 0 };
    };
    const steps = [step(4_000, 0), step(-4_000, 10), step(4_000, 20)];
    const forwards = (plan: Plan): number =>
      plan.faults.filter((one) => one.kind === 'clock' && one.stepUs >= 4_000).length;
    const { plan } = shrinkWith(planWith(steps), (one) => forwards(one) === 2);
    expect(plan.faults.length).toBe(3);
  });
});

describe('the probe', () => {
  const hasProbe = (): boolean => true;

  test('stays if requested, or if the plan expects progress to break', () => {
    const start = planWith([]);
    const expected: Plan = { ...start, expect: { claim: 'progress', outcome: 'reproduced' } };
    expect(shrinkWith(start, hasProbe).plan.limits.probe).toBe(false);
    expect(shrinkWith(start, hasProbe, { keepsProbe: true }).plan.limits).toEqual(start.limits);
    expect(shrinkWith(expected, hasProbe).plan.limits).toEqual(start.limits);
  });
});

describe('if a scenario allows several ranges of lengths', () => {
  const start = planWith([pause('alice', 14_000)]);
  const ranges = [
    { minUs: 5_000, maxUs: 6_000 },
    { minUs: 14_000, maxUs: 14_500 },
  ];
  const bounds = { ...start.bounds, durations: { pause: ranges } };
  const shrunkFrom = (leastUs: number): ShrinkResult =>
    shrinkWith({ ...start, bounds }, (plan) =>
      pausesOfAlice(plan).some(({ forUs }) => forUs >= leastUs),
    );

  test('a plan keeps an allowed length, and the boundary is the least length that breaks', () => {
    const { plan, boundary } = shrunkFrom(10_001);
    expect(pausesOfAlice(plan)).toMatchObject([{ forUs: 14_000 }]);
    expect(boundary).toMatchObject({ breaksAtUs: 10_001, keepsUs: 14_000, isOnlyOne: true });
  });

  test('a plan moves to the shorter range if that is enough', () => {
    expect(pausesOfAlice(shrunkFrom(5_500).plan)).toMatchObject([{ forUs: 6_000 }]);
  });
});

describe('the boundary', () => {
  test('is null, with a reason, if the shortest allowed pause breaks the claim, too', () => {
    const { boundary, whyNoBoundary } = shrinkWith(
      planWith([pause('alice', 12_000)]),
      (plan) => pausesOfAlice(plan).length > 0,
    );
    expect(boundary).toBeNull();
    expect(whyNoBoundary).toBe(
      'it breaks even with the smallest pause of alice that the bounds allow',
    );
  });

  test('is not the only one if the claim holds again for longer pauses', () => {
    const start = planWith([pause('alice', 12_345)]);
    const within = (mostUs: number): typeof start.bounds => ({
      ...start.bounds,
      durations: { ...start.bounds.durations, pause: { minUs: 2_000, maxUs: mostUs } },
    });
    const breaks = (plan: Plan): boolean =>
      pausesOfAlice(plan).some(({ forUs }) => forUs > 10_000 && forUs < 15_000);
    const sides = { breaksAtUs: 10_001, holdsAtUs: 10_000, keepsUs: 11_000 };
    const { boundary } = shrinkWith(start, breaks);
    expect(boundary).toMatchObject({ ...sides, isOnlyOne: false });
    const shorter = shrinkWith({ ...start, bounds: within(14_000) }, breaks);
    expect(shorter.boundary).toMatchObject({ ...sides, isOnlyOne: true });
  });

  test('leaves the plan a less round length if the next round one exceeds the bounds', () => {
    const start = planWith([pause('alice', 10_750)]);
    const durations = { ...start.bounds.durations, pause: { minUs: 2_000, maxUs: 10_750 } };
    const { boundary } = shrinkWith({ ...start, bounds: { ...start.bounds, durations } }, (plan) =>
      pausesOfAlice(plan).some(({ forUs }) => forUs > 10_000),
    );
    const expected = { breaksAtUs: 10_001, holdsAtUs: 10_000, keepsUs: 10_100, isOnlyOne: true };
    expect(boundary).toMatchObject(expected);
  });

  test('is searched in the think times if no fault has an amount, in both directions', () => {
    const thinkOf = (plan: Plan): number => plan.clients[0]?.sections[0]?.thinkUs ?? 0;
    const late = shrinkWith(planWith([]), (plan) => thinkOf(plan) >= 1_200);
    expect(late.boundary).toMatchObject({ breaksAtUs: 1_200, holdsAtUs: 1_199 });
    const early = shrinkWith(planWith([]), (plan) => thinkOf(plan) <= 4_321);
    expect(early.boundary).toMatchObject({
      what: 'think time of carol/1',
      parameter: 'clients[0].sections[0].thinkUs',
      breaksAtUs: 4_321,
      holdsAtUs: 4_322,
    });
  });
});

describe('a shrink', () => {
  test('reserves enough of its budget to find the boundary', () => {
    const needsAll = (plan: Plan): boolean =>
      needsPause(plan) && Object.keys(plan.decisions).length >= 4 && plan.clients.length === 3;
    const start = planWith([pause('alice', 12_345), pause('bob', 5_000)]);
    const result = shrinkWith(start, needsAll, { maxRuns: 80 });
    expect(result.isMinimal).toBe(false);
    expect(result.runs).toBeLessThanOrEqual(80);
    expect(result.boundary).toMatchObject({ breaksAtUs: 9_876, holdsAtUs: 9_875 });
  });

  test('returns a plan unchanged if it does not break when it is judged again', () => {
    const start = planWith([pause('alice', 12_000)]);
    const result = shrinkWith(start, () => false);
    expect(result).toMatchObject({ reproduced: false, isMinimal: false, runs: 1, boundary: null });
    expect(result.plan).toBe(start);
  });

  test('that may judge nothing does not report that the plan holds', () => {
    const start = planWith([pause('alice', 12_000)]);
    const unjudged = { plan: start, reproduced: null, isMinimal: false, runs: 0, boundary: null };
    expect(shrinkWith(start, needsPause, { maxRuns: 0 })).toMatchObject(unjudged);
    expect(shrinkWith(start, needsPause, { shouldStop: () => true })).toMatchObject(unjudged);
    expect(shrinkWith(start, needsPause, { maxRuns: 1 }).reproduced).toBe(true);
  });

  test('that is stopped returns the best plan so far and does not call it minimal', () => {
    let asked = 0;
    const judge = (plan: Plan): boolean => {
      asked += 1;
      return needsPause(plan);
    };
    const start = planWith([pause('alice', 12_345), pause('bob', 5_000)]);
    const result = shrinkWith(start, judge, { shouldStop: () => asked >= 5 });
    expect(asked).toBe(5);
    expect(result.isMinimal).toBe(false);
    expect(needsPause(result.plan) && isSimpler(result.plan, start)).toBe(true);
  });

  test('shrinks a plan outside its bounds without exceeding them further', () => {
    const start = planWith([pause('alice', 90_000)]);
    const { plan } = shrinkWith(start, (one) =>
      pausesOfAlice(one).some(({ forUs }) => forUs > 60_000),
    );
    expect(workOf(plan).length).toBe(1);
    expect(plan.faults).toMatchObject([{ forUs: 61_000 }]);
  });
});

test('the excess of a plan over its bounds is reported per kind', () => {
  expect(excessOf(planWith([pause('alice', 12_000)])).size).toBe(0);
  expect(excessOf(planWith([pause('alice', 60_000)]))).toEqual(new Map([['pause', 10_000]]));
});
