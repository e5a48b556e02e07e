/** What a client takes for the end of its lease, and whether it has come by its own clock. */
import type { ClientPlan } from '../core/plan/plan.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import { mark, type Program } from '../core/world/program.ts';
import type { Section } from './section-calls.ts';

/** When the client takes its lease to end. Only `sent` is safe: a reply may be arbitrarily late. */
export function leaseEnd(
  at: Section,
  lease: { sentUs: number; issuedAtUs: number; ttlUs: number },
): LeaseEnd {
  switch (at.plan.countsLeaseFrom) {
    case 'sent':
      return { clock: 'monotonic', us: lease.sentUs + lease.ttlUs };
    case 'reply':
      return { clock: 'monotonic', us: at.self.monotonicUs() + lease.ttlUs };
    case 'issued':
      return { clock: 'wall', us: lease.issuedAtUs + lease.ttlUs };
  }
}

/** The same before a write: after a passed test it sets the mark `checked`. */
export function* leaseIsLive(at: Section): Program<boolean> {
  const isLive = testLease(at);
  if (isLive) yield* mark(at.name, 'checked');
  return isLive;
}

/** Tests the lease by the client's own clock. */
export function testLease({ end, self, plan }: Section): boolean {
  const nowUs = end.clock === 'wall' ? self.wallUs() : self.monotonicUs();
  const isLive = isBefore(nowUs, end.us, plan.leaseEnds);
  self.testLease({ isLive, end });
  return isLive;
}

function isBefore(nowUs: number, endUs: number, leaseEnds: ClientPlan['leaseEnds']): boolean {
  switch (leaseEnds) {
    case 'at':
      return nowUs < endUs;
    case 'after':
      return nowUs <= endUs;
    case 'refused':
      // A section stops at the first refusal, so none has come yet.
      return true;
  }
}
