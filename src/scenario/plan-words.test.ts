import { expect, test } from 'vitest';
import type { Plan } from '../core/plan/plan.ts';
import { planWordFindings } from './build-systems.ts';

const vocabulary = {
  locks: new Map([
    [
      'lock-service',
      {
        options: [
          { name: 'counter', values: ['durable', 'volatile'] },
          { name: 'nodes', values: null },
        ],
        servers: () => ['lock'],
      },
    ],
  ]),
  stores: ['fenced'],
  claims: ['grant-order'],
};

function wordsFor(system: Partial<Plan['system']>, claim = 'grant-order'): readonly string[] {
  const plan = {
    system: { name: 'a', lock: 'lock-service', store: 'fenced', options: {}, ...system },
    expect: { claim, outcome: 'reproduced' as const },
  };
  return planWordFindings(plan, vocabulary).map(
    ({ path, isKey, what }) => `${path.join('.')}${isKey ? ' (key)' : ''}: ${what}`,
  );
}

test('unknown words in a plan are reported as in a scenario, each with its path', () => {
  expect(wordsFor({ options: { counter: 'volatile', nodes: 3 } })).toEqual([]);
  expect(wordsFor({ options: { countr: 'volatile' } })).toEqual([
    'system.options.countr (key): lock-service has no option "countr"; did you mean "counter"?',
  ]);
  expect(wordsFor({ options: { nodes: -1, counter: 'durabel' } })).toEqual([
    'system.options.nodes: expected a whole number from 0, not -1',
    'system.options.counter: unknown value "durabel"; did you mean "durable"?',
  ]);
  expect(wordsFor({ lock: 'lock-servic', store: 'fencd' })).toEqual([
    'system.lock: unknown lock "lock-servic"; did you mean "lock-service"?',
    'system.store: unknown store "fencd"; did you mean "fenced"?',
  ]);
  expect(wordsFor({}, 'grant-odrer')).toEqual([
    'expect.claim: unknown claim "grant-odrer"; did you mean "grant-order"?',
  ]);
});
