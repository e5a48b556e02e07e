/**
 * The settings of a client as fields of a file, identical in scenarios and plans: `ttl: 10ms`,
 * `checksLease: false`. Omitted fields have their documented defaults.
 */
import { z } from 'zod';
import { duration, durationOrNever, integer, optional, positiveDuration } from './fields.ts';
import { completed, type ReadOf, type ShapeOf } from './left-out.ts';
import { CAPS, type ClientPlan } from './plan.ts';

/** A client without its name and its program. */
export type ClientSettings = Omit<ClientPlan, 'name' | 'sections' | 'concurrency'>;

/** The result of reading a `closed` map of `clientFields`. */
export type ReadSettings = ReadOf<ClientSettings>;

/** Fields of a `closed` map. */
export const clientFields: ShapeOf<ClientSettings> = {
  ttl: optional(positiveDuration, 'Duration of a grant. Default 10ms.'),
  lockTimeout: optional(durationOrNever, 'Timeout of calls to the lock service. Default 30ms.'),
  storeTimeout: optional(durationOrNever, 'Timeout of calls to a store. Default never.'),
  pool: optional(integer(1, CAPS.pool), 'Connections to each server. Default 1.'),
  checksLease: optional(z.boolean(), 'Whether it tests its lease before each write. Default true.'),
  countsLeaseFrom: optional(
    z.enum(['sent', 'reply', 'issued']),
    'Start of the lease for the client: sent (safe), reply, or the time issued. Default sent.',
  ),
  leaseEnds: optional(
    z.enum(['at', 'after', 'refused']),
    'When a lease is over: at its end, after it (off by one), or only once refused. Default at.',
  ),
  tries: optional(
    integer(1, CAPS.tries),
    'Maximum attempts of a call while its outcome is unknown. Default 1.',
  ),
  backoff: optional(duration, 'Time between attempts to take a busy lock. Default 2ms.'),
  attempts: optional(
    integer(1, CAPS.attempts),
    'Attempts before a section is given up. Default 100.',
  ),
  releases: optional(z.boolean(), 'Whether it releases the lock, or lets it expire. Default true.'),
};

export const concurrencyField: z.ZodOptional<z.ZodType<number>> = optional(
  integer(1, CAPS.concurrency),
  'Sections that one process runs at once, like requests in a service: { count: 2, concurrency: 3 }. Only for asynchronous code. Default 1.',
);

/** Returns the plan field, which is omitted for the default of 1. */
export function runningAtOnce(concurrency = 1): Pick<ClientPlan, 'concurrency'> {
  return concurrency === 1 ? {} : { concurrency };
}

/** Returns the settings that were read, completed from `base`. */
export function settingsOver(base: ClientSettings, read: ReadSettings): ClientSettings {
  return completed(base, read);
}
