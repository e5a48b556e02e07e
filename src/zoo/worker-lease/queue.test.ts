/** Tests a queue: the documented tables of steps, retries and fences, and its faults. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { explain } from '../../check/explain.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan, QueuePlan } from '../../core/plan/plan.ts';
import { readPlan, renderPlan } from '../../core/plan/plan-text.ts';
import { examine } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { deliveriesOf, leaseAnswers } from '../../report/deliveries.ts';
import { run } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';

const SECOND = 1000 * MS;

function scenarioOf(name: string, change: (text: string) => string = (text) => text): Scenario {
  const file = fileURLToPath(new URL(`../../../fixtures/${name}.yaml`, import.meta.url));
  const read = loadScenario(change(readFileSync(file, 'utf8')), name);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** Returns steps, retries and fence of each delivery that got a lease, in order. */
function table(trace: Trace): readonly (readonly number[])[] {
  return deliveriesOf(trace).flatMap(({ event: { steps, retries }, fence }) =>
    fence === false || fence === 0 ? [] : [[steps, retries, fence]],
  );
}

describe.each(['table', 'memcached', 'redis'])('in %s', (system) => {
  const traceOf = (name: string, seed: number): Trace =>
    run(expand(scenarioOf(name), system, seed));

  test.each([0, 1, 2, 3, 4])('every run of seed %i shows the documented tables', (seed) => {
    expect(table(traceOf('delivered-steps', seed))).toEqual([
      [0, 0, 1],
      [1, 0, 2],
      [2, 0, 3],
      [3, 0, 4],
    ]);
    expect(table(traceOf('retried-steps', seed))).toEqual([
      [0, 0, 1],
      [1, 0, 2],
      [1, 1, 3],
      [1, 2, 4],
      [2, 0, 5],
      [3, 0, 6],
    ]);
    expect(table(traceOf('reordered-steps', seed))).toEqual([
      [0, 0, 1],
      [1, 0, 2],
      [1, 2, 3],
      [1, 1, 4],
      [1, 2, 5],
      [2, 0, 6],
      [3, 0, 7],
    ]);
  });

  test.each([0, 1, 2, 3, 4])('every run of seed %i follows the smoke sequence', (seed) => {
    const trace = traceOf('smoke-sequence', seed);
    expect(leaseAnswers(trace)).toBe('1 F F F F T 2 3 T F');
    const denials = trace.events.flatMap((event) =>
      event.kind === 'deny' || (event.kind === 'release' && event.released === 0)
        ? [`${event.kind} ${event.client}`]
        : [],
    );
    // Bob uses alice's steps and retries, carol others; neither has her token.
    const inVain = ['deny bob', 'deny carol', 'release carol', 'release bob', 'release dave'];
    expect(denials).toEqual(inVain);
  });
});

/** A worker with `count` sections, each for one message of `m`. */
function worker(name: string, count: number, more: Partial<ClientPlan> = {}): ClientPlan {
  const sections = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    thinkUs: 0,
    lock: 'm',
    work: [{ kind: 'transition', id: 1, forUs: 100 * MS } as const],
  }));
  const patience = { ttlUs: 2 * SECOND, lockTimeoutUs: SECOND, backoffUs: 100 * MS };
  return { ...clientOf(name, []), ...patience, sections, ...more };
}

function queueOf(more: Partial<QueuePlan> = {}): QueuePlan {
  const messages = [{ machine: 'm', steps: 0, retries: 0, atUs: 0 }];
  return { steps: 2, retries: 2, visibilityUs: 3 * SECOND, messages, copies: [], ...more };
}

function planWith(
  clients: readonly ClientPlan[],
  queue: QueuePlan,
  faults: readonly Fault[] = [],
): ReturnType<typeof planOf> {
  const lock = 'lease-dynamodb-published';
  const plan = planOf({ lock, healAtUs: 60 * SECOND, clients, faults });
  return { ...plan, queue, limits: { ...plan.limits, probe: false, endUs: 100 * SECOND } };
}

