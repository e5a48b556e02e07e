import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import type { Bounds, Plan, QueuePlan, Work } from '../plan/plan.ts';
import { amountRangesOf, isStream, isWait, parameterAt, parametersOf } from './parameter.ts';
import { pause, planWith } from './sample-plan.fixture.ts';

const at = { kind: 'at', atUs: 7 } as const;
const clock = { kind: 'clock', process: 'bob', when: at, stepUs: -900, ratePpm: -40 } as const;
const delay = { kind: 'delay', which: { kind: 'message', message: 'm' }, byUs: 5_000 } as const;
const reset = { kind: 'reset', from: 'alice', to: 'lock', when: at } as const;
const queue: QueuePlan = {
  steps: 9,
  retries: 5,
  visibilityUs: 4_000_000,
  messages: [{ machine: 'db', steps: 3, retries: 1, atUs: 70 }],
  copies: [{ machine: 'db', steps: 2, retries: 2, afterUs: 20 }],
};
const computes: readonly Work[] = [
  { kind: 'compute', id: 1, forUs: 600 },
  { kind: 'transition', id: 1, forUs: 700 },
  { kind: 'compute', id: 2, forUs: 800 },
  { kind: 'job', id: 3, tick: 1, retries: 0, forUs: 900 },
];

/** Returns a plan in which alice alone has one section, of work that takes time. */
function planOf(more: Partial<Plan>): Plan {
  const start = planWith([]);
  const clients = start.clients.slice(0, 1).map((one) => ({
    ...one,
    sections: one.sections.slice(0, 1).map((section) => ({ ...section, work: computes })),
  }));
  return { ...start, clients, decisions: {}, ...more };
}

const full = planOf({
  faults: [pause('alice', 9_000), clock, delay, reset],
  queue,
  decisions: { 'alice/1/acquire/1/request': 700, 'alice/1/backoff-2': 2_500, 'bob/random': 3 },
});

describe('the numbers of a plan', () => {
  test('have a place, a name, a value and a range each', () => {
    const lines = parametersOf(full).map(
      ({ kind, path, what, value, range }) =>
        `${kind} ${path} (${what}): ${value} of ${range.minUs}..${range.maxUs}`,
    );
    expect(lines).toEqual([
      'amount faults[0].forUs (pause of alice): 9000 of 2000..50000',
      'instant faults[0].atUs (instant of the pause of alice): 7345 of 0..100000',
      'amount faults[1].stepUs (clock step of bob): 900 of 0..5000',
      'rate faults[1].ratePpm (clock rate of bob): 40 of 0..0',
      'instant faults[1].atUs (instant of the clock of bob): 7 of 0..100000',
      'amount faults[2].byUs (delay of m): 5000 of 0..9000',
      'instant faults[3].atUs (instant of the reset of alice to lock): 7 of 0..100000',
      'think clients[0].sections[0].thinkUs (think time of alice/1): 1234 of 0..20000',
      'compute clients[0].sections[0].work[0].forUs (work of alice/1): 600 of 0..600',
      'compute clients[0].sections[0].work[1].forUs (work of alice/1): 700 of 0..700',
      'compute clients[0].sections[0].work[2].forUs (work of alice/1): 800 of 0..800',
      'instant queue.messages[0].atUs (instant of the message for step 3 of db): 70 of 0..70',
      'instant queue.copies[0].afterUs (delay of the copy of step 2 of db): 20 of 0..20',
      'count queue.steps (steps of the queue): 9 of 4..9',
      'count queue.retries (retries of the queue): 5 of 2..5',
      'latency network.latencyUs (latency): 734 of 500..1500',
      'decision decisions["alice/1/acquire/1/request"] ' +
        '(latency of alice/1/acquire/1/request): 700 of 500..1500',
      'decision decisions["alice/1/backoff-2"] (wait of alice/1/backoff-2): 2500 of 2000..2500',
    ]);
  });

  test.each(parametersOf(full).map(({ path }) => path))(
    'writing %s changes no other number',
    (path) => {
      const written = parameterAt(full, path)?.write(full, 1);
      if (written === undefined) return expect.unreachable();
      const changed = parametersOf(written).filter(
        ({ value }, place) => value !== parametersOf(full)[place]?.value,
      );
      expect(changed.map((one) => [one.path, one.value])).toEqual([[path, 1]]);
    },
  );

  test('keep the direction of a clock fault when they are written', () => {
    const written = (path: string, value: number): Fault | undefined =>
      parameterAt(full, path)?.write(full, value).faults[1];
    expect(written('faults[1].ratePpm', 30)).toStrictEqual({ ...clock, ratePpm: -30 });
    expect(written('faults[1].ratePpm', 0)).toStrictEqual({ ...clock, ratePpm: 0 });
    expect(written('faults[1].stepUs', 30)).toStrictEqual({ ...clock, stepUs: -30 });
  });

  test('include no rate of 0, and no instant of a fault that is placed by name', () => {
    const plan = planOf({ faults: [{ ...clock, ratePpm: 0, stepUs: 0 }, delay] });
    const paths = parametersOf(plan).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('faults'))).toEqual([
      'faults[0].atUs',
      'faults[1].byUs',
    ]);
    expect(parameterAt(plan, 'faults[1].atUs')).toBeUndefined();
  });

  test('let the steps of an empty queue fall to 1, and its retries to 0', () => {
    const plan = planOf({ queue: { ...queue, messages: [], copies: [] } });
    const ranges = ['queue.steps', 'queue.retries'].map((path) => parameterAt(plan, path)?.range);
    expect(ranges).toEqual([
      { minUs: 1, maxUs: 9 },
      { minUs: 0, maxUs: 5 },
    ]);
  });

  test('fix a wait that is shorter than the back-off of its client, or has no client', () => {
    const decisions = { 'alice/1/backoff-2': 1_500, 'zed/1/backoff-2': 1_500 };
    const ranges = parametersOf(planOf({ decisions })).slice(-2);
    expect(ranges.map(({ range }) => range)).toEqual([
      { minUs: 1_500, maxUs: 1_500 },
      { minUs: 1_500, maxUs: 1_500 },
    ]);
  });
});

test('an amount stays in the bounds of its kind; without bounds it may only decrease', () => {
  const none: Bounds = { ...planWith([]).bounds, durations: {}, skewUs: null };
  const evict: Fault = { kind: 'evict', process: 'lock', key: 'x', when: at };
  expect([clock, delay, evict].map((fault) => amountRangesOf(fault, none))).toEqual([
    [{ minUs: 0, maxUs: 900 }],
    [{ minUs: 0, maxUs: 5_000 }],
    [{ minUs: 0, maxUs: 0 }],
  ]);
  const some: Bounds = { ...none, durations: { delay: { minUs: 3, maxUs: 4 } }, skewUs: 50 };
  expect([clock, delay].map((fault) => amountRangesOf(fault, some))).toEqual([
    [{ minUs: 0, maxUs: 50 }],
    [{ minUs: 3, maxUs: 4 }],
  ]);
});

test('a rate without a bound may only decrease', () => {
  const plan = planOf({ faults: [clock], bounds: { ...full.bounds, driftPpm: null } });
  expect(parameterAt(plan, 'faults[0].ratePpm')?.range).toEqual({ minUs: 0, maxUs: 40 });
});

test.each([
  ['alice/1/backoff-2', true, false],
  ['alice/1/write/1/request', false, false],
  ['alice/random', false, true],
  ['alice/random/1', false, false],
])('%s is a wait: %s, a stream: %s', (name, wait, stream) => {
  expect([isWait(name), isStream(name)]).toEqual([wait, stream]);
});
