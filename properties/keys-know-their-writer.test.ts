/**
 * Law: a lock on a Redis node knows its owner. A client that removes, extends or overwrites
 * another's key breaks a claim; a lock that compares breaks none, and neither do other uses of
 * keys.
 */
import { describe, expect, test } from 'vitest';
import { explain } from '../src/check/explain.ts';
import { inWords } from '../src/check/in-words.fixture.ts';
import { examineSeedAsync } from '../src/host/async/run-async.ts';
import { HOLDERS, keyUsersScenario, USES, withKeyUsers } from './key-users.ts';
import { runs } from './runs.ts';

const CLAIMS = ['owner-only-release', 'renew-live', 'mutual-exclusion'];
const OF_KEYS = /key/;
const WORDS =
  /^L[a-z ]+ `lock:db` \w+ by (\w+) while (\w+) held it\. Then \2 took .+ However, \1, who had it .+ by `/;
const scenario = keyUsersScenario();

interface Found {
  /** The broken rules about keys. */
  readonly rules: ReadonlySet<string>;
  readonly exercised: ReadonlyMap<string, number>;
}

async function foundIn(system: string, seeds: number): Promise<Found> {
  const rules = new Set<string>();
  const exercised = new Map<string, number>();
  for (let seed = 0; seed < seeds; seed += 1) {
    const { verdicts, trace } = await examineSeedAsync(
      scenario,
      system,
      seed,
      CLAIMS,
      withKeyUsers,
    );
    for (const verdict of verdicts) {
      exercised.set(verdict.claim, (exercised.get(verdict.claim) ?? 0) + verdict.exercised);
      if (verdict.kind !== 'invalid' || !OF_KEYS.test(verdict.rule)) continue;
      rules.add(verdict.rule);
      expect(inWords(explain(trace, verdict))).toMatch(WORDS);
    }
  }
  return { rules, exercised };
}

const SEEDS = runs(200);

describe('a holder of a key', () => {
  test.each<[string, readonly string[]]>([
    ['compares', []],
    ['deletes', ['foreign-key-removal']],
    ['renews-any', ['foreign-key-renewal', 'renewed-foreign-key']],
    ['overwrites', ['overwrote-key']],
    ['overwrites-alike', ['overwrote-key']],
  ])('that %s breaks %j', async (system, expected) => {
    const { rules, exercised } = await foundIn(system, SEEDS);
    for (const rule of expected) expect(rules).toContain(rule);
    if (expected.length === 0) expect([...rules]).toEqual([]);
    expect(exercised.get('owner-only-release')).toBeGreaterThan(0);
  });

  test('is of one of these five kinds', () => {
    expect(HOLDERS).toEqual([
      'compares',
      'deletes',
      'renews-any',
      'overwrites',
      'overwrites-alike',
    ]);
  });
});

test.each(USES)('a %s is not a lock, whatever is done to it', async (use) => {
  expect([...(await foundIn(use, SEEDS)).rules]).toEqual([]);
});
