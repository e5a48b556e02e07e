/** Small runs of memoized values for their tests: computed in 3 ms, under a lock on a cache. */
import { measureStampede, type Stampede } from '../check/single-flight.ts';
import { indexTrace } from '../check/trace-index.ts';
import type { Trace } from '../core/history/trace.ts';
import type { ClientPlan, Work } from '../core/plan/plan.ts';
import { run } from '../run.ts';
import { eventsOf, MS, type PlanSetup, planOf } from './plan.fixture.ts';

type Memoize = Extract<Work, { kind: 'memoize' }>;

export function memoizeOf(value: number, more: Partial<Memoize> = {}): Work {
  const place = { id: 1, store: 'store', key: 'x' };
  return { kind: 'memoize', ...place, value, forUs: 3 * MS, pieces: 1, ...more };
}

export function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}): Trace {
  return run(planOf({ clients, lock: 'cache-lock', store: 'unfenced', ...setup }));
}

export function calls(trace: Trace): readonly string[] {
  return eventsOf(trace, 'invoke').map(({ atUs, operation }) => `${atUs / MS} ${operation}`);
}

export function stampedeOf(trace: Trace): Stampede {
  return measureStampede(indexTrace(trace));
}
