import { beforeAll, describe, expect, test } from 'vitest';
import { claims } from '../../check/claims.ts';
import { expand } from '../../scenario/expand.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { sweep } from '../sweep/sweep.ts';
import { BASE, MUTANT, scenarioOf } from './mutant.ts';
import { mutants } from './mutants.ts';
import { blockOf, judgeTrial, type MutantTrial } from './trial.ts';

/** The one-line bugs that fencepost promises to find, each with the claim that does. */
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

/** Those without a fault; what they need is in their clients and their network. */
const WITHOUT_FAULT = ['expiry-boundary', 'no-partial-release'];

const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));

beforeAll(() => prepare(mutants.flatMap(({ base, mutant }) => [base, mutant])));

describe('the mutants', () => {
  test('are those that are promised, each caught by the claim that is', () => {
    const found = mutants.map(({ name, caughtBy }) => `${name}: ${caughtBy}`);
    expect(found.sort()).toEqual(PROMISED.map(([name, claim]) => `${name}: ${claim}`).sort());
    for (const { caughtBy } of mutants) expect([...claims.keys()]).toContain(caughtBy);
  });

  test('differ from their bases in what they name, and in nothing else', () => {
    for (const { base, mutant, name } of mutants) {
      expect(mutant.lock, name).toBe(base.lock);
      expect(mutant, name).not.toEqual(base);
    }
  });

  test('meet a fault exactly where they need one', () => {
    for (const mutant of mutants) {
      const { faults } = scenarioOf(mutant);
      const needsFault = mutant.needs !== '' && !WITHOUT_FAULT.includes(mutant.name);
      expect(faults.length > 0, mutant.name).toBe(needsFault);
    }
  });
});

/** Of as many seeds as it takes to be all but sure of the rarest. */
async function tryOn(name: string, to: number): Promise<MutantTrial> {
  const mutant = byName.get(name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  const scenario = scenarioOf(mutant);
  const range = { from: 0, to };
  const { tallies } = await sweep(scenario, { ...range, pool: null });
  return judgeTrial(mutant, scenario, { blocks: [blockOf(range, tallies)], isWhole: true });
}

describe('on the same plans', () => {
  test.each(PROMISED.map(([name]) => name))('%s is found and its base holds', async (name) => {
    const { found, base, failed } = await tryOn(name, 59);
    expect({ isFound: found.hits > 0, base, failed }).toEqual({
      ...{ isFound: true, base: { verdict: 'held', broken: 0, why: [] }, failed: 0 },
    });
  });

  test.each(PROMISED.map(([name]) => name))('%s and its base do the same work', (name) => {
    const mutant = byName.get(name);
    if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
    const scenario = scenarioOf(mutant);
    for (let seed = 0; seed < 5; seed += 1) {
      const [base, mutated] = [BASE, MUTANT].map((system) => expand(scenario, system, seed));
      expect(mutated?.faults).toEqual(base?.faults);
      expect(mutated?.chance).toEqual(base?.chance);
      const sectionsOf = (plan: typeof base): unknown => plan?.clients.map((one) => one.sections);
      expect(sectionsOf(mutated)).toEqual(sectionsOf(base));
    }
  });
});
