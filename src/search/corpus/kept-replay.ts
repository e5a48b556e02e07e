/**
 * Replays a kept plan. If the outcome is not the declared one, determines whether the plan or the
 * system is responsible.
 *
 * If a second run differs from the first, the plan is `nondeterministic`. Otherwise, if the code
 * has changed since the plan was kept, similar plans are tried. For example, an extra command that
 * takes 2 ms may require a pause that is 2 ms longer. A similar plan must break the claim by the
 * cause for which the plan was kept. A breach by another cause is reported, but proves nothing. No
 * similar plan is tried for a plan that guards a fix.
 *
 * A name without a match is never guessed: the outcome is `diverged`, and the result includes the
 * rename that would reproduce the breach.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { type BreachCause, type FaultHit, isSameCause } from '../../check/breach-cause.ts';
import type { Trace } from '../../core/history/trace.ts';
import {
  faultNamed,
  labelIn,
  lengthened,
  numbered,
  type Rename,
  renamedPlan,
} from '../../core/plan/amend.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import { amountOf, placeNamed } from '../../core/plan/fault.ts';
import type { Expectation, KeptCause, Plan } from '../../core/plan/plan.ts';
import { pinAsync } from '../../host/async/run-async.ts';
import { isAsync } from '../../systems/assemble.ts';
import { nearestFirst } from '../../text/problem.ts';
import { causeName } from '../sweep/causes.ts';
import { traceDifference } from '../sweep/examiner.ts';
import { type Replay, replay } from './replay.ts';

/** The outcome of a readable kept plan. */
export type KeptFate = Expectation['outcome'] | 'nondeterministic';

export const FATES: Readonly<Record<KeptFate, string>> = {
  reproduced: 'the claim still breaks',
  fixed: 'the hazard arose and the claim held',
  inert: 'the hazard no longer arises, so the plan tests nothing',
  diverged: 'a name in the plan has no match in the run, so it tests nothing',
  nondeterministic: 'two runs differ',
};

export interface KeptReplay extends Omit<Replay, 'outcome'> {
  readonly outcome: KeptFate;
  /** The outcome that the plan declares. */
  readonly expected: Expectation['outcome'];
  /** The first difference between two runs of the plan, or null if none was found. */
  readonly difference: string | null;
  /** The plan with this outcome: the kept plan or a similar plan. */
  readonly plan: Plan;
  /** Differences of `plan` from the kept plan, one phrase each. */
  readonly changes: readonly string[];
  /** For a diverged plan, the label without a match and its possible new names. Otherwise null. */
  readonly lost: LostLabel | null;
  /**
   * The cause of the breach, or of a similar plan's breach, if the plan was kept for a different
   * cause. Otherwise null.
   */
  readonly otherCause: string | null;
}

/** A label in the plan that matches no name in the run. */
export interface LostLabel {
  readonly from: string;
  /** Names with this label in the same section, with other numbers: `bob/1/write-2`. */
  readonly namesakes: readonly string[];
  /** Labels in the run, by similarity. A label that reproduces the breach is first. */
  readonly nearest: readonly string[];
  /** The rename to the first of `nearest`, or null if it does not reproduce the breach. */
  readonly rename: Rename | null;
}

export interface KeptReplayOptions {
  /** The claim to judge. Default: the claim that the plan names. */
  readonly claim?: string | undefined;
  readonly catalogue?: Catalogue;
  /** True if the code under test may have changed since the plan was kept. */
  readonly hasChanged?: boolean;
}

