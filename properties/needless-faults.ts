/**
 * Law: a shrunk plan has no fault without which the same claim breaks in the same section and at
 * the same key; if it breaks elsewhere, that plan is among the other breaches. The law is tried on
 * plans with at least three kinds of faults each, on users' asynchronous code and on built-in
 * systems with one mistake.
 */
import { expect } from 'vitest';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import { breachPlace } from '../src/check/breach-cause.ts';
import { wasInPlace } from '../src/core/plan/places.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { withoutFaults } from '../src/core/shrink/change.ts';
import { excessOf, isWithin } from '../src/core/shrink/search.ts';
import type { ShrinkResult } from '../src/core/shrink/shrink.ts';
import { defineSystem } from '../src/define-system.ts';
import type { SeedResult } from '../src/harness.ts';
import { examineEither, pinAsync, shrinkFailureAsync } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { MUTANT, scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';
import { thirdPartyLocks } from './third-party-locks.ts';
import { retriedLocks } from './third-party-retries.ts';
import { userLockKinds, userLocks } from './user-locks.ts';

/** A system whose seeds are tried. */
interface Source {
  readonly scenario: Scenario;
  readonly system: string;
  readonly catalogue: Catalogue;
  readonly isUserCode: boolean;
  readonly claims: readonly string[];
}

/** Claims that these systems break, also by faults other than those of their mistakes. */
const CLAIMS = [
  'mutual-exclusion',
  'grant-order',
  'no-lost-update',
  'lease-conservative',
  'owner-only-release',
  'progress',
];

/** Every kind of fault that can affect the system, more often than `faults: all` has them. */
const FAULTS = `swarm: false
faults:
  - pause: { process: clients, for: 1ms..60ms, chance: 1/2 }
  - pause: { process: lock, for: 1ms..30ms, chance: 1/4 }
  - clock: { process: clients, at: 0ms..60ms, step: -30ms..30ms, chance: 1/4 }
  - clock: { process: lock, at: 0ms..60ms, rate: 100ppm, chance: 1/4 }
  - crash: { process: clients, restart: 5ms..50ms, chance: 1/6 }
  - partition: { from: clients, to: lock, for: 5ms..50ms, chance: 1/4 }
  - reset: { from: clients, to: lock, chance: 1/4 }
  - delay: { by: 5ms..50ms, chance: 1/30 }
  - drop: { chance: 1/50 }
  - late-timer: { by: 5ms..50ms, chance: 1/20 }
`;

function scenarioFrom(text: string, catalogue: Catalogue): Scenario {
  const read = loadScenario(text, 'faults.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

function userCode(): readonly Source[] {
  const rest = { system: 'tested', isUserCode: true };
  const users = userLockKinds.map(({ broken, claim }) => {
    const scenario = scenarioFrom(textOf(broken, claim), userLocks);
    return { ...rest, scenario, catalogue: userLocks, claims: [claim, ...CLAIMS] };
  });
  const others = [...thirdPartyLocks, ...retriedLocks].map(({ lock, store, claim }) => {
    const catalogue = extend(builtIn, defineSystem({ locks: { foreign: lock } }));
    const system = `lock: foreign, store: ${store ?? 'unfenced'}`;
    const scenario = scenarioFrom(textOf(system, claim), catalogue);
    return { ...rest, scenario, catalogue, claims: [claim, ...CLAIMS] };
  });
  return [...users, ...others];
}

function textOf(system: string, claim: string): string {
  return `
name: faults
systems: { tested: { ${system}, expect: { breaks: [${claim}] } } }
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
${FAULTS}`;
}

/** Three of these have no store that `faults: all` could affect, one has an unjudged claim. */
const UNSUITED: ReadonlySet<string> = new Set([
  'false-is-zero',
  'caller-time',
  'own-duration',
  'no-validity-check',
]);

/** The mutants under all faults that can affect them. */
function builtInSystems(): readonly Source[] {
  return mutants
    .filter(({ name }) => !UNSUITED.has(name))
    .map((mutant) => ({
      scenario: scenarioOf({ ...mutant, world: { ...mutant.world, faults: 'all', swarm: false } }),
      system: MUTANT,
      catalogue: builtIn,
      isUserCode: false,
      claims: [mutant.caughtBy, ...CLAIMS],
    }));
}

/** A shrunk plan, and what was found out about it. */
interface Shrunk {
  readonly title: string;
  readonly isUserCode: boolean;
  /** Number of kinds of faults in the plan before it was shrunk. */
  readonly kinds: number;
  readonly result: ShrinkResult;
  /** Faults without which the same claim breaks in the same section and at the same key. */
  readonly needless: readonly string[];
  /** True if each breach elsewhere is among the other breaches. */
  readonly isElsewhereReported: boolean;
}

/** Tries the law on `of` plans. Returns how many lost a fault that only their cause named. */
export async function requireNoneNeedless(of: number): Promise<number> {
  const wrong: string[] = [];
  const shrunk: Shrunk[] = [];
  for await (const one of shrunkPlans(of)) {
    shrunk.push(one);
    const { title, needless, isElsewhereReported } = one;
    if (needless.length > 0) wrong.push(`${title} needs no ${needless.join(' and ')}`);
    if (!isElsewhereReported) wrong.push(`${title} also breaks elsewhere`);
  }
  expect(wrong).toEqual([]);
  expect(shrunk).toHaveLength(of);
  expect(Math.min(...shrunk.map(({ kinds }) => kinds))).toBeGreaterThanOrEqual(FEWEST_KINDS);
  const users = shrunk.filter(({ isUserCode }) => isUserCode);
  expect(users.length).toBeGreaterThanOrEqual(0.4 * of);
  const faulty = shrunk.filter(({ result }) => result.plan.faults.length > 0);
  expect(faulty.length).toBeGreaterThanOrEqual(0.9 * of);
  return shrunk.filter(({ result: { passes } }) =>
    passes.some(({ pass, accepted }) => pass === 'drop needless faults' && accepted > 0),
  ).length;
}

/** Yields shrunk plans, `of` of them, 42 % on users' code. */
async function* shrunkPlans(of: number): AsyncGenerator<Shrunk> {
  const users = Math.ceil(0.42 * of);
  yield* shrunkFrom(userCode(), users);
  yield* shrunkFrom(builtInSystems(), of - users);
}

const FEWEST_KINDS = 3;
const MOST_SEEDS = 10_000;

async function* shrunkFrom(sources: readonly Source[], of: number): AsyncGenerator<Shrunk> {
  for (const { scenario, catalogue } of sources) await prepare(scenario.systems, catalogue);
  let found = 0;
  for (let seed = 0; seed < MOST_SEEDS; seed += 1) {
    for (const [at, source] of sources.entries()) {
      if (found === of) return;
      // No two locks get the same plan, as some differ only in rare cases.
      const shrunk = await shrunkSeed(source, at * MOST_SEEDS + seed, found);
      if (shrunk === null) continue;
      found += 1;
      yield shrunk;
    }
  }
}

/** Shrinks a seed, if it breaks a claim. `turn` selects the claim among those that break. */
async function shrunkSeed(source: Source, seed: number, turn: number): Promise<Shrunk | null> {
  const { scenario, system, catalogue, isUserCode } = source;
  const claims = [...new Set(source.claims)];
  const plan = await pinAsync(expand(scenario, system, seed), catalogue);
  const kinds = new Set(plan.faults.map(({ kind }) => kind)).size;
  if (kinds < FEWEST_KINDS) return null;
  const { causes } = await examineEither(plan, claims, catalogue);
  const broken = claims.filter((claim) => causes.has(claim));
  const claim = broken[turn % broken.length];
  if (claim === undefined) return null;
  const calm = await examineEither({ ...plan, faults: [] }, [claim], catalogue);
  if (calm.causes.has(claim)) return null;
  const result = await shrinkFailureAsync(plan, claim, { catalogue });
  const faults = await faultsNotNeeded({ plan, claim, catalogue, result });
  const title = `seed ${seed} of ${plan.system.lock} in ${scenario.name}: ${claim}`;
  return { title, isUserCode, kinds, result, ...faults };
}

interface ToCheck {
  readonly plan: Plan;
  readonly claim: string;
  readonly catalogue: Catalogue;
  readonly result: ShrinkResult;
}

async function faultsNotNeeded({
  plan,
  claim,
  catalogue,
  result: { plan: least, others },
}: ToCheck): Promise<Pick<Shrunk, 'needless' | 'isElsewhereReported'>> {
  const base = await examineEither(least, [claim], catalogue);
  const needless: string[] = [];
  let isElsewhereReported = true;
  for (const fault of least.faults) {
    const rest = withoutFaults(least, [fault]);
    const without = await examineEither(rest, [claim], catalogue);
    const place = placeIn(without);
    // The shrinker never leaves the ranges and places of the scenario.
    const isAllowed = isWithin(rest, excessOf(plan)) && (isInPlace(without) || !isInPlace(base));
    if (place === null || !isAllowed) continue;
    if (place === placeIn(base)) needless.push(JSON.stringify(fault));
    else {
      const text = JSON.stringify(rest);
      const isReported = others.some((one) => one.isElsewhere && JSON.stringify(one.plan) === text);
      isElsewhereReported &&= isReported;
    }
  }
  return { needless, isElsewhereReported };
}

function placeIn({ trace, verdicts: [verdict] }: SeedResult): string | null {
  return verdict?.kind === 'invalid' ? breachPlace(trace, verdict) : null;
}

function isInPlace({ plan, trace }: SeedResult): boolean {
  if (plan.bounds.places === undefined) return true;
  return trace.events.every((event) => {
    const fault = event.kind === 'fault' ? plan.faults[event.index ?? -1] : undefined;
    return fault === undefined || wasInPlace(plan, fault, event.atUs);
  });
}
