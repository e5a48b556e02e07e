/**
 * Tests in-process locks, right and wrong, against two oracles that see neither trace nor grants: a
 * count of the sections inside, kept by the code under test, and the bits of the final value, since
 * each job adds its own power of two. With several processes, several sections at once and several
 * jobs per section, `mutual-exclusion` breaks if and only if two sections were ever inside
 * together, and `no-lost-update` if and only if a bit is missing.
 */
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { runningAtOnce } from '../src/core/plan/client-text.ts';
import type { Fault } from '../src/core/plan/fault.ts';
import { CLIENT_DEFAULTS, type ClientPlan, type Plan } from '../src/core/plan/plan.ts';
import { defineSystem } from '../src/define-system.ts';
import type { SeedResult } from '../src/harness.ts';
import { examineAsync } from '../src/host/async/run-async.ts';
import { eventsOf, MS, planOf } from '../src/systems/plan.fixture.ts';
import type { LockDefinition } from '../src/systems/protocol.ts';
import { runs } from './runs.ts';

interface Lock {
  /** Returns true if a process may enter. */
  readonly tryLock: (process: string) => boolean;
  readonly unlock: () => void;
}

const KINDS: Readonly<Record<string, () => Lock>> = {
  mutex: () => countingLock((count) => count === 0),
  'released early': () => countingLock((count) => count === 0),
  semaphore: () => countingLock((count) => count < 2),
  're-entrant by process': () => countingLock((count, isSame) => count === 0 || isSame),
  none: () => countingLock(() => true),
};

function countingLock(mayEnter: (count: number, isSame: boolean) => boolean): Lock {
  let count = 0;
  let holder = '';
  return {
    tryLock: (process) => {
      if (!mayEnter(count, process === holder)) return false;
      count += 1;
      holder = process;
      return true;
    },
    unlock: () => {
      count -= 1;
    },
  };
}

interface Setting {
  readonly kind: string;
  /** True if all processes share one lock, false if each has its own. */
  readonly isShared: boolean;
  /** Number of jobs that a section runs at once. */
  readonly jobs: number;
}

/** Observations of the code under test. */
interface Seen {
  inside: number;
  /** True if two sections were ever inside together. */
  hasOverlapped: boolean;
  /** True if a section of a lone process was called while another one was inside. */
  isContested: boolean;
  /** Bits of the jobs whose writes were acknowledged. */
  bits: number;
  begun: number;
}

async function happens(setting: Setting, plan: Plan): Promise<{ ran: SeedResult; seen: Seen }> {
  const seen: Seen = { inside: 0, hasOverlapped: false, isContested: false, bits: 0, begun: 0 };
  const make = KINDS[setting.kind] ?? expect.fail(setting.kind);
  const memoryLock: LockDefinition = {
    about: 'a lock in memory',
    servers: [],
    buildAsync: () => {
      const shared = make();
      return ({ name }) => {
        const lock = setting.isShared ? shared : make();
        return async (section) => {
          seen.isContested ||= seen.inside > 0;
          const job = async (): Promise<void> => {
            const bit = 2 ** seen.begun;
            seen.begun += 1;
            while (!lock.tryLock(name)) await wait(1);
            const guard = section.guard();
            seen.inside += 1;
            seen.hasOverlapped ||= seen.inside > 1;
            const value = await guard.read('x');
            if (setting.kind === 'released early') lock.unlock();
            if (await guard.write('x', value + bit)) seen.bits += bit;
            seen.inside -= 1;
            guard.leave();
            if (setting.kind !== 'released early') lock.unlock();
          };
          await Promise.all(Array.from({ length: setting.jobs }, job));
        };
      };
    },
  };
  const catalogue = extend(builtIn, defineSystem({ locks: { own: memoryLock } }));
  const ran = await examineAsync(plan, ['mutual-exclusion', 'no-lost-update'], catalogue);
  return { ran, seen };
}

function clientNamed(name: string, thinksMs: readonly number[], concurrency = 1): ClientPlan {
  const sections = thinksMs.map((ms, at) => {
    return { id: at + 1, thinkUs: ms * MS, lock: 'db', work: [] };
  });
  return { ...CLIENT_DEFAULTS, name, sections, ...runningAtOnce(concurrency) };
}

const thinks = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 4 });

/** At most 3 × 4 × 2 bits, and time for 4 clients. */
const plans: fc.Arbitrary<Plan> = fc
  .record({
    clients: fc.array(fc.record({ thinks, concurrency: fc.integer({ min: 1, max: 3 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    pauses: fc.array(
      fc.record({ at: fc.nat(20), for: fc.integer({ min: 1, max: 15 }), whose: fc.nat(2) }),
      { maxLength: 2 },
    ),
  })
  .map(({ clients, pauses }) => {
    const built = clients.map(({ thinks: times, concurrency }, at) => {
      return clientNamed(['alice', 'bob', 'carol'][at] ?? '', times, concurrency);
    });
    const faults = pauses.map(({ at, for: ms, whose }): Fault => {
      const process = built[whose % built.length]?.name ?? '';
      const when = { kind: 'at', atUs: at * MS } as const;
      return { kind: 'pause', process, when, forUs: ms * MS, clocks: 'run' };
    });
    return planOf({ clients: built, faults, lock: 'own', store: 'unfenced' });
  });

/** Two jobs each of two processes at one instant, and a single job. */
const crowded = planOf({
  clients: [clientNamed('alice', [0]), clientNamed('bob', [0])],
  lock: 'own',
  store: 'unfenced',
});
const lone = planOf({ clients: [clientNamed('alice', [0])], lock: 'own', store: 'unfenced' });

test.each(Object.keys(KINDS))(
  '%s is judged as the oracles observed it',
  async (kind) => {
    const verdicts = new Set<unknown>();
    const law = fc.asyncProperty(
      fc.record({ isShared: fc.boolean(), jobs: fc.integer({ min: 1, max: 2 }) }),
      plans,
      async (how, plan) => {
        const { ran, seen } = await happens({ kind, ...how }, plan);
        expect(ran.trace.ending).toEqual({ kind: 'complete' });
        const [exclusion, updates] = ran.verdicts;
        expect(exclusion?.kind).toBe(seen.hasOverlapped ? 'invalid' : 'valid');
        const last = eventsOf(ran.trace, 'write').at(-1)?.value ?? 0;
        expect(updates?.kind).toBe(last === seen.bits ? 'valid' : 'invalid');
        const isLone = plan.clients.length === 1 && plan.clients[0]?.concurrency !== undefined;
        if (isLone && seen.isContested) expect(exclusion?.exercised).toBeGreaterThan(0);
        verdicts.add(exclusion?.kind);
      },
    );
    const examples: [{ isShared: boolean; jobs: number }, Plan][] = [
      [{ isShared: false, jobs: 2 }, crowded],
      [{ isShared: false, jobs: 1 }, lone],
    ];
    await fc.assert(law, { numRuns: runs(150), examples });
    expect([...verdicts].sort()).toEqual(['invalid', 'valid']);
  },
  120_000,
);
