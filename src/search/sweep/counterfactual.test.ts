import { describe, expect, test } from 'vitest';
import type { Plan } from '../../core/plan/plan.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { NumberedPlans } from '../exhaust/exhaust.ts';
import { avoidedOn, countAvoided } from './counterfactual.ts';
import { mergeCounts, NO_COUNTS, type SweepCounts } from './counts.ts';
import { judgeSystem } from './expectation.ts';
import { sweep } from './sweep.ts';

const WORLD = `
clients: { count: 3, ttl: 10ms, sections: 3, think: 0ms..20ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
`;

function scenarioOf(systems: readonly string[], faults: readonly string[]): Scenario {
  const text = `name: pair\nsystems:\n${systems.map((line) => `  ${line}\n`).join('')}${WORLD}
faults:\n${faults.map((line) => `  - ${line}\n`).join('')}`;
  const read = loadScenario(text, 'pair.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

const STEP = 'clock: { process: lock, at: 0ms..100ms, step: -30ms..30ms, chance: 3/4 }';
const WALL =
  'wall: { lock: lock-service, store: fenced, options: { clock: wall }, expect: { breaks: [mutual-exclusion] } }';
const MONOTONIC =
  'monotonic: { lock: lock-service, store: fenced, expect: { holds: [mutual-exclusion] } }';
const clocks = scenarioOf([WALL, MONOTONIC], [STEP]);

async function tallied(
  scenario: Scenario,
  to: number,
  from = 0,
): Promise<Map<string, SweepCounts>> {
  return new Map((await sweep(scenario, { from, to, pool: null })).countsBySystem);
}

test('a breach is avoided if the same faults broke a twin and not this system', async () => {
  const countsBySystem = await tallied(clocks, 199);
  const broken = countsBySystem.get('wall')?.claims['mutual-exclusion']?.broken ?? 0;
  const avoided = avoidedOn(
    await countAvoided(clocks, countsBySystem),
    'monotonic',
    'mutual-exclusion',
  );
  expect(broken).toBeGreaterThan(5);
  expect(avoided).toBeGreaterThan(5);
  expect(avoided).toBeLessThanOrEqual(broken);
});

test('nothing is avoided if the lock never answers a client', async () => {
  const deaf = MONOTONIC.replace('store: fenced,', 'store: fenced, clients: { lockTimeout: 1us },');
  const scenario = scenarioOf([WALL, deaf], [STEP]);
  const countsBySystem = await tallied(scenario, 199);
  expect(countsBySystem.get('wall')?.claims['mutual-exclusion']?.broken).toBeGreaterThan(0);
  const avoided = await countAvoided(scenario, countsBySystem);
  expect(avoidedOn(avoided, 'monotonic', 'mutual-exclusion')).toBe(0);
});

test('the count does not depend on how the seeds were split', async () => {
  const parts = [await tallied(clocks, 99), await tallied(clocks, 149, 100)];
  const merged = new Map(
    [...(parts[0] ?? new Map<string, SweepCounts>())].map(([system, counts]) => [
      system,
      mergeCounts(parts[1]?.get(system) ?? NO_COUNTS, counts),
    ]),
  );
  expect(await countAvoided(clocks, merged)).toEqual(
    await countAvoided(clocks, await tallied(clocks, 149)),
  );
});

test('it takes a share of the runs of a sweep, and at least a few', async () => {
  const seedsTried = async (countsBySystem: ReadonlyMap<string, SweepCounts>): Promise<number> => {
    let seeds = 0;
    const shouldStop = (): boolean => {
      seeds += 1;
      return false;
    };
    await countAvoided(clocks, countsBySystem, { shouldStop });
    return seeds;
  };
  const countsBySystem = await tallied(clocks, 199);
  expect(await seedsTried(countsBySystem)).toBeLessThanOrEqual(400 / 12 / 2);
  const few = [...countsBySystem].map(
    ([system, counts]) => [system, { ...counts, seeds: 20 }] as const,
  );
  expect(await seedsTried(new Map(few))).toBe(6);
  expect(await countAvoided(clocks, countsBySystem, { shouldStop: () => true })).toEqual(new Map());
});

test('a system with a failed seed does not run again', async () => {
  const countsBySystem = await tallied(clocks, 99);
  const monotonic = { ...(countsBySystem.get('monotonic') ?? NO_COUNTS), failed: 1 };
  const failed = new Map([...countsBySystem, ['monotonic', monotonic] as const]);
  expect(await countAvoided(clocks, failed)).toEqual(new Map());
});

/** Plans of a system, all without faults, that record the requested numbers. */
class NotedPlans extends NumberedPlans {
  readonly asked: Set<string>;
  private readonly system: string;

  constructor(scenario: Scenario, system: string, asked: Set<string>) {
    super(scenario, system, []);
    this.asked = asked;
    this.system = system;
  }

  override planOf(number: number): Plan {
    this.asked.add(`${number} ${this.system}`);
    return super.planOf(0);
  }
}

test('the lowest fifty seeds on which twins broke a claim are tried, in order', async () => {
  const scenario = scenarioOf([WALL, WALL.replace('wall', 'second'), MONOTONIC], [STEP]);
  const broke = (brokenSeeds: readonly number[]): SweepCounts => {
    const none = { unknown: 0, firstUnknown: null, exercised: 0, times: 0 };
    const claim = { ...none, broken: brokenSeeds.length, brokenSeeds };
    return { ...NO_COUNTS, seeds: 9_999, claims: { 'mutual-exclusion': claim } };
  };
  const evens = Array.from({ length: 50 }, (_, at) => 2 * at + 2);
  const odds = evens.map((even) => even - 1);
  const countsBySystem = new Map([
    ['wall', broke(evens)],
    ['second', broke([...odds.slice(0, 20), 40, ...odds.slice(20, -1)])],
    ['monotonic', broke([])],
  ]);
  const asked = new Set<string>();
  const numbered = new Map(
    [...countsBySystem.keys()].map((name) => [name, new NotedPlans(scenario, name, asked)]),
  );
  await countAvoided(scenario, countsBySystem, { numbered });
  const ones = Array.from({ length: 50 }, (_, at) => at + 1);
  expect([...asked]).toEqual(
    ones.flatMap((seed) => {
      if (seed % 2 === 1) return [`${seed} second`];
      return seed === 40 ? ['40 wall', '40 second'] : [`${seed} wall`];
    }),
  );
});

describe('a claim that should hold and was never exercised', () => {
  const complete = { isComplete: true, isSingle: false };
  const claim = { broken: 0, brokenSeeds: [], unknown: 0, firstUnknown: null };
  const claims = { 'mutual-exclusion': { ...claim, exercised: 0, times: 0 } };
  const faults = { clock: { fired: 9, overlapped: 9, strikes: {} } };
  const sections = { ...NO_COUNTS.sections, began: 9, entered: 9 };
  const counts: SweepCounts = { ...NO_COUNTS, seeds: 99, claims, faults, sections };
  const [, system] = clocks.systems;

  test('is met if it avoided a breach of its twin, and is not judged otherwise', () => {
    if (system === undefined) throw new Error('there are two systems');
    const avoided = new Map([['monotonic', new Map([['mutual-exclusion', 3]])]]);
    expect(judgeSystem(clocks, system, counts, { ...complete, avoided }).met).toBe(true);
    const others = new Map([['monotonic', new Map([['grant-order', 3]])]]);
    expect(judgeSystem(clocks, system, counts, { ...complete, avoided: others })).toMatchObject({
      met: null,
      vacuous: ['mutual-exclusion was never exercised'],
    });
  });
});
