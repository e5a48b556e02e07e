import { expect, test } from 'vitest';
import { digestOf } from '../../run.ts';
import { eventsOf } from '../../systems/plan.fixture.ts';
import { lockPlan, withLock } from './lock-user.fixture.ts';
import { pinAsync, runAsync } from './run-async.ts';

test('the clients of a lock take turns', async () => {
  const trace = await runAsync(lockPlan(1), withLock);
  expect(trace.ending).toEqual({ kind: 'complete' });
  expect(eventsOf(trace, 'enter').length).toBe(4);
  expect(eventsOf(trace, 'write').map(({ value }) => value)).toEqual([1, 2, 3, 4]);
});

test('a plan gives the same trace, byte for byte, in every run', async () => {
  const digests = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (let seed = 0; seed < 200; seed += 1) {
      found.push(digestOf(await runAsync(lockPlan(seed), withLock)));
    }
    return found;
  };
  const first = await digests();
  expect(new Set(first).size).toBe(200);
  expect(await digests()).toEqual(first);
});

test('a pinned plan leaves nothing to chance and gives the same trace', async () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const plan = lockPlan(seed);
    const pinned = await pinAsync(plan, withLock);
    expect(pinned.chance).toBeNull();
    const [one, other] = [plan, pinned].map((each) => runAsync(each, withLock));
    const pinnedTrace = await other;
    expect(pinnedTrace?.unmatched).toEqual([]);
    expect(digestOf((await one) ?? expect.fail())).toBe(digestOf(pinnedTrace ?? expect.fail()));
  }
});
