import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan, Work } from '../../core/plan/plan.ts';
import { examine } from '../../harness.ts';
import { run } from '../../run.ts';
import { UnknownSystem } from '../assemble.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../plan.fixture.ts';

const read: Work = { kind: 'read', id: 2, store: 'store', key: 'x' };

interface Setup {
  readonly options?: Plan['system']['options'];
  readonly faults?: readonly Fault[];
  readonly storeTimeoutUs?: number;
  readonly work?: readonly Work[];
  readonly decisions?: Plan['decisions'];
}

/** A plan in which alice alone writes 7 and reads it back. */
function alone({ work = [writeOf(7), read], storeTimeoutUs, ...setup }: Setup = {}): Plan {
  const more = storeTimeoutUs === undefined ? {} : { storeTimeoutUs };
  return planOf({ store: 'quorum', clients: [clientOf('alice', work, more)], ...setup });
}

function lost(message: string): Fault {
  return { kind: 'drop', which: { kind: 'message', message } };
}

/** Returns `store-1 takes 7`, `store-3 ignores 7` and so on. */
function handled(plan: Plan): readonly string[] {
  return eventsOf(run(plan), 'write').map(
    ({ process, isAccepted, value }) => `${process} ${isAccepted ? 'takes' : 'ignores'} ${value}`,
  );
}

function served(plan: Plan): readonly (number | null)[] {
  return eventsOf(run(plan), 'read').map(({ value }) => value);
}

describe('a write', () => {
  test('goes to every replica, as one call with one return', () => {
    const trace = run(alone({ work: [writeOf(7)] }));
    const stores = trace.processes.filter(({ role }) => role === 'store').map(({ name }) => name);
    expect(stores).toEqual(['store-1', 'store-2', 'store-3']);
    expect(new Set(handled(alone({ work: [writeOf(7)] })))).toEqual(
      new Set(stores.map((name) => `${name} takes 7`)),
    );
    const calls = eventsOf(trace, 'invoke').filter(({ call }) => 'store' in call);
    expect(calls.map(({ operation, call }) => [operation, 'store' in call && call.store])).toEqual([
      ['alice/1/write', 'store'],
    ]);
    const returns = eventsOf(trace, 'return').filter(({ operation }) => /write/.test(operation));
    expect(returns.map(({ outcome, answer }) => [outcome, answer])).toEqual([
      ['ok', { kind: 'accepted' }],
    ]);
  });

  test('is answered with the second answer of three, whatever happens to the third', () => {
    const one = [lost('alice/1/write/1-store-3/request')];
    expect(returned(alone({ faults: one }), 'alice/1/write')).toBe('ok');
    const two = [...one, lost('alice/1/write/1/request')];
    expect(returned(alone({ faults: two, storeTimeoutUs: 4 * MS }), 'alice/1/write')).toBe('info');
    const options = { writeQuorum: 1 };
    expect(returned(alone({ faults: two, options }), 'alice/1/write')).toBe('ok');
  });
});

function returned(plan: Plan, operation: string): string | undefined {
  return eventsOf(run(plan), 'return').find((event) => event.operation === operation)?.outcome;
}

describe('a read', () => {
  const faults = [lost('alice/1/write/1/request')];
  /** The first replica, which missed the write, is among the first to answer. */
  const decisions = {
    'alice/1/read-2/1/reply': 500,
    'alice/1/read-2/1-store-3/reply': 900,
  };

  test('returns the latest of R answers', () => {
    expect(served(alone({ faults, decisions }))).toEqual([7]);
    expect(served(alone({ faults, decisions, options: { readQuorum: 1 } }))).toEqual([0]);
  });

  test('repairs outdated replicas if it is set to', () => {
    const repairs = (readRepair: string): readonly string[] =>
      eventsOf(run(alone({ faults, decisions, options: { readRepair } })), 'log').map(
        ({ process, text }) => `${process} ${text}`,
      );
    expect(repairs('off')).toEqual([]);
    expect(repairs('after')).toEqual(['store-1 takes x = 7 from alice’s read']);
    expect(repairs('before')).toEqual(['store-1 takes x = 7 from alice’s read']);
  });

  test('waits for its repair only if that comes before the answer', () => {
    const leaves = (readRepair: string): number | undefined =>
      eventsOf(run(alone({ faults, decisions, options: { readRepair } })), 'leave')[0]?.atUs;
    expect(leaves('after')).toBe(leaves('off'));
    expect(leaves('before')).toBe((leaves('off') ?? 0) + 2 * MS);
  });
});

describe('of two writes, the later is', () => {
  /** alice is paused after her lease check, and bob writes before she does. */
  function zombie(stamp: string): Plan {
    const clients = [
      clientOf('alice', [writeOf(1)]),
      clientOf('bob', [writeOf(2)], { section: { thinkUs: 10 * MS } }),
    ];
    const when = { kind: 'after', point: 'alice/1/checked' } as const;
    const pause: Fault = { kind: 'pause', process: 'alice', when, forUs: 20 * MS, clocks: 'run' };
    return planOf({ store: 'quorum', clients, faults: [pause], options: { stamp }, probe: true });
  }

  test.each(['token-and-clock', 'token-and-count'])('that of the later holder by %s', (stamp) => {
    expect(handled(zombie(stamp)).filter((line) => line.endsWith('ignores 1'))).toHaveLength(3);
    expect(examine(zombie(stamp), ['grant-order']).verdicts[0]).toMatchObject({
      kind: 'valid',
      exercised: 1,
    });
    expect(served(zombie(stamp))).toEqual([2]);
  });

  test('the one with the later clock time by `clock`', () => {
    expect(handled(zombie('clock'))).not.toContain('store-1 ignores 1');
    expect(examine(zombie('clock'), ['grant-order']).verdicts[0]).toMatchObject({
      kind: 'invalid',
    });
    expect(served(zombie('clock'))).toEqual([1]);
  });

  test('after a clock step back, the first one by clock, but not by count', () => {
    const step: Fault = {
      kind: 'clock',
      process: 'alice',
      when: { kind: 'after', point: 'alice/1/write' },
      stepUs: -20 * MS,
      ratePpm: 0,
    };
    const work = [writeOf(1), writeOf(2, { id: 2 }), { ...read, id: 3 }];
    const value = (stamp: string): readonly (number | null)[] =>
      served(alone({ work, faults: [step], options: { stamp } }));
    expect(value('token-and-clock')).toEqual([1]);
    expect(value('token-and-count')).toEqual([2]);
  });
});

test('a quorum larger than the replicas is refused, and so is a lock that needs versions', () => {
  const many = { writeQuorum: 4 };
  expect(() => run(alone({ options: many }))).toThrow(UnknownSystem);
  expect(() => run(alone({ options: many }))).toThrow('writeQuorum: 4 is more than replicas: 3');
  expect(() =>
    run(planOf({ ...alone(), clients: [], lock: 'optimistic', store: 'quorum' })),
  ).toThrow('optimistic needs a store with versions');
});
