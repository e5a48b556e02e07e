/** What a worker knows of a back end that keeps leases, and how it takes and gives back one. */
import type { Program } from '../../core/world/program.ts';
import type { Section } from '../section-calls.ts';
import type { Delivery, LeaseReturn } from './lease-rules.ts';

export interface LeaseBackEnd {
  /** Its process. */
  readonly name: string;
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

/** What a lease's operations are called at one back end: `acquire`, `acquire-standby`. */
export function labelAt(name: string, verb: string): string {
  return name === PRIMARY ? verb : `${verb}-standby`;
}

export const PRIMARY = 'lock';
export const STANDBY = 'lock-standby';
