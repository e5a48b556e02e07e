/**
 * The state of one shrink: the simplest plan so far, the plans already tried, and the budget. The
 * caller judges each plan. Candidates stay within the plan's bounds. If the original plan was
 * edited by hand and exceeds a bound, no candidate may exceed the bound further.
 */
import { amountOf, type Fault, instantOf } from '../plan/fault.ts';
import { distanceFromPlaces, outside } from '../plan/places.ts';
import type { Plan } from '../plan/plan.ts';
import { amountRangesOf, isStream, isWait } from './parameter.ts';
import { isSimpler, sectionsOf } from './simpler.ts';

/** Yields plans to judge, receives the verdict on each, and returns `T`. */
export type Steps<T> = Generator<Plan, T, Tried>;

/**
 * True if the plan breaks the claim, false if not. The other values are breaches that do not count.
 */
export type Tried = boolean | 'out of place' | { readonly otherCause: string };

/** A plan that breaks the claim by a different cause than the original plan. */
export interface OtherBreach {
  readonly cause: string;
  /** The simplest plan found with this cause. */
  readonly plan: Plan;
  /**
   * True if `plan` is the shrunk plan without one fault, and breaks the claim in another section or
   * at another key.
   */
  readonly isElsewhere: boolean;
}

/** Maximum number of other causes for which a plan is kept. More would add no information. */
export const MAX_OTHERS = 8;

/** One way to simplify a plan. It has no effect except through `search.attempt`. */
export interface Pass {
  /** A verb phrase, such as `drop clients`. */
  readonly name: string;
  readonly run: (search: Search) => Steps<void>;
}

/** Runs and accepted plans of one pass, over all its turns. */
export interface PassCount {
  readonly pass: string;
  readonly runs: number;
  readonly accepted: number;
}

/**
 * Maximum number of `ask` calls per run in the budget. Without this limit, an inconsistent order
 * could cycle through known plans forever.
 */
const ASKED_PER_RUN = 100;

export class Search {
  private best: Plan;
  private runCount = 0;
  private askCount = 0;
  private acceptCount = 0;
  private readonly allowed: Excess;
  private readonly shouldStop: () => boolean;
  private readonly verdicts = new Map<string, Tried>();
  private readonly othersByCause = new Map<string, Plan>();
  private readonly counts = new Map<string, PassCount>();
  /** Maximum number of runs in total. The caller of the search raises it between phases. */
  runLimit: number;

  constructor(plan: Plan, runLimit: number, shouldStop: () => boolean) {
    this.best = plan;
    this.runLimit = runLimit;
    this.shouldStop = shouldStop;
    this.allowed = excessOf(plan);
  }

  /** The simplest plan so far that was judged to break the claim. */
  get current(): Plan {
    return this.best;
  }

  get runs(): number {
    return this.runCount;
  }

  get accepted(): number {
    return this.acceptCount;
  }

  get others(): readonly OtherBreach[] {
    return [...this.othersByCause].map(([cause, plan]) => ({ cause, plan, isElsewhere: false }));
  }

  get passCounts(): readonly PassCount[] {
    return [...this.counts.values()];
  }

  get isSpent(): boolean {
    return this.runCount >= this.runLimit || this.isExhausted || this.shouldStop();
  }

  private get isExhausted(): boolean {
    return this.askCount >= ASKED_PER_RUN * this.runLimit;
  }

  /**
   * Returns the verdict on a plan, or null if the budget is spent. Each plan is judged only once.
   */
  *ask(plan: Plan): Steps<Tried | null> {
    if (this.isExhausted) return null;
    this.askCount += 1;
    // All plans derive from one plan, so equal plans have their fields in the same order.
    const key = JSON.stringify(plan);
    const known = this.verdicts.get(key);
    if (known !== undefined) return known;
    if (this.runCount >= this.runLimit || this.shouldStop()) return null;
    this.runCount += 1;
    const answer = yield plan;
    this.verdicts.set(key, answer);
    return answer;
  }

  /**
   * Makes `candidate` the current plan if it is simpler, is allowed, and breaks the claim. Keeps
   * breaches by other causes separately.
   */
  *attempt(candidate: Plan): Steps<boolean> {
    // Checked first, because the comparisons below are slow for a large plan.
    if (this.shouldStop()) return false;
    if (!isSimpler(candidate, this.best) || !this.isAllowed(candidate)) return false;
    const answer = yield* this.ask(candidate);
    if (answer !== true) {
      if (answer !== null && typeof answer === 'object') {
        this.keep(answer.otherCause, candidate);
      }
      return false;
    }
    this.best = candidate;
    this.acceptCount += 1;
    return true;
  }

