/**
 * How a worker dispatches one message, as published: it takes the lease of the message's machine
 * from the back end that the machine uses; on a system error it logs that, flips the machine from
 * its primary to its secondary (or back), and tries once more. Without a lease the message is
 * retried later; with one, the action runs. At last the lease is given back, and what fails is
 * logged. The lock's name is the machine's correlation id.
 *
 * The flip stays with the machine: its next dispatch begins where the last one ended. A machine
 * that no queue delivers lives in its worker, and is primary again after a crash.
 *
 * Published, a lease that somebody holds (`False`) flips like a system error (`0`), since in Python
 * `False == 0`; and the release comes always, also where no lease was had, to whichever back end
 * the machine has flipped to by then. The cures: `onDenied: waits`, and a release of what is held.
 */
import { assert } from '../../kernel/assert.ts';
import type { SectionPlan } from '../../plan/plan.ts';
import type { Program } from '../../world/program.ts';
import { leaseEnd } from '../lease.ts';
import type { JobStep, LockDriver } from '../protocol.ts';
import type { Section } from '../section-calls.ts';
import type { LeaseBackEnd, TakenLease } from './back-end.ts';
import type { JobGuard } from './job-guard.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';

/** What a dispatch does where the published one is wrong. */
export interface DispatchManner {
  /** Whether a lease that somebody holds is taken for a system error, so that it flips. */
  readonly onDenied: 'waits' | 'flips';
  /** Whether only a lease that was had is given back, or whatever the acquire answered. */
  readonly releases: 'held' | 'always';
}

interface Held {
  readonly lock: string;
  readonly from: LeaseBackEnd;
  readonly lease: LeaseReturn & { readonly fence: number };
}

export class WorkerLeaseDriver implements LockDriver {
  private readonly backEnds: readonly LeaseBackEnd[];
  private readonly guard: JobGuard | null;
  private readonly manner: DispatchManner;
  /** Machines that use another back end than the primary: its place among the back ends. */
  private readonly flipped: Map<string, number> = new Map();
  private held: Held | null = null;

  /** `backEnds`: the primary and, where there is one, the secondary. */
  constructor(
    backEnds: readonly LeaseBackEnd[],
    guard: JobGuard | null,
    manner: DispatchManner = { onDenied: 'waits', releases: 'held' },
  ) {
    this.backEnds = backEnds;
    this.guard = guard;
    this.manner = manner;
  }

  /** A message that is retried says so: each attempt counts as one more retry. */
  *acquire(at: Section, attempt: number): Program<boolean> {
    const { lock } = at.section;
    const { steps, retries } = deliveryOf(at.section);
    const delivery = { steps, retries: retries + attempt - 1 };
    let taken = yield* this.backEndOf(lock).acquire(at, delivery, attempt);
    if (taken === 0 || (taken === false && this.manner.onDenied === 'flips')) {
      const isPrimary = this.placeOf(lock) === 0;
      at.self.log('lease', `system error acquiring primary=${isPrimary} lease of ${lock}`);
      if (this.flip(lock)) taken = yield* this.backEndOf(lock).acquire(at, delivery, attempt);
    }
    if (taken !== false && taken !== 0) {
      this.enter(at, taken);
      this.held = { lock, from: this.backEndOf(lock), lease: { ...delivery, fence: taken.fence } };
      return true;
    }
    const isLast = attempt >= at.plan.attempts;
    at.self.log('lease', `could not acquire lease of ${lock}, ${isLast ? 'gives up' : 'retrying'}`);
    if (this.manner.releases === 'always' && at.plan.releases) {
      yield* this.giveBack(at, { ...delivery, fence: taken }, attempt);
    }
    return false;
  }

  private placeOf(lock: string): number {
    return this.flipped.get(lock) ?? 0;
  }

  private backEndOf(lock: string): LeaseBackEnd {
    const found = this.backEnds[this.placeOf(lock)];
    assert(found !== undefined, 'a machine uses one of the back ends');
    return found;
  }

  /** False where there is no other back end. */
  private flip(lock: string): boolean {
    this.flipped.set(lock, (this.placeOf(lock) + 1) % this.backEnds.length);
    return this.backEnds.length > 1;
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
    yield* this.giveBack(at, held.lease, 1);
    this.held = null;
  }

  /** Nothing flips while a lease is held, so the machine still uses the one that it came from. */
  private *giveBack(at: Section, lease: LeaseReturn, attempt: number): Program<void> {
    const { lock } = at.section;
    const released = yield* this.backEndOf(lock).release(at, lease, attempt);
    if (released === true) return;
    const why = released === 0 ? ': system error' : '';
    at.self.log('lease', `could not release lease of ${lock}, fence ${lease.fence}${why}`);
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
