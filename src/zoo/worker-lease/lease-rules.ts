/**
 * The lease rules of Workiva's `aws-lambda-fsm-workflows`: which worker may take or release a
 * lease, and with which fence token. The caller passes the time. Times and timeouts are integers in
 * any unit; the published scheme uses whole seconds of the requesting client's clock.
 *
 * Source: https://github.com/Workiva/aws-lambda-fsm-workflows, `aws_lambda_fsm/aws.py`.
 */
import type { Turn } from '../../servers.ts';

/** The record of a lease. `steps` and `retries` identify the holder. A release keeps the fence. */
export type LeaseRecord = {
  readonly state: 'leased' | 'open';
  readonly steps: number;
  readonly retries: number;
  /** Start of the lease; not stored in the published scheme. */
  readonly since: number;
  /** The last time at which the lease is held: it has timed out when `now > expires`. */
  readonly expires: number;
  readonly fence: number;
};

/** The delivery of step `steps` of a machine after `retries` failed deliveries. */
export type Delivery = { readonly steps: number; readonly retries: number };

export type LeaseAsk = Delivery & { readonly now: number; readonly timeout: number };

/**
 * Identifies the lease to release. After a failed acquire, the published scheme also sends a
 * release, with false or 0 as the fence. No lease has such a fence.
 */
export type LeaseReturn = Delivery & { readonly fence: number | false };

/** Differences from the published scheme. */
export interface LeaseRules {
  /** `raises`: the fence token is raised when a lease that timed out changes hands. */
  readonly takeover: 'raises' | 'keeps';
  /** The timeout that ends a lease: the recorded timeout, or the requesting worker's own. */
  readonly timeout: 'recorded' | 'own';
}

export const PUBLISHED_RULES: LeaseRules = { takeover: 'raises', timeout: 'recorded' };

/**
 * Returns the record of a new lease, or null if the lease is held. `held` is the stored record;
 * null if none is stored.
 */
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

/** Returns the first record of a lease, with a fence that starts at `first` instead of 1. */
export function beginningAt(record: LeaseRecord, first: number): LeaseRecord {
  const { state, steps, retries, since, expires } = record;
  return { state, steps, retries, since, expires, fence: Math.max(1, first) };
}

/** Returns a record whose lease ends `by` later, whichever timeout ends it. */
export function postponed(record: LeaseRecord, by: number): LeaseRecord {
  const { state, steps, retries, since, expires, fence } = record;
  return { state, steps, retries, since: since + by, expires: expires + by, fence };
}

/** Returns the record to store over `held`, or null if `held` is not the lease to release. */
export function freedBy(held: LeaseRecord | null, lease: LeaseReturn): LeaseRecord | null {
  if (held === null || held.state === 'open') return null;
  const { steps, retries, fence } = lease;
  if (held.steps !== steps || held.retries !== retries || held.fence !== fence) return null;
  const { since, expires } = held;
  return { state: 'open', steps: -1, retries: -1, since, expires, fence };
}

export interface LeaseTerms {
  readonly rules: LeaseRules;
  readonly time: LeaseTime;
  /** The clock that ends a lease: the requesting client's or the back end's. */
  readonly clock: 'client' | 'server';
  /** The first fence of a lease without a record: 1, or the time of `clock` in microseconds. */
  readonly absent: 'one' | 'clock';
}

/** Returns the time by which a request is judged; `now` is the client's time. */
export function judgedAt({ clock, time }: LeaseTerms, now: number, turn: Turn): number {
  return clock === 'client' ? now : time.timeOf(turn.wallUs);
}

/** Returns the true time at which a lease times out. A client's clock is assumed to be correct. */
export function trueEndUs({ clock, time }: LeaseTerms, expires: number, turn: Turn): number {
  const endUs = time.endUsOf(expires);
  return turn.trueTimeOf(clock === 'client' ? 'right' : 'wall', endUs);
}

const SECOND_US = 1_000_000;

/**
 * `whole`: whole seconds, with a ttl rounded up; `truncated`: whole seconds, with a ttl rounded
 * down; `exact`: microseconds.
 */
export type Counting = 'whole' | 'truncated' | 'exact';

export class LeaseTime {
  private readonly counting: Counting;

  constructor(counting: Counting) {
    this.counting = counting;
  }

  /** Returns the lease time for a clock reading of `us`. */
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

  /** Returns the clock reading at which a lease held until `expires`, inclusive, has timed out. */
  endUsOf(expires: number): number {
    return this.counting === 'exact' ? expires + 1 : (expires + 1) * SECOND_US;
  }
}
