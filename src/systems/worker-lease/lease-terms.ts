/** How one system's leases are judged: by which rules, in which time, by whose clock. */
import type { Turn } from '../../core/world/server.ts';
import type { LeaseRules } from './lease-rules.ts';
import type { LeaseTime } from './lease-time.ts';

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
