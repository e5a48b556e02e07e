/** Each pass alone, since other passes could hide its failure. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import type { ClientPlan, Plan, QueuePlan } from '../plan/plan.ts';
import { changeWork, withoutClients } from './change.ts';
import {
  calmLatencies,
  dropMessages,
  dropSections,
  mergeFaults,
  narrowPartitions,
} from './drop.ts';
import { retime } from './retime.ts';
import { pause, planWith } from './sample-plan.fixture.ts';
import { type Pass, Search } from './search.ts';
import { workOf } from './simpler.ts';
import {
  lowerCounts,
  lowerTogether,
  renumberValues,
  shortenWork,
  startEarlier,
  waitInsteadOfRetrying,
  weakenClients,
} from './weaken.ts';

/** Returns the plan after one turn of `pass`. */
function turn(pass: Pass, plan: Plan, breaks: (candidate: Plan) => boolean): Plan {
  const search = new Search(plan, 200, () => false);
  const steps = search.turn(pass);
  let step = steps.next();
  while (step.done !== true) step = steps.next(breaks(step.value));
  return search.current;
}

function clientOf(plan: Plan, name: string): ClientPlan {
  const found = plan.clients.find((one) => one.name === name);
  if (found === undefined) return expect.fail(`${name} is gone`);
  return found;
}

const thinkOf = (plan: Plan, name: string): number =>
  clientOf(plan, name).sections[0]?.thinkUs ?? 0;

const pauseUs = (plan: Plan): number =>
  plan.faults.reduce((sum, one) => sum + (one.kind === 'pause' ? one.forUs : 0), 0);

test('one fault of the longest allowed length replaces two', () => {
  const start = planWith([pause('alice', 9_000), pause('bob', 8_000)]);
  const merged = turn(mergeFaults, start, (plan) => pauseUs(plan) >= 17_000);
  expect(merged.faults).toEqual([{ ...pause('alice', 9_000), forUs: 50_000 }]);
});

test('a partition loses irrelevant members, and keeps at least one on each side', () => {
  const partition: Fault = {
    kind: 'partition',
    from: ['alice', 'bob', 'carol'],
    to: ['lock', 'store'],
    direction: 'both',
    when: { kind: 'at', atUs: 0 },
    forUs: 9_000,
  };
  const cutsBob = (plan: Plan): boolean =>
    plan.faults.some((one) => one.kind === 'partition' && one.from.includes('bob'));
  const narrow = turn(narrowPartitions, planWith([partition]), cutsBob).faults[0];
  expect(narrow).toMatchObject({ from: ['bob'] });
  expect(narrow?.kind === 'partition' && narrow.to.length).toBe(1);
});

test('attempts fall to the least number that still breaks the claim', () => {
  const plan = turn(weakenClients, planWith([]), (one) => clientOf(one, 'bob').attempts >= 3);
  expect(plan.clients.map(({ attempts }) => attempts)).toEqual([1, 3, 1]);
});

test('concurrency falls to the least that still breaks the claim', () => {
  const several = planWith([]);
  const clients = several.clients.map((one) => ({ ...one, concurrency: 5 }));
  const breaks = (plan: Plan): boolean => (clientOf(plan, 'bob').concurrency ?? 1) >= 2;
  const plan = turn(weakenClients, { ...several, clients }, breaks);
  expect(plan.clients.map(({ concurrency }) => concurrency)).toEqual([undefined, 2, undefined]);
});

test('a client that waits longer needs no second attempt', () => {
  const isLate = (plan: Plan): boolean =>
    clientOf(plan, 'bob').attempts > 1 || thinkOf(plan, 'bob') >= 12_000;
  const plan = turn(waitInsteadOfRetrying, planWith([]), isLate);
  expect(clientOf(plan, 'bob').attempts).toBe(1);
  expect(thinkOf(plan, 'bob')).toBe(2_345 + 10_000);
});

