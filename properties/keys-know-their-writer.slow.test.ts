/**
 * Law: no other use of keys next to a lock breaks a claim of locks: a cache, a queue, a counter and
 * a semaphore, with names similar to the lock's. `FENCEPOST_SEEDS` sets the number of seeds for
 * each.
 */
import { expect, test } from 'vitest';
import { examineSeedAsync } from '../src/host/async/run-async.ts';
import { keyUsersScenario, USES, withKeyUsers } from './key-users.ts';
import { runs } from './runs.ts';

const SEEDS = Number(process.env['FENCEPOST_SEEDS'] ?? runs(400));
/** The faster test of the same tier has already tried the earlier ones. */
const FIRST = process.env['FENCEPOST_SEEDS'] === undefined ? runs(200) : 0;
const CLAIMS = ['owner-only-release', 'renew-live', 'mutual-exclusion'];
const scenario = keyUsersScenario();

test.each(USES)(
  'a %s is not a lock',
  async (use) => {
    for (let seed = FIRST; seed < SEEDS; seed += 1) {
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
