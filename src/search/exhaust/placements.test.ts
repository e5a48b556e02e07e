/** Each set of faults that all strike is found once, as a search without any order finds it. */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { countPlans, NumberedPlans } from './exhaust.ts';
import { basePlan, narrowed } from './narrowed.ts';
import { type Faults, Placements } from './placements.ts';
import { keyOf, Slots, watchRun } from './slots.ts';

/** Each fault has one amount, so that what is found does not depend on thresholds. */
function scenarioOf(faults: readonly string[], most: number, link = 'connection'): Scenario {
  const text = `name: small
systems:
  one: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
clients: { names: [alice, bob, carol], ttl: 10ms, sections: 2, think: 0ms..5ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms, link: ${link} }
faults: [${faults.map((fault) => `{ ${fault} }`).join(', ')}]
`;
  const read = loadScenario(text, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return narrowed(read.scenario, { faults: most, clients: 2, sections: 1 });
}

const PAUSE = 'pause: { process: clients, for: 14ms }';
const CRASH = 'crash: { process: clients, restart: 4ms }';
const DELAY = 'delay: { by: 6ms, chance: 1/9 }';
const DROP = 'drop: { chance: 1/9 }';
const CLOCK = 'clock: { process: lock, step: 8ms }';
const LATE = 'late-timer: { by: 3ms, chance: 1/9 }';
const CUT = 'partition: { from: clients, to: lock, for: 9ms }';
const RESET = 'reset: { from: clients, to: lock }';
const FAIL = 'failover: { process: lock, lag: 5ms }';
const COPY = 'duplicate: { by: 6ms, chance: 1/9 }';
const FREEZE = 'pause: { process: lock, at: 5ms, for: 12ms, clocks: freeze }';

/** The sets that the blocks of a scenario lead to, each as text, without those that miss. */
async function setsInOrder(scenario: Scenario): Promise<readonly string[]> {
  const { plans, blocks } = await countPlans(scenario, 'one', { catalogue: builtIn });
  const numbered = new NumberedPlans(scenario, 'one', blocks);
  const found: string[] = [];
  for (let number = 0; number < plans; number += 1) {
    const plan = numbered.planOf(number);
    if (await allStrike(plan)) found.push(textOf(plan.faults));
  }
  return found;
}

/**
 * The same by brute force: any fault that any run of a set has room for is added to any set, in no
 * order, until nothing new comes.
 */
async function setsByForce(scenario: Scenario, most: number): Promise<ReadonlySet<string>> {
  const placements = new Placements(basePlan(scenario, 'one'), scenario.faults, builtIn);
  const slots = new Slots(scenario.faults);
  const universe = new Map<string, Fault>();
  const runs = new Map<string, boolean>();
  for (let size = -1; size !== universe.size; ) {
    size = universe.size;
    for (const faults of subsets([...universe.values()], most)) {
      const text = textOf(faults);
      if (runs.has(text)) continue;
      const watched = await watchRun(placements.planOf(faults), builtIn);
      runs.set(text, watched.strikes.size === faults.length);
      if (faults.length === most) continue;
      for (const slot of slots.in(watched)) {
        const fault = slot.fault(slot.range?.minUs ?? 0);
        universe.set(JSON.stringify(fault), fault);
      }
    }
  }
  return new Set([...runs].flatMap(([text, isWhole]) => (isWhole ? [text] : [])));
}

function* subsets(faults: Faults, most: number): Generator<Faults> {
  yield [];
  if (most === 0) return;
  for (const [at, fault] of faults.entries()) {
    for (const others of subsets(faults.slice(at + 1), most - 1)) {
      yield [fault, ...others].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    }
  }
}

async function allStrike(plan: Plan): Promise<boolean> {
  return (await watchRun(plan, builtIn)).strikes.size === plan.faults.length;
}

function textOf(faults: Faults): string {
  return faults
    .map((fault) => JSON.stringify(fault))
    .sort()
    .join('\n');
}

describe('each set of faults that all strike is found once', () => {
  test.each([
    ['of one kind', [PAUSE], 2, 'connection'],
    ['at messages', [DELAY, DROP], 2, 'connection'],
    ['of which copies are made', [COPY, DELAY], 2, 'datagram'],
    ['of which one ends a program', [PAUSE, CRASH], 2, 'connection'],
    ['at times and timers', [CLOCK, LATE, FREEZE], 3, 'connection'],
    ['between processes', [CUT, RESET], 2, 'connection'],
    ['of a server', [FAIL, CLOCK, FREEZE], 2, 'connection'],
    [
      'three of them',
      ['pause: { process: clients, before: write, for: 14ms }', LATE],
      3,
      'connection',
    ],
  ] as const)('%s', { timeout: 60_000 }, async (_, faults, most, link) => {
    const scenario = scenarioOf(faults, most, link);
    const found = await setsInOrder(scenario);
    expect(new Set(found).size, 'each once').toBe(found.length);
    const forced = await setsByForce(scenario, most);
    expect(found.length).toBeGreaterThan(most);
    expect([...found].sort()).toEqual([...forced].sort());
  });
});
