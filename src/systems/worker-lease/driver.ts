/**
 * How a worker dispatches one message, as published: it takes the lease of the message's machine
 * from the primary; on a system error it logs that, flips to the secondary and tries once more. If
 * that fails too, the message is retried later. At last it gives the lease back, and logs it when
 * that fails. The lock's name is the machine's correlation id.
 */
import type { SectionPlan } from '../../plan/plan.ts';
import type { Program } from '../../world/program.ts';
import { leaseEnd } from '../lease.ts';
import type { JobStep, LockDriver } from '../protocol.ts';
import type { Section } from '../section-calls.ts';
import type { LeaseBackEnd, TakenLease } from './back-end.ts';
import type { JobGuard } from './job-guard.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';

interface Held {
  readonly lock: string;
  readonly from: LeaseBackEnd;
  readonly lease: LeaseReturn;
}

export class WorkerLeaseDriver implements LockDriver {
  private readonly backEnds: readonly LeaseBackEnd[];
  private readonly guard: JobGuard | null;
  private held: Held | null = null;

  /** `backEnds`: the primary and, where there is one, the secondary. */
  constructor(backEnds: readonly LeaseBackEnd[], guard: JobGuard | null) {
    this.backEnds = backEnds;
    this.guard = guard;
  }

  /** A message that is retried says so: each attempt counts as one more retry. */
  *acquire(at: Section, attempt: number): Program<boolean> {
    const { steps, retries } = deliveryOf(at.section);
    const delivery = { steps, retries: retries + attempt - 1 };
    for (const from of this.backEnds) {
      const taken = yield* from.acquire(at, delivery, attempt);
      if (taken === false) return false;
      if (taken !== 0) {
        this.enter(at, taken);
        const lease = { ...delivery, fence: taken.fence };
        this.held = { lock: at.section.lock, from, lease };
        return true;
      }
      at.self.log('lease', `system error acquiring ${at.section.lock} from ${from.name}`);
    }
    return false;
  }

  private enter(at: Section, { fence, ordinal, sentUs, issuedAtUs }: TakenLease): void {
    const { ttlUs } = at.plan;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    const { lock } = at.section;
    at.self.enter({ section: at.name, lock, ordinal, token: fence, end: at.end });
  }

  /** There is no renew: a lease lasts as long as was asked for at first. */
  *renew(): Program<boolean> {
    return true;
  }

  *release(at: Section): Program<void> {
    const { held } = this;
    if (held === null) return;
    const released = yield* held.from.release(at, held.lease);
    this.held = null;
    if (released === true) return;
    const which = `${held.lock}, fence ${held.lease.fence}`;
    at.self.log('lease', `could not release ${which}${released === 0 ? ': system error' : ''}`);
  }

  token(lock: string): number {
    return this.held?.lock === lock ? this.held.lease.fence : 0;
  }

  *claimJob(at: Section, job: JobStep): Program<boolean> {
    if (this.guard === null) return true;
    return yield* this.guard.claim(at, job, this.token(at.section.lock));
  }

  *finishJob(at: Section, job: JobStep): Program<void> {
    if (this.guard !== null) yield* this.guard.finish(at, job, this.token(at.section.lock));
  }
}

/** Which step a section runs, and how often it failed before; by its first job. */
function deliveryOf({ work }: SectionPlan): Delivery {
  const job = work.find((step) => step.kind === 'job');
  return { steps: job?.tick ?? 0, retries: job?.retries ?? 0 };
}
