/** The proposals of each pass, in order, if none of them breaks the claim. */
import { expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import {
  calmLatencies,
  dropClients,
  dropSections,
  dropWork,
  mergeFaults,
  narrowPartitions,
} from './drop.ts';
import { moveFaults, placeFaults } from './place-faults.ts';
import { dropAndRetime, keepTwoSections, retime } from './retime.ts';
import { pause, planWith } from './sample-plan.fixture.ts';
import { type Pass, Search } from './search.ts';
import {
  lowerLatencies,
  lowerTogether,
  roundNumbers,
  shortenFaults,
  waitInsteadOfRetrying,
  weakenClients,
} from './weaken.ts';

/** Returns a line per proposed plan, with the parts that `views` render. */
function proposed(pass: Pass, plan: Plan, ...views: readonly ((seen: Plan) => string)[]): string {
  const steps = new Search(plan, 2_000, () => false).turn(pass);
  const lines: string[] = [];
  for (let step = steps.next(); step.done !== true; step = steps.next(false)) {
    const seen = step.value;
    lines.push(views.map((view) => view(seen)).join(' | '));
  }
  return lines.join('\n');
}

/** `alice 1:12 2:`: section 1 with steps 1 and 2, and section 2 without any. */
function parts({ clients }: Plan): string {
  const texts = clients.map(({ name, sections }) =>
    [name, ...sections.map(({ id, work }) => `${id}:${work.map((step) => step.id).join('')}`)].join(
      ' ',
    ),
  );
  return texts.join(', ');
}

function thinks({ clients }: Plan): string {
  const texts = clients.map(({ name, sections }) =>
    [name, ...sections.map(({ thinkUs }) => thinkUs)].join(' '),
  );
  return texts.join(', ');
}

function pauses({ faults }: Plan): string {
  return faults
    .map((one) => (one.kind === 'pause' ? `${one.process} ${one.forUs}` : ''))
    .join(', ');
}

function places({ faults }: Plan): string {
  return faults.map((one) => ('when' in one ? Object.values(one.when).join(' ') : '')).join(', ');
}

/** Connections, tries and attempts of each client, and `r` if it releases. */
function counts({ clients }: Plan): string {
  const texts = clients.map(({ pool, tries, attempts, releases }) =>
    [pool, tries, attempts, releases ? 'r' : ''].join(''),
  );
  return texts.join(' ');
}

function latencies({ network, decisions }: Plan): string {
  return [network.latencyUs, ...Object.values(decisions)].join(' ');
}

const start = planWith([]);

/** The first clients of the sample with their first sections, each of one step. */
function small(
  sections: readonly number[],
  faults: readonly Fault[],
  more: Partial<Plan> = {},
): Plan {
  const clients = start.clients.slice(0, sections.length).map((client, at) => ({
    ...client,
    sections: client.sections
      .slice(0, sections[at])
      .map((section) => ({ ...section, work: section.work.slice(0, 1) })),
  }));
  return { ...start, clients, faults, decisions: {}, order: [], ...more };
}

test('clients are dropped one by one, and then with one latency for all messages', () => {
  expect(proposed(dropClients, start, parts, latencies)).toMatchInlineSnapshot(`
    "bob 1:12 2:12, carol 1:12 2:12 | 734 815 2500
    alice 1:12 2:12, carol 1:12 2:12 | 734 812 813 814 815
    alice 1:12 2:12, bob 1:12 2:12 | 734 812 813 814 815 2500
    bob 1:12 2:12, carol 1:12 2:12 | 700
    alice 1:12 2:12, carol 1:12 2:12 | 700
    alice 1:12 2:12, bob 1:12 2:12 | 700"
  `);
});

test('sections are dropped in halves, then singly with a later successor or one latency', () => {
  const plan = small([2, 1], [], { decisions: { 'bob/1/write/1/request': 812 } });
  expect(proposed(dropSections, plan, parts, thinks, latencies)).toMatchInlineSnapshot(`
    "alice 1:1, bob 1:1 | alice 1234, bob 2345 | 734 812
    alice 2:1, bob 1:1 | alice 1234, bob 2345 | 734 812
    alice 2:1, bob 1:1 | alice 2468, bob 2345 | 734 812
    alice 2:1, bob 1:1 | alice 12468, bob 2345 | 734 812
    alice 2:1, bob 1:1 | alice 20000, bob 2345 | 734 812
    alice 2:1, bob 1:1 | alice 1234, bob 2345 | 700
    alice 1:1, bob 1:1 | alice 1234, bob 2345 | 700
    alice 1:1 2:1, bob 1:1 | alice 1234 1234, bob 2345 | 700"
  `);
});

test('steps are dropped in halves, then one by one', () => {
  const two = { ...start, clients: start.clients.slice(0, 1) };
  expect(proposed(dropWork, two, parts)).toMatchInlineSnapshot(`
    "alice 1: 2:
    alice 1: 2:12
    alice 1:12 2:
    alice 1:2 2:12
    alice 1:1 2:12
    alice 1:12 2:2
    alice 1:12 2:1"
  `);
});

test('each fault replaces all others, then each other one', () => {
  const plan = planWith([pause('alice', 9_000), pause('bob', 8_000), pause('carol', 7_000)]);
  expect(proposed(mergeFaults, plan, pauses)).toMatchInlineSnapshot(`
    "alice 50000
    alice 50000, carol 7000
    alice 50000, bob 8000
    bob 50000
    bob 50000, carol 7000
    alice 9000, bob 50000
    carol 50000
    bob 8000, carol 50000
    alice 9000, carol 50000"
  `);
});

test('each member of a side with several is removed from a partition', () => {
  const groups = { from: ['alice', 'bob'], to: ['lock'], direction: 'both' } as const;
  const partition: Fault = {
    kind: 'partition',
    ...groups,
    when: { kind: 'at', atUs: 0 },
    forUs: 9,
  };
  const members = ({ faults }: Plan): string =>
    faults.map((one) => ('from' in one ? [one.from, one.to].join(' to ') : one.kind)).join();
  const plan = planWith([pause('carol', 9_000), partition]);
  expect(proposed(narrowPartitions, plan, members)).toMatchInlineSnapshot(`
    "pause,bob to lock
    pause,alice to lock"
  `);
});

test('the proposed latencies are a round one, the current one, the median and both bounds', () => {
  expect(proposed(calmLatencies, start, latencies)).toMatchInlineSnapshot(`
    "700
    734
    800
    500
    1500"
  `);
});

test('the median is that of the latencies decided by name, in any order', () => {
  const decided = [1_450, 950, 1_400, 612, 813].map((us, at) => [`bob/${at}/write/1/request`, us]);
  const plan = { ...start, decisions: Object.fromEntries(decided) };
  expect(proposed(calmLatencies, plan, latencies).split('\n')).toEqual([
    '700',
    '734',
    '900',
    '500',
    '1500',
  ]);
});

test('a fault is placed at the points of its client, then at the start', () => {
  const plan = small([1, 1], [pause('alice', 9_000)]);
  expect(proposed(placeFaults(undefined), plan, places)).toMatchInlineSnapshot(`
    "before alice/1/write
    after alice/1/write
    before alice/1/acquire
    after alice/1/acquire
    before alice/1/release
    after alice/1/release
    before alice/1/checked
    after alice/1/checked
    at 0"
  `);
});

test('a clock fault is placed at the start, then at the given points', () => {
  const step = { kind: 'clock', process: 'bob', stepUs: 4, ratePpm: 0 } as const;
  const plan = planWith([{ ...step, when: { kind: 'at', atUs: 5 } }]);
  expect(
    proposed(
      placeFaults(() => ['p', 'q']),
      plan,
      places,
    ),
  ).toMatchInlineSnapshot(`
    "at 0
    before p
    after p
    before q
    after q"
  `);
});

test('a fault at a dropped piece moves to each other point', () => {
  const at = {
    ...pause('alice', 9_000),
    when: { kind: 'before', point: 'alice/1/write' },
  } as const;
  const plan = small([2, 1], [at, pause('bob', 9_000)]);
  const moved = moveFaults((one) =>
    one.clients.length > 1 ? ['alice/1/write', 'bob/1/write'] : [],
  );
  expect(proposed(moved, plan, places, parts)).toMatchInlineSnapshot(`
    "before bob/1/write, at 7345 | alice 2:1, bob 1:1
    after bob/1/write, at 7345 | alice 2:1, bob 1:1
    before bob/1/write, at 7345 | alice 1: 2:1, bob 1:1
    after bob/1/write, at 7345 | alice 1: 2:1, bob 1:1"
  `);
});

test('each client goes first in turn, and the others start a ttl later', () => {
  expect(proposed(retime, start, thinks)).toMatchInlineSnapshot(`
    "alice 0 1234, bob 10000 2345, carol 10000 3456
    alice 10000 1234, bob 0 2345, carol 10000 3456
    alice 10000 1234, bob 10000 2345, carol 0 3456"
  `);
});

test('a piece is dropped, and the rest is retimed around each client', () => {
  const plan = small([1, 1], [pause('alice', 9_000)], { order: ['bob/1/acquire'] });
  const order = (seen: Plan): string => seen.order.join(' ');
  const seen = proposed(dropAndRetime, plan, parts, thinks, pauses, latencies, order);
  expect(seen).toMatchInlineSnapshot(`
    "alice 1:1, bob 1:1 | alice 1234, bob 2345 |  | 734 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 0, bob 11000 |  | 700 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 0, bob 10000 |  | 700 | bob/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 11000, bob 0 |  | 700 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 10000, bob 0 |  | 700 | alice/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 0, bob 11000 |  | 1500 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 0, bob 10000 |  | 1500 | bob/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 11000, bob 0 |  | 1500 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 10000, bob 0 |  | 1500 | alice/1/acquire/1/request
    bob 1:1 | bob 2345 |  | 734 | bob/1/acquire
    bob 1:1 | bob 0 |  | 700 | bob/1/acquire
    bob 1:1 | bob 0 |  | 700 | 
    bob 1:1 | bob 0 |  | 1500 | bob/1/acquire
    bob 1:1 | bob 0 |  | 1500 | 
    alice 1:1 | alice 1234 | alice 50000 | 734 | 
    alice 1:1 | alice 0 | alice 50000 | 700 | 
    alice 1:1, bob 1:1 | alice 0, bob 11000 | alice 50000 | 700 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 0, bob 10000 | alice 50000 | 700 | bob/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 11000, bob 0 | alice 50000 | 700 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 10000, bob 0 | alice 50000 | 700 | alice/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 0, bob 11000 | alice 50000 | 1500 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 0, bob 10000 | alice 50000 | 1500 | bob/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 11000, bob 0 | alice 50000 | 1500 | bob/1/acquire
    alice 1:1, bob 1:1 | alice 10000, bob 0 | alice 50000 | 1500 | alice/1/acquire/1/request
    alice 1:, bob 1:1 | alice 1234, bob 2345 | alice 50000 | 734 | bob/1/acquire
    alice 1:, bob 1:1 | alice 0, bob 11000 | alice 50000 | 700 | bob/1/acquire
    alice 1:, bob 1:1 | alice 0, bob 10000 | alice 50000 | 700 | bob/1/acquire/1/request
    alice 1:, bob 1:1 | alice 11000, bob 0 | alice 50000 | 700 | bob/1/acquire
    alice 1:, bob 1:1 | alice 10000, bob 0 | alice 50000 | 700 | alice/1/acquire/1/request
    alice 1:, bob 1:1 | alice 0, bob 11000 | alice 50000 | 1500 | bob/1/acquire
    alice 1:, bob 1:1 | alice 0, bob 10000 | alice 50000 | 1500 | bob/1/acquire/1/request
    alice 1:, bob 1:1 | alice 11000, bob 0 | alice 50000 | 1500 | bob/1/acquire
    alice 1:, bob 1:1 | alice 10000, bob 0 | alice 50000 | 1500 | alice/1/acquire/1/request
    alice 1:1, bob 1: | alice 1234, bob 2345 | alice 50000 | 734 | bob/1/acquire
    alice 1:1, bob 1: | alice 0, bob 11000 | alice 50000 | 700 | bob/1/acquire
    alice 1:1, bob 1: | alice 0, bob 10000 | alice 50000 | 700 | bob/1/acquire/1/request
    alice 1:1, bob 1: | alice 11000, bob 0 | alice 50000 | 700 | bob/1/acquire
    alice 1:1, bob 1: | alice 10000, bob 0 | alice 50000 | 700 | alice/1/acquire/1/request
    alice 1:1, bob 1: | alice 0, bob 11000 | alice 50000 | 1500 | bob/1/acquire
    alice 1:1, bob 1: | alice 0, bob 10000 | alice 50000 | 1500 | bob/1/acquire/1/request
    alice 1:1, bob 1: | alice 11000, bob 0 | alice 50000 | 1500 | bob/1/acquire
    alice 1:1, bob 1: | alice 10000, bob 0 | alice 50000 | 1500 | alice/1/acquire/1/request
    alice 1:1, bob 1:1 | alice 1234, bob 2345 | alice 50000 | 734 | 
    alice 1:1, bob 1:1 | alice 0, bob 11000 | alice 50000 | 700 | 
    alice 1:1, bob 1:1 | alice 11000, bob 0 | alice 50000 | 700 | "
  `);
});

test('dropping a piece adds no order', () => {
  const plan = small([1, 1], [pause('alice', 9_000)]);
  const orders = proposed(dropAndRetime, plan, ({ order }) => `[${order.join(' ')}]`).split('\n');
  expect(orders).toEqual(Array.from({ length: 15 }, () => '[]'));
});

test('no piece is dropped and retimed in a plan of more than 32 pieces', () => {
  const faults = Array.from({ length: 29 }, (_, at) => pause('alice', 9_000 + at));
  expect(proposed(dropAndRetime, small([1, 1], faults), parts)).toBe('');
  expect(proposed(dropAndRetime, small([1, 1], faults.slice(1)), parts)).not.toBe('');
});

test('two sections are kept at several distances, with faults of several lengths', () => {
  const plan = small([1, 1, 1], [pause('alice', 9_000), pause('bob', 9_000)]);
  expect(proposed(keepTwoSections, plan, thinks, pauses, latencies)).toMatchInlineSnapshot(`
    "alice 0, bob 11000 | alice 50000, bob 50000 | 700
    alice 0, bob 11000 | alice 10300, bob 10300 | 700
    alice 0, bob 11000 | alice 50000 | 700
    alice 0, bob 11000 | alice 10300 | 700
    alice 0, bob 11000 | bob 50000 | 700
    alice 0, bob 11000 | bob 10300 | 700
    alice 0, bob 5000 | alice 50000, bob 50000 | 700
    alice 0, bob 5000 | alice 4300, bob 4300 | 700
    alice 0, bob 5000 | alice 50000 | 700
    alice 0, bob 5000 | alice 4300 | 700
    alice 0, bob 5000 | bob 50000 | 700
    alice 0, bob 5000 | bob 4300 | 700
    alice 0, bob 20000 | alice 50000, bob 50000 | 700
    alice 0, bob 20000 | alice 19300, bob 19300 | 700
    alice 0, bob 20000 | alice 50000 | 700
    alice 0, bob 20000 | alice 19300 | 700
    alice 0, bob 20000 | bob 50000 | 700
    alice 0, bob 20000 | bob 19300 | 700
    alice 0, carol 11000 | alice 50000 | 700
    alice 0, carol 11000 | alice 10300 | 700
    alice 0, carol 5000 | alice 50000 | 700
    alice 0, carol 5000 | alice 4300 | 700
    alice 0, carol 20000 | alice 50000 | 700
    alice 0, carol 20000 | alice 19300 | 700
    alice 11000, bob 0 | alice 50000, bob 50000 | 700
    alice 11000, bob 0 | alice 10300, bob 10300 | 700
    alice 11000, bob 0 | alice 50000 | 700
    alice 11000, bob 0 | alice 10300 | 700
    alice 11000, bob 0 | bob 50000 | 700
    alice 11000, bob 0 | bob 10300 | 700
    alice 5000, bob 0 | alice 50000, bob 50000 | 700
    alice 5000, bob 0 | alice 4300, bob 4300 | 700
    alice 5000, bob 0 | alice 50000 | 700
    alice 5000, bob 0 | alice 4300 | 700
    alice 5000, bob 0 | bob 50000 | 700
    alice 5000, bob 0 | bob 4300 | 700
    alice 20000, bob 0 | alice 50000, bob 50000 | 700
    alice 20000, bob 0 | alice 19300, bob 19300 | 700
    alice 20000, bob 0 | alice 50000 | 700
    alice 20000, bob 0 | alice 19300 | 700
    alice 20000, bob 0 | bob 50000 | 700
    alice 20000, bob 0 | bob 19300 | 700
    bob 0, carol 11000 | bob 50000 | 700
    bob 0, carol 11000 | bob 10300 | 700
    bob 0, carol 5000 | bob 50000 | 700
    bob 0, carol 5000 | bob 4300 | 700
    bob 0, carol 20000 | bob 50000 | 700
    bob 0, carol 20000 | bob 19300 | 700
    alice 11000, carol 0 | alice 50000 | 700
    alice 11000, carol 0 | alice 10300 | 700
    alice 5000, carol 0 | alice 50000 | 700
    alice 5000, carol 0 | alice 4300 | 700
    alice 20000, carol 0 | alice 50000 | 700
    alice 20000, carol 0 | alice 19300 | 700
    bob 11000, carol 0 | bob 50000 | 700
    bob 11000, carol 0 | bob 10300 | 700
    bob 5000, carol 0 | bob 50000 | 700
    bob 5000, carol 0 | bob 4300 | 700
    bob 20000, carol 0 | bob 50000 | 700
    bob 20000, carol 0 | bob 19300 | 700"
  `);
});

test('a latency falls to its minimum, then goes halfway back while it is no less round', () => {
  const plan = small([1], [], { decisions: { 'alice/1/write/1/request': 812 } });
  expect(proposed(lowerLatencies, plan, latencies)).toMatchInlineSnapshot(`
    "500 812
    600 812
    700 812
    720 812
    730 812
    732 812
    733 812
    734 500
    734 700
    734 800
    734 810
    734 811"
  `);
});

test('a fault falls to its minimum, then goes halfway back while it is no less round', () => {
  const plan = planWith([pause('alice', 9_000), pause('bob', 8_000)]);
  expect(proposed(shortenFaults, plan, pauses)).toMatchInlineSnapshot(`
    "alice 2000, bob 8000
    alice 6000, bob 8000
    alice 8000, bob 8000
    alice 9000, bob 2000
    alice 9000, bob 5000
    alice 9000, bob 7000"
  `);
});

test('all starts are lowered by the same amount, then pairs of numbers', () => {
  const plan = small([1, 1], [pause('alice', 9_000)]);
  const seen = proposed(lowerTogether, plan, thinks, pauses, places, latencies);
  expect(seen).toMatchInlineSnapshot(`
    "alice 0, bob 1111 | alice 9000 | at 6111 | 734
    alice 234, bob 1345 | alice 9000 | at 6345 | 734
    alice 1234, bob 2345 | alice 2000 | at 345 | 734
    alice 1234, bob 2345 | alice 5000 | at 3345 | 734
    alice 0, bob 2345 | alice 7766 | at 7345 | 734
    alice 234, bob 2345 | alice 8000 | at 7345 | 734
    alice 1234, bob 0 | alice 6655 | at 7345 | 734
    alice 1234, bob 1345 | alice 8000 | at 7345 | 734
    alice 0, bob 2345 | alice 9000 | at 6111 | 734
    alice 234, bob 2345 | alice 9000 | at 6345 | 734
    alice 1234, bob 0 | alice 9000 | at 5000 | 734
    alice 1234, bob 1345 | alice 9000 | at 6345 | 734
    alice 1234, bob 2345 | alice 9000 | at 7111 | 500
    alice 1234, bob 2345 | alice 9000 | at 7245 | 634
    alice 0, bob 1111 | alice 9000 | at 7345 | 734
    alice 234, bob 1345 | alice 9000 | at 7345 | 734
    alice 1000, bob 2345 | alice 9000 | at 7345 | 500
    alice 1134, bob 2345 | alice 9000 | at 7345 | 634
    alice 1234, bob 2111 | alice 9000 | at 7345 | 500
    alice 1234, bob 2245 | alice 9000 | at 7345 | 634"
  `);
});

test('all numbers are rounded to a grid, then each to rounder numbers', () => {
  const plan = small([1], [{ ...pause('alice', 9_120), when: { kind: 'at', atUs: 0 } }]);
  expect(proposed(roundNumbers, plan, thinks, pauses, latencies)).toMatchInlineSnapshot(`
    "alice 0 | alice 10000 | 734
    alice 1000 | alice 9000 | 1000
    alice 1234 | alice 9000 | 734
    alice 1234 | alice 10000 | 734
    alice 1234 | alice 9100 | 734
    alice 1234 | alice 9200 | 734
    alice 0 | alice 9120 | 734
    alice 1000 | alice 9120 | 734
    alice 2000 | alice 9120 | 734
    alice 1200 | alice 9120 | 734
    alice 1300 | alice 9120 | 734
    alice 1230 | alice 9120 | 734
    alice 1240 | alice 9120 | 734
    alice 1234 | alice 9120 | 700
    alice 1234 | alice 9120 | 800
    alice 1234 | alice 9120 | 1000
    alice 1234 | alice 9120 | 730
    alice 1234 | alice 9120 | 740"
  `);
});

test('a client with one attempt starts later by a ttl, by its waits, or by the maximum', () => {
  const seen = proposed(waitInsteadOfRetrying, small([1, 1], []), thinks, counts);
  expect(seen).toMatchInlineSnapshot(`
    "alice 11234, bob 2345 | 231r 238r
    alice 15234, bob 2345 | 231r 238r
    alice 20000, bob 2345 | 231r 238r
    alice 1234, bob 12345 | 238r 231r
    alice 1234, bob 16345 | 238r 231r
    alice 1234, bob 20000 | 238r 231r"
  `);
});

test('features of clients are dropped together, then each, then their counts are lowered', () => {
  expect(proposed(weakenClients, small([1, 1], []), counts)).toMatchInlineSnapshot(`
    "111 111
    138r 138r
    138r 238r
    238r 138r
    218r 218r
    218r 238r
    238r 218r
    231r 231r
    231r 238r
    238r 231r
    238 238
    238 238r
    238r 238
    228r 238r
    234r 238r
    236r 238r
    237r 238r
    238r 228r
    238r 234r
    238r 236r
    238r 237r"
  `);
});
