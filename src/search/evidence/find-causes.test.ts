import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import type { ClientPlan, Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { examine, examineSeed } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { pin } from '../../run.ts';
import { clientOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { explainRunNow } from './explain-run.ts';
import { type FoundCauses, findCauses } from './find-causes.ts';

interface Search {
  readonly found: FoundCauses;
  /** Number of events in the broken run, and in all other runs together. */
  readonly events: number;
  readonly spent: number;
  readonly runs: number;
}

/** Searches for the causes of a breach of `claim` by a plan. */
function searched(given: Plan, claim: string): Search {
  const plan = pin(given);
  const result = examine(plan, [claim]);
  const [breach] = result.verdicts;
  if (breach?.kind !== 'invalid') throw new Error(`${claim} does not break`);
  const steps = findCauses({ plan, result, breach });
  let [runs, spent] = [0, 0];
  let step = steps.next();
  while (step.done !== true) {
    const beside = examine(step.value.plan, [claim], builtIn, step.value.interventions);
    runs += 1;
    spent += beside.trace.events.length;
    step = steps.next(beside);
  }
  return { found: step.value, events: result.trace.events.length, spent, runs };
}

function kindsIn({ found }: Search): readonly string[] {
  return found.causes.map(({ kind }) => kind);
}

/**
 * Returns a client with a transfer, and the fault that drops one of its writes, which makes the sum
 * wrong.
 */
function transferLost(name: string): readonly [ClientPlan, Plan['faults'][number]] {
  const ends = { from: 'store-1', to: 'store-2', key: 'x', amount: 1 };
  const client = clientOf(name, [{ kind: 'transfer', id: 1, ...ends }], { storeTimeoutUs: 9 * MS });
  const message = `${name}/1/write-from/1/request`;
  return [client, { kind: 'drop', which: { kind: 'message', message } }];
}

test('one lost write is the cause of a wrong sum', () => {
  const [client, fault] = transferLost('alice');
  const search = searched(planOf({ clients: [client], faults: [fault] }), 'cross-key');
  expect(kindsIn(search)).toEqual(['fault']);
  expect(search.found.isPair).toBe(false);
});

test('of two lost writes, either of which is enough, both are the causes', () => {
  const [alice, first] = transferLost('alice');
  const [bob, second] = transferLost('bob');
  const plan = planOf({ clients: [alice, bob], faults: [first, second] });
  const { found } = searched(plan, 'cross-key');
  expect(found.isPair).toBe(true);
  expect(found.causes.map(({ fault }) => fault)).toEqual([0, 1]);
  const result = examine(plan, ['cross-key']);
  const [verdict] = result.verdicts;
  if (verdict?.kind !== 'invalid') throw new Error('it breaks');
  const { explanation } = explainRunNow({ plan, trace: result.trace, verdict });
  expect(explanation.however).toMatch(
    /alice's `write-from` was lost and bob's `write-from` was lost; either of the two alone causes the breach/,
  );
});

const pause = {
  kind: 'pause',
  process: 'alice',
  when: { kind: 'before', point: 'alice/1/write' },
  forUs: 30 * MS,
  clocks: 'run',
} as const;

test('a pause and the expiry that it outlasts are causes; a fault with no effect is none', () => {
  const clients = [
    clientOf('alice', [writeOf(1)]),
    clientOf('bob', [writeOf(2)], { section: { thinkUs: MS } }),
  ];
  const clock = {
    kind: 'clock',
    process: 'store',
    when: { kind: 'at', atUs: MS },
    stepUs: 0,
    ratePpm: 100,
  } as const;
  const plan = planOf({ clients, store: 'unfenced', faults: [clock, pause] });
  const search = searched(plan, 'grant-order');
  expect(kindsIn(search)).toEqual(['fault', 'expiry']);
  expect(search.found.causes[0]?.fault).toBe(1);
});

test('an expiry without which the sections of the breach are all denied is not a cause', () => {
  const keeps = { releases: false, attempts: 20 };
  const clients = [
    clientOf('carol', [writeOf(3)], keeps),
    clientOf('alice', [writeOf(1)], { attempts: 20, section: { thinkUs: 5 * MS } }),
    clientOf('bob', [writeOf(2)], { attempts: 20, section: { thinkUs: 15 * MS } }),
  ];
  const plan = planOf({ clients, store: 'unfenced', faults: [pause] });
  const { found } = searched(plan, 'grant-order');
  const ended = found.seen.flatMap(({ neighbour: { what, outcome } }) =>
    what.includes('expiry') ? [`${what.split('/')[0] ?? ''} ${outcome}`] : [],
  );
  expect(ended).toEqual([
    'without the expiry set by carol stalls',
    'without the expiry set by alice holds',
  ]);
});

describe('the search for causes', () => {
  const file = new URL('../../../fixtures/zombie-writer.yaml', import.meta.url);
  const read = loadScenario(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;

  test('stays within its budget on runs that were not shrunk, and counts what it tested', () => {
    let isExhausted = false;
    for (let seed = 0, broken = 0; broken < 3; seed += 1) {
      const { plan, verdicts } = examineSeed(scenario, 'unfenced', seed, ['grant-order']);
      if (verdicts[0]?.kind !== 'invalid') continue;
      broken += 1;
      const { found, events, spent, runs } = searched(plan, 'grant-order');
      expect(runs).toBeLessThanOrEqual(Math.min(60, 2 * events));
      // The last run may exceed the limit.
      expect(spent).toBeLessThan(21 * events);
      expect(found.tested.tested).toBeLessThanOrEqual(runs);
      if (found.tested.tested < found.tested.of) isExhausted = true;
    }
    expect(isExhausted).toBe(true);
  });
});

test('a plan read from a file has the same causes each time', () => {
  const file = 'zombie-writer-unfenced-grant-order.yaml';
  const place = new URL(`../../../fixtures/plans/${file}`, import.meta.url);
  const read = readPlan({ file, text: readFileSync(place, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const [one, other] = [1, 2].map(() => searched(read.plan, 'grant-order').found);
  expect(one).toEqual(other);
});
