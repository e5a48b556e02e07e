import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';
import { measureRun, type RunMeasures } from './measure-run.ts';

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

function measured(
  setup: Pick<PlanSetup, 'clients'> & Partial<PlanSetup>,
  more: Partial<Plan> = {},
): RunMeasures {
  const plan = { ...planOf({ lock: 'pessimistic', store: 'unfenced', ...setup }), ...more };
  return measureRun(plan, run(plan));
}

function worker(name: string, thinkMs: number, more: Partial<ClientPlan> = {}): ClientPlan {
  const section = { thinkUs: thinkMs * MS };
  return clientOf(name, [increment], { lockTimeoutUs: null, checksLease: false, section, ...more });
}

const pause: Fault = {
  ...{ kind: 'pause', process: 'alice', when: { kind: 'before', point: 'alice/1/write' } },
  ...{ forUs: 40 * MS, clocks: 'run' },
};
const crash: Fault = {
  ...{ kind: 'crash', process: 'alice', when: { kind: 'before', point: 'alice/1/write' } },
  restartAfterUs: null,
};

function lostReply(message: string): Fault {
  return { kind: 'drop', which: { kind: 'message', message } };
}

describe('the measures of a run', () => {
  test('are those of a section that is alone: 2 ms to its lock, 6 to its commit, 8 to its end', () => {
    expect(measured({ clients: [worker('alice', 0)] })).toEqual({
      ...{ planned: 1, begun: 1, acknowledged: 1, doneUs: 8 * MS },
      ...{ waitsUs: [2 * MS], commitsUs: [6 * MS] },
      ...{ retries: 0, aborts: 0, deadlocks: 0, stuck: 0, lost: 0, repeated: 0 },
    });
  });

  test('count from the first request, not from when the client thought', () => {
    const { waitsUs, doneUs } = measured({ clients: [worker('alice', 5)] });
    expect([waitsUs, doneUs]).toEqual([[2 * MS], 13 * MS]);
  });

  test('say how long who stands in line waits', () => {
    // Alice gives her lock back at 7 ms, and bob, who asked at 1 ms, hears of it at 8 ms.
    const { waitsUs } = measured({ clients: [worker('alice', 0), worker('bob', 1)] });
    expect(waitsUs).toEqual([2 * MS, 7 * MS]);
  });

  test('count the attempts at a busy lock after the first one', () => {
    const clients = [worker('alice', 0), worker('bob', 1)];
    const { retries, acknowledged } = measured({ clients, lock: 'lock-service' });
    // Denied at 2 ms, again 4 ms after that, and granted 4 ms later.
    expect([retries, acknowledged]).toEqual([2, 2]);
  });

  test('count no attempt twice for which several servers are asked', () => {
    const clients = [worker('alice', 0, { ttlUs: 100 * MS })];
    expect(measured({ clients, lock: 'redlock' })).toMatchObject({ acknowledged: 1, retries: 0 });
    expect(measured({ clients: [worker('alice', 0)], lock: 'pessimistic' }).retries).toBe(0);
  });

  test('count a section that finds its memoized value as served', () => {
    const memoize: Work = {
      ...{ kind: 'memoize', id: 1, store: 'store', key: 'x' },
      ...{ value: 7, pieces: 1, forUs: MS },
    };
    const clients = ['alice', 'bob'].map((name, at) =>
      clientOf(name, [memoize], { section: { thinkUs: 50 * at * MS } }),
    );
    const found = measured({ clients, lock: 'lock-service' });
    expect(found).toMatchObject({ begun: 2, acknowledged: 2, aborts: 0 });
  });

  test('wait to the commit, and count outrun attempts, where there is no lock', () => {
    const setup = { lock: 'optimistic', store: 'versioned' };
    const clients = [worker('alice', 0), worker('bob', 1)];
    const { retries, waitsUs, commitsUs } = measured({ clients, ...setup });
    expect(retries).toBe(1);
    expect(waitsUs).toEqual(commitsUs);
    expect(waitsUs[0]).toBe(4 * MS);
  });

  test('count updates that were acknowledged and are gone', () => {
    const clients = [worker('alice', 0), worker('bob', 20)];
    const lease = measured({ clients, lock: 'lock-service', faults: [pause] });
    expect([lease.acknowledged, lease.lost]).toEqual([2, 1]);
    expect(measured({ clients, faults: [pause] }).lost).toBe(0);
  });

  test('count an update that was overwritten by one whose client never heard of it', () => {
    const clients = [worker('alice', 0), worker('bob', 20)];
    const unheard = lostReply('alice/1/write/1/reply');
    const lease = measured({ clients, lock: 'lock-service', faults: [pause, unheard] });
    // One of two sections is acknowledged, and the counter is at 1: by the sum all is well.
    expect(lease).toMatchObject({ acknowledged: 1, lost: 1, repeated: 0 });
  });

  test('count an update that is applied twice, and no loss beside it', () => {
    const clients = [worker('alice', 0), worker('bob', 100)];
    const setup = { clients, lock: 'optimistic', store: 'versioned' };
    const faults = [lostReply('alice/1/write/1/reply')];
    const blind = measured({ ...setup, options: { unknownCommit: 'retry-blindly' }, faults });
    expect(blind).toMatchObject({ acknowledged: 2, lost: 0, repeated: 1 });
    const careful = measured({ ...setup, options: { unknownCommit: 'read-again' }, faults });
    expect(careful).toMatchObject({ acknowledged: 2, lost: 0, repeated: 0 });
  });

  test('let no update that is applied twice hide another one that is lost', () => {
    const setup = { lock: 'optimistic', store: 'versioned', healAtUs: 5000 * MS };
    const clients = [worker('alice', 0), worker('bob', 100)];
    const faults: Fault[] = [
      lostReply('alice/1/write/1/reply'),
      { kind: 'failover', process: 'store', when: { kind: 'at', atUs: 200 * MS }, lagUs: 98 * MS },
    ];
    const options = { unknownCommit: 'retry-blindly' };
    const measures = measured({ clients, ...setup, options, faults });
    expect(measures).toMatchObject({ acknowledged: 2, lost: 1, repeated: 1 });
  });

  test('count who waits for ever behind a holder that crashed, until the world heals', () => {
    const clients = [worker('alice', 0), worker('bob', 1)];
    const measures = measured({ clients, faults: [crash], healAtUs: 300 * MS });
    expect(measures).toMatchObject({ begun: 2, acknowledged: 0, stuck: 1, doneUs: 300 * MS });
  });

  test('count a section that gives up as aborted', () => {
    const impatient = worker('bob', 1, { attempts: 1 });
    const clients = [worker('alice', 0), impatient];
    const { aborts, acknowledged } = measured({ clients, lock: 'lock-service' });
    expect([aborts, acknowledged]).toEqual([1, 1]);
  });

  test('leave a section that was given up as it is when its client crashes in thought after it', () => {
    const two = [
      { id: 1, thinkUs: MS, lock: 'db', work: [increment] },
      { id: 2, thinkUs: 50 * MS, lock: 'db', work: [increment] },
    ];
    const bob = { ...worker('bob', 1, { attempts: 1 }), sections: two };
    const late: Fault = {
      ...{ kind: 'crash', process: 'bob', when: { kind: 'at', atUs: 30 * MS } },
      restartAfterUs: null,
    };
    const clients = [worker('alice', 0), bob];
    const measures = measured({ clients, lock: 'lock-service', faults: [late] });
    expect(measures).toMatchObject({ planned: 3, begun: 2, acknowledged: 1, aborts: 1 });
  });

  test('count a section whose client crashes as it backs off as no abort', () => {
    const bob = worker('bob', 1, { attempts: 2, backoffUs: 50 * MS });
    const soon: Fault = {
      ...{ kind: 'crash', process: 'bob', when: { kind: 'at', atUs: 30 * MS } },
      restartAfterUs: null,
    };
    const clients = [worker('alice', 0), bob];
    const measures = measured({ clients, lock: 'lock-service', faults: [soon] });
    expect(measures).toMatchObject({ begun: 2, acknowledged: 1, aborts: 0, stuck: 0 });
  });

  test('leave out what a client never came to', () => {
    const two = [1, 2].map((id) => ({ id, thinkUs: 0, lock: 'db', work: [increment] }));
    const alice = { ...worker('alice', 0), sections: two };
    const measures = measured({ clients: [alice], faults: [crash] });
    expect(measures).toMatchObject({ planned: 2, begun: 1, acknowledged: 0, aborts: 0, stuck: 0 });
  });
});

describe('a deadlock', () => {
  const opposite = (['a', 'b'] as const).map((lock, at) =>
    clientOf(
      at === 0 ? 'alice' : 'bob',
      [
        { kind: 'lock', id: 1, lock: lock === 'a' ? 'b' : 'a' },
        { ...increment, id: 2 },
      ],
      { lockTimeoutUs: null, checksLease: false, section: { lock } },
    ),
  );

  test('leaves two sections stuck', () => {
    const measures = measured({ clients: opposite });
    expect(measures).toMatchObject({ deadlocks: 1, stuck: 2, aborts: 0, acknowledged: 0 });
  });

  test('costs an abort and a retry where it is broken up', () => {
    const measures = measured({ clients: opposite, options: { onDeadlock: 'abort' } });
    expect(measures).toMatchObject({ deadlocks: 1, aborts: 1, retries: 1, acknowledged: 2 });
  });
});
