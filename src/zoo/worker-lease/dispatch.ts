/**
 * Dispatches one message, as in the published scheme. The worker takes the machine's lease at the
 * machine's back end. After a system error, the worker flips the machine from its primary to its
 * secondary (or back), and tries once more. With a lease, the action runs, and the lease is
 * released. Without a lease, the message is retried later. Failures are logged. The lock's name is
 * the machine's correlation id.
 *
 * The machine keeps the flip: its next dispatch starts at the back end where the last one ended. In
 * the published scheme, and here with a queue, the machine's messages carry its state. The flip is
 * lost if the worker crashes, since the old message is then delivered again. Without a queue, the
 * worker keeps the machine's state.
 *
 * In the published scheme, a lease held by another worker (`False`) causes a flip like a system
 * error (`0`), since in Python `False == 0`. The release is always sent, even without a lease. The
 * cures are `onDenied: waits` and releasing only a held lease.
 */
import { enterLock, type Program, part, type Section } from '../../servers.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';

/** The behaviors of a dispatch that are flawed in the published scheme. */
export interface DispatchManner {
  /** `flips`: a lease held by another worker counts as a system error and causes a flip. */
  readonly onDenied: 'waits' | 'flips';
  /** `held`: releases only an acquired lease; `always`: also after a failed acquire. */
  readonly releases: 'held' | 'always';
}

interface Attempt {
  readonly machine: Machine;
  readonly delivery: Delivery;
  /** Number of the attempt in its section, from 1. */
  readonly number: number;
  /** True if there is no retry after this attempt. */
  readonly isLast: boolean;
}

/** The state of a machine between dispatches: the index of its back end, 0 for the primary. */
export interface Machine {
  backEnd: number;
}

/** The lease of a section, and the number for the label of its release. */
interface Held {
  readonly machine: Machine;
  readonly lease: LeaseReturn;
  readonly number: number;
}

export class Dispatch {
  private readonly backEnds: readonly LeaseBackEnd[];
  private readonly manner: DispatchManner;
  private held: Held | null = null;

  /** `backEnds`: the primary, and the secondary if there is one. */
  constructor(backEnds: readonly LeaseBackEnd[], manner: DispatchManner) {
    this.backEnds = backEnds;
    this.manner = manner;
  }

  /** Returns whether the section took the lease. If not, calls `retry` before any release. */
  *take(at: Section, attempt: Attempt, retry: () => Program<void>): Program<boolean> {
    const { lock } = at.section;
    const { machine, delivery, number } = attempt;
    const { steps, retries } = delivery;
    let taken = yield* this.backEndOf(machine).acquire(at, delivery, number);
    if (taken === 0 || (taken === false && this.manner.onDenied === 'flips')) {
      const isPrimary = machine.backEnd === 0;
      at.self.log('lease', `system error acquiring primary=${isPrimary} lease of ${lock}`);
      machine.backEnd = (machine.backEnd + 1) % this.backEnds.length;
      if (this.backEnds.length > 1) {
        taken = yield* this.backEndOf(machine).acquire(at, delivery, number);
      }
    }
    if (taken !== false && taken !== 0) {
      const { fence: token, ordinal, sentUs, issuedAtUs: sentWallUs } = taken;
      enterLock(at, { ordinal, sentUs, sentWallUs }, { token });
      const releaseNumber = this.manner.releases === 'always' ? number : 1;
      const lease = { steps, retries, fence: taken.fence };
      this.held = { machine, lease, number: releaseNumber };
      return true;
    }
    const outcome = attempt.isLast ? 'gives up' : 'retrying';
    at.self.log('lease', `could not acquire lease of ${lock}, ${outcome}`);
    yield* retry();
    if (this.manner.releases === 'always' && at.plan.releases) {
      yield* this.release(at, machine, { lease: { steps, retries, fence: taken }, number });
    }
    return false;
  }

  private backEndOf({ backEnd }: Machine): LeaseBackEnd {
    const found = this.backEnds[backEnd];
    if (found === undefined) throw new Error('a machine uses one of the back ends');
    return found;
  }

  /** Releases the lease at its own back end, since no flip happens while a lease is held. */
  *giveBack(at: Section): Program<void> {
    const { held } = this;
    if (held === null) return;
    yield* this.release(at, held.machine, held);
    this.held = null;
  }

  private *release(
    at: Section,
    machine: Machine,
    { lease, number }: { readonly lease: LeaseReturn; readonly number: number },
  ): Program<void> {
    const released = yield* this.backEndOf(machine).release(at, lease, number);
    if (released === true) return;
    const leaseName = `${at.section.lock}, fence ${lease.fence}`;
    const why = released === 0 ? ': system error' : '';
    at.self.log('lease', `could not release lease of ${leaseName}${why}`);
  }

  /** The fence token of the lease held; 0 if there is none. */
  get fence(): number {
    return Number(this.held?.lease.fence ?? 0);
  }
}

export interface LeaseBackEnd {
  /** Returns the lease, false if it is already held, or 0 on a system error (no answer). */
  acquire(at: Section, delivery: Delivery, attempt: number): Program<TakenLease | false | 0>;
  /** Returns true if this lease was released, false if it was not held, or 0 on a system error. */
  release(at: Section, lease: LeaseReturn, attempt: number): Program<boolean | 0>;
}

export interface TakenLease {
  readonly fence: number;
  /** The observer's grant number. */
  readonly ordinal: number;
  /** Send time of the first request, by the worker's monotonic clock. */
  readonly sentUs: number;
  /** Start of the lease, by the clock that judges expiry. */
  readonly issuedAtUs: number;
}

/** Returns the label of a lease operation at a back end: `acquire`, `acquire-standby`, `take-2`. */
export function labelAt(name: string, verb: string, attempt: number): string {
  return part(name === PRIMARY ? verb : `${verb}-standby`, attempt);
}

export const PRIMARY = 'lock';
export const STANDBY = 'lock-standby';
