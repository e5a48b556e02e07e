/**
 * Law: the plans that are kept with the scenarios were drawn from thousands of seeds and shrunk; an
 * exhaustive search with as many clients, sections and faults breaks the same claim with no more
 * faults, and no plan breaks it on a twin that must hold it. The kept plans that need more than
 * varied faults are listed with that need.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Catalogue } from '../src/catalogue.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { examineEither, watchAsync } from '../src/host/async/run-async.ts';
import { loadPlanFile, loadScenarioFile } from '../src/host/modules/load-files.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { countPlans, NumberedPlans } from '../src/search/exhaust/exhaust.ts';
import { narrowed } from '../src/search/exhaust/narrowed.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { some } from './runs.ts';

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** Number of swaps of tied events that a plan needs, by its name; default 0. */
const TIES: Readonly<Record<string, number>> = {
  'cache-lock-boundary-published-owner-only-release': 1,
  'quorum-first-write-goes-on-grant-order': 2,
  'redlock-clock-step-wall-mutual-exclusion': 1,
  'redlock-restart-at-once-mutual-exclusion': 1,
  'several-writes-fenced-pool-holder-order': 1,
};

/** Needs of a plan that an exhaustive search does not vary, by its name. */
const NEEDS: Readonly<Record<string, string>> = {
  'boundary-after-lease-conservative': 'a client that begins later',
  'timestamp-tick-timestamped-linearizable': 'an event behind what is caused at its instant',
  'timestamp-tick-timestamped-no-lost-update': 'an event behind what is caused at its instant',
  'timestamp-tick-timestamped-sql-no-lost-update': 'an event behind what is caused at its instant',
  'evicted-lease-memcached-owner-only-release': 'a client that begins later',
  'kubernetes-rate-tight-mutual-exclusion': 'a client that never gives its lock back',
  'redis-release-get-then-delete-owner-only-release': 'a client that begins later',
  'stampede-pause-cache-lock-mutual-exclusion': 'a client that begins later',
  'timestamp-skew-by-client-no-lost-update': 'a client that begins later',
  'token-missing-token-missing-accepted-fence-monotone': 'a write that lacks its token',
  'redelivered-steps-lease-only-at-most-once': 'a message that the queue keeps twice',
  'redelivered-steps-step-fence-at-most-once': 'a message that the queue keeps twice',
};

const NUMBERS: Readonly<Record<number, string>> = { 5: 'five', 12: 'twelve' };

/** With more, a search exceeds the time limit of a test. */
const MOST_FAULTS = 2;

interface Kept {
  readonly plan: Plan;
  readonly claim: string;
  readonly scenario: Scenario;
  readonly catalogue: Catalogue;
}

async function keptIn(file: string): Promise<Kept | null> {
  const read = await loadPlanFile(join(fixtures, 'plans', file));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { plan } = read;
  const { expect: expected, faults, clients } = plan;
  if (expected?.outcome !== 'reproduced' || faults.length > MOST_FAULTS) return null;
  const loaded = await loadScenarioFile(join(fixtures, `${plan.scenario}.yaml`));
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const scenario = narrowed(withFirst(clients, loaded.scenario), {
    faults: faults.length,
    ties: TIES[basename(file, '.yaml')] ?? 0,
    clients: clients.length,
    sections: Math.max(...clients.map(({ sections }) => sections.length)),
  });
  await prepare(scenario.systems, loaded.catalogue);
  return { plan, claim: expected.claim, scenario, catalogue: loaded.catalogue };
}

/** Moves the clients of a plan to the front, since a search takes the first ones. */
function withFirst(kept: Plan['clients'], scenario: Scenario): Scenario {
  const names = new Set(kept.map(({ name }) => name));
  const first = scenario.clients.filter(({ name }) => names.has(name));
  const others = scenario.clients.filter(({ name }) => !names.has(name));
  return { ...scenario, clients: [...first, ...others] };
}

/** Returns the first plan of a system that breaks the claim, or null. */
async function firstBroken(
  { scenario, claim, catalogue }: Kept,
  system: string,
): Promise<Plan | null> {
  const { plans, blocks } = await countPlans(scenario, system, { catalogue, watch: watchAsync });
  const numbered = new NumberedPlans(scenario, system, blocks);
  for (let number = 0; number < plans; number += 1) {
    const plan = numbered.planOf(number);
    const { verdicts } = await examineEither(plan, [claim], catalogue);
    if (verdicts[0]?.kind === 'invalid') return plan;
  }
  return null;
}

test.each(some(readdirSync(join(fixtures, 'plans'))))('%s', { timeout: 120_000 }, async (file) => {
  const kept = await keptIn(file);
  if (kept === null) return;
  const { plan, claim, scenario } = kept;
  const found = await firstBroken(kept, plan.system.name);
  const needs = NEEDS[basename(file, '.yaml')];
  if (needs !== undefined) {
    expect(found, `it is found, and so does not need ${needs}`).toBeNull();
    return;
  }
  expect(found?.faults.length).toBeLessThanOrEqual(plan.faults.length);
  for (const { name, expect: expected } of scenario.systems) {
    if (expected.holds.includes(claim)) expect(await firstBroken(kept, name), name).toBeNull();
  }
});

test('every listed plan that needs more is still kept', () => {
  const files = readdirSync(join(fixtures, 'plans')).map((file) => basename(file, '.yaml'));
  expect(Object.keys(NEEDS).filter((name) => !files.includes(name))).toEqual([]);
});

test('the page on exhaustive search has the current numbers', async () => {
  const files = readdirSync(join(fixtures, 'plans'));
  const kept = (await Promise.all(files.map(keptIn))).filter((one) => one !== null).length;
  const [ties, needs] = [Object.keys(TIES).length, Object.keys(NEEDS).length];
  const page = readFileSync(join(fixtures, '../docs/exhaustive.md'), 'utf8').replace(/\s+/g, ' ');
  expect(page).toContain(`Of the ${kept} shrunk counterexamples`);
  const without = kept - ties - needs;
  expect(page).toContain(
    `finds ${without} with all clients, and ${NUMBERS[ties]} more with \`--ties\``,
  );
  expect(page).toContain(`The other ${NUMBERS[needs]} depend on something that it does not vary`);
});
