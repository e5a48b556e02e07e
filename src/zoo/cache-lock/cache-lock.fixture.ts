/** Small runs of a CacheLock for its tests: constant latencies of 1 ms, a ttl of 10 ms. */
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { eventsOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';

export const compute = (ms: number): Work => ({ kind: 'compute', id: 1, forUs: ms * MS });
export const renew: Work = { kind: 'renew', id: 2, ttlUs: 10 * MS };

export function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}): Trace {
  return run(planOf({ clients, lock: 'cache-lock', store: 'unfenced', ...setup }));
}

export function calls(trace: Trace): readonly string[] {
  return eventsOf(trace, 'invoke').map(({ atUs, operation }) => `${atUs / MS} ${operation}`);
}

export function logs(trace: Trace): readonly string[] {
  return eventsOf(trace, 'log').map(
    ({ atUs, process, text }) => `${atUs / MS} ${process}: ${text}`,
  );
}

export const evictAt = (ms: number): Fault => ({
  kind: 'evict',
  process: 'lock',
  key: 'db',
  when: { kind: 'at', atUs: ms * MS },
});

export const pauseAt = (point: string, ms: number): Fault => ({
  kind: 'pause',
  process: 'alice',
  when: { kind: 'before', point },
  forUs: ms * MS,
  clocks: 'run',
});
