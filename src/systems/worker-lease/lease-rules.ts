/**
 * The rules of the leases of Workiva's `aws-lambda-fsm-workflows`: who may take a lease, with which
 * fence token, and who may give it back. Pure, without a clock: whoever asks says what time it is.
 * Times and timeouts are integers in one unit of the caller's; the published scheme counts whole
 * seconds of the asking client's clock.
 *
 * Source: https://github.com/Workiva/aws-lambda-fsm-workflows, `aws_lambda_fsm/aws.py`.
 */

/**
 * What is kept of a lease. Who holds it is said by `steps` and `retries`; a lease that was given
 * back keeps its fence token.
 */
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
export type Delivery = {
  readonly steps: number;
  readonly retries: number;
};

/** A worker asks for a lease. */
export type LeaseAsk = Delivery & {
  readonly now: number;
  readonly timeout: number;
};

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
  if (isLeased && now <= lastTimeOf(held, timeout, rules)) return null;
  const raise = isLeased && rules.takeover === 'keeps' ? 0 : 1;
  const fence = held === null ? 1 : held.fence + raise;
  return { state: 'leased', steps, retries, since: now, expires: now + timeout, fence };
}

/** The record where there was none before: its fence begins at `first` instead of 1. */
export function beginningAt(record: LeaseRecord, first: number): LeaseRecord {
  const { state, steps, retries, since, expires } = record;
  return { state, steps, retries, since, expires, fence: Math.max(1, first) };
}

function lastTimeOf(held: LeaseRecord, timeout: number, rules: LeaseRules): number {
  return rules.timeout === 'own' ? held.since + timeout : held.expires;
}

/** The record to put over `held`, or null when it is not the lease that is given back. */
export function freedBy(held: LeaseRecord | null, given: LeaseReturn): LeaseRecord | null {
  if (held === null || held.state === 'open') return null;
  const { steps, retries, fence } = given;
  if (held.steps !== steps || held.retries !== retries || held.fence !== fence) return null;
  const { since, expires } = held;
  return { state: 'open', steps: -1, retries: -1, since, expires, fence };
}
