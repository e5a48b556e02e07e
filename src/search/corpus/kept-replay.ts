/**
 * Replays a plan as a kept one: it says of itself what should become of it, and where it comes to
 * something else, it is seen whether that is the plan's or the system's doing.
 *
 * One that came to something else and differs from its repetition is `nondeterministic`. Else, if
 * the code has changed since the plan was kept, plans close by are tried: an extra command that
 * takes 2 ms may need a pause that is longer by so much, or another wait between two tries. One
 * that breaks the claim, by the cause for which the plan was kept if it says one, shows that these
 * faults on these operations break it still, and what to change in the plan; one that breaks it by
 * another cause is told, and proves nothing. None is tried for a plan that guards what was cured. A
 * name that found no match is never guessed: the plan is `diverged`, and is told which rename would
 * do.
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

/** What may become of a kept plan that can be read. */
export type KeptFate = Expectation['outcome'] | 'nondeterministic';

/** What each means. */
export const FATES: Readonly<Record<KeptFate, string>> = {
  reproduced: 'the claim still breaks',
  fixed: 'the hazard arose and the claim held',
  inert: 'the hazard no longer arises: the plan guards nothing any more',
  diverged: 'a name in the plan found no match in the run, so it tests nothing',
  nondeterministic: 'two runs of it differ',
};

export interface KeptReplay extends Omit<Replay, 'outcome'> {
  readonly outcome: KeptFate;
  /** What the plan says of itself. */
  readonly expected: Expectation['outcome'];
  /** What differs first between two runs of it; null unless it is nondeterministic. */
  readonly difference: string | null;
  /** The plan that came to this: the kept one, or one close by. */
  readonly plan: Plan;
  /** In what that one differs from the kept one, a phrase each. */
  readonly changes: readonly string[];
  /** Of a plan that diverged: the label that is gone, and those that it may have now. */
  readonly lost: LostLabel | null;
  /**
   * By what else than the cause for which it was kept it breaks the claim, or, where it does not, a
   * plan close by does; null for neither.
   */
  readonly otherCause: string | null;
}

/** A label of the plan that no name in the run has. */
export interface LostLabel {
  readonly from: string;
  /** Names of the same section by that label, under other numbers: `bob/1/write-2`. */
  readonly namesakes: readonly string[];
  /** Labels of the run, those by which the plan reproduces first, then the nearest. */
  readonly nearest: readonly string[];
  /** The first of them, if the plan reproduces by it. */
  readonly rename: Rename | null;
}

export interface KeptReplayOptions {
  /** The claim that is judged; by default the plan's. */
  readonly claim?: string | undefined;
  readonly catalogue?: Catalogue;
  /** Whether the code under test may be another than when the plan was kept. */
  readonly hasChanged?: boolean;
}

/** Runs a kept plan; more than once, where that came to what the plan does not expect. */
export async function replayKept(
  plan: Plan,
  { claim, catalogue = builtIn, hasChanged = false }: KeptReplayOptions = {},
): Promise<KeptReplay> {
  const expected = plan.expect?.outcome ?? 'reproduced';
  const first = await replay(plan, claim, catalogue);
  // Of another claim than its own a plan says nothing.
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

/** In words, where it broke by another cause than was kept. */
function otherCause(
  { cause, trace }: Pick<Replay, 'cause' | 'trace'>,
  judge: Judge,
): string | null {
  if (cause === null || judge.kept === null) return null;
  const kept = { ...judge.kept, faults: hitsNow(judge.kept, cause, trace) };
  return isSameCause(cause, kept) ? null : causeName(cause);
}

/** What was hit is called by its label in the code, which may have another one by now. */
function hitsNow({ faults }: KeptCause, { faults: now }: BreachCause, trace: Trace): FaultHit[] {
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

/** `before release`, `of release reply`. */
const HIT = /^(before |of )(\S+)( request| reply)?$/;

/** What a hit is called by whatever its operations are. */
const VERBS: ReadonlySet<string> = new Set(['access', 'acquire', 'renew', 'release']);

/** A plan close to another, and in what it differs from that. */
interface Close {
  readonly plan: Plan;
  readonly changes: readonly string[];
}

interface Judge {
  readonly claim: string;
  readonly catalogue: Catalogue;
  /** The cause by which it must break; null: by any. */
  readonly kept: KeptCause | null;
}

/** What was found among plans close by. */
interface Nearby {
  /** The first that reproduces; null for none. */
  readonly close: (Replay & Close) | null;
  /** By what else than was kept the first that breaks the claim does so. */
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
/** The tries of an operation that a fault may be moved to. */
const TRIES = 6;
/** How often latencies and random numbers are drawn anew. */
const DRAWS = 24;

/**
 * Plans with the same faults on the same operations of the same sections: which last longer, come
 * at another try, or meet other latencies and clients that draw other waits.
 */
function* closeTo(plan: Plan): Generator<Close> {
  const longer = distinct(
    TIMES.map((times) => lengthened(plan, times)),
    plan,
  );
  yield* longer;
  const longest = longer.at(-1) ?? { plan, changes: [] };
  // Faults on operations that were tried again meet the first of these tries, the second, ….
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
    // Draws latencies within the plan's bounds, and all that clients draw; no faults.
    const chance = { seed, latency, latencyStepUs: 1, ...none };
    const drawn = { ...base, chance, decisions: {}, order: [] };
    yield { plan: drawn, changes: [...changes, 'other latencies and random numbers'] };
  }
}

/** Those whose faults are others than those of `plan` and of the ones before. */
function distinct(plans: readonly Plan[], plan: Plan): readonly Close[] {
  const seen = new Set([JSON.stringify(plan.faults)]);
  return plans.flatMap((one) => {
    const text = JSON.stringify(one.faults);
    if (seen.has(text)) return [];
    seen.add(text);
    return [{ plan: one, changes: faultsChanged(plan, one) }];
  });
}

/** `bob/2/set-3`; which of these it is depends on how long it waited. */
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
    const one = { plan: renamedPlan(plan, [rename]), changes: [] };
    if ((await firstReproduced([one], judge)).close === null) continue;
    return { from, namesakes, nearest: [to, ...nearest.filter((label) => label !== to)], rename };
  }
  return { from, namesakes, nearest, rename: null };
}

/** What the operations and marks of a run are called, without numbers. */
function labelsIn(trace: Trace): readonly string[] {
  const labels = namesIn(trace).map(labelIn);
  return [...new Set(labels)].filter((label) => label !== '');
}

/** What the operations and marks of the clients are called. */
function namesIn({ events, processes }: Trace): readonly string[] {
  const clients = new Set(processes.flatMap(({ name, role }) => (role === 'client' ? [name] : [])));
  const names = events.flatMap((event) => {
    if (event.kind !== 'invoke' && event.kind !== 'mark') return [];
    if (!clients.has(event.process)) return [];
    return [event.kind === 'mark' ? event.point : event.operation];
  });
  return [...new Set(names)];
}