test('the think time of a dropped section is added to the next one', () => {
  const startOf = (plan: Plan, id: number): number => {
    const sections = clientOf(plan, 'carol').sections.filter((section) => section.id <= id);
    return sections.reduce((sum, { thinkUs }) => sum + thinkUs, 0);
  };
  const isLate = (plan: Plan): boolean =>
    plan.clients.every(({ sections }) => sections.some(({ id }) => id === 2)) &&
    startOf(plan, 2) >= 6_000;
  const { sections } = clientOf(turn(dropSections, planWith([]), isLate), 'carol');
  expect(sections.map(({ id, thinkUs }) => [id, thinkUs])).toEqual([[2, 6_912]]);
});

test('two numbers that depend on each other are lowered together', () => {
  const start = planWith([pause('alice', 10_456)]);
  const slackUs = 10_456 - 3_456;
  const keepsSlack = (plan: Plan): boolean => pauseUs(plan) - thinkOf(plan, 'carol') === slackUs;
  const smallest = {
    ...start,
    decisions: {},
    clients: start.clients
      .filter(({ name }) => name === 'carol')
      .map((one) => ({ ...one, sections: one.sections.slice(0, 1) })),
  };
  const plan = turn(lowerTogether, smallest, keepsSlack);
  expect([pauseUs(plan), thinkOf(plan, 'carol')]).toEqual([7_000, 0]);
});

test('two numbers are lowered together to their minimum, even by a single step', () => {
  const start = planWith([pause('alice', 2_001)]);
  const [alice] = start.clients;
  if (alice === undefined) return expect.unreachable();
  const sections = alice.sections.slice(0, 1).map((one) => ({ ...one, thinkUs: 1 }));
  const smallest = { ...start, decisions: {}, clients: [{ ...alice, sections }] };
  const keepsSlack = (plan: Plan): boolean => pauseUs(plan) - thinkOf(plan, 'alice') === 2_000;
  const plan = turn(lowerTogether, smallest, keepsSlack);
  expect([pauseUs(plan), thinkOf(plan, 'alice')]).toEqual([2_000, 0]);
});

test.each([
  ['six', 500, [5_456, 0]],
  ['seven', 734, [8_912, 3_456]],
])('pairs are lowered together if a plan has at most six numbers: %s', (_, latencyUs, found) => {
  const start = planWith([{ ...pause('alice', 8_912), when: { kind: 'at', atUs: 0 } }]);
  const clients = start.clients.map((one) => ({
    ...one,
    sections: one.sections.map((section) =>
      one.name === 'alice' && section.id === 1 ? { ...section, thinkUs: 0 } : section,
    ),
  }));
  const network = { ...start.network, latencyUs };
  const keepsSlack = (plan: Plan): boolean => pauseUs(plan) - thinkOf(plan, 'carol') === 5_456;
  const plan = turn(lowerTogether, { ...start, clients, network, decisions: {} }, keepsSlack);
  expect([pauseUs(plan), thinkOf(plan, 'carol')]).toEqual(found);
});

