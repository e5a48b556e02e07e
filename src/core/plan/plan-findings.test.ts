import { expect, test } from 'vitest';
import { renderPath } from '../../text/problem.ts';
import { client, planWith } from '../shrink/sample-plan.fixture.ts';
import type { ClientPlan, Plan, Work } from './plan.ts';
import { memoizeFindings, planFindings, usedTwice } from './plan-findings.ts';

const alice = client('alice', 0);
const write: Work = { kind: 'write', id: 1, store: 's', key: 'x', value: 1, awaits: true };
const memoize: Work = {
  kind: 'memoize',
  id: 2,
  store: 's',
  key: 'x',
  value: 1,
  forUs: 1,
  pieces: 1,
};
const transfer: Work = { kind: 'transfer', id: 1, from: 's', to: 's', key: 'x', amount: 1 };
const transition: Work = { kind: 'transition', id: 1, forUs: 1 };
const queue = {
  steps: 1,
  retries: 1,
  visibilityUs: 1,
  copies: [],
  messages: [{ machine: 'db', steps: 1, retries: 0, atUs: 0 }],
};

function doing(...work: readonly Work[]): ClientPlan {
  return { ...alice, sections: alice.sections.slice(0, 1).map((one) => ({ ...one, work })) };
}

function found(change: Partial<Plan>): readonly string[] {
  const findings = planFindings({ ...planWith([]), ...change });
  return findings.map(({ path, isKey, what }) => `${renderPath(path)} ${isKey}: ${what}`);
}

test.each<[string, Partial<Plan>, readonly string[]]>([
  ['none in a valid plan', {}, []],
  [
    'a client called as another',
    { clients: [alice, client('bob', 0), alice] },
    ['clients[2].name false: there is another client "alice"'],
  ],
  [
    'a client called as a store that another one accesses',
    { clients: [{ ...alice, name: 's' }, doing({ ...write, store: 't' }, { ...write, id: 2 })] },
    ['clients[0].name false: the name "s" is the name of a process that is not a client'],
  ],
  [
    'a client called as the probe',
    { clients: [{ ...alice, name: 'probe' }] },
    ['clients[0].name false: the name "probe" is the name of a process that is not a client'],
  ],
  [
    'sections and steps of one id',
    { clients: [{ ...alice, sections: [...alice.sections, ...doing(write, write).sections] }] },
    [
      'clients[0].sections[2] false: there is another section 1',
      'clients[0].sections[2].work[1] false: there is another step 1',
    ],
  ],
  [
    'a memoize in company',
    { clients: [doing(write, memoize)] },
    [
      'clients[0].sections[0].work[1] false: ' +
        'a memoize must be the only step of its section: it takes the lock itself',
    ],
  ],
  ['none with a single memoize', { clients: [doing(memoize)] }, []],
  [
    'a transfer from a store to itself',
    { clients: [doing(transfer)] },
    [
      'clients[0].sections[0].work[0].transfer.to false: ' +
        'a transfer needs two stores: this one leads from "s" to itself',
    ],
  ],
  ['none with a valid transfer', { clients: [doing({ ...transfer, to: 't' })] }, []],
  [
    'a transition without a queue',
    { clients: [doing(transition)] },
    [
      'clients[0].sections[0].work[0] false: ' +
        'a transition needs a queue that determines its step: queue: { steps: 4 }',
    ],
  ],
  [
    'a message for a missing step',
    { clients: [doing(transition)], queue },
    ['queue.messages[0] false: there is no step 1: the machines of this queue have 1, from 0'],
  ],
])('errors in a plan are found: %s', (_, change, lines) => {
  expect(found(change)).toEqual(lines);
});

test('each repeated use of an id is reported with its place', () => {
  const ids = usedTwice(['a', 1, 'a', 'a', 1], (at) => [at], 'thing');
  expect(ids.map(({ path, what }) => [...path, what])).toEqual([
    [2, 'there is another thing "a"'],
    [3, 'there is another thing "a"'],
    [4, 'there is another thing 1'],
  ]);
});

test('every memoize that is not alone in its section is found', () => {
  const places = memoizeFindings([memoize, write, memoize], (at) => [at]);
  expect(places.map(({ path }) => path)).toEqual([[0], [2]]);
});
