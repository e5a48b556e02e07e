/** Laws of shrinking, for any plan and any predicate. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import type { Plan } from '../plan/plan.ts';
import { planArbitrary } from '../plan/plan-arbitrary.fixture.ts';
import { readPlan, renderPlan } from '../plan/plan-text.ts';
import { cases, expectInBounds, type Predicate, plan } from './any-plan.fixture.ts';
import {
  sectionKeys,
  withoutClients,
  withoutDecisions,
  withoutFaults,
  withoutOrder,
  withoutProbe,
  withoutSections,
  withoutWork,
  workKeys,
} from './change.ts';
import { excessOf, type Steps } from './search.ts';
import { answerAllAsync, type ShrinkResult, shrink } from './shrink.ts';
import { shrinkWith } from './shrink-with.fixture.ts';
import { isSimpler } from './simpler.ts';

/** Returns every plan that is `from` without one element. */
function withoutOne(from: Plan): Plan[] {
  return [
    ...from.clients.map(({ name }) => withoutClients(from, [name])),
    ...from.faults.map((one) => withoutFaults(from, [one])),
    ...sectionKeys(from).map((key) => withoutSections(from, [key])),
    ...workKeys(from).map((key) => withoutWork(from, [key])),
    ...Object.keys(from.decisions).map((name) => withoutDecisions(from, [name])),
    ...from.order.map((name) => withoutOrder(from, [name])),
    withoutProbe(from),
  ].filter((smaller) => isSimpler(smaller, from));
}

/** Drives a shrinker, and records which plans the predicate accepted. */
function audit(
  steps: Steps<ShrinkResult>,
  breaks: Predicate,
): { result: ShrinkResult; asks: number; wasJudged: boolean } {
  const judged = new Set<string>();
  let asks = 0;
  let step = steps.next();
  while (step.done !== true) {
    const answer = breaks(step.value);
    asks += 1;
    if (answer) judged.add(JSON.stringify(step.value));
    step = steps.next(answer);
  }
  return { result: step.value, asks, wasJudged: judged.has(JSON.stringify(step.value.plan)) };
}

describe('shrinking any plan', () => {
  test('never grows it, and returns only a plan that was judged to break', () => {
    fc.assert(
      fc.property(cases, ([original, breaks]) => {
        const { result, wasJudged } = audit(shrink(original), breaks);
        expect(wasJudged).toBe(true);
        expect(breaks(result.plan)).toBe(true);
        expect(isSimpler(original, result.plan)).toBe(false);
      }),
      { numRuns: runs(200) },
    );
  });

  test('ends when no single element can be removed', () => {
    fc.assert(
      fc.property(cases, ([original, breaks]) => {
        const result = shrinkWith(original, breaks, { maxRuns: 20_000 });
        expect(result.isMinimal).toBe(true);
        for (const smaller of withoutOne(result.plan)) {
          expect(excessOf(smaller).size === 0 && breaks(smaller)).toBe(false);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('the shrunk plan', () => {
  const hasField = (text: string) => (one: Plan) => JSON.stringify(one).includes(text);
  const FORMS = ['"queue"', '"by":-', '"epochUs"', '"memoize"'];

  /** A plan with `form`, and a predicate that needs the form and otherwise answers at random. */
  const needed = (form: string): fc.Arbitrary<[Plan, Predicate]> =>
    fc.tuple(
      planArbitrary.filter(hasField(form)),
      fc.infiniteStream(fc.boolean()).map((answers) => {
        let isFirst = true;
        return (one: Plan): boolean => {
          const answer = isFirst || (hasField(form)(one) && answers.next().value === true);
          isFirst = false;
          return answer;
        };
      }),
    );

  test.each(FORMS)('reads back as it was written, with %s', (form) => {
    fc.assert(
      fc.property(needed(form), ([original, breaks]) => {
        const { plan: least } = shrinkWith(original, breaks, { maxRuns: 100 });
        const read = readPlan({ file: 'x.yaml', text: renderPlan(least) });
        expect(read).toEqual({ kind: 'plan', plan: least });
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('a shrinker', () => {
  test('asks at most maxRuns times, never twice about one plan, and counts its runs', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 200 }), ([original, breaks], maxRuns) => {
        const asked: string[] = [];
        const { result, asks, wasJudged } = audit(shrink(original, { maxRuns }), (candidate) => {
          asked.push(JSON.stringify(candidate));
          return breaks(candidate);
        });
        expect(asks).toBeLessThanOrEqual(maxRuns);
        expect(result.runs).toBe(asks);
        expect(wasJudged).toBe(true);
        expect(new Set(asked).size).toBe(asked.length);
      }),
      { numRuns: runs(100) },
    );
  });

  test('proposes nothing outside the bounds, and keeps the limits', () => {
    fc.assert(
      fc.property(cases, ([original, breaks]) => {
        shrinkWith(original, (candidate) => {
          expectInBounds(candidate);
          const { probe, ...limits } = candidate.limits;
          expect({ probe: true, ...limits }).toEqual(original.limits);
          return breaks(candidate);
        });
      }),
      { numRuns: runs(100) },
    );
  });

  test('ends with a plan that was accepted, even if the predicate is inconsistent', () => {
    fc.assert(
      fc.property(plan, fc.infiniteStream(fc.boolean()), (original, answers) => {
        let isFirst = true;
        const { wasJudged } = audit(shrink(original), () => {
          const answer = isFirst || answers.next().value === true;
          isFirst = false;
          return answer;
        });
        expect(wasJudged).toBe(true);
      }),
      { numRuns: runs(50) },
    );
  });

  test('finds a boundary whose two sides differ by one microsecond and in the verdict', () => {
    let found = 0;
    fc.assert(
      fc.property(cases, ([original, breaks]) => {
        const { boundary, whyNoBoundary } = shrinkWith(original, breaks);
        expect(boundary === null).toBe(whyNoBoundary !== null);
        if (boundary === null) return;
        found += 1;
        expect(Math.abs(boundary.breaksAtUs - boundary.holdsAtUs)).toBe(1);
        expect(breaks(boundary.holdsPlan)).toBe(false);
        expectInBounds(boundary.holdsPlan);
      }),
    );
    expect(found).toBeGreaterThan(5);
  });
});

describe('the audit', () => {
  test('detects a shrinker that keeps an unjudged candidate', () => {
    /** Answers all but its first two questions itself. */
    function* careless(original: Plan): Steps<ShrinkResult> {
      const steps = shrink(original);
      let step = steps.next();
      for (let asked = 0; step.done !== true; asked += 1) {
        step = steps.next(asked < 2 ? yield step.value : true);
      }
      return step.value;
    }
    const [original] = fc.sample(
      plan.filter(({ clients }) => clients.length > 2),
      { numRuns: 1, seed: 1 },
    );
    if (original === undefined) expect.fail('a sample has one value');
    const breaks: Predicate = ({ clients }) => clients.length > 1;
    expect(audit(shrink(original), breaks).wasJudged).toBe(true);
    expect(audit(careless(original), breaks).wasJudged).toBe(false);
  });
});

describe('the drivers', () => {
  test('return the same result for a synchronous and an asynchronous predicate', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ([original, breaks]) => {
        const later = await answerAllAsync(shrink(original), async (one) => breaks(one));
        expect(later).toEqual(shrinkWith(original, breaks));
      }),
      { numRuns: runs(20) },
    );
  });
});

test('every generated plan lies inside its bounds and meets its predicate', () => {
  fc.assert(
    fc.property(cases, ([original, breaks]) => {
      expectInBounds(original);
      expect(breaks(original)).toBe(true);
    }),
  );
});