function delivered(trace: Trace): readonly string[] {
  return eventsOf(trace, 'deliver').map(
    ({ client, steps, retries, deliveries, isCopy }) =>
      `${client}: ${steps}, ${retries}${isCopy ? ', a copy' : ''}${deliveries > 1 ? ', again' : ''}`,
  );
}

describe('a queue', () => {
  test('hides a received message until it times out or is deleted', () => {
    const crash: Fault = {
      kind: 'crash',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/delete' },
      restartAfterUs: SECOND,
    };
    const one = queueOf({ steps: 1 });
    const trace = run(planWith([worker('alice', 2), worker('bob', 1)], one, [crash]));
    const [first, second] = eventsOf(trace, 'deliver');
    expect(second?.deliveries).toBe(2);
    expect((second?.atUs ?? 0) - (first?.atUs ?? 0)).toBeGreaterThanOrEqual(3 * SECOND);
    expect(eventsOf(run(planWith([worker('alice', 2)], one)), 'deliver')).toHaveLength(1);
  });

  test('does not delete a message that it has delivered again', () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/delete' },
      forUs: 4 * SECOND,
      clocks: 'run',
    };
    const bob = worker('bob', 1);
    const late = { ...bob, sections: bob.sections.map((it) => ({ ...it, thinkUs: 3100 * MS })) };
    const plan = planWith([worker('alice', 1), late], queueOf({ steps: 1 }), [pause]);
    const logs = eventsOf(run(plan), 'log').map(({ text }) => text);
    expect(logs).toContain('could not delete step 0 of m: it was delivered again');
  });

  test('delivers a copy of the first message of its name, after the planned delay', () => {
    const copies = [{ machine: 'm', steps: 0, retries: 0, afterUs: 5 * SECOND }];
    const trace = run(planWith([worker('alice', 4)], queueOf({ copies })));
    // The copy runs step 0 again, which sends step 1 again.
    const all = ['alice: 0, 0', 'alice: 1, 0', 'alice: 0, 0, a copy', 'alice: 1, 0'];
    expect(delivered(trace)).toEqual(all);
    expect(eventsOf(trace, 'deliver')[2]?.atUs).toBeGreaterThanOrEqual(5 * SECOND);
  });

  test('keeps a message whose successor may not have been sent', () => {
    const drop: Fault = {
      kind: 'drop',
      which: { kind: 'message', message: 'alice/1/next/1/reply' },
    };
    const trace = run(planWith([worker('alice', 3)], queueOf(), [drop]));
    // Step 1 was sent, but the reply was dropped.
    expect(delivered(trace)).toEqual(['alice: 0, 0', 'alice: 1, 0', 'alice: 0, 0, again']);
  });

  test('passes the flip of a machine to its next dispatcher', () => {
    const truncated: Fault = {
      kind: 'partition',
      from: ['alice'],
      to: ['lock'],
      direction: 'both',
      when: { kind: 'at', atUs: 0 },
      forUs: 2 * SECOND,
    };
    const bob = worker('bob', 1);
    const late = { ...bob, sections: bob.sections.map((it) => ({ ...it, thinkUs: 900 * MS })) };
    const trace = run(planWith([worker('alice', 1), late], queueOf(), [truncated]));
    const grants = eventsOf(trace, 'grant').map(({ process, client, token }) => [
      process,
      client,
      token,
    ]);
    expect(grants.filter(([process]) => process === 'lock-standby')).toEqual([
      ['lock-standby', 'alice', 1],
      ['lock-standby', 'bob', 2],
    ]);
  });

  test('passes the flip to the retry of a step that got no lease', () => {
    const truncated: Fault = {
      kind: 'partition',
      from: ['alice'],
      to: ['lock', 'lock-standby'],
      direction: 'both',
      when: { kind: 'at', atUs: 0 },
      forUs: 2500 * MS,
    };
    const trace = run(planWith([worker('alice', 3)], queueOf(), [truncated]));
    const acquires = eventsOf(trace, 'invoke').flatMap(({ operation, call }) =>
      call.verb === 'acquire' ? [operation] : [],
    );
    // Neither answers her first dispatch; the second begins where the first one ended.
    expect(acquires.slice(0, 3)).toEqual([
      'alice/1/acquire',
      'alice/1/acquire-standby',
      'alice/2/acquire-standby',
    ]);
  });

  test.each(['lease-dynamodb-published', 'lease-memcached-published', 'lease-redis-published'])(
    'shows the last answer of %s: 0 if none followed a False',
    (lock) => {
      const truncated: Fault = {
        kind: 'partition',
        from: ['bob'],
        to: ['lock-standby'],
        direction: 'both',
        when: { kind: 'at', atUs: 0 },
        forUs: 20 * SECOND,
      };
      const messages = [0, 0].map((steps) => ({ machine: 'm', steps, retries: 0, atUs: 0 }));
      const bob = worker('bob', 1);
      const late = { ...bob, sections: bob.sections.map((it) => ({ ...it, thinkUs: 50 * MS })) };
      const plan = planWith([worker('alice', 1), late], queueOf({ messages }), [truncated]);
      const rowsOf = (options: Plan['system']['options']): readonly (number | false)[] =>
        deliveriesOf(run({ ...plan, system: { ...plan.system, lock, options } })).map(
          ({ fence }) => fence,
        );
      expect(rowsOf({})).toEqual([1, 0]);
      expect(rowsOf({ onDenied: 'waits' })).toEqual([1, false]);
    },
  );

  test('gives up a step after its last retry', () => {
    const held = planWith([worker('alice', 1, { ttlUs: 50 * SECOND })], queueOf());
    const sections = held.clients.flatMap(({ sections: ofClient }) =>
      ofClient.map((section) => ({
        ...section,
        work: [{ kind: 'transition', id: 1, forUs: 30 * SECOND } as const],
      })),
    );
    const alice = { ...worker('alice', 1, { ttlUs: 50 * SECOND }), sections };
    const messages = [0, SECOND].map((atUs) => ({ machine: 'm', steps: 0, retries: 0, atUs }));
    const queue = queueOf({ messages, visibilityUs: 50 * SECOND });
    const bob = worker('bob', 3);
    const options = { standby: 'no', onDenied: 'waits' };
    const plan = planWith([alice, { ...bob }], queue);
    const trace = run({ ...plan, system: { ...plan.system, options } });
    const logs = eventsOf(trace, 'log').map(({ text }) => text);
    expect(logs).toContain('gives up step 0 of m after 2 retries');
    expect(delivered(trace).filter((text) => text.startsWith('bob'))).toEqual([
      'bob: 0, 0',
      'bob: 0, 1',
      'bob: 0, 2',
    ]);
  });
});

