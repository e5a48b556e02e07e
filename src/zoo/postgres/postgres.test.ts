import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';

type Options = Plan['system']['options'];

/** Alice works for 10 ms; bob comes after 5 ms. */
function two(
  options: Options,
  faults: readonly Fault[] = [],
  more: Partial<ClientPlan> = {},
): Plan {
  const compute = { kind: 'compute', id: 2, forUs: 10 * MS } as const;
  const clients = [
    clientOf('alice', [compute, writeOf(1)], more),
    clientOf('bob', [writeOf(2)], { section: { thinkUs: 5 * MS } }),
  ];
  return planOf({ lock: 'postgres', store: 'unfenced', clients, options, faults });
}

/**
 * Returns the grants and effective releases, such as `2 grant alice` and `15 release bob`, in ms.
 */
function served(plan: Plan): readonly string[] {
  return run(plan).events.flatMap((event) => {
    if (event.kind === 'release' && event.released === 0) return [];
    if (event.kind !== 'grant' && event.kind !== 'release') return [];
    return [`${event.atUs / MS} ${event.kind} ${event.client}`];
  });
}

const atAlice = { kind: 'at', atUs: 4 * MS } as const;
const reset: Fault = { kind: 'reset', from: 'alice', to: 'lock', when: atAlice };
const crash: Fault = { kind: 'crash', process: 'alice', when: atAlice, restartAfterUs: null };

test('a session holds the lock until it unlocks', () => {
  expect(served(two({}))).toEqual([
    '1 grant alice',
    '15 release alice',
    '18 grant bob',
    '22 release bob',
  ]);
});

describe('the lock ends with its session', () => {
  test('if its connection is reset or its process crashes', () => {
    expect(served(two({}, [reset]))).toContain('6 grant bob');
    expect(served(two({}, [crash]))).toContain('6 grant bob');
  });

  test('but on a half-open connection only once keep-alives give up', () => {
    const halfOpen = { peerDeath: 'half-open' };
    expect(served(two(halfOpen, [crash])).join()).not.toContain('bob');
    const found = served(two({ ...halfOpen, keepaliveMs: 20 }, [crash])).find((line) =>
      line.endsWith('grant bob'),
    );
    expect(Number.parseFloat(found ?? '')).toBeGreaterThanOrEqual(21);
  });

  test('also if the server ends it as idle while its client works on', () => {
    expect(served(two({ idleTimeoutMs: 8 }))).toContain('10 grant bob');
  });
});

test('no lock survives a restart or a failover of the server', () => {
  const failover: Fault = { kind: 'failover', process: 'lock', when: atAlice, lagUs: 0 };
  const down: Fault = { kind: 'crash', process: 'lock', when: atAlice, restartAfterUs: MS };
  for (const fault of [failover, down]) {
    const lines = served(two({}, [fault]));
    expect(lines.indexOf('1 grant alice')).toBe(0);
    expect(lines[1]).toMatch(/grant bob/);
  }
});

const HANDED_OVER = ['grant', 'release', 'grant', 'release'];

describe('behind a pooler in transaction mode', () => {
  const pooler = { pooler: 'transaction' };

  test('a session lock is granted to any client on its connection, and never unlocked', () => {
    const trace = run(two(pooler));
    const grants = eventsOf(trace, 'grant').map(({ client }) => client);
    expect(grants).toEqual(['alice', 'bob']);
    const warnings = eventsOf(trace, 'log').filter(({ text }) => text.startsWith('WARNING'));
    expect(warnings.length).toBeGreaterThan(0);
    expect(served(two(pooler)).map((line) => line.split(' ')[1])).not.toEqual(HANDED_OVER);
  });

  test('a transaction keeps its connection', () => {
    const lines = served(two({ ...pooler, level: 'transaction' }));
    expect(lines).toEqual(served(two({})));
    expect(lines.map((line) => line.split(' ')[1])).toEqual(HANDED_OVER);
  });
});

test('a client with two connections may lock on one and unlock on the other', () => {
  const reads = { kind: 'read', id: 1, store: 'store', key: 'x' } as const;
  const alice = (pool: number): ClientPlan => clientOf('alice', [writeOf(1), reads], { pool });
  const lines = (pool: number): readonly string[] =>
    served(planOf({ lock: 'postgres', store: 'unfenced', clients: [alice(pool)] }));
  expect(lines(1)).toEqual(['1 grant alice', '7 release alice']);
  expect(lines(2)).toEqual(['1 grant alice']);
});

describe('a client that gave up waiting, but was granted the lock', () => {
  const late: Fault = {
    kind: 'delay',
    byUs: 20 * MS,
    which: { kind: 'message', message: 'alice/1/acquire/1/reply' },
  };

  test('holds it twice, and keeps it', () => {
    const plan = two({ unanswered: 'kept' }, [late], { lockTimeoutUs: 5 * MS });
    expect(served(plan).join()).not.toContain('grant bob');
  });

  test('unlocks everything first', () => {
    expect(served(two({}, [late], { lockTimeoutUs: 5 * MS })).join()).toContain('grant bob');
  });
});

test('tokens from a sequence increase, also across a crash of the server', () => {
  const down: Fault = { kind: 'crash', process: 'lock', when: atAlice, restartAfterUs: MS };
  const tokens = eventsOf(run(two({ token: 'sequence' }, [down])), 'grant').map(
    ({ token }) => token,
  );
  expect(tokens).toEqual([1, 34]);
});
