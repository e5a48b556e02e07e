/** Each set of faults that all fire is found exactly once, as compared with an unordered search. */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { watchAsync } from '../../host/async/run-async.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { countPlans, NumberedPlans } from './exhaust.ts';
import { basePlan, narrowed } from './narrowed.ts';
import { departing } from './placements.ts';
import { keyOf, Slots, watchRun } from './slots.ts';

const WATCHING = { catalogue: builtIn, watch: watchAsync };

/** Each fault has one amount, so the results do not depend on thresholds. */
function scenarioOf(
  faults: readonly string[],
  { faults: most, ties = 0 }: { readonly faults: number; readonly ties?: number },
  link = 'connection',
): Scenario {
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
  return narrowed(read.scenario, { faults: most, ties, clients: 2, sections: 1 });
}

const PAUSE = 'pause: { process: clients, for: 14ms }';
const CRASH = 'crash: { process: clients, restart: 4ms }';
const DELAY = 'delay: { by: 6ms, chance: 1/9 }';
const DROP = 'drop: { chance: 1/9 }';
const CLOCK = 'clock: { process: lock, step: 8ms }';
const LATE = 'late-timer: { by: 3ms, chance: 1/9 }';
const PARTITION = 'partition: { from: clients, to: lock, for: 9ms }';
const RESET = 'reset: { from: clients, to: lock }';
const FAIL = 'failover: { process: lock, lag: 5ms }';
const COPY = 'duplicate: { by: 6ms, chance: 1/9 }';
const FREEZE = 'pause: { process: lock, at: 5ms, for: 12ms, clocks: freeze }';

/** Returns the fault sets of a scenario's blocks as text, without sets in which a fault misses. */
async function setsInOrder(scenario: Scenario): Promise<readonly string[]> {
  const { plans, blocks } = await countPlans(scenario, 'one', WATCHING);
  const numbered = new NumberedPlans(scenario, 'one', blocks);
  const found: string[] = [];
  for (let number = 0; number < plans; number += 1) {
    const plan = numbered.planOf(number);
    if (await allFire(plan)) found.push(textOf(plan.faults));
  }
  return found;
}

/**
 * Returns the same sets by brute force: adds every fault that fits into any run to every set, in
 * any order, until no new set appears.
 */
async function setsByForce(scenario: Scenario, most: number): Promise<ReadonlySet<string>> {
  const base = basePlan(scenario, 'one');
  const slots = new Slots(scenario.faults);
  const universe = new Map<string, Fault>();
  const runs = new Map<string, boolean>();
  for (let size = -1; size !== universe.size; ) {
    size = universe.size;
    for (const faults of subsets([...universe.values()], most)) {
      const text = textOf(faults);
      if (runs.has(text)) continue;
      const watched = await watchRun(departing(base, faults), WATCHING);
      runs.set(text, watched.injections.size === faults.length);
      if (faults.length === most) continue;
      for (const slot of slots.in(watched)) {
        const fault = slot.fault(slot.ranges[0]?.minUs ?? 0);
        universe.set(JSON.stringify(fault), fault);
      }
    }
  }
  return new Set([...runs].flatMap(([text, isComplete]) => (isComplete ? [text] : [])));
}

function* subsets(faults: readonly Fault[], most: number): Generator<readonly Fault[]> {
  yield [];
  if (most === 0) return;
  for (const [at, fault] of faults.entries()) {
    for (const others of subsets(faults.slice(at + 1), most - 1)) {
      yield [fault, ...others].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    }
  }
}

async function allFire(plan: Plan): Promise<boolean> {
  return (await watchRun(plan, WATCHING)).injections.size === plan.faults.length;
}

function textOf(faults: readonly Fault[]): string {
  return faults
    .map((fault) => JSON.stringify(fault))
    .sort()
    .join('\n');
}

describe('each set of faults that all fire is found once', () => {
  test.each([
    ['of one kind', [PAUSE], 2, 'connection'],
    ['at messages', [DELAY, DROP], 2, 'connection'],
    ['of which copies are made', [COPY, DELAY], 2, 'datagram'],
    ['of which one ends a program', [PAUSE, CRASH], 2, 'connection'],
    ['at times and timers', [CLOCK, LATE, FREEZE], 3, 'connection'],
    ['between processes', [PARTITION, RESET], 2, 'connection'],
    ['of a server', [FAIL, CLOCK, FREEZE], 2, 'connection'],
    [
      'three of them',
      ['pause: { process: clients, before: write, for: 14ms }', LATE],
      3,
      'connection',
    ],
  ] as const)('%s', { timeout: 60_000 }, async (_, faults, most, link) => {
    const scenario = scenarioOf(faults, { faults: most }, link);
    const found = await setsInOrder(scenario);
    expect(new Set(found).size, 'each once').toBe(found.length);
    const forced = await setsByForce(scenario, most);
    expect(found.length).toBeGreaterThan(most);
    expect([...found].sort()).toEqual([...forced].sort());
  });
});