/** Replays a kept plan. Runs the plan again if the outcome is unexpected. */
export async function replayKept(
  plan: Plan,
  { claim, catalogue = builtIn, hasChanged = false }: KeptReplayOptions = {},
): Promise<KeptReplay> {
  const expected = plan.expect?.outcome ?? 'reproduced';
  const first = await replay(plan, claim, catalogue);
  // A plan's expectation applies only to its own claim.
  const kept = plan.expect?.claim === first.claim ? (plan.expect.cause ?? null) : null;
  const judge = { claim: first.claim, catalogue, kept };
  const nothing = { difference: null, changes: [], lost: null };
  const found = { ...first, ...nothing, expected, plan, otherCause: otherCause(first, judge) };
  if (first.outcome === expected) return found;
  const second = await replay(plan, claim, catalogue);
  const difference = traceDifference(first.trace, second.trace);
  if (difference !== null) return { ...found, outcome: 'nondeterministic', difference };
  if (expected !== 'reproduced') return found;
  if (hasChanged && isAsync(plan, catalogue)) {
    const { close, byOther } = await firstReproduced(closeTo(plan), judge);
    if (close !== null) return { ...found, ...close };
    return await lostIn({ ...found, otherCause: byOther }, judge);
  }
  return await lostIn(found, judge);
}

async function lostIn(found: KeptReplay, judge: Judge): Promise<KeptReplay> {
  const { outcome, plan } = found;
  return outcome === 'diverged' ? { ...found, lost: await lostLabel(plan, found, judge) } : found;
}

/** Returns the name of the cause, or null if the plan was kept for this cause. */
function otherCause(
  { cause, trace }: Pick<Replay, 'cause' | 'trace'>,
  judge: Judge,
): string | null {
  if (cause === null || judge.kept === null) return null;
  const kept = { ...judge.kept, faults: translateLabels(judge.kept, cause, trace) };
  return isSameCause(cause, kept) ? null : causeName(cause);
}

/** Replaces labels of the kept cause with current labels, since operations may be renamed. */
function translateLabels(
  { faults }: KeptCause,
  { faults: now }: BreachCause,
  trace: Trace,
): FaultHit[] {
  const labels = new Set(labelsIn(trace));
  return faults.map((hit) => {
    const [, before, label = '', after] = HIT.exec(hit.what) ?? [];
    if (label === '' || VERBS.has(label) || labels.has(label)) return hit;
    const renamed = now.find(({ kind, what }) => {
      const [, , , ...ends] = HIT.exec(what) ?? [];
      return kind === hit.kind && what.startsWith(before ?? '') && ends[0] === after;
    });
    return renamed ?? hit;
  });
}

const HIT = /^(before |of )(\S+)( request| reply)?$/;

/** Names of operations in a cause that are not labels of user code. */
const VERBS: ReadonlySet<string> = new Set(['access', 'acquire', 'renew', 'release']);

interface Close {
  readonly plan: Plan;
  readonly changes: readonly string[];
}

interface Judge {
  readonly claim: string;
  readonly catalogue: Catalogue;
  /** The cause by which the claim must break. If null, any cause counts. */
  readonly kept: KeptCause | null;
}

interface Nearby {
  /** The first plan that reproduces the breach, or null if none does. */
  readonly close: (Replay & Close) | null;
  /** The first other cause by which a similar plan breaks the claim. Null if there is none. */
  readonly byOther: string | null;
}

async function firstReproduced(plans: Iterable<Close>, judge: Judge): Promise<Nearby> {
  const { claim, catalogue } = judge;
  let byOther: string | null = null;
  for (const close of plans) {
    const result = await replay(close.plan, claim, catalogue);
    if (result.outcome !== 'reproduced') continue;
    const other = otherCause(result, judge);
    if (other === null) {
      const plan = await pinAsync(close.plan, catalogue);
      return { close: { ...result, ...close, plan }, byOther };
    }
    byOther ??= other;
  }
  return { close: null, byOther };
}

const TIMES = [1.25, 1.5, 2, 4, Number.MAX_SAFE_INTEGER];
/** A fault may move to any of this many attempts of its operation. */
const TRIES = 6;
/** Number of times to redraw latencies and random numbers. */
const DRAWS = 24;

/**
 * Yields plans with the same faults on the same operations of the same sections. The faults are
 * longer, or at another attempt, or other latencies and random numbers are drawn.
 */
