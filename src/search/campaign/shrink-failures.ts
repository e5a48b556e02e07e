/**
 * Shrinks the failures that a sweep found. Each claim gets one counterexample per kind of failure,
 * that is, per cause. For the first kind, the simplest result of a few seeds is used, since one
 * seed may get stuck with two faults. Plans with a new cause, found while shrinking, are shrunk
 * last.
 */
import { type BreachCause, isSameCause } from '../../check/breach-cause.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { isSimpler } from '../../core/shrink/simpler.ts';
import { expectsBreach } from '../../harness.ts';
import { examineAsync, pinAsync } from '../../host/async/run-async.ts';
import { drawsNothing, expand } from '../../scenario/expand.ts';
import { isSameKind, signatureOf } from '../corpus/signature.ts';
import type { NumberedPlans } from '../exhaust/exhaust.ts';
import { kindsAmong } from '../sweep/causes.ts';
import type { ClaimCounts } from '../sweep/counts.ts';
import { claimsToShrink } from '../sweep/expectation.ts';
import { performTask, type TaskContext } from '../sweep/tasks.ts';
import type { Finding } from './result.ts';
import type {
  CampaignSetting,
  ShrinkLimits,
  ShrunkFailure,
  ShrunkPlan,
  Subject,
} from './setting.ts';

export const SHRINK_LIMITS: ShrinkLimits = {
  claimsOf: claimsToShrink,
  seeds: 3,
  kinds: 3,
  keepsWritten: true,
};

export interface ShrinkContext
  extends Pick<CampaignSetting, 'isInterrupted' | 'describe' | 'emit'> {
  readonly tasks: TaskContext;
  readonly limits: ShrinkLimits;
  /** The plans of an exhaustive search, or null if seeds are examined. */
  readonly numbered: NumberedPlans | null;
}

export interface BrokenClaim {
  readonly system: string;
  readonly claim: string;
  readonly counts: ClaimCounts;
}

/** Returns the counterexamples of a claim. Empty if no seed breaks the claim again. */
export async function shrinkClaim(
  subject: Subject,
  broken: BrokenClaim,
  context: ShrinkContext,
): Promise<readonly Finding[]> {
  const { limits, numbered, isInterrupted } = context;
  const { causes = [], brokenSeeds } = broken.counts;
  const kinds = kindsAmong(causes);
  const known: BreachCause[] = kinds.map(({ cause }) => cause);
  const seedsByKind = kinds.length === 0 ? [brokenSeeds] : kinds.map((kind) => kind.brokenSeeds);
  const found: Finding[] = [];
  const met: { readonly plan: Plan; readonly seed: number }[] = [];
  const planOf = (seed: number): Plan =>
    numbered?.planOf(seed) ?? expand(subject.scenario, broken.system, seed);
  const next = async (seeds: readonly number[], planOfSeed: typeof planOf): Promise<void> => {
    const tries = { seeds, planOf: planOfSeed, number: found.length + 1 };
    const best = await simplestOf(subject, broken, tries, context);
    if (best === null) return;
    met.push(...best.others);
    const finding = await context.describe(best.failure);
    if (finding === null || found.some((old) => isSameFinding(old, finding))) return;
    found.push(finding);
    const { result, seed } = best.failure;
    for (const { plan, isElsewhere } of result.others) {
      // It has fewer faults, so this ends.
      if (isElsewhere && !isInterrupted()) await next([seed], () => plan);
    }
  };
  const isWritten = limits.keepsWritten && isWrittenOut(subject, broken.system);
  for (const [at, seeds] of seedsByKind.slice(0, isWritten ? 1 : limits.kinds).entries()) {
    await next(seeds.slice(0, at === 0 ? limits.seeds : 1), planOf);
  }
  for (const { plan, seed } of [...met]) {
    if (found.length >= limits.kinds || isInterrupted()) break;
    const { causes: seen } = await examineAsync(plan, [broken.claim], subject.catalogue);
    const cause = seen.get(broken.claim);
    if (cause === undefined || known.some((earlier) => isSameCause(earlier, cause))) continue;
    known.push(cause);
    await next([seed], () => plan);
  }
  return found;
}

