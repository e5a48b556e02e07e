/**
 * `no-lost-update` against arithmetic. Chance is keyed by name, so two plans that differ only in
 * what their increments add result in one run with other numbers. If each increment adds its own
 * power of 8, the digits of the final value are how often it contains each. So the claim, judged
 * where all add 1, has to break if and only if a digit is not what its client was told.
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

/** The lowest digit is the probe's, which adds 1; a number has room for so many more. */
const MOST = 15;

/** The same clients and faults, with sections that only add to one key; `amountOf` says what. */
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

type Told = 'accepted' | 'refused' | 'unknown';

/** Per amount, what the client of the increment was told, by any of its tries. */
function toldOf({ events }: Trace): readonly (readonly [amount: number, told: Told])[] {
  const returns = new Map<string, Return>();
  for (const event of events) if (event.kind === 'return') returns.set(event.operation, event);
  const all = new Map<number, Told>();
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

/** What a run has added to its only key, if anything was written to it. */
function sumOf(trace: Trace): number {
  const [place] = indexTrace(trace).places;
  const key = place?.keys.get('x');
  if (place === undefined || key === undefined) return 0;
  const first = place.firsts.get('x')?.value ?? 0;
  return contentsBefore(place, key, Number.POSITIVE_INFINITY).value - first;
}

function isWrongByDigits(trace: Trace): boolean {
  const sum = sumOf(trace);
  return toldOf(trace).some(([amount, told]) => {
    const digit = Math.floor(sum / amount) % 8;
    return digit > 1 || (told === 'accepted' && digit === 0) || (told === 'refused' && digit === 1);
  });
}

/** Whether the sum of increments by 1 is one that the same answers allow. */
function isRightBySum(trace: Trace, told: readonly Told[]): boolean {
  const least = told.filter((one) => one === 'accepted').length;
  const sum = sumOf(trace);
  return sum >= least && sum <= told.filter((one) => one !== 'refused').length;
}

beforeAll(() => prepare(SYSTEMS));

test('an update is lost, or repeated, where the digits of the sum say so', () => {
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
      const told = toldOf(twin).map(([, one]) => one);
      if (isRightBySum(trace, told)) hidden += 1;
    }),
    { seed: 1, numRuns: runs(3_000) },
  );
  expect(broken).toBeGreaterThanOrEqual(runs(40));
  expect(hidden).toBeGreaterThanOrEqual(runs(10) / 5);
});