function* closeTo(plan: Plan): Generator<Close> {
  const longer = distinct(
    TIMES.map((times) => lengthened(plan, times)),
    plan,
  );
  yield* longer;
  const longest = longer.at(-1) ?? { plan, changes: [] };
  // Move the faults of a retried operation to the first attempt, then to the second, …
  const tries = Array.from({ length: TRIES }, (_, at) => {
    const faults = longest.plan.faults.map((fault) =>
      faultNamed(fault, (name) => (TRIED_AGAIN.test(name) ? numbered(name, at + 1) : name)),
    );
    return { ...longest.plan, faults };
  });
  const moved = distinct(tries, longest.plan);
  for (const close of moved) yield { ...close, changes: [...longest.changes, ...close.changes] };
  const bases = [longest, ...moved];
  const { latency } = plan.bounds;
  const none = { delay: null, drop: null, duplicate: null, lateTimer: null, jitter: null };
  for (let seed = 1; seed <= DRAWS; seed += 1) {
    const { plan: base, changes } = bases[seed % bases.length] ?? longest;
    // Draw random numbers of clients and latencies within the plan's bounds, but no faults.
    const chance = { seed, latency, latencyStepUs: 1, ...none };
    const drawn = { ...base, chance, decisions: {}, order: [] };
    yield { plan: drawn, changes: [...changes, 'different latencies and random numbers'] };
  }
}

/** Returns the plans with new faults, compared with `plan` and all earlier plans. */
function distinct(plans: readonly Plan[], plan: Plan): readonly Close[] {
  const seen = new Set([JSON.stringify(plan.faults)]);
  return plans.flatMap((candidate) => {
    const text = JSON.stringify(candidate.faults);
    if (seen.has(text)) return [];
    seen.add(text);
    return [{ plan: candidate, changes: faultsChanged(plan, candidate) }];
  });
}

/** Matches `bob/2/set-3`. The number of the attempt depends on the wait of the client. */
const TRIED_AGAIN = /^[^/]+\/\d+\/[^/]+-\d+(\/|$)/;

function faultsChanged(before: Plan, after: Plan): readonly string[] {
  return after.faults.flatMap((fault, at) => {
    const old = before.faults[at];
    if (old === undefined || JSON.stringify(old) === JSON.stringify(fault)) return [];
    const [was, is] = [amountOf(old), amountOf(fault)];
    if (was !== null && is !== null && was !== is) {
      return [`a ${fault.kind} of ${proseDuration(is)} instead of ${proseDuration(was)}`];
    }
    return [`a ${fault.kind} at ${placeNamed(fault)} instead of ${placeNamed(old)}`];
  });
}

async function lostLabel(
  plan: Plan,
  { divergedAt, trace }: Pick<Replay, 'divergedAt' | 'trace'>,
  judge: Judge,
): Promise<LostLabel | null> {
  const from = labelIn(divergedAt ?? '');
  if (divergedAt === null || from === '') return null;
  const section = divergedAt.slice(0, divergedAt.lastIndexOf('/') + 1);
  const namesakes = namesIn(trace).filter(
    (name) => name.startsWith(section) && labelIn(name) === from,
  );
  const nearest = nearestFirst(
    from,
    labelsIn(trace).filter((label) => label !== from),
  );
  for (const to of nearest) {
    const rename = { from, to };
    const candidate = { plan: renamedPlan(plan, [rename]), changes: [] };
    if ((await firstReproduced([candidate], judge)).close === null) continue;
    return { from, namesakes, nearest: [to, ...nearest.filter((label) => label !== to)], rename };
  }
  return { from, namesakes, nearest, rename: null };
}

/** Returns the labels of a run's operations and marks, without numbers. */
function labelsIn(trace: Trace): readonly string[] {
  const labels = namesIn(trace).map(labelIn);
  return [...new Set(labels)].filter((label) => label !== '');
}

function namesIn({ events, processes }: Trace): readonly string[] {
  const clients = new Set(processes.flatMap(({ name, role }) => (role === 'client' ? [name] : [])));
  const names = events.flatMap((event) => {
    if (event.kind !== 'invoke' && event.kind !== 'mark') return [];
    if (!clients.has(event.process)) return [];
    return [event.kind === 'mark' ? event.point : event.operation];
  });
  return [...new Set(names)];
}
