/**
 * Laws of the stores in a SQL engine: under any faults they answer exactly like those in memory,
 * and a run leaves no state for the next one.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Plan } from '../src/core/plan/plan.ts';
import { digestOf, run, whyRefused } from '../src/run.ts';
import { traceDifference } from '../src/search/sweep/examiner.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const PAIRS = [
  ['versioned', 'versioned-sql'],
  ['timestamped', 'timestamped-sql'],
  ['stock', 'stock-sql'],
] as const;

const SYSTEMS = [
  { lock: 'optimistic', options: { unknownCommit: 'read-again' } },
  { lock: 'optimistic', options: { unknownCommit: 'retry-blindly' } },
  { lock: 'lock-service', options: {} },
] as const;

/** The plan on another system, without renewals, which some locks do not support. */
function before(plan: Plan, system: Partial<Plan['system']>): Plan {
  const clients = plan.clients.map((client) => ({
    ...client,
    sections: client.sections.map((section) => ({
      ...section,
      work: section.work.filter(({ kind }) => kind !== 'renew'),
    })),
  }));
  return { ...plan, clients, system: { ...plan.system, ...system } };
}

test('a failover of a store in SQL can be validated before its engine is loaded', () => {
  const [plan] = samplePlans(runnablePlans({ stores: ['versioned-sql'] }), 1, 1);
  if (plan === undefined) throw new Error('there is no plan');
  const when = { kind: 'at', atUs: 1 } as const;
  const failover = { kind: 'failover', process: 'store', when, lagUs: 1 } as const;
  for (const [, store] of PAIRS) {
    const one = before({ ...plan, faults: [failover] }, { lock: 'optimistic', options: {}, store });
    expect(whyRefused(one)).toBe(null);
  }
});

describe.each(PAIRS)('%s and %s', (memory, sql) => {
  beforeAll(() => prepare([{ store: sql }]));

  test.each(SYSTEMS)('give the same trace under any plan, with $lock $options', (system) => {
    fc.assert(
      fc.property(runnablePlans({ stores: [memory] }), (plan) => {
        const traces = [memory, sql].map((store) => run(before(plan, { ...system, store })));
        const [one, other] = traces;
        if (one === undefined || other === undefined) throw new Error('there are two');
        expect(traceDifference(one, other)).toBe(null);
        expect(digestOf(one)).toBe(digestOf(other));
      }),
      { seed: 1, numRuns: runs(150) },
    );
  });
});

test('the plans cause refusals, repetitions, crashes and failovers in these stores', () => {
  const system = { lock: 'optimistic', store: 'versioned', options: {} };
  const plans = samplePlans(runnablePlans({ stores: ['versioned'] }), 250, 1);
  const events = plans.flatMap((plan) => run(before(plan, system)).events);
  const count = (is: (event: (typeof events)[number]) => boolean): number =>
    events.filter(is).length;
  expect(count((event) => event.kind === 'write' && !event.isAccepted)).toBeGreaterThan(10);
  expect(count((event) => event.kind === 'log' && event.topic === 'repeated')).toBeGreaterThan(5);
  expect(count((event) => event.kind === 'recovered')).toBeGreaterThan(10);
  expect(count((event) => event.kind === 'fault' && event.fault === 'failover')).toBeGreaterThan(5);
  expect(count((event) => event.kind === 'fault' && event.fault === 'evict')).toBeGreaterThan(5);
});
