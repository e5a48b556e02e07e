/** A worker for tests: a script takes and releases leases at the back ends of a small world. */
import { assert } from '../../core/kernel/assert.ts';
import { nameOf, under } from '../../core/kernel/name.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { type Program, type Self, sleep } from '../../core/world/program.ts';
import { World } from '../../core/world/world.ts';
import { clientOf, MS, planOf } from '../../systems/plan.fixture.ts';
import type { Section } from '../../systems/protocol.ts';
import { namesUnder } from '../../systems/section-calls.ts';
import { CacheBackEnd } from './cache-back-end.ts';
import { type LeaseBackEnd, PRIMARY, STANDBY } from './dispatch.ts';
import { WorkerDriver } from './driver.ts';
import {
  type Delivery,
  type LeaseReturn,
  type LeaseTerms,
  LeaseTime,
  PUBLISHED_RULES,
} from './lease-rules.ts';
import { KEY_TTL_SECONDS } from './leases.ts';
import { tableBackEnd } from './table-back-end.ts';

export const SECOND: number = 1000 * MS;

const terms: LeaseTerms = {
  rules: PUBLISHED_RULES,
  time: new LeaseTime('whole'),
  clock: 'client',
  absent: 'one',
};

const MANNER = { onDenied: 'waits', releases: 'held' } as const;

export type Keeper = 'a table' | 'memcached' | 'Redis';

/** The actions of a test's worker, at the primary unless `at` is 'standby'. */
export interface Dispatcher {
  acquire(ask: Delivery & Where & { readonly timeout: number }): Program<number | false>;
  release(lease: LeaseReturn & Where): Program<boolean | 0>;
  /** Waits until `seconds` after the start. */
  until(seconds: number): Program<void>;
}

interface Where {
  readonly at?: 'standby';
}

/** Runs the script of one worker over two back ends of the given kind. */
export function dispatch(
  keeper: Keeper,
  script: (worker: Dispatcher) => Program<void>,
  faults: readonly Fault[] = [],
): void {
  const plan = planOf({ clients: [], faults, healAtUs: 200_000 * SECOND });
  const world = new World({ ...plan, limits: { ...plan.limits, endUs: 300_000 * SECOND } }, null);
  const backEnds = [PRIMARY, STANDBY].map((name) => backEndOf(world, keeper, name));
  let isDone = false;
  const factory = function* (self: Self): Program<void> {
    yield* script(workerOf(self, backEnds));
    isDone = true;
  };
  world.addClient({ name: 'alice', role: 'client' }, { pool: 1, factory });
  const { ending } = world.run(null);
  assert(ending.kind !== 'failed', ending.kind === 'failed' ? ending.error : '');
  assert(isDone, 'the script comes to its end');
}

function backEndOf(world: World, keeper: Keeper, name: string): LeaseBackEnd {
  if (keeper === 'a table') return tableBackEnd(world, name, terms);
  const expiry = keeper === 'Redis' ? 'wall' : 'monotonic';
  const settings = { keyTtlUs: KEY_TTL_SECONDS * SECOND, expiry } as const;
  return new CacheBackEnd(world, name, terms, { ...settings, isDurable: false, vacant: 'add' });
}

function workerOf(self: Self, backEnds: readonly LeaseBackEnd[]): Dispatcher {
  let calls = 0;
  const place = (ttlUs: number): Section => {
    calls += 1;
    const plan = { ...clientOf(self.name, []), ttlUs, lockTimeoutUs: SECOND };
    const requirements = { needsOpen: false, comparesItself: false, hasVersions: false };
    const driver = new WorkerDriver({ backEnds, guard: null, manner: MANNER }, null);
    const name = under(nameOf(self.name), String(calls));
    return {
      self,
      plan,
      driver,
      name,
      nextName: namesUnder(name),
      section: { id: calls, thinkUs: 0, lock: 'machine', work: [] },
      servers: { driverOf: () => driver, stores: new Map(), requirements },
      unanswered: [],
      opened: new Set(),
      versions: null,
      end: { clock: 'monotonic', us: 0 },
      token: 0,
    };
  };
  const backEnd = (at: Where['at']): LeaseBackEnd => {
    const found = backEnds[at === 'standby' ? 1 : 0];
    assert(found !== undefined, 'there are two back ends');
    return found;
  };
  return {
    *acquire({ at, timeout, ...delivery }) {
      const taken = yield* backEnd(at).acquire(place(timeout * SECOND), delivery, 1);
      return taken === false || taken === 0 ? taken : taken.fence;
    },
    *release({ at, ...lease }) {
      return yield* backEnd(at).release(place(SECOND), lease, 1);
    },
    *until(seconds) {
      calls += 1;
      const name = under(nameOf(self.name), `wait-${calls}`);
      yield* sleep(name, seconds * SECOND - self.monotonicUs());
    },
  };
}
