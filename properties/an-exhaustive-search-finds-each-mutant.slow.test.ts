/**
 * Law: for each mutant, an exhaustive search finds within 20,000 plans, scope by scope from the
 * smallest, a counterexample with no more faults than the shrunk one of a seed. The few mutants
 * that need more than varied faults are listed with that need.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { builtIn } from '../src/catalogue.ts';
import { examineEither, shrinkFailureAsync, watchAsync } from '../src/host/async/run-async.ts';
import { expand } from '../src/scenario/expand.ts';
import type { ExhaustScope, Scenario } from '../src/scenario/scenario.ts';
import { countPlans, NumberedPlans } from '../src/search/exhaust/exhaust.ts';
import { narrowed } from '../src/search/exhaust/narrowed.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { MUTANT, scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';
import { some } from './runs.ts';

const MOST_PLANS = 20_000;

/** Each is found within 60 seeds. */
const SEEDS = 60;

/** Number of swaps of tied events that a mutant needs, by its name; default 0. */
const TIES: Readonly<Record<string, number>> = { 'restart-at-once': 1 };

/** Mutants for which a seed draws something that saves a fault: the search needs one more. */
const ONE_MORE: Readonly<Record<string, string>> = {
  'kubernetes-late-deadline': 'a client that begins later',
  'release-get-then-delete': 'a client that begins later',
  'same-token-reorder': 'latencies that differ, so that one message overtakes another',
  'token-not-raised-on-takeover': 'a client that never gives its lock back',
};

/** Needs of a mutant that an exhaustive search does not vary, by its name. */
const NEEDS: Readonly<Record<string, string>> = {
  'expiry-boundary': 'a client that begins later',
  'no-partial-release': 'latencies that differ, so that each of three clients gets one node',
};

/** From the smallest: faults, clients, sections. */
const SCOPES = [0, 1, 2].flatMap((faults) => [
  { faults, clients: 2, sections: 1 },
  { faults, clients: 2, sections: 2 },
  { faults, clients: 3, sections: 2 },
]);

/** Returns the number of faults of the first plan that breaks the claim, or null. */
async function faultsFound(scenario: Scenario, claim: string): Promise<number | null> {
  const { plans, blocks } = await countPlans(scenario, MUTANT, {
    catalogue: builtIn,
    watch: watchAsync,
  });
  const numbered = new NumberedPlans(scenario, MUTANT, blocks);
  for (let number = 0; number < Math.min(plans, MOST_PLANS); number += 1) {
    const plan = numbered.planOf(number);
    const { verdicts } = await examineEither(plan, [claim]);
    if (verdicts[0]?.kind === 'invalid') return plan.faults.length;
  }
  return null;
}

async function faultsFoundIn(
  scenario: Scenario,
  claim: string,
  scopes: readonly Omit<ExhaustScope, 'ties'>[],
): Promise<number | null> {
  const ties = TIES[scenario.name] ?? 0;
  for (const scope of scopes) {
    const found = await faultsFound(narrowed(scenario, { ...scope, ties }), claim);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the number of faults of the first counterexample of a seed, shrunk. */
async function faultsShrunk(scenario: Scenario, claim: string): Promise<number> {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const plan = expand(scenario, MUTANT, seed);
    const { verdicts } = await examineEither(plan, [claim]);
    if (verdicts[0]?.kind !== 'invalid') continue;
    return (await shrinkFailureAsync(plan, claim)).plan.faults.length;
  }
  throw new Error(`no seed below ${SEEDS} breaks ${claim}`);
}

beforeAll(() => prepare(mutants.flatMap(({ base, mutant }) => [base, mutant])));

test.each(some(mutants))('$name', { timeout: 180_000 }, async (mutant) => {
  const { name, caughtBy } = mutant;
  const scenario = scenarioOf(mutant);
  const needs = NEEDS[name];
  if (needs !== undefined) {
    const small = SCOPES.filter(({ faults, clients }) => faults < 2 && clients < 3);
    const found = await faultsFoundIn(scenario, caughtBy, small);
    expect(found, `it is found, and so does not need ${needs}`).toBeNull();
    return;
  }
  const shrunk = await faultsShrunk(scenario, caughtBy);
  const most = name in ONE_MORE ? shrunk + 1 : shrunk;
  const scopes = SCOPES.filter(({ faults }) => faults <= most);
  const found = await faultsFoundIn(scenario, caughtBy, scopes);
  expect(found, 'faults of the first that is found').not.toBeNull();
  if (name in ONE_MORE) expect(found, `it needs no ${ONE_MORE[name]}`).toBe(most);
});

test('the page on exhaustive search has the current numbers', () => {
  const page = readFileSync(new URL('../docs/exhaustive.md', import.meta.url), 'utf8');
  const found = mutants.length - Object.keys(NEEDS).length;
  expect(page.replace(/\s+/g, ' ')).toContain(`it finds ${found} of the ${mutants.length} mutants`);
});
