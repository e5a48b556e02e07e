/**
 * Finds what happened to a message. It is sent, it arrives, its server applies it, and its client
 * gets the answer: four times, which may all differ. The trace records the arrival at a paused
 * process when the process resumes, so the time of such an arrival is unknown.
 */
import type { EventOf, Read, Return, Write } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { operationOf } from '../core/kernel/name.ts';

/** Returns the time at which the request of an access left its client. */
export function departureOf({ events }: Trace, access: Write | Read): number {
  let departedUs = access.atUs;
  for (const event of events) {
    if (event.kind === 'invoke' && event.operation === access.operation) departedUs = event.atUs;
    if (event.kind === 'send' && event.message === access.message) return event.atUs;
  }
  return departedUs;
}

/** Returns the time at which the request of an access arrived, or null if it is unknown. */
export function arrivalOf(trace: Trace, { message, atUs }: Write | Read): number | null {
  const received = trace.events.findLast(
    (event) => event.kind === 'receive' && event.message === message && event.atUs <= atUs,
  );
  if (received?.kind === 'receive' && isAfterPause(trace, received)) return null;
  return received?.atUs ?? atUs;
}

/** Returns true if a message had arrived earlier, during a pause of its receiver. */
export function isAfterPause({ events }: Trace, { to, atUs }: EventOf<'receive'>): boolean {
  return events.some(
    (event) => event.kind === 'resume' && event.atUs === atUs && event.processes.includes(to),
  );
}

/** Returns the time at which a server handled the call with this answer. */
export function handledAtUs({ events }: Trace, answer: Return): number {
  for (const event of events.slice(0, events.indexOf(answer)).reverse()) {
    if (event.kind !== 'receive' || !event.message.endsWith('/request')) continue;
    if (operationOf(event.message) === answer.operation) return event.atUs;
  }
  return answer.atUs;
}

/** Returns the end that a request set for a lease, before event `before`; null if unknown. */
export function endSetBy({ events }: Trace, message: string, before: number): number | null {
  for (const event of events.slice(0, before).reverse()) {
    if (!('message' in event) || event.message !== message) continue;
    if ('untilUs' in event) return event.untilUs;
  }
  return null;
}

/** Returns the replica at the other end of a message, or null if its store has no replicas. */
export function replicaOf({ events }: Trace, message: string): string | null {
  const sent = events.find((event) => event.kind === 'send' && event.message === message);
  if (sent?.kind !== 'send') return null;
  const server = message.endsWith('/reply') ? sent.from : sent.to;
  const isReplica = events.some(
    (event) =>
      (event.kind === 'write' || event.kind === 'read') &&
      event.store !== undefined &&
      server.startsWith(`${event.store}-`),
  );
  return isReplica ? server : null;
}

/**
 * Returns a higher token that the store accepted for the resource before the stale write, or null.
 */
export function tokenTakenBefore(trace: Trace, stale: Write): number | null {
  for (const event of trace.events) {
    if (event === stale) return null;
    if (event.kind !== 'write' || !event.isAccepted || event.process !== stale.process) continue;
    if (event.resource === stale.resource && event.token > stale.token) return event.token;
  }
  return null;
}
