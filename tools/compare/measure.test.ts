import { describe, expect, test } from 'vitest';
import type { Fault } from '../../src/core/plan/fault.ts';
import type { ClientPlan, Work } from '../../src/core/plan/plan.ts';
import { clientOf, MS, type PlanSetup, planOf } from '../../src/systems/plan.fixture.ts';
import { measureRun, type RunMeasures } from './measure.ts';

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

function measured(setup: Pick<PlanSetup, 'clients'> & Partial<PlanSetup>): RunMeasures {
  return measureRun(planOf({ lock: 'pessimistic', store: 'unfenced', ...setup }));
}

function worker(name: string, thinkMs: number): ClientPlan {
  const section = { thinkUs: thinkMs * MS };
  return clientOf(name, [increment], { lockTimeoutUs: null, checksLease: false, section });
}

const two = [worker('alice', 0), worker('bob', 1)];
/** While its write is in progress. */
const crash: Fault = {
  kind: 'crash',
  process: 'alice',
  when: { kind: 'at', atUs: 5 * MS },
  restartAfterUs: null,
};
const pause: Fault = {
  kind: 'pause',
  process: 'alice',
  when: { kind: 'before', point: 'alice/1/write' },
  forUs: 40 * MS,
  clocks: 'run',
};

describe('the measures of a run', () => {
  test('of a section alone are 6 ms to its commit and 8 ms to its end', () => {
    expect(measured({ clients: [worker('alice', 0)] })).toEqual({
      throughput: 125,
      medianCommit: 6,
      slowestCommit: 6,
      retries: 0,
      isWrong: false,
    });
  });

  test('count from the first request, without the time that a client thinks', () => {
    const { throughput, slowestCommit } = measured({ clients: [worker('alice', 5)] });
    expect([slowestCommit, throughput.toFixed(1)]).toEqual([6, '76.9']);
  });

  test('count attempts to acquire a busy lock and to write, except the first', () => {
    // Denied at 2 ms, again 4 ms after that, and granted 4 ms later.
    expect(measured({ clients: two, lock: 'lock-service' }).retries).toBe(1);
    const optimistic = { lock: 'optimistic', store: 'versioned' };
    expect(measured({ clients: two, ...optimistic }).retries).toBe(0.5);
    expect(measured({ clients: two }).retries).toBe(0);
  });

  test('are wrong if an acknowledged update is gone', () => {
    const clients = [worker('alice', 0), worker('bob', 20)];
    const lease = { clients, lock: 'lock-service', faults: [pause] };
    expect(measured(lease).isWrong).toBe(true);
    expect(measured({ ...lease, store: 'fenced-reads' }).isWrong).toBe(false);
  });

  test('last until the world heals if a client waits forever behind one that crashed', () => {
    const carol = clientOf('carol', [increment], { section: { thinkUs: 0, lock: 'other' } });
    const faults = [crash];
    const during = (clients: readonly ClientPlan[]): number =>
      measured({ clients, faults, healAtUs: 500 * MS }).throughput;
    expect(during([worker('alice', 0), carol])).toBe(125);
    expect(during([worker('alice', 0), carol, worker('bob', 20)])).toBe(2);
  });
});
