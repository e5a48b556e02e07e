/**
 * Law: `faults: all` stands for every fault kind that can affect the systems of a scenario: none is
 * missing, each fires, and none affects a server to which it does not apply.
 */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../src/catalogue.ts';
import { FAULT_KINDS, type FaultKind } from '../src/core/plan/fault.ts';
import { watchAsync } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { run } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { countPlans } from '../src/search/exhaust/exhaust.ts';
import { narrowed } from '../src/search/exhaust/narrowed.ts';

type Link = 'connection' | 'datagram';

function scenarioOf(systems: readonly string[], link: Link = 'connection', rest = ''): Scenario {
  const named = systems.map((system, at) => `  s${at}: { ${system} }`);
  const text = `name: x
systems:
${named.join('\n')}
clients: { count: 3, ttl: 10ms, sections: 2, think: 0ms..10ms }
network: { link: ${link} }
${rest}
faults: all
`;
  const read = loadScenario(text, 'x.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

function kindsOf({ faults }: Scenario): ReadonlySet<FaultKind> {
  return new Set(faults.map(({ kind }) => kind));
}

const LINKS = ['connection', 'datagram'] as const;
const HOLDER = 'lock: lock-service, store: unfenced';

test('both kinds of link together have every fault kind', () => {
  const named = new Set(LINKS.flatMap((link) => [...kindsOf(scenarioOf([HOLDER], link))]));
  expect(FAULT_KINDS.filter((kind) => !named.has(kind))).toEqual([]);
});

test.each(LINKS)('on a %s each kind of the palette fires', (link) => {
  const scenario = scenarioOf([HOLDER], link);
  const fired = new Set<string>();
  for (let seed = 0; seed < 150; seed += 1) {
    const { events } = run(expand(scenario, 's0', seed));
    for (const event of events) if (event.kind === 'fault') fired.add(event.fault);
  }
  expect([...kindsOf(scenario)].filter((kind) => !fired.has(kind))).toEqual([]);
});

test('a fault affects only systems to which it applies', () => {
  const scenario = scenarioOf([HOLDER, 'lock: etcd, store: unfenced', 'lock: none, store: fenced']);
  const evicted = ['s0', 's1', 's2'].map((system) => {
    const plans = Array.from({ length: 150 }, (_, seed) => expand(scenario, system, seed));
    return plans.some(({ faults }) => faults.some(({ kind }) => kind === 'evict'));
  });
  expect(evicted).toEqual([true, false, false]);
});

test('a clock stays within its declared bounds', () => {
  const promised = 'clocks: { skew: 1ms, drift: 10ppm }';
  const { bounds } = scenarioOf([HOLDER], 'connection', promised);
  expect(bounds).toMatchObject({ skewUs: 1_000, driftPpm: 10 });
  expect(bounds.declared).toBeUndefined();
});

test('an exhaustive search includes all of them', async () => {
  const scope = { faults: 1, ties: 0, clients: 1, sections: 1 };
  const scenario = narrowed(scenarioOf([HOLDER]), scope);
  const { plans, blocks } = await countPlans(scenario, 's0', {
    catalogue: builtIn,
    watch: watchAsync,
  });
  const tried = blocks.flatMap(({ placed }) => placed.map(({ next }) => next.kind));
  const kinds = [...kindsOf(scenario)].filter((kind) => !tried.includes(kind));
  expect(kinds).toEqual([]);
  expect(plans).toBeGreaterThan(tried.length);
});

describe('every lock and store can have all faults', () => {
  const locks = [...builtIn.locks.keys()].filter((lock) => lock !== 'kubernetes');
  test.each([
    ...locks.map((lock) => `lock: ${lock}, store: unfenced`),
    ...[...builtIn.stores.keys()].map((store) => `lock: lock-service, store: ${store}`),
  ])('%s', (system) => {
    const kinds = kindsOf(scenarioOf([system]));
    expect([...kinds]).toEqual(expect.arrayContaining(['pause', 'partition', 'crash', 'clock']));
  });
});

test.each([
  ['all', '`all` includes every kind and cannot be in a list: write faults: all, or list kinds'],
  ['drop: { chance: 1/2 }\n  - all', '`all` includes every kind and cannot be in a list'],
])('`all` with other faults or in a list is refused: %j', (listed, what) => {
  const text = `name: x\nsystems:\n  s: { ${HOLDER} }\nfaults:\n  - ${listed}\n`;
  const read = loadScenario(text, 'x.yaml');
  expect(read).toMatchObject({
    kind: 'problems',
    problems: [{ what: expect.stringContaining(what) }],
  });
});