describe('a step', () => {
  const steps = `
queue: { steps: 2, duplicates: { chance: 1/2, after: 0s..2s } }
workload: { steps: [ transition: { for: 100ms } ] }`;
  const head = 'name: x\nsystems: { it: { lock: lease-dynamodb, store: fenced } }\n';

  test('is duplicated on some seeds, drawn by its name', () => {
    const read = loadScenario(`${head}${steps}`, 'x.yaml');
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const plans = [0, 1, 2, 3].map((seed) => expand(read.scenario, 'it', seed));
    const copies = plans.map(({ queue }) => queue?.copies ?? []);
    expect(new Set(copies.map((list) => list.length)).size).toBeGreaterThan(1);
    for (const { afterUs } of copies.flat()) expect(afterUs).toBeLessThanOrEqual(2 * SECOND);
    for (const plan of plans) {
      expect(readPlan({ file: 'x.yaml', text: renderPlan(plan) })).toEqual({ kind: 'plan', plan });
    }
  });

  test.each([
    [
      'a transition without a queue',
      'workload: { steps: [ transition: { for: 1ms } ] }',
      'a transition needs a queue',
    ],
    ['a queue without a transition', 'queue: { steps: 2 }', 'no section has a transition step'],
    [
      'a step beyond the last',
      `${steps}`.replace('steps: 2,', 'steps: 2, messages: [{ steps: 2 }],'),
      'there is no step 2',
    ],
    [
      'a machine without a client',
      `${steps}`.replace('steps: 2,', 'steps: 2, messages: [{ machine: y }],'),
      'no section takes the lock',
    ],
    [
      'more retries than configured',
      `${steps}`.replace('steps: 2,', 'steps: 2, retries: 1, copies: [{ retries: 2 }],'),
      'there is no retry 2',
    ],
    [
      'more messages than a plan may list copies of',
      `${steps}`.replace('steps: 2,', 'steps: 10000, retries: 10000,'),
      '"path":"queue.duplicates","what":"duplicates may draw 100010000 copies, 1 × 10000 × 10001',
    ],
    [
      'one message more than that',
      `${steps}`.replace('steps: 2,', 'steps: 10000, retries: 0, copies: [{ steps: 1 }],'),
      'may draw 10000 copies, 1 × 10000 × 1 (machines × steps × attempts); a plan has room for 9999',
    ],
    [
      'two transitions',
      `${steps}`.replace('[ transition', '[ transition: { for: 1ms }, transition'),
      'one transition',
    ],
  ])('is refused: %s', (_, text, what) => {
    const read = loadScenario(`${head}${text}`, 'x.yaml');
    expect(JSON.stringify(read)).toContain(what);
  });

  test('is always duplicated with chance 1/1, up to the limit of a plan', () => {
    const all = steps.replace('1/2', '1/1').replace('steps: 2,', 'steps: 5000, retries: 1,');
    const read = loadScenario(`${head}${all}`, 'x.yaml');
    if (read.kind === 'problems') return expect.fail(JSON.stringify(read.problems));
    const plan = expand(read.scenario, 'it', 0);
    expect(plan.queue?.copies).toHaveLength(10_000);
    expect(readPlan({ file: 'x.yaml', text: renderPlan(plan) })).toEqual({ kind: 'plan', plan });
  });

  test('is refused for a lock that takes no messages, with those that do', () => {
    const read = loadScenario(`${head}${steps}`.replace('lease-dynamodb', 'redlock'), 'x.yaml');
    expect(JSON.stringify(read)).toContain(
      'redlock takes no messages from a queue; these do: lease',
    );
  });
});

test('a step with a claimed key runs once, however often it is delivered', () => {
  const scenario = scenarioOf('redelivered-steps');
  const kinds = (system: string): readonly (string | undefined)[] =>
    Array.from({ length: 30 }, (_, seed) => {
      const { verdicts } = examine(expand(scenario, system, seed), ['at-most-once']);
      return verdicts[0]?.kind;
    });
  expect(kinds('lease-only')).toContain('invalid');
  expect(kinds('step')).not.toContain('invalid');
});

test.each([
  ['lease-only', /since the queue delivered a copy of its message at 511 ?ms/],
  ['marked', /since the queue delivered its message again at \d/],
])('the explanation of %s names the redelivery', (system, words) => {
  const file = `redelivered-steps-${system}-at-most-once.yaml`;
  const url = new URL(`../../../fixtures/plans/${file}`, import.meta.url);
  const read = readPlan({ file, text: readFileSync(url, 'utf8') });
  if (read.kind === 'problems') return expect.fail(JSON.stringify(read.problems));
  const { verdicts, trace } = examine(read.plan, ['at-most-once']);
  const [verdict] = verdicts;
  if (verdict?.kind !== 'invalid') return expect.unreachable();
  expect(explain(trace, verdict).however).toMatch(words);
});
