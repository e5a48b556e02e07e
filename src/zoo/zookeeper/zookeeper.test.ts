import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';

const S = 1000 * MS;

interface Setup {
  readonly faults?: readonly Fault[];
  readonly options?: Record<string, string | number>;
  readonly clients?: readonly ClientPlan[];
}

/** A client that holds the lock for `forUs`, with a session of four seconds: two ticks. */
function client(name: string, thinkUs: number, forUs: number): ClientPlan {
  const work = [writeOf(thinkUs / MS), { kind: 'compute', id: 2, forUs } as const];
  const settings = { ttlUs: 4 * S, lockTimeoutUs: 1 * S };
  return clientOf(name, work, { section: { thinkUs }, ...settings });
}

const BOTH = [client('alice', 1 * MS, 5 * S), client('bob', 9 * MS, 1 * S)];

function happen({ clients = BOTH, ...more }: Setup): Trace {
  const system = { lock: 'zookeeper', store: 'unfenced', healAtUs: 9 * S };
  return run(planOf({ clients, ...system, ...more }));
}

function entered(trace: Trace): readonly string[] {
  return eventsOf(trace, 'enter').map(({ process, atUs, token }) => {
    return `${process} ${atUs / MS} ${token}`;
  });
}

describe('a session', () => {
  test('lasts while its heartbeat arrives, and its child with it', () => {
    const trace = happen({});
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(entered(trace)).toEqual(['alice 7 2', 'bob 5013 4']);
  });

  test('without heartbeats ends at the tick after its timeout', () => {
    const when = { kind: 'before', point: 'alice/1/heartbeat' } as const;
    const pause = { kind: 'pause', process: 'alice', when, forUs: 7 * S, clocks: 'run' } as const;
    const trace = happen({ faults: [pause] });
    // Last heard at 8 ms, so it ends at the tick of 6 s, as bob's next heartbeat reveals.
    expect(eventsOf(trace, 'grant')[0]?.untilUs).toBe(6 * S);
    const [, bob] = eventsOf(trace, 'grant');
    expect(bob?.client).toBe('bob');
    expect(bob?.atUs).toBeGreaterThan(6 * S);
    expect(bob?.atUs).toBeLessThan(6 * S + 1.4 * S);
  });

  test('lasts its full timeout again after a leader change', () => {
    const when = { kind: 'at', atUs: 1 * S } as const;
    const failover: Fault = { kind: 'failover', process: 'lock', when, lagUs: 1 * S };
    const renewals = eventsOf(happen({ faults: [failover] }), 'renew');
    const renewal = renewals.find(({ atUs, message }) => atUs === 1 * S && message === '');
    expect(renewal).toMatchObject({ extended: 1, untilUs: 6 * S });
  });
});

describe('a child', () => {
  const one = clientOf('alice', [writeOf(1)], {
    ttlUs: 40 * S,
    lockTimeoutUs: 1 * S,
    sections: [0, 61 * S].map((thinkUs, at) => {
      return { id: at + 1, thinkUs, lock: 'db', work: [writeOf(at + 1)] };
    }),
  });

  const tokensOf = (options: Record<string, string>): readonly number[] => {
    const limits = { healAtUs: 90 * S, probe: false };
    const plan = planOf({ clients: [one], lock: 'zookeeper', store: 'unfenced', options });
    const trace = run({ ...plan, limits: { ...plan.limits, ...limits, endUs: 200 * S } });
    return eventsOf(trace, 'grant').map(({ token }) => token);
  };

  test('takes the sequence of its parent, which restarts with a container', () => {
    expect(tokensOf({ token: 'sequence' })).toEqual([1, 2]);
    expect(tokensOf({ token: 'sequence', parent: 'container' })).toEqual([1, 1]);
    expect(tokensOf({ token: 'czxid', parent: 'container' })).toEqual([2, 4]);
  });

  test('whose create got no answer is found again by its name, in the same session', () => {
    const which = { kind: 'message', message: 'alice/1/acquire/1/reply' } as const;
    const faults: readonly Fault[] = [{ kind: 'drop', which }];
    const clients = [client('alice', 1 * MS, 1 * S)];
    expect(entered(happen({ clients, faults }))).toEqual(['alice 11 2']);
    const none = happen({ clients, faults, options: { protection: 'none' } });
    expect(entered(none)).toEqual([]);
  });

  test('that its client gave up on is deleted once it is found by its name', () => {
    const which = { kind: 'message', message: 'alice/1/acquire/1/reply' } as const;
    const faults: readonly Fault[] = [{ kind: 'drop', which }];
    const alice = { ...client('alice', 1 * MS, 1 * S), attempts: 1 };
    const clients = [alice, client('bob', 9 * MS, 1 * S)];
    // Alice's session is 1, its child 2, and bob's session 3; the delete is 4.
    expect(entered(happen({ clients, faults }))).toEqual(['bob 15 5']);
    expect(entered(happen({ clients, faults, options: { protection: 'none' } }))).toEqual([]);
  });

  test('whose delete is lost is deleted again, unless release: once', () => {
    const which = { kind: 'message', message: 'alice/1/release/1/request' } as const;
    const faults: readonly Fault[] = [{ kind: 'drop', which }];
    expect(entered(happen({ faults })).map((text) => text.split(' ')[0])).toEqual(['alice', 'bob']);
    const once = happen({ faults, options: { release: 'once' } });
    expect(entered(once)).toEqual(['alice 7 2']);
  });
});

describe('the queue', () => {
  const LINE = ['alice', 'bob', 'carol'].map((name, at) => client(name, (1 + at) * MS, 1 * S));

  test('is served in the order of the children', () => {
    const order = entered(happen({ clients: LINE }));
    expect(order.map((text) => text.split(' ')[0])).toEqual(['alice', 'bob', 'carol']);
  });

  test('has each child watch its predecessor, so that an end wakes one client', () => {
    const trace = happen({ clients: LINE });
    const asked = eventsOf(trace, 'invoke').filter(({ operation }) =>
      operation.startsWith('carol/1/children'),
    );
    // Once as it creates its child, and once when bob's is gone; it does not hear of alice's end.
    expect(asked).toHaveLength(2);
  });

  test('loses a client whose session ended meanwhile', () => {
    const when = { kind: 'before', point: 'bob/1/heartbeat' } as const;
    const pause = { kind: 'pause', process: 'bob', when, forUs: 9 * S, clocks: 'run' } as const;
    const [alice, bob, carol] = LINE;
    if (alice === undefined || bob === undefined || carol === undefined) expect.fail();
    const clients = [client('alice', 1 * MS, 8 * S), bob, carol];
    const order = entered(happen({ clients, faults: [pause] }));
    expect(order.slice(0, 2).map((text) => text.split(' ')[0])).toEqual(['alice', 'carol']);
  });
});

test('a timeout is two ticks at least, and twenty at most', () => {
  const endOf = (ttlUs: number, tickTime: number): number | null | undefined => {
    const clients = [{ ...client('alice', 1 * MS, 1 * MS), ttlUs }];
    return eventsOf(happen({ clients, options: { tickTime } }), 'grant')[0]?.ttlUs;
  };
  expect([endOf(1 * S, 2000), endOf(5 * S, 2000), endOf(90 * S, 2000)]).toEqual([
    4 * S,
    5 * S,
    40 * S,
  ]);
  expect(endOf(1 * S, 500)).toBe(1 * S);
});
