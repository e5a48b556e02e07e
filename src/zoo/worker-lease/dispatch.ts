/**
 * How a worker dispatches one message, as published: it takes the lease of the message's machine
 * from the back end that the machine uses; on a system error it logs that, flips the machine from
 * its primary to its secondary (or back), and tries once more. Without a lease the message is
 * retried later; with one, the action runs. At last the lease is given back, and what fails is
 * logged. The lock's name is the machine's correlation id.
 *
 * The flip stays with the machine: its next dispatch begins where the last one ended. Published,
 * the machine travels in its messages, and so it does here where a queue delivers them: the flip
 * goes on with the next step and the retry, and is lost with a worker that crashes, since the
 * message that comes again is the old one. Without a queue a machine lives in its worker.
 *
 * Published, a lease that somebody holds (`False`) flips like a system error (`0`), since in Python
 * `False == 0`; and the release comes always, also where no lease was had, to whichever back end
 * the machine has flipped to by then. The cures: `onDenied: waits`, and a release of what is held.
 */
import { enterLock, type Program, part, type Section } from '../../servers.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';

/** What a dispatch does where the published one is wrong. */
export interface DispatchManner {
  /** Whether a lease that somebody holds is taken for a system error, so that it flips. */
  readonly onDenied: 'waits' | 'flips';
  /** Whether only a lease that was had is given back, or whatever the acquire answered. */
  readonly releases: 'held' | 'always';
}

/** One attempt to dispatch a message. */
interface Attempt {
  readonly machine: Machine;
  readonly delivery: Delivery;
  /** From 1, among those of the section. */
  readonly number: number;
  /** Whether nobody tries again if this one fails. */
  readonly isLast: boolean;
}

/** What of a machine outlives a dispatch: which of the back ends it uses, the primary being 0. */
export interface Machine {
  backEnd: number;
}

/** The lease that a section has, and the number that tells its release from others of it. */
interface Held {
  readonly machine: Machine;
  readonly lease: LeaseReturn;
  readonly number: number;
}

export class Dispatch {
  private readonly backEnds: readonly LeaseBackEnd[];
  private readonly manner: DispatchManner;
  private held: Held | null = null;

  /** `backEnds`: the primary and, where there is one, the secondary. */
  constructor(backEnds: readonly LeaseBackEnd[], manner: DispatchManner) {
    this.backEnds = backEnds;
    this.manner = manner;
  }

  /** Whether the section holds the lease now; `retry` is called, before any release, if not. */
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
    const what = attempt.isLast ? 'gives up' : 'retrying';
    at.self.log('lease', `could not acquire lease of ${lock}, ${what}`);
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

  /** Nothing flips while a lease is held, so the machine still uses the one that it came from. */
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
    const which = `${at.section.lock}, fence ${lease.fence}`;
    const why = released === 0 ? ': system error' : '';
    at.self.log('lease', `could not release lease of ${which}${why}`);
  }

  /** The fence token of the lease that is held; 0 for none. */
  get fence(): number {
    return Number(this.held?.lease.fence ?? 0);
  }
}

export interface LeaseBackEnd {
  /** The lease; false when somebody holds it; 0 on a system error: no answer came. */
  acquire(at: Section, delivery: Delivery, attempt: number): Program<TakenLease | false | 0>;
  /** True when it was that very lease; false when it was not; 0 on a system error. */
  release(at: Section, lease: LeaseReturn, attempt: number): Program<boolean | 0>;
}

export interface TakenLease {
  readonly fence: number;
  /** The observer's number of the grant. */
  readonly ordinal: number;
  /** When its first request left, by the worker's monotonic clock. */
  readonly sentUs: number;
  /** When it was taken, by the clock that judges. */
  readonly issuedAtUs: number;
}

/** What a lease's operations are called at one back end: `acquire`, `acquire-standby`, `take-2`. */
export function labelAt(name: string, verb: string, attempt: number): string {
  return part(name === PRIMARY ? verb : `${verb}-standby`, attempt);
}

export const PRIMARY = 'lock';
export const STANDBY = 'lock-standby';
