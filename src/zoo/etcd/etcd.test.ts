import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { EtcdState } from './server.ts';

const S = 1000 * MS;
const holds = (forUs: number): Work => ({ kind: 'compute', id: 2, forUs });

function client(name: string, thinkUs: number, more: Partial<ClientPlan> = {}): ClientPlan {
  const work = [writeOf(thinkUs / MS), holds(3 * S)];
  const settings = { ttlUs: 2 * S, lockTimeoutUs: 1 * S, ...more };
  return clientOf(name, work, { section: { thinkUs }, ...settings });
}

interface Setup {
  readonly faults?: readonly Fault[];
  readonly options?: Record<string, string>;
  readonly clients?: readonly ClientPlan[];
}

/** alice, then bob: each holds the lock for three seconds, with a lease of two. */
function happen({ clients = [client('alice', 1 * MS), client('bob', 2 * MS)], ...more }: Setup) {
  return run(planOf({ clients, lock: 'etcd', store: 'unfenced', healAtUs: 9 * S, ...more }));
}

function pause(point: string, forUs: number): Fault {
  const [process = ''] = point.split('/');
  return { kind: 'pause', process, when: { kind: 'before', point }, forUs, clocks: 'run' };
}

function entriesOf(trace: Trace): readonly string[] {
  return eventsOf(trace, 'enter').map(({ atUs, process }) => `${process} ${atUs / MS}`);
}

function operationsOf(trace: Trace, process: string): readonly string[] {
  const invocations = eventsOf(trace, 'invoke').filter((event) => event.process === process);
  return invocations.map(({ operation }) => operation.replace(`${process}/`, ''));
}

describe('a lease', () => {
  test('lasts as long as its heartbeat, whose answers are not awaited', () => {
    const trace = happen({});
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(operationsOf(trace, 'alice').slice(0, 5)).toEqual([
      '1/lease',
      '1/acquire',
      '1/write',
      '1/heartbeat',
      '1/heartbeat-2',
    ]);
    expect(entriesOf(trace)).toEqual(['alice 5', 'bob 3011']);
  });

  test('ends during a pause of its process, which notices when it resumes', () => {
    const trace = happen({ faults: [pause('alice/1/heartbeat', 5 * S)] });
    const leave = eventsOf(trace, 'leave').find(({ process }) => process === 'alice');
    expect(leave?.atUs).toBe(5_669_666);
    expect(eventsOf(trace, 'log').map(({ text }) => text)).toContain(
      'over: no heartbeat was answered in time',
    );
    // The next message that the server receives is the waiting client's own heartbeat.
    expect(entriesOf(trace)[1]).toBe('bob 2011.998');
  });

  test('covers all locks that its process holds', () => {
    const work: readonly Work[] = [{ kind: 'lock', id: 1, lock: 'other' }, holds(3 * S)];
    const settings = { ttlUs: 2 * S, lockTimeoutUs: 1 * S };
    const trace = happen({ clients: [clientOf('alice', work, settings)] });
    const renewed = eventsOf(trace, 'renew').map(({ lock, extended }) => `${lock} ${extended}`);
    expect(renewed.slice(0, 4)).toEqual(['db 1', 'other 2', 'db 1', 'other 2']);
    const released = eventsOf(trace, 'release').map(({ lock, released: grant }) => [lock, grant]);
    expect(released).toEqual([
      ['other', 2],
      ['db', 1],
    ]);
  });

  test('lasts its full ttl again after a leader change', () => {
    const when = { kind: 'at', atUs: 1 * S } as const;
    const failover: Fault = { kind: 'failover', process: 'lock', when, lagUs: 1 * S };
    const renewal = eventsOf(happen({ faults: [failover] }), 'renew').find(
      ({ atUs }) => atUs === 1 * S,
    );
    expect(renewal).toMatchObject({ extended: 1, untilUs: 3 * S, message: '' });
  });
});

describe('a waiting client', () => {
  const faults = [pause('bob/1/wait', 4 * S)];

  test('starts again if its lease ended meanwhile', () => {
    const trace = happen({ faults });
    const asked = operationsOf(trace, 'bob').filter((name) => !name.startsWith('1/heartbeat'));
    expect(asked.slice(0, 6)).toEqual([
      '1/lease',
      '1/acquire',
      '1/wait',
      '1/recheck',
      '1/lease-2',
      '1/acquire-2',
    ]);
    expect(eventsOf(trace, 'grant').every(({ untilUs, atUs }) => (untilUs ?? 0) > atUs)).toBe(true);
  });

  test('without a recheck takes a lock with a lease that has ended', () => {
    const trace = happen({ faults, options: { recheck: 'no' } });
    const [, dead] = eventsOf(trace, 'grant');
    expect(dead).toMatchObject({ client: 'bob', token: 3, untilUs: 2_003_000 });
    expect(dead?.atUs).toBeGreaterThan(4 * S);
  });
});

describe('the state of etcd', () => {
  const alice = { lock: 'db', lease: 1 };
  const lease = { ttlS: 2, client: 'alice', sentAtUs: 0 };

  test('counts revisions, and the end of a lease deletes all its keys in one of them', () => {
    const state = new EtcdState();
    state.grantLease(1, lease, 0);
    expect(state.take(alice)?.revision).toBe(2);
    expect(state.take({ ...alice, lock: 'other' })?.revision).toBe(3);
    expect(state.take(alice)?.revision).toBe(2);
    state.expire(2 * S - 1);
    expect([state.revision, state.keysOn(1).length]).toEqual([3, 2]);
    state.expire(2 * S);
    expect([state.revision, state.keysOn(1).length]).toEqual([4, 0]);
    expect(state.take(alice)).toBeNull();
    expect(state.delete(alice)).toBe(0);
    expect(state.revision).toBe(4);
  });

  test('has no lease of less than two seconds', () => {
    const state = new EtcdState();
    expect(state.grantLease(1, { ...lease, ttlS: 1 }, 0)).toBe(2);
    expect(state.lease(1)?.endUs).toBe(2 * S);
    expect(state.grantLease(1, lease, 0)).toBe(0);
  });
});
