/**
 * The arithmetic of Redlock: how many nodes are enough, and how long the lock that they gave may be
 * counted on. From redis.io, "Distributed Locks with Redis": `MIN_VALIDITY = TTL - (T2 - T1) -
 * CLOCK_DRIFT`; the margin for drift is that of the reference implementation redlock-rb, one
 * hundredth of the ttl and 2 ms.
 */

/** ⌊n/2⌋ + 1: any two majorities share a node. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/** `factorPpm` of the ttl, and `constantUs`. */
export interface DriftMargin {
  readonly factorPpm: number;
  readonly constantUs: number;
}

/** By how much a client takes its lock to be over before its keys expire, rounded up. */
export function marginUs(ttlUs: number, { factorPpm, constantUs }: DriftMargin): number {
  return Math.ceil((ttlUs * factorPpm) / 1_000_000) + constantUs;
}

/** What is left of the lock once its answers are in; not above 0 when they came too late. */
export function validityUs(lease: {
  readonly ttlUs: number;
  readonly elapsedUs: number;
  readonly marginUs: number;
}): number {
  return lease.ttlUs - lease.elapsedUs - lease.marginUs;
}
