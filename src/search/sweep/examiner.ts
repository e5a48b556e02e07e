/**
 * Examines a seed of a scenario with a catalogue. Also checks that examining it twice gives the
 * same result: a run must be a function of its plan.
 */

import { builtIn, type Catalogue } from '../../catalogue.ts';
import { isJudgedUnlisted } from '../../check/claims.ts';
import type { Trace } from '../../core/history/trace.ts';
import { assert } from '../../core/kernel/assert.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { SeedResult } from '../../harness.ts';
import { examineEither, runAsync } from '../../host/async/run-async.ts';
import { walked } from '../../host/async/walk.ts';
import { BLOCK_SEEDS, RealmBlock } from '../../host/realm/realm-blocks.ts';
import { canonical } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { isAsync } from '../../systems/assemble.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { errorText } from '../../text/error-text.ts';
import { NumberedPlans } from '../exhaust/exhaust.ts';
import type { PlanBlock } from '../exhaust/placements.ts';
import type { Examiner, Passing } from './chunk.ts';

/**
 * Returns an examiner that judges the listed claims and all cheap claims. The systems in `reusing`
 * reuse the realms of a block of seeds. If a seed then breaks something, only its result with new
 * realms counts. In an exhaustive search, seeds are plan numbers in the blocks `numbered`.
 */
export function examinerOf(
  scenario: Scenario,
  catalogue: Catalogue = builtIn,
  reusing: readonly string[] = [],
  numbered: readonly PlanBlock[] = [],
): Examiner {
  const bySystem = new Map(
    scenario.systems.map(({ name, expect: { holds, breaks, may = [] } }) => {
      return [name, claimsJudged([...holds, ...breaks, ...may], catalogue)];
    }),
  );
  const planOf = planSource(scenario, numbered);
  const blocks = new SeedBlocks();
  const fresh = async (
    system: string,
    seed: number,
    claims: readonly string[],
  ): Promise<SeedResult> => examineEither(planOf(system, seed), claims, catalogue);
  const inBlock = async (
    { system, seed, claims }: { system: string; seed: number; claims: readonly string[] },
    { skip, onPass, onDifference }: Passing,
  ): Promise<SeedResult> => {
    const examine = async (
      blockSeed: number,
      judged: readonly string[],
      realms: RealmBlock,
    ): Promise<SeedResult> =>
      examineEither(planOf(system, blockSeed), judged, catalogue, { realms });
    const realms = await blocks.realmsFor({ system, seed, skip }, async (before, realms) => {
      onPass();
      await examine(before, [], realms);
    });
    const used = await examine(seed, claims, realms).catch(errorText);
    if (typeof used !== 'string' && !isTrouble(used)) return used;
    const rerun = await fresh(system, seed, claims).catch((error: unknown) => {
      if (typeof used !== 'string') onDifference('it fails only with fresh modules');
      throw error;
    });
    const difference = typeof used === 'string' ? used : traceDifference(used.trace, rerun.trace);
    if (difference !== null) onDifference(difference);
    return rerun;
  };
  const alone: Passing = { skip: [], onPass: () => {}, onDifference: () => {} };
  return (system, seed, passing = alone) => {
    const claims = bySystem.get(system) ?? claimsJudged([], catalogue);
    if (reusing.includes(system)) return inBlock({ system, seed, claims }, passing);
    return examineEither(planOf(system, seed), claims, catalogue);
  };
}

function planSource(
  scenario: Scenario,
  blocks: readonly PlanBlock[],
): (system: string, seed: number) => Plan {
  if (scenario.exhaust === undefined) return (system, seed) => expand(scenario, system, seed);
  const numbered = new Map(
    scenario.systems.map(({ name }) => [name, new NumberedPlans(scenario, name, blocks)]),
  );
  return (system, number) => {
    const plans = numbered.get(system);
    assert(plans !== undefined, `the scenario has no system ${system}`);
    return plans.planOf(number);
  };
}

/** Returns true if a run shows a problem. Only runs with new realms may report problems. */
function isTrouble({ verdicts, trace }: SeedResult): boolean {
  return trace.ending.kind === 'failed' || verdicts.some(({ kind }) => kind !== 'valid');
}

interface OpenBlock {
  readonly number: number;
  readonly realms: RealmBlock;
  next: number;
}

/** Runs a seed only for its effect on module state. */
type Pass = (seed: number, realms: RealmBlock) => Promise<unknown>;

/**
 * Provides the realms of the current block of seeds. A seed gets the state that all earlier seeds
 * of its block left, regardless of where a chunk or a shard begins.
 */
export class SeedBlocks {
  private readonly open: Map<string, OpenBlock> = new Map();

  /** Returns the realms for a seed. Calls `pass` for the earlier seeds of its block first. */
  async realmsFor(
    { system, seed, skip }: { system: string; seed: number; skip: readonly number[] },
    pass: Pass,
  ): Promise<RealmBlock> {
    const block = this.blockFor(system, seed);
    for (let before = block.next; before < seed; before += 1) {
      if (!skip.includes(before)) await pass(before, block.realms);
    }
    block.next = seed + 1;
    return block.realms;
  }

  private blockFor(system: string, seed: number): OpenBlock {
    const number = Math.floor(seed / BLOCK_SEEDS);
    const known = this.open.get(system);
    if (known?.number === number && known.next <= seed) return known;
    const block = { number, realms: new RealmBlock(), next: number * BLOCK_SEEDS };
    this.open.set(system, block);
    return block;
  }
}

/** Loads the dependencies of the stores of all systems. */
export async function prepareScenario(
  scenario: Scenario,
  catalogue: Catalogue = builtIn,
): Promise<void> {
  await prepare(scenario.systems, catalogue);
}

/** Returns the listed claims, and the claims that are judged on every run. */
export function claimsJudged(
  listed: readonly string[],
  { claims }: Pick<Catalogue, 'claims'> = builtIn,
): readonly string[] {
  return [...new Set([...listed, ...[...claims.keys()].filter(isJudgedUnlisted)])];
}

/** Runs a seed twice. Returns the first difference in words, or null if there is none. */
export async function repeatSeed(
  scenario: Scenario,
  system: string,
  seed: number,
  catalogue: Catalogue = builtIn,
): Promise<string | null> {
  const plan = expand(scenario, system, seed);
  const once = (): Promise<Trace> =>
    isAsync(plan, catalogue) ? walked(() => runAsync(plan, catalogue)) : runAsync(plan, catalogue);
  return traceDifference(await once(), await once());
}

/** Returns the first difference between two traces in words, or null if they are equal. */
export function traceDifference(first: Trace, second: Trace): string | null {
  const length = Math.max(first.events.length, second.events.length);
  for (let at = 0; at < length; at += 1) {
    const here = textOf(first.events[at]);
    const there = textOf(second.events[at]);
    if (here !== there) return `event ${at} differs: first ${here}, then ${there}`;
  }
  return first.ending.kind === second.ending.kind ? null : 'the runs ended differently';
}

function textOf(event: object | undefined): string {
  return event === undefined ? 'nothing' : canonical(event);
}