test('a client that works without the lock after its last attempt keeps its attempts', () => {
  const memoizing = (withoutLock?: 'gives-up'): Plan =>
    changeWork(planWith([]), ({ id }) => ({
      kind: 'memoize',
      id,
      store: 'db',
      key: 'x',
      value: 1,
      forUs: 1,
      pieces: 1,
      ...(withoutLock === undefined ? {} : { withoutLock }),
    }));
  for (const pass of [weakenClients, waitInsteadOfRetrying]) {
    const kept = turn(pass, memoizing(), () => true).clients;
    expect(kept.map(({ attempts }) => attempts)).toEqual([8, 8, 8]);
    const least = turn(pass, memoizing('gives-up'), () => true).clients;
    expect(least.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  }
});

test('all times are reset around the client that goes first', () => {
  const isBobFirst = (plan: Plan): boolean =>
    thinkOf(plan, 'carol') - thinkOf(plan, 'bob') >= 1_000;
  const plan = turn(retime, planWith([]), isBobFirst);
  expect(['alice', 'bob', 'carol'].map((name) => thinkOf(plan, name))).toEqual([10_000, 0, 10_000]);
});

test('latencies are replaced by one round constant inside the bounds', () => {
  const plan = turn(calmLatencies, planWith([]), ({ network }) => network.latencyUs >= 1_000);
  expect([plan.network.latencyUs, plan.decisions]).toEqual([1_500, {}]);
});

describe('shrinking a queue', () => {
  const queue: QueuePlan = {
    steps: 9,
    retries: 5,
    visibilityUs: 4_000_000,
    messages: [0, 1, 2, 3].map((steps) => ({ machine: 'db', steps, retries: 0, atUs: 7_345 })),
    copies: [0, 1, 2].map((retries) => ({ machine: 'db', steps: 2, retries, afterUs: 2_345 })),
  };
  const start: Plan = { ...planWith([]), queue };
  const messages = (plan: Plan): QueuePlan['messages'] => plan.queue?.messages ?? [];
  const copies = (plan: Plan): QueuePlan['copies'] => plan.queue?.copies ?? [];

  test('irrelevant messages and copies are dropped', () => {
    const matters = (plan: Plan): boolean =>
      messages(plan).some(({ steps }) => steps === 2) &&
      copies(plan).some(({ retries }) => retries === 1);
    const least = turn(dropMessages, start, matters);
    expect(messages(least)).toEqual([queue.messages[2]]);
    expect(copies(least)).toEqual([queue.copies[1]]);
  });

  test('dropping the last section of a machine drops the messages of that machine only', () => {
    const [bob] = start.clients.filter(({ name }) => name === 'bob');
    if (bob === undefined) return expect.unreachable();
    const sections = bob.sections.map((section) => ({ ...section, lock: 'other' }));
    const other = { machine: 'other', steps: 0, retries: 0 };
    const plan: Plan = {
      ...start,
      clients: start.clients.map((one) => (one === bob ? { ...bob, sections } : one)),
      queue: {
        ...queue,
        messages: [...queue.messages, { ...other, atUs: 0 }],
        copies: [...queue.copies, { ...other, afterUs: 0 }],
      },
    };
    expect(withoutClients(plan, ['bob']).queue).toEqual(queue);
    expect(withoutClients(plan, ['alice']).queue).toEqual(plan.queue);
  });

  test('messages and copies move to the earliest time that still breaks the claim', () => {
    const least = turn(startEarlier, start, (plan) =>
      messages(plan).every(({ atUs }, at) => at !== 1 || atUs >= 3_000),
    );
    expect(messages(least).map(({ atUs }) => atUs)).toEqual([0, 3_000, 0, 0]);
    expect(copies(least).map(({ afterUs }) => afterUs)).toEqual([0, 0, 0]);
  });

  test('steps and retries fall to the number that the messages need', () => {
    expect(turn(lowerCounts, start, () => true).queue).toEqual({ ...queue, steps: 4, retries: 2 });
    const needs = (plan: Plan): boolean => (plan.queue?.steps ?? 0) >= 6;
    expect(turn(lowerCounts, start, needs).queue).toEqual({ ...queue, steps: 6, retries: 2 });
  });

  test('a transition falls to the shortest time that still breaks the claim', () => {
    const clients = start.clients.map((one) => ({
      ...one,
      sections: one.sections.map((section) => ({
        ...section,
        work: [{ kind: 'transition', id: 1, forUs: 500_000 } as const],
      })),
    }));
    const least = turn(shortenWork, { ...start, clients }, (plan) =>
      workOf(plan).every((step, at) => at > 0 || !('forUs' in step) || step.forUs >= 20_000),
    );
    const lengths = workOf(least).map((step) => ('forUs' in step ? step.forUs : null));
    expect(lengths).toEqual([20_000, 0, 0, 0, 0, 0]);
  });
});

test('the amount of an increment is reduced to 1 or -1, and 0 stays 0', () => {
  const by = (amount: number): Plan =>
    changeWork(planWith([]), (work) => {
      return { kind: 'increment', id: work.id, store: 'store', key: 'x', by: amount };
    });
  for (const [from, to] of [
    [-7, -1],
    [9, 1],
    [Number.MAX_SAFE_INTEGER, 1],
    [-1, -1],
    [0, 0],
  ] as const) {
    const plan = turn(renumberValues, by(from), () => true);
    const work = plan.clients.flatMap(({ sections }) => sections.flatMap((one) => one.work));
    expect(work.length).toBeGreaterThan(0);
    for (const step of work) expect(step.kind === 'increment' && (step.by ?? 1)).toBe(to);
  }
});