/** Returns the run of a plan as text, so that two orders of events are two texts. */
async function traceOf(plan: Plan): Promise<string> {
  return JSON.stringify((await watchRun(plan, WATCHING)).trace.events);
}

/**
 * Returns every run that at most `most` swaps of neighbors result in, by brute force: swaps any two
 * consecutive events of one receiver at one instant, in any order within an instant, and one
 * instant after another, from a list of all events of that instant.
 */
async function runsBySwaps(base: Plan, most: number): Promise<ReadonlySet<string>> {
  const found = new Set([await traceOf(base)]);
  let last: readonly (Plan & { readonly fromUs: number })[] = [{ ...base, fromUs: 0 }];
  for (let swaps = 1; swaps <= most; swaps += 1) {
    const next: (Plan & { readonly fromUs: number })[] = [];
    for (const plan of last) {
      for (const one of await neighboursOf(plan)) {
        const text = await traceOf(one);
        if (found.has(text)) continue;
        found.add(text);
        next.push(one);
      }
    }
    last = next;
  }
  return found;
}

async function neighboursOf(
  plan: Plan & { readonly fromUs: number },
): Promise<readonly (Plan & { readonly fromUs: number })[]> {
  const { turns, trace } = await watchRun(plan, WATCHING);
  const receiverOf = (text: string): string => {
    const sent = trace.events.find((event) => event.kind === 'send' && event.message === text);
    if (sent?.kind === 'send') return sent.to;
    return text.slice(0, text.indexOf('/')).replace('resume', text.slice(7));
  };
  return turns.flatMap(({ text, atUs }, at) => {
    if (atUs < plan.fromUs || atUs >= plan.limits.healAtUs) return [];
    const receiver = receiverOf(text);
    const instant = turns.filter((one) => one.atUs === atUs && one.tie > -(2 ** 40));
    const after = turns.slice(at + 1).find((one) => receiverOf(one.text) === receiver);
    if (after?.atUs !== atUs || after.text === text) return [];
    const names = instant.map((one) => one.text).filter((name) => name !== after.text);
    names.splice(names.indexOf(text), 0, after.text);
    const order = [...plan.order.filter((name) => !names.includes(name)), ...names];
    return [{ ...plan, order, fromUs: atUs }];
  });
}

describe('each order that this many swaps of tied events result in is found once', () => {
  test.each([
    ['without faults', [DELAY], 0, 3],
    ['with a pause', [PAUSE], 1, 2],
    ['with a late message', [DELAY], 1, 2],
  ] as const)('%s', { timeout: 60_000 }, async (_, faults, most, ties) => {
    const scenario = scenarioOf(faults, { faults: most, ties });
    const { plans, blocks } = await countPlans(scenario, 'one', WATCHING);
    const numbered = new NumberedPlans(scenario, 'one', blocks);
    const runs = new Map<string, string>();
    for (let number = 0; number < plans; number += 1) {
      const plan = numbered.planOf(number);
      if (!(await allFire(plan))) continue;
      const text = `${textOf(plan.faults)} ${await traceOf(plan)}`;
      const before = runs.get(text);
      expect(before, `${before} is the same as ${JSON.stringify(plan.order)}`).toBeUndefined();
      runs.set(text, JSON.stringify(plan.order));
    }
    const base = basePlan(scenario, 'one');
    const sets = await setsInOrder({ ...scenario, exhaust: { ...scopeOf(scenario), ties: 0 } });
    let forced = 0;
    for (const set of sets) {
      const placed = set === '' ? [] : set.split('\n').map((one): Fault => JSON.parse(one));
      for (const trace of await runsBySwaps({ ...base, faults: placed }, ties)) {
        if (!trace.includes('"kind":"fault"') && placed.length > 0) continue;
        expect(runs.has(`${textOf(placed)} ${trace}`), `${set} ${trace}`).toBe(true);
        forced += 1;
      }
    }
    expect(forced).toBeGreaterThan(sets.length);
    expect(runs.size).toBeGreaterThanOrEqual(forced);
  });
});

function scopeOf({ exhaust }: Scenario): NonNullable<Scenario['exhaust']> {
  if (exhaust === undefined) throw new Error('it is to be exhausted');
  return exhaust;
}
