/**
 * The settings of a client as fields of a file, the same ones in scenarios and plans: `ttl: 10ms`,
 * `checksLease: false`. What is left out has its documented default.
 */
import { z } from 'zod';
import { formatDuration } from './duration.ts';
import { duration, durationOrNever, type FieldMap, positiveDuration, whole } from './fields.ts';
import { CAPS, CLIENT_DEFAULTS, type ClientPlan } from './plan.ts';

/** A client without its name and its program. */
export type ClientSettings = Omit<ClientPlan, 'name' | 'sections'>;

/** Fields of a `closed` map. */
export const clientFields: ClientFields = {
  ttl: positiveDuration.optional().describe('How long a grant lasts. Default 10ms.'),
  lockTimeout: durationOrNever
    .optional()
    .describe('How long a call to the lock service is waited for. Default 30ms.'),
  storeTimeout: durationOrNever
    .optional()
    .describe('How long a call to a store is waited for. Default never.'),
  pool: whole(1, CAPS.pool).optional().describe('Connections to each server. Default 1.'),
  checksLease: z
    .boolean()
    .optional()
    .describe('Whether it tests its lease before each write. Default true.'),
  countsLeaseFrom: z
    .enum(['sent', 'reply', 'issued'])
    .optional()
    .describe(
      'From when it counts its lease: sent (safe), reply, or the time issued. Default sent.',
    ),
  leaseEnds: z
    .enum(['at', 'after', 'refused'])
    .optional()
    .describe(
      'When a lease is over: at its end, after it (off by one), or only once refused. Default at.',
    ),
  tries: whole(1, CAPS.tries)
    .optional()
    .describe('How often a call is tried while its outcome is unknown. Default 1.'),
  backoff: duration.optional().describe('Time between attempts to take a busy lock. Default 2ms.'),
  attempts: whole(1, CAPS.attempts)
    .optional()
    .describe('Attempts before a section is given up. Default 100.'),
  releases: z
    .boolean()
    .optional()
    .describe('Whether it releases the lock, or lets it expire. Default true.'),
};

type Optional<Value> = z.ZodOptional<z.ZodType<Value, string | number>>;

/** The zod shape of `clientFields`. */
export interface ClientFields {
  readonly ttl: Optional<number>;
  readonly lockTimeout: Optional<number | null>;
  readonly storeTimeout: Optional<number | null>;
  readonly pool: z.ZodOptional<z.ZodType<number, number>>;
  readonly checksLease: z.ZodOptional<z.ZodBoolean>;
  readonly countsLeaseFrom: z.ZodOptional<z.ZodType<ClientPlan['countsLeaseFrom']>>;
  readonly leaseEnds: z.ZodOptional<z.ZodType<ClientPlan['leaseEnds']>>;
  readonly tries: z.ZodOptional<z.ZodType<number, number>>;
  readonly backoff: Optional<number>;
  readonly attempts: z.ZodOptional<z.ZodType<number, number>>;
  readonly releases: z.ZodOptional<z.ZodBoolean>;
}

/** What a `closed` map of `clientFields` gives when it was read. */
export interface ReadSettings {
  readonly ttl?: number | undefined;
  readonly lockTimeout?: number | null | undefined;
  readonly storeTimeout?: number | null | undefined;
  readonly pool?: number | undefined;
  readonly checksLease?: boolean | undefined;
  readonly countsLeaseFrom?: ClientPlan['countsLeaseFrom'] | undefined;
  readonly leaseEnds?: ClientPlan['leaseEnds'] | undefined;
  readonly tries?: number | undefined;
  readonly backoff?: number | undefined;
  readonly attempts?: number | undefined;
  readonly releases?: boolean | undefined;
}

/** The settings that were read, over those that hold otherwise. */
export function settingsOver(base: ClientSettings, read: ReadSettings): ClientSettings {
  return {
    ttlUs: read.ttl ?? base.ttlUs,
    lockTimeoutUs: read.lockTimeout === undefined ? base.lockTimeoutUs : read.lockTimeout,
    storeTimeoutUs: read.storeTimeout === undefined ? base.storeTimeoutUs : read.storeTimeout,
    pool: read.pool ?? base.pool,
    checksLease: read.checksLease ?? base.checksLease,
    countsLeaseFrom: read.countsLeaseFrom ?? base.countsLeaseFrom,
    leaseEnds: read.leaseEnds ?? base.leaseEnds,
    tries: read.tries ?? base.tries,
    backoffUs: read.backoff ?? base.backoffUs,
    attempts: read.attempts ?? base.attempts,
    releases: read.releases ?? base.releases,
  };
}

/** The fields that read back into the same settings; those at their default are left out. */
export function settingsFields(client: ClientSettings): FieldMap {
  const fields: FieldMap = {};
  const state = <Key extends keyof ClientSettings>(
    key: Key,
    field: keyof ClientFields,
    text: unknown,
  ): void => {
    if (client[key] !== CLIENT_DEFAULTS[key]) fields[field] = text;
  };
  state('ttlUs', 'ttl', formatDuration(client.ttlUs));
  state('lockTimeoutUs', 'lockTimeout', durationOrNeverText(client.lockTimeoutUs));
  state('storeTimeoutUs', 'storeTimeout', durationOrNeverText(client.storeTimeoutUs));
  state('pool', 'pool', client.pool);
  state('checksLease', 'checksLease', client.checksLease);
  state('countsLeaseFrom', 'countsLeaseFrom', client.countsLeaseFrom);
  state('leaseEnds', 'leaseEnds', client.leaseEnds);
  state('tries', 'tries', client.tries);
  state('backoffUs', 'backoff', formatDuration(client.backoffUs));
  state('attempts', 'attempts', client.attempts);
  state('releases', 'releases', client.releases);
  return fields;
}

function durationOrNeverText(us: number | null): string {
  return us === null ? 'never' : formatDuration(us);
}
