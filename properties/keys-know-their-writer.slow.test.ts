/**
 * Law: nothing that keys are used for beside a lock breaks a claim of locks, on 10,000 seeds: a
 * cache, a queue, a counter and a semaphore, on names that are like the lock's.
 */
import { expect, test } from 'vitest';
import { examineSeedAsync } from '../src/host/async/run-async.ts';
import { keyUsersScenario, USES, withKeyUsers } from './key-users.ts';

const SEEDS = 10_000 / USES.length;
const CLAIMS = ['owner-only-release', 'renew-live', 'mutual-exclusion'];
const scenario = keyUsersScenario();

test.each(USES)(
  'a %s is no lock',
  async (use) => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const { verdicts } = await examineSeedAsync(scenario, use, seed, CLAIMS, withKeyUsers);
      const rules = verdicts.map((verdict) => (verdict.kind === 'invalid' ? verdict.rule : ''));
      expect(
        rules.filter((rule) => rule.includes('key')),
        `seed ${seed}`,
      ).toEqual([]);
    }
  },
  600_000,
);