  private keep(cause: string, plan: Plan): void {
    const known = this.othersByCause.get(cause);
    const isNew = known === undefined && this.othersByCause.size < MAX_OTHERS;
    if (isNew || (known !== undefined && isSimpler(plan, known)))
      this.othersByCause.set(cause, plan);
  }

  /** Tries candidates until one is accepted. Returns false if none was. */
  *attemptFirst(candidates: Iterable<Plan>): Steps<boolean> {
    for (const candidate of candidates) {
      if (yield* this.attempt(candidate)) return true;
    }
    return false;
  }

  isAllowed(plan: Plan): boolean {
    return isWithin(plan, this.allowed);
  }

  *turn(pass: Pass): Steps<void> {
    if (this.shouldStop()) return;
    const before = { runs: this.runCount, accepted: this.acceptCount };
    yield* pass.run(this);
    const count = this.counts.get(pass.name);
    this.counts.set(pass.name, {
      pass: pass.name,
      runs: (count?.runs ?? 0) + this.runCount - before.runs,
      accepted: (count?.accepted ?? 0) + this.acceptCount - before.accepted,
    });
  }
}

/** Creates a pass that tries candidates, all derived from one plan, until one is accepted. */
export function tryingEach(name: string, candidates: (plan: Plan) => Iterable<Plan>): Pass {
  return {
    name,
    *run(search: Search): Steps<void> {
      yield* search.attemptFirst(candidates(search.current));
    },
  };
}

/** The amounts by which a plan exceeds its bounds. Bounds that the plan meets are omitted. */
export type Excess = ReadonlyMap<string, number>;

/** Returns the amounts by which `plan` exceeds its own bounds. */
export function excessOf(plan: Plan): Excess {
  const found = new Map<string, number>();
  const note = (bound: string, by: number): void => {
    if (by > (found.get(bound) ?? 0)) found.set(bound, by);
  };
  const { latency, think } = plan.bounds;
  note('latency', outside(plan.network.latencyUs, latency));
  for (const [name, us] of Object.entries(plan.decisions)) {
    if (!isWait(name) && !isStream(name)) note('decisions', outside(us, latency));
  }
  for (const section of sectionsOf(plan)) note('think', outside(section.thinkUs, think));
  for (const fault of plan.faults) {
    noteFault(plan, fault, note);
    note(`place of ${fault.kind}`, distanceFromPlaces(plan, fault));
  }
  return found;
}

function noteFault(plan: Plan, fault: Fault, note: (bound: string, by: number) => void): void {
  const { bounds } = plan;
  if (fault.kind === 'clock') {
    const offsetUs = worstOffset(plan.faults, fault.process);
    note(`skew of ${fault.process}`, offsetUs - (bounds.skewUs ?? offsetUs));
    const ratePpm = Math.abs(fault.ratePpm);
    note(`drift of ${fault.process}`, ratePpm - (bounds.driftPpm ?? ratePpm));
    return;
  }
  if (bounds.durations[fault.kind] === undefined) note(fault.kind, Number.POSITIVE_INFINITY);
  const amountUs = amountOf(fault);
  if (amountUs === null) return;
  const ranges = amountRangesOf(fault, bounds);
  note(fault.kind, Math.min(...ranges.map((range) => outside(amountUs, range))));
}

/**
 * Returns the largest clock offset that the steps of one process can cause. If any step is at a
 * point, assumes the worst order.
 */
function worstOffset(faults: readonly Fault[], process: string): number {
  const steps = faults.flatMap((fault) =>
    fault.kind === 'clock' && fault.process === process
      ? [{ stepUs: fault.stepUs, atUs: instantOf(fault) }]
      : [],
  );
  if (steps.some(({ atUs }) => atUs === null)) {
    const forwards = steps.reduce((total, { stepUs }) => total + Math.max(stepUs, 0), 0);
    const backwards = steps.reduce((total, { stepUs }) => total + Math.max(-stepUs, 0), 0);
    return Math.max(forwards, backwards);
  }
  let offsetUs = 0;
  let worstUs = 0;
  for (const { stepUs } of steps.sort((a, b) => (a.atUs ?? 0) - (b.atUs ?? 0))) {
    offsetUs += stepUs;
    worstUs = Math.max(worstUs, Math.abs(offsetUs));
  }
  return worstUs;
}

/** Returns true if `plan` exceeds no bound by more than `allowed`. */
export function isWithin(plan: Plan, allowed: Excess): boolean {
  for (const [bound, by] of excessOf(plan)) {
    if (by > (allowed.get(bound) ?? 0)) return false;
  }
  return true;
}
