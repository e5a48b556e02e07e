/**
 * The rules of the leases of Workiva's `aws-lambda-fsm-workflows`: who may take a lease, with which
 * fence token, and who may give it back. Pure, without a clock: whoever asks says what time it is.
 * Times and timeouts are integers in one unit of the caller's; the published scheme counts whole
 * seconds of the asking client's clock.
 *
 * Source: https://github.com/Workiva/aws-lambda-fsm-workflows, `aws_lambda_fsm/aws.py`.
 */
import type { Turn } from '../../servers.ts';

/** What is kept of a lease: `steps` and `retries` name its holder; the fence outlives it. */
export type LeaseRecord = {
  readonly state: 'leased' | 'open';
  readonly steps: number;
  readonly retries: number;
  /** When it was taken; the published scheme does not keep it. */
  readonly since: number;
  /** The last time at which it is held: it has timed out when `now > expires`. */
  readonly expires: number;
  readonly fence: number;
};

/** Step `steps` of a machine, in its delivery after `retries` failed ones. */
export type Delivery = { readonly steps: number; readonly retries: number };

export type LeaseAsk = Delivery & { readonly now: number; readonly timeout: number };

/**
 * A worker gives a lease back: only that very lease is meant. The published one also gives back
 * what it did not get, with the answer in the place of the fence: false or 0, which no lease has.
 */
export type LeaseReturn = Delivery & { readonly fence: number | false };

/** Where a system may differ from the published scheme. */
export interface LeaseRules {
  /** Whether the fence token is raised when a lease that timed out changes hands. */
  readonly takeover: 'raises' | 'keeps';
  /** Whether a lease's time is up as its own record says, or by the asking worker's timeout. */
  readonly timeout: 'recorded' | 'own';
}

export const PUBLISHED_RULES: LeaseRules = { takeover: 'raises', timeout: 'recorded' };

/** The record to put over `held` (null: there is none), or null when somebody holds the lease. */
export function takenBy(
  held: LeaseRecord | null,
  { steps, retries, now, timeout }: LeaseAsk,
  rules: LeaseRules = PUBLISHED_RULES,
): LeaseRecord | null {
  const isLeased = held?.state === 'leased';
  if (isLeased) {
    const lastTime = rules.timeout === 'own' ? held.since + timeout : held.expires;
    if (now <= lastTime) return null;
  }
  const raise = isLeased && rules.takeover === 'keeps' ? 0 : 1;
  const fence = held === null ? 1 : held.fence + raise;
  return { state: 'leased', steps, retries, since: now, expires: now + timeout, fence };
}

/** The record where there was none before: its fence begins at `first` instead of 1. */
export function beginningAt(record: LeaseRecord, first: number): LeaseRecord {
  const { state, steps, retries, since, expires } = record;
  return { state, steps, retries, since, expires, fence: Math.max(1, first) };
}

/** The record to put over `held`, or null when it is not the lease that is given back. */
export function freedBy(held: LeaseRecord | null, given: LeaseReturn): LeaseRecord | null {
  if (held === null || held.state === 'open') return null;
  const { steps, retries, fence } = given;
  if (held.steps !== steps || held.retries !== retries || held.fence !== fence) return null;
  const { since, expires } = held;
  return { state: 'open', steps: -1, retries: -1, since, expires, fence };
}

export interface LeaseTerms {
  readonly rules: LeaseRules;
  readonly time: LeaseTime;
  /** Whether a lease's time is up by the clock of the asking client, or of the back end. */
  readonly clock: 'client' | 'server';
  /** What the fence of a lease without a record begins at: 1, or the microseconds of that clock. */
  readonly absent: 'one' | 'clock';
}

/** The time at which a request is judged; `now` is what its client takes it for. */
export function judgedAt({ clock, time }: LeaseTerms, now: number, turn: Turn): number {
  return clock === 'client' ? now : time.timeOf(turn.wallUs);
}

/** True time at which a lease times out, for a client whose clock is right or by the server's. */
export function trueEndUs({ clock, time }: LeaseTerms, expires: number, turn: Turn): number {
  const endUs = time.endUsOf(expires);
  return turn.trueTimeOf(clock === 'client' ? 'right' : 'wall', endUs);
}

const SECOND_US = 1_000_000;

/**
 * `whole`: seconds of a clock that is rounded down; a ttl that is no whole number of seconds is
 * rounded up. `truncated` rounds the ttl down too, `exact` counts microseconds.
 */
export type Counting = 'whole' | 'truncated' | 'exact';

export class LeaseTime {
  private readonly counting: Counting;

  constructor(counting: Counting) {
    this.counting = counting;
  }

  /** What a clock that shows `us` is taken for. */
  timeOf(us: number): number {
    return this.counting === 'exact' ? us : Math.floor(us / SECOND_US);
  }

  timeoutOf(ttlUs: number): number {
    switch (this.counting) {
      case 'exact':
        return ttlUs;
      case 'whole':
        return Math.ceil(ttlUs / SECOND_US);
      case 'truncated':
        return Math.floor(ttlUs / SECOND_US);
    }
  }

  /** What a clock shows when a lease has timed out that is held until `expires`, inclusive. */
  endUsOf(expires: number): number {
    return this.counting === 'exact' ? expires + 1 : (expires + 1) * SECOND_US;
  }
}
