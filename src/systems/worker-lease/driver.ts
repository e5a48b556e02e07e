/** A worker that is given its steps: each section dispatches the step of its first job. */
import type { SectionPlan } from '../../core/plan/plan.ts';
import type { Program } from '../../core/world/program.ts';
import type { JobStep, LockDriver } from '../protocol.ts';
import type { Section } from '../section-calls.ts';
import type { LeaseBackEnd } from './back-end.ts';
import { Dispatch, type DispatchManner, type Machine } from './dispatch.ts';
import type { JobGuard } from './job-guard.ts';
import type { Delivery } from './lease-rules.ts';

/** What all workers of a system have in common. */
export interface WorkerParts {
  /** The primary and, where there is one, the secondary. */
  readonly backEnds: readonly LeaseBackEnd[];
  readonly guard: JobGuard | null;
  readonly manner: DispatchManner;
}

export class WorkerLeaseDriver implements LockDriver {
  private readonly dispatch: Dispatch;
  private readonly guard: JobGuard | null;
  private readonly machines: Map<string, Machine> = new Map();
  private lock = '';

  constructor({ backEnds, guard, manner }: WorkerParts) {
    this.dispatch = new Dispatch(backEnds, manner);
    this.guard = guard;
  }

  /** A message that is retried says so: each attempt counts as one more retry. */
  *acquire(at: Section, attempt: number): Program<boolean> {
    const { steps, retries } = deliveryOf(at.section);
    this.lock = at.section.lock;
    const machine = this.machines.get(this.lock) ?? { backEnd: 0 };
    this.machines.set(this.lock, machine);
    const delivery = { steps, retries: retries + attempt - 1 };
    const isLast = attempt >= at.plan.attempts;
    const what = { machine, delivery, number: attempt, isLast };
    return yield* this.dispatch.take(at, what, noRetry);
  }

  /** There is no renew: a lease lasts as long as was asked for at first. */
  *renew(): Program<boolean> {
    return true;
  }

  *release(at: Section): Program<void> {
    yield* this.dispatch.giveBack(at);
  }

  token(lock: string): number {
    return this.lock === lock ? this.dispatch.fence : 0;
  }

  *claimJob(at: Section, job: JobStep): Program<boolean> {
    if (this.guard === null) return true;
    return yield* this.guard.claim(at, job, this.token(at.section.lock));
  }

  *finishJob(at: Section, job: JobStep): Program<void> {
    if (this.guard !== null) yield* this.guard.finish(at, job, this.token(at.section.lock));
  }
}

/** The section itself tries again, as another attempt. */
function* noRetry(): Program<void> {}

/** Which step a section runs, and how often it failed before; by its first job. */
function deliveryOf({ work }: SectionPlan): Delivery {
  const job = work.find((step) => step.kind === 'job');
  return { steps: job?.tick ?? 0, retries: job?.retries ?? 0 };
}
