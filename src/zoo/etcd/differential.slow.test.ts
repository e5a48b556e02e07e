/** Compares the state of the simulated etcd with that of a real one after the same requests. */
import { setTimeout as wait } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { hasEtcd, RealEtcd } from './real-etcd.fixture.ts';
import { EtcdState } from './server.ts';

const law = needs('etcd', hasEtcd());
vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let real: RealEtcd;
beforeAll(async () => {
  real = await RealEtcd.start();
});
afterAll(() => real.stop());

const LONG_S = 1000;
const lease = fc.integer({ min: 1, max: 4 });
const lock = fc.constantFrom('db', 'other');
const step = fc.oneof(
  fc.record({ kind: fc.constant('grant' as const), lease, ttlS: fc.constantFrom(1, LONG_S) }),
  fc.record({ kind: fc.constantFrom('keep-alive' as const, 'revoke' as const), lease }),
  fc.record({ kind: fc.constantFrom('take' as const, 'get' as const), lease, lock }),
  fc.record({ kind: fc.constant('delete' as const), lease, lock }),
  fc.record({ kind: fc.constant('older' as const), lock, back: fc.integer({ min: 0, max: 5 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Either etcd. Revisions count from the start of the run. */
interface Holder {
  answer(one: Step): Promise<unknown> | unknown;
  revision(): number;
}

/** The revision that a client asks about: `back` before the current one, at least 1. */
function asked(revision: number, { back }: { readonly back: number }): number {
  return Math.max(1, revision - back);
}

/** Uses other leases and locks in each run, since a real etcd keeps those of earlier runs. */
function realHolder(run: number): Holder {
  const from = real.revision;
  const idOf = (id: number): number => run * 100 + id;
  const named = (name: string): string => `${run}-${name}`;
  const since = (revision: number | null): number | null =>
    revision === null ? null : revision - from;
  return {
    revision: () => real.revision - from,
    async answer(one) {
      switch (one.kind) {
        case 'grant':
          return await real.grantLease(idOf(one.lease), one.ttlS);
        case 'keep-alive':
          return await real.keepAlive(idOf(one.lease));
        case 'revoke':
          return await real.revoke(idOf(one.lease));
        case 'take': {
          const took = await real.take(named(one.lock), idOf(one.lease));
          return took === null ? null : [since(took.created), since(took.first)];
        }
        case 'get':
          return since(await real.get(named(one.lock), idOf(one.lease)));
        case 'delete':
          return await real.delete(named(one.lock), idOf(one.lease));
        case 'older':
          return await real.hasOlder(named(one.lock), asked(real.revision - from, one) + from);
      }
    },
  };
}

function simulatedHolder(): Holder {
  const state = new EtcdState();
  const from = state.revision;
  return {
    revision: () => state.revision - from,
    answer(one) {
      switch (one.kind) {
        case 'grant': {
          const asked = { ttlS: one.ttlS, client: '', sentAtUs: 0 };
          return state.grantLease(one.lease, asked, 0) || null;
        }
        case 'keep-alive':
          return state.keepAlive(one.lease, 0, 0);
        case 'revoke':
          return state.revoke(one.lease);
        case 'take': {
          const key = state.take(one);
          const [first] = state.keysOf(one.lock);
          return key === null ? null : [key.revision - from, (first?.revision ?? 0) - from];
        }
        case 'get':
          return (state.key(one)?.revision ?? Number.NaN) - from || null;
        case 'delete':
          return state.delete(one);
        case 'older':
          return state.hasOlder({
            lock: one.lock,
            revision: asked(state.revision - from, one) + from,
          });
      }
    },
  };
}

law('leases, keys and revisions are those of a real etcd, after any steps', async () => {
  const steps = fc.array(step, { minLength: 20, maxLength: 40 });
  for (const [run, all] of fc.sample(steps, { numRuns: 12, seed: 19 }).entries()) {
    await real.hasOlder('none', 2); // also reads the revision from which this run counts
    const [theirs, ours] = [realHolder(run + 1), simulatedHolder()];
    for (const one of all) {
      const [expected, found] = [await theirs.answer(one), await ours.answer(one)];
      const context = JSON.stringify({ run, one });
      expect([found, ours.revision()], context).toEqual([expected, theirs.revision()]);
    }
  }
});

law('a lease that no client renews ends with its keys after its ttl, and no sooner', async () => {
  const [kept, left] = [9001, 9002];
  for (const id of [kept, left]) expect(await real.grantLease(id, 1)).toBe(2);
  const beganMs = performance.now();
  for (const id of [kept, left]) await real.take('expiry', id);
  while ((await real.get('expiry', left)) !== null) {
    expect(await real.keepAlive(kept)).toBe(2);
    await wait(100);
  }
  expect(performance.now() - beganMs).toBeGreaterThan(1_900);
  expect(await real.get('expiry', kept)).not.toBeNull();
});
