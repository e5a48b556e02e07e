/**
 * Unit tests of the interventions; property tests are in `properties/causes-are-proven.test.ts`.
 */
import { expect, test } from 'vitest';
import { run } from '../../run.ts';
import { clientOf, eventsOf, planOf, writeOf } from '../../systems/plan.fixture.ts';
import type { Fault } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { type Actor, happen, linesOf, MS, type Setup } from './echo.fixture.ts';
import type { Intervention } from './interventions.ts';
import type { Program } from './program.ts';

const dropped = (message: string): Fault => ({
  kind: 'drop',
  which: { kind: 'message', message },
});

const REQUEST = 'alice/a/1/request';

function* asksOnce({ ask }: Actor): Program<void> {
  yield* ask({ name: 'a', timeoutMs: 20 });
}

/** Returns the lines of a run in which alice asks once, and bob a little later. */
function linesWith(setup: Setup, ...interventions: readonly Intervention[]): readonly string[] {
  const scripts = {
    alice: asksOnce,
    *bob({ wait, ask }: Actor): Program<void> {
      yield* wait('think', 0);
      yield* ask({ name: 'b', add: 10 });
    },
  };
  return linesOf(
    happen(scripts, { ...setup, interventions }),
    'get',
    'lose',
    'do',
    'end',
    'inject',
  );
}

test('a removed fault is not injected, and the others are', () => {
  const faults = [dropped(REQUEST), dropped('bob/b/1/request')];
  const injected = (...interventions: readonly Intervention[]): readonly string[] =>
    linesWith({ faults }, ...interventions).filter((line) => line.includes('inject'));
  const without: Intervention = { kind: 'without fault', fault: dropped(REQUEST) };
  expect(injected()).toEqual(['0 inject drop alice/a/1/request', '0 inject drop bob/b/1/request']);
  expect(injected(without)).toEqual(['0 inject drop bob/b/1/request']);
});

test('of two equal faults, one removal leaves one', () => {
  const which = { kind: 'link', from: 'alice', to: 'echo', atUs: 0 } as const;
  const fault: Fault = { kind: 'delay', which, byUs: 5 * MS };
  const injected = (...interventions: readonly Intervention[]): number =>
    linesWith({ faults: [fault, fault] }, ...interventions).filter((line) =>
      line.includes('inject'),
    ).length;
  const without: Intervention = { kind: 'without fault', fault };
  expect(injected(without)).toBe(1);
  expect(injected(without, without)).toBe(0);
});

test.each<[string, string, Setup]>([
  ['delayed by a draw', REQUEST, { decisions: { [REQUEST]: 9 * MS } }],
  ['lost', REQUEST, { faults: [dropped(REQUEST)] }],
  [
    'held by a partition',
    'bob/b/1/request',
    {
      faults: [
        {
          kind: 'partition',
          from: ['bob'],
          to: ['echo'],
          direction: 'both',
          when: { kind: 'at', atUs: 0 },
          forUs: 9 * MS,
        },
      ],
    },
  ],
])('a message that was %s arrives after the base latency', (_, message, setup) => {
  const arrival = `1 get ${message}`;
  expect(linesWith(setup)).not.toContain(arrival);
  expect(linesWith(setup, { kind: 'message on time', message })).toContain(arrival);
});

test('a timer on time waits for its base length', () => {
  const setup = { decisions: { 'bob/think': 7 * MS } };
  expect(linesWith(setup)).toContain('8 get bob/b/1/request');
  const onTime = linesWith(setup, { kind: 'timer on time', timer: 'bob/think' });
  expect(onTime).toContain('1 get bob/b/1/request');
});

test('a call that is not sent changes no server, and its client gets the listed reply', () => {
  const replies = { 'alice/a/1/reply': { total: 1, count: 1 } };
  const lines = linesWith({}, { kind: 'call not sent', operation: 'alice/a', replies });
  expect(lines).toContain('2 end alice/a ok 1');
  expect(lines.filter((line) => line.includes(' do '))).toEqual(['1 do bob/b total 10 count 1']);
  const unanswered = linesWith({}, { kind: 'call not sent', operation: 'alice/a', replies: {} });
  expect(unanswered).toContain('20 end alice/a info');
});

test('a replaced reply changes the answer, and not the server', () => {
  const reply = { total: 5, count: 1 };
  const lines = linesWith({}, { kind: 'reply replaced', message: 'alice/a/1/reply', reply });
  expect(lines).toContain('1 do alice/a total 1 count 1');
  expect(lines).toContain('2 end alice/a ok 5');
});

test('two swapped calls are handled in the other order, the first right after the second', () => {
  const setup = { decisions: { 'bob/b/1/request': 4 * MS } };
  const done = (...interventions: readonly Intervention[]): readonly string[] =>
    linesWith(setup, ...interventions).filter((line) => line.includes(' do '));
  expect(done()).toEqual(['1 do alice/a total 1 count 1', '4 do bob/b total 11 count 2']);
  const swap = { kind: 'calls swapped', first: REQUEST, second: 'bob/b/1/request' } as const;
  expect(done(swap)).toEqual(['4 do bob/b total 10 count 1', '4 do alice/a total 11 count 2']);
});

/** alice holds `db` while she is paused for longer than her ttl, and bob requests it. */
function expiring(lock: string, ttlUs: number): Plan {
  const setup = { ttlUs, backoffUs: Math.floor(ttlUs / 10), tries: 50, attempts: 50 };
  const pause: Fault = {
    kind: 'pause',
    process: 'alice',
    when: { kind: 'before', point: 'alice/1/write' },
    forUs: 3 * ttlUs,
    clocks: 'run',
  };
  const clients = [clientOf('alice', [writeOf(1)], setup), clientOf('bob', [writeOf(2)], setup)];
  const plan = planOf({ lock, store: 'unfenced', clients, faults: [pause] });
  return { ...plan, limits: { ...plan.limits, healAtUs: 10 * ttlUs, endUs: 20 * ttlUs } };
}

const IN_SECONDS = ['lease-dynamodb', 'lease-memcached', 'lease-redis', 'kubernetes'];

test.each(['lock-service', 'redis', 'cache-lock', ...IN_SECONDS])(
  'a lease of `%s` whose expiry is postponed keeps the lock while its holder is paused',
  (lock) => {
    const ttlUs = IN_SECONDS.includes(lock) ? 2000 * MS : 10 * MS;
    const plan = expiring(lock, ttlUs);
    const [first] = eventsOf(run(plan), 'grant');
    if (first === undefined) throw new Error('no grant');
    const { message } = first;
    const grantedAt = (...changes: readonly Intervention[]): number =>
      eventsOf(run(plan, undefined, changes), 'grant').find(({ client }) => client !== first.client)
        ?.atUs ?? Number.POSITIVE_INFINITY;
    expect(grantedAt()).toBeLessThan(3 * ttlUs);
    const postponed = { kind: 'expiry postponed', of: 'lease', message } as const;
    expect(grantedAt(postponed)).toBeGreaterThan(3 * ttlUs);
  },
);
