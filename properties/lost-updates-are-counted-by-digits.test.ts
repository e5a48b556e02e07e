/**
 * Tests `no-lost-update` against arithmetic. Chance is keyed by name, so two plans that differ only
 * in the amounts of their increments result in the same run with other numbers. If each increment
 * adds its own power of 8, the digits of the final value count each increment. So the claim, judged
 * with increments of 1, must break if and only if a digit contradicts the answer to its client.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { contentsBefore } from '../src/check/contents.ts';
import { indexTrace } from '../src/check/trace-index.ts';
import type { Return } from '../src/core/history/events.ts';
import { openSections, type Trace } from '../src/core/history/trace.ts';
import type { ClientPlan, Plan, Work } from '../src/core/plan/plan.ts';
import { examine } from '../src/harness.ts';
import { run } from '../src/run.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { runnablePlans } from './plans.ts';
import { runs } from './runs.ts';

const underLocks = ['unfenced', 'fenced', 'fenced-volatile', 'quorum'].map((store) => {
  return { name: store, lock: 'lock-service', store, options: {} };
});
const optimistic = ['versioned', 'timestamped', 'stock', 'unfenced'].flatMap((store) =>
  ['read-again', 'give-up', 'retry-blindly'].map((unknownCommit) => {
    return { name: store, lock: 'optimistic', store, options: { unknownCommit } };
  }),
);
const SYSTEMS: readonly Plan['system'][] = [...underLocks, ...optimistic];

/** The lowest digit belongs to the probe, which adds 1; a number has room for this many more. */
const MOST = 15;

/** The same clients and faults; the sections only add to one key, by the amounts of `amountOf`. */
function adding(plan: Plan, amountOf: (at: number) => number): Plan {
  let at = 0;
  const clients = plan.clients.map((client): ClientPlan => {
    const sections = client.sections.map((section) => {
      const work = section.work.slice(0, 2).map((step, place): Work => {
        if (step.kind === 'compute' || at === MOST) {
          return { kind: 'compute', id: place + 1, forUs: 1_000 };
        }
        at += 1;
        return { kind: 'increment', id: place + 1, store: 'store', key: 'x', by: amountOf(at) };
      });
      return { ...section, lock: 'db', work };
    });
    return { ...client, sections };
  });
  return { ...plan, clients };
}

type Answer = 'accepted' | 'refused' | 'unknown';

/** Returns the answer to each increment's client, over all attempts, by amount. */
function answersOf({ events }: Trace): readonly (readonly [amount: number, answer: Answer])[] {
  const returns = new Map<string, Return>();
  for (const event of events) if (event.kind === 'return') returns.set(event.operation, event);
  const all = new Map<number, Answer>();
  for (const event of events) {
    if (event.kind !== 'invoke' || event.call.verb !== 'write') continue;
    const amount = event.call.adds ?? 0;
    const returned = returns.get(event.operation);
    const before = all.get(amount) ?? 'refused';
    const isOpen = returned === undefined || returned.outcome === 'info';
    if (returned?.answer?.kind === 'accepted' || before === 'accepted') all.set(amount, 'accepted');
    else all.set(amount, isOpen || before === 'unknown' ? 'unknown' : 'refused');
  }
  return [...all];
}

/** Returns the sum that a run added to its only key, or 0 without writes. */
function sumOf(trace: Trace): number {
  const [place] = indexTrace(trace).places;
  const key = place?.keys.get('x');
  if (place === undefined || key === undefined) return 0;
  const first = place.firsts.get('x')?.value ?? 0;
  return contentsBefore(place, key, Number.POSITIVE_INFINITY).value - first;
}

function isWrongByDigits(trace: Trace): boolean {
  const sum = sumOf(trace);
  return answersOf(trace).some(([amount, answer]) => {
    const digit = Math.floor(sum / amount) % 8;
    return (
      digit > 1 || (answer === 'accepted' && digit === 0) || (answer === 'refused' && digit === 1)
    );
  });
}

/** Returns true if the sum of increments by 1 is possible with the same answers. */
function isRightBySum(trace: Trace, answers: readonly Answer[]): boolean {
  const least = answers.filter((one) => one === 'accepted').length;
  const sum = sumOf(trace);
  return sum >= least && sum <= answers.filter((one) => one !== 'refused').length;
}

beforeAll(() => prepare(SYSTEMS));

test('`no-lost-update` breaks iff the digits of the sum show a lost or repeated update', () => {
  let [broken, hidden] = [0, 0];
  fc.assert(
    fc.property(runnablePlans(), fc.constantFrom(...SYSTEMS), (drawn, system) => {
      const { trace, verdicts } = examine(
        adding({ ...drawn, system }, () => 1),
        ['no-lost-update'],
      );
      const twin = run(adding({ ...drawn, system }, (at) => 8 ** at));
      const isBroken = isWrongByDigits(twin);
      const held = openSections(trace).length > 0 ? 'unknown' : 'valid';
      expect(verdicts[0]?.kind).toBe(isBroken ? 'invalid' : held);
      if (!isBroken) return;
      broken += 1;
      const answers = answersOf(twin).map(([, one]) => one);
      if (isRightBySum(trace, answers)) hidden += 1;
    }),
    { seed: 1, numRuns: runs(3_000) },
  );
  expect(broken).toBeGreaterThanOrEqual(runs(40));
  expect(hidden).toBeGreaterThanOrEqual(runs(10) / 5);
});
