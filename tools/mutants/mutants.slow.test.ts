import { beforeAll, describe, expect, test } from 'vitest';
import { some } from '../../properties/runs.ts';
import { claims } from '../../src/check/claims.ts';
import { expand } from '../../src/scenario/expand.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { BASE, MUTANT, type Mutant, scenarioOf } from './mutant.ts';
import { mutants } from './mutants.ts';
import { tryMutant } from './trial.ts';

/** The one-line bugs that fencepost promises to find, each with its claim. */
const PROMISED: readonly (readonly [string, string])[] = [
  ['unfenced', 'fence-monotone'],
  ['read-not-registered', 'no-lost-update'],
  ['fence-inverted', 'progress'],
  ['fence-equality', 'progress'],
  ['fence-strict', 'progress'],
  ['same-token-reorder', 'holder-order'],
  ['highest-not-updated', 'fence-monotone'],
  ['highest-per-key', 'fence-monotone'],
  ['highest-volatile', 'fence-durable'],
  ['highest-on-one-replica', 'fence-monotone'],
  ['client-side-fence', 'fence-monotone'],
  ['token-borrowed', 'token-bound'],
  ['token-missing-accepted', 'fence-monotone'],
  ['token-above-2^53', 'tokens-unique'],
  ['token-32-bit', 'tokens-increase'],
  ['token-not-raised-on-takeover', 'tokens-unique'],
  ['token-restarts-when-absent', 'tokens-increase'],
  ['token-is-random', 'tokens-increase'],
  ['secondary-counter', 'tokens-increase'],
  ['false-is-zero', 'mutual-exclusion'],
  ['renew-new-token', 'token-stable'],
  ['release-by-client', 'owner-only-release'],
  ['release-get-then-delete', 'owner-only-release'],
  ['release-unconditional', 'owner-only-release'],
  ['renew-no-owner', 'renew-live'],
  ['renew-creates-key', 'no-revival'],
  ['serves-nobody', 'progress'],
  ['serves-one', 'progress'],
  ['drops-writes', 'no-lost-update'],
  ['expiry-boundary', 'lease-conservative'],
  ['expiry-from-reply', 'lease-conservative'],
  ['no-validity-check', 'holder-overlap'],
  ['quorum-half', 'mutual-exclusion'],
  ['no-partial-release', 'progress'],
  ['drift-ignored', 'lease-conservative'],
  ['wall-clock-elapsed', 'lease-conservative'],
  ['caller-time', 'mutual-exclusion'],
  ['no-recheck-after-wait', 'lease-conservative'],
  ['abort-only-on-reject', 'lease-conservative'],
  ['duration-truncated', 'lease-conservative'],
  ['orphan-kept', 'no-orphan'],
  ['own-duration', 'mutual-exclusion'],
  ['etcd-no-recheck', 'mutual-exclusion'],
  ['etcd-lease-as-token', 'tokens-increase'],
  ['etcd-old-leader', 'mutual-exclusion'],
  ['etcd-release-once', 'progress'],
  ['kubernetes-release-observed', 'owner-only-release'],
  ['kubernetes-duration-truncated', 'lease-conservative'],
  ['kubernetes-late-deadline', 'mutual-exclusion'],
  ['zookeeper-sequence-as-token', 'tokens-increase'],
  ['zookeeper-previous-session', 'tokens-increase'],
  ['zookeeper-unprotected-create', 'progress'],
  ['zookeeper-release-once', 'progress'],
  ['postgres-session-in-pool', 'mutual-exclusion'],
  ['postgres-no-keepalive', 'progress'],
  ['postgres-locked-twice', 'progress'],
  ['stamped-by-the-clock', 'grant-order'],
  ['restart-at-once', 'mutual-exclusion'],
  ['lock-delay-zero', 'grant-order'],
  ['retry-unknown-commit', 'no-lost-update'],
];

const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));

beforeAll(() => prepare(mutants.flatMap(({ base, mutant }) => [base, mutant])));

describe('the mutants', () => {
  test('are the promised ones, each caught by the promised claim', () => {
    const found = mutants.map(({ name, caughtBy }) => `${name}: ${caughtBy}`);
    expect(found.sort()).toEqual(PROMISED.map(([name, claim]) => `${name}: ${claim}`).sort());
    for (const { caughtBy } of mutants) expect([...claims.keys()]).toContain(caughtBy);
  });

  test('differ from their bases only in the named fields', () => {
    for (const { base, mutant, name } of mutants) {
      expect(mutant.lock, name).toBe(base.lock);
      expect(mutant, name).not.toEqual(base);
    }
  });
});

function mutantOf(name: string): Mutant {
  const mutant = byName.get(name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  return mutant;
}

describe('on the same plans', () => {
  test.each(some(PROMISED).map(([name]) => name))(
    '%s is found and its base holds',
    async (name) => {
      // Enough seeds to find the rarest almost surely.
      const { found, ...trial } = await tryMutant(mutantOf(name), 60);
      expect(found.count).toBeGreaterThan(0);
      expect(trial).toMatchObject({ baseFlaws: [], failed: 0 });
    },
  );

  test.each(PROMISED.map(([name]) => name))('%s and its base do the same work', (name) => {
    const scenario = scenarioOf(mutantOf(name));
    for (let seed = 0; seed < 5; seed += 1) {
      const [base, mutated] = [BASE, MUTANT].map((system) => expand(scenario, system, seed));
      expect(mutated?.faults).toEqual(base?.faults);
      expect(mutated?.chance).toEqual(base?.chance);
      const sectionsOf = (plan: typeof base): unknown => plan?.clients.map((one) => one.sections);
      expect(sectionsOf(mutated)).toEqual(sectionsOf(base));
    }
  });
});