/** Returns true if every seed gives the same run. */
function isWrittenOut({ scenario }: Subject, system: string): boolean {
  return scenario.exhaust === undefined && drawsNothing(scenario, system);
}

/** Returns true if two kinds shrank to the same failure. The faults that differed are gone. */
function isSameFinding(one: Finding, other: Finding): boolean {
  const first = signatureOf(one.plan, one.verdict);
  const second = signatureOf(other.plan, other.verdict);
  return one.verdict.rule === other.verdict.rule && isSameKind(first, second);
}

interface Tries {
  readonly seeds: readonly number[];
  readonly planOf: (seed: number) => Plan;
  readonly number: number;
}

interface Best {
  readonly failure: ShrunkFailure;
  /** Plans that break the claim by another cause, found while shrinking. */
  readonly others: readonly { readonly plan: Plan; readonly seed: number }[];
}

/** Returns the simplest failure among the shrunk seeds, or null if none broke the claim. */
async function simplestOf(
  subject: Subject,
  { system, claim }: BrokenClaim,
  { seeds, planOf, number }: Tries,
  { tasks, limits, isInterrupted, emit }: ShrinkContext,
): Promise<Best | null> {
  const others: { readonly plan: Plan; readonly seed: number }[] = [];
  let best: ShrunkFailure | null = null;
  const failureOf = (seed: number, original: Plan, result: ShrunkPlan): ShrunkFailure => {
    return { subject, system, claim, seed, number, original, result };
  };
  for (const seed of seeds) {
    const original = planOf(seed);
    if (isInterrupted()) break;
    if (limits.keepsWritten && isWrittenOut(subject, system)) {
      best = failureOf(seed, original, await unshrunk(original, claim, subject, AS_WRITTEN));
      break;
    }
    const title = `shrinking seed ${seed} of ${system} in ${subject.scenario.name}`;
    const end = await performTask({ kind: 'shrink', plan: original, claim, title, seed }, tasks);
    if (end.kind === 'threw') throw new Error(end.error);
    if (end.kind === 'lost') {
      await emit({ kind: 'run lost', system, what: `${end.where}: ${end.why}` });
      best ??= failureOf(seed, original, await unshrunk(original, claim, subject, NOT_ENDED));
      break;
    }
    if (end.kind !== 'shrunk' || end.result.reproduced === false) continue;
    // Null: time ran out before the first run. Keep the plan as drawn, except after Ctrl-C.
    if (end.result.reproduced === null && isInterrupted()) continue;
    const { result } = end;
    if (result.others.length > 0) {
      const causes = result.others.map(({ cause }) => cause);
      await emit({ kind: 'other causes', system, claim, seed, causes });
      others.push(
        ...result.others.flatMap(({ plan, isElsewhere }) => (isElsewhere ? [] : [{ plan, seed }])),
      );
    }
    const isBetter = best === null || isSimpler(result.plan, best.result.plan);
    if (isBetter) best = failureOf(seed, original, result);
  }
  return best === null ? null : { failure: best, others };
}

/** Reasons not to shrink a plan. If the scenario draws nothing, its author intended each event. */
const AS_WRITTEN = 'not shrunk: the scenario draws nothing';
const NOT_ENDED = 'not shrunk: a run did not finish';

/** Pins a plan, but does not shrink it. */
async function unshrunk(
  original: Plan,
  claim: string,
  { catalogue }: Subject,
  whyNoBoundary: string,
): Promise<ShrunkPlan> {
  const plan = expectsBreach(await pinAsync(original, catalogue), claim);
  return { plan, boundary: null, whyNoBoundary, others: [] };
}
