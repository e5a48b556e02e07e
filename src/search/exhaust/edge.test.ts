import { expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { findEdges } from './edge.ts';
import { narrowed } from './narrowed.ts';

const TEXT = `name: small
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } }
clients: { count: 2, ttl: 10ms, sections: 1, checksLease: true, backoff: 4ms }
workload: { kind: blind-writes }
network: { latency: 1ms }
faults: [pause: { before: write, for: 1ms..5ms }, drop: { chance: 1/2 }]
`;
const options = { catalogue: builtIn, shouldStop: async () => false };

function read(text: string): Scenario {
  const loaded = loadScenario(text, 'small.yaml');
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return narrowed(loaded.scenario, { faults: 1, ties: 0, clients: null, sections: null });
}

function asked(system: string, mostRuns = 1_000): Parameters<typeof findEdges>[0] {
  return { scenario: read(TEXT), system, claims: ['grant-order'], mostRuns };
}

test('a checked lease breaks with a pause longer than the ttl, for every ttl', async () => {
  const { points, givenUp } = await findEdges(asked('unfenced'), options);
  const of = { kind: 'pause', claim: 'grant-order' };
  expect(points).toEqual([
    { ...of, ttlUs: 10_000, edgeUs: 10_001 },
    { ...of, ttlUs: 20_000, edgeUs: 20_001 },
  ]);
  expect(givenUp).toEqual([]);
});

test('a claim that no pause breaks has no edge; one that needs no pause has it at 0', async () => {
  const fenced = await findEdges(asked('fenced'), options);
  expect(fenced.points.map(({ edgeUs }) => edgeUs)).toEqual([null, null]);
  const late = { ...asked('unfenced'), claims: ['lease-conservative'] };
  const [first] = read(TEXT).clients;
  if (first === undefined) throw new Error('there are clients');
  const settings = { ...first.settings, countsLeaseFrom: 'reply' } as const;
  const scenario = { ...late.scenario, clients: [{ ...first, settings }] };
  const { points } = await findEdges({ ...late, scenario }, options);
  expect(points.map(({ edgeUs }) => edgeUs)).toEqual([0, 0]);
});

test.each([
  ['it would heal before the fault ends', /$/, 'time: 12ms\n'],
  ['it would be truncated before it heals', /ttl: 10ms/, 'ttl: 10s'],
])('the run is extended if %s', async (_, words, others) => {
  const scenario = read(TEXT.replace(words, others));
  const { points } = await findEdges({ ...asked('unfenced'), scenario }, options);
  expect(points.map(({ ttlUs, edgeUs }) => (edgeUs ?? 0) - ttlUs)).toEqual([1, 1]);
});

test('each kind of fault has its own edges', async () => {
  const scenario = read(
    TEXT.replace(
      /faults: .*/,
      'faults: [delay: { message: write, by: 1ms }, pause: { before: write, for: 1ms }]',
    ),
  );
  const { points } = await findEdges({ ...asked('unfenced'), scenario }, options);
  expect(points.map(({ kind, edgeUs }) => [kind, edgeUs])).toEqual([
    ['pause', 10_001],
    ['pause', 20_001],
    ['delay', 10_001],
    ['delay', 20_001],
  ]);
});

test('a search that takes too many runs, or is stopped, gives up the kind', async () => {
  const none = { points: [], givenUp: ['pause'] };
  expect(await findEdges(asked('unfenced', 30), options)).toMatchObject(none);
  const stopped = { ...options, shouldStop: async () => true };
  expect(await findEdges(asked('unfenced'), stopped)).toMatchObject(none);
});
