import { beforeAll, expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type ClaimEdge, type EdgePoint, findEdges, findNearest, lineThrough } from './edge.ts';
import { narrowed } from './narrowed.ts';

const TEXT = `name: small
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } }
clients: { count: 2, ttl: 10ms, sections: 1, checksLease: true }
workload: { kind: blind-writes }
network: { latency: 1ms }
faults: FAULTS
`;
const PAUSE = '[pause: { before: write, for: 1ms..5ms }]';
const options = { catalogue: builtIn, shouldStop: async () => false };

function scenarioWith(faults: string): Scenario {
  const read = loadScenario(TEXT.replace('FAULTS', faults), 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return narrowed(read.scenario, { faults: 1, ties: 0, clients: null, sections: null });
}

let paused: readonly ClaimEdge[] = [];
beforeAll(async () => {
  const axes = { kind: 'pause', parameter: 'ttl' } as const;
  paused = (await findEdges(scenarioWith(PAUSE), axes, options)) ?? [];
});

test('a lease that is checked breaks with a pause that is longer, and never where it is fenced', () => {
  const [unfenced, fenced] = paused;
  expect(unfenced?.row.map(({ edgeUs }) => edgeUs)).toEqual([5_001, 7_501, 10_001, 15_001, 20_001]);
  expect(unfenced?.beside.map(({ edgeUs }) => edgeUs)).toEqual([10_001, 20_001]);
  expect(unfenced?.line).toEqual({ ttl: 1, latency: 0, restUs: 0 });
  expect(fenced?.row.every(({ edgeUs, plans }) => edgeUs === null && plans > 50)).toBe(true);
  expect(fenced?.line).toBeNull();
});

test('of what holds the nearest fault is one of another kind', async () => {
  const [, fenced] = paused;
  const edges = fenced === undefined ? [] : [{ ...fenced, claim: 'tokens-increase' }];
  const nearest = await findNearest(scenarioWith('all'), edges, options);
  expect(nearest).toMatchObject([{ system: 'fenced', fault: { kind: 'failover', lagUs: 1_001 } }]);
});

test('a search that is stopped comes to nothing', async () => {
  const axes = { kind: 'pause', parameter: 'ttl' } as const;
  const stopped = { ...options, shouldStop: async () => true };
  expect(await findEdges(scenarioWith(PAUSE), axes, stopped)).toBeNull();
});

function point(ttlUs: number, latencyUs: number, edgeUs: number | null): EdgePoint {
  return { ttlUs, latencyUs, edgeUs, mostUs: 100_000, plans: 1 };
}

test.each<[string, readonly EdgePoint[], object | null]>([
  [
    'the ttl without a round trip',
    [point(5_000, 1_000, 3_001), point(10_000, 1_000, 8_001), point(10_000, 2_000, 6_001)],
    { ttl: 1, latency: -2, restUs: 0 },
  ],
  [
    'half of the ttl and 1 ms',
    [point(6_000, 1_000, 4_001), point(10_000, 1_000, 6_001), point(10_000, 2_000, 6_001)],
    { ttl: 0.5, latency: 0, restUs: 1_000 },
  ],
  [
    'steps',
    [point(5_000, 1_000, 4_001), point(6_000, 1_000, 4_001), point(9_000, 1_000, 8_001)],
    null,
  ],
  ['what holds at one point', [point(5_000, 1_000, 4_001), point(6_000, 1_000, null)], null],
  ['no points', [], null],
])('%s', (_, points, line) => {
  expect(lineThrough(points)).toEqual(line);
});
