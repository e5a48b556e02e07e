/**
 * Faults as a scenario file writes them: a map of one key, with chances and ranges. The fields have
 * the names that they have in a plan, so a fault can be copied from a plan into a scenario.
 */
import { z } from 'zod';
import type { FaultKind } from '../core/plan/fault.ts';
import {
  closed,
  type Field,
  name,
  odds,
  parseRate,
  point,
  RATE_PATTERN,
  range,
  rangeOrNever,
  shown,
  stepRange,
} from '../core/plan/fields.ts';
import type { Odds, RangeUs } from '../core/plan/plan.ts';

/** A fault as it was read, of any kind: what is undefined was left out. */
export interface ReadFault {
  readonly kind: FaultKind;
  readonly chance?: Odds | undefined;
  readonly process?: readonly string[] | undefined;
  readonly from?: readonly string[] | undefined;
  readonly to?: readonly string[] | undefined;
  readonly at?: RangeUs | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly for?: RangeUs | undefined;
  readonly restart?: RangeUs | 'never' | undefined;
  readonly clocks?: 'run' | 'freeze' | undefined;
  readonly direction?: 'both' | 'one-way' | undefined;
  readonly step?: RangeUs | undefined;
  readonly rate?: RangeUs | undefined;
  readonly key?: string | undefined;
  readonly lag?: RangeUs | undefined;
  readonly message?: string | undefined;
  readonly leg?: 'request' | 'reply' | undefined;
  readonly timer?: string | undefined;
  readonly by?: RangeUs | undefined;
}

const rateRange: Field<RangeUs> = z
  .string({ error: 'expected a rate such as 200ppm or -200ppm..200ppm' })
  .regex(new RegExp(`^${RATE_PATTERN}(\\.\\.${RATE_PATTERN})?$`), {
    error: ({ input }) => `expected a rate such as 200ppm or -200ppm..200ppm, not ${shown(input)}`,
  })
  .transform((text, context) => {
    const [first = '', second = first] = text.split('..');
    const minUs = parseRate(first);
    const maxUs = parseRate(second);
    if (minUs !== undefined && maxUs !== undefined && minUs <= maxUs) return { minUs, maxUs };
    const message = 'a range of rates must be in order, each above -1000000ppm';
    context.issues.push({ code: 'custom', input: text, message });
    return z.NEVER;
  });

const processes = z
  .union([name.transform((only) => [only]), z.array(name).min(1).max(1000)])
  .describe('clients, lock, stores, or names. Each is struck, or not, by itself.');

const chance = odds
  .optional()
  .describe('How likely it strikes: 1/2 or 20%. Always, when it is left out.');

const place = {
  at: range
    .optional()
    .describe('At this time: 5ms or 0ms..100ms. Default any time of the first third.'),
  before: point
    .optional()
    .describe('Just before a point: write (of a drawn section), alice/1/write.'),
  after: point
    .optional()
    .describe('Just after a point: acquire (of a drawn section), bob/2/acquire.'),
};

const link = {
  from: processes.optional().describe('Who sends the message.'),
  to: processes.optional().describe('Who receives the message.'),
  at: range.optional().describe('The first message of the link from this time on.'),
};

const message = {
  message: point
    .optional()
    .describe('write (of a drawn section) or alice/1/write/1/request. Default any message.'),
  leg: z
    .enum(['request', 'reply'])
    .optional()
    .describe('Which leg of a drawn call. Default request.'),
  process: processes.optional().describe('Whose calls are drawn. Default clients.'),
  ...link,
  chance,
};

const by = range.describe('By how much: 5ms or 1ms..5ms.');
const lasting = range.describe('For how long: 5ms or 1ms..5ms.');

const restart = rangeOrNever.optional().describe('How much later it restarts. Default never.');

const kinds = {
  pause: closed('field', {
    process: processes.optional(),
    ...place,
    for: lasting,
    clocks: z
      .enum(['run', 'freeze'])
      .optional()
      .describe('Whether its clocks run on. Default run.'),
    chance,
  })
    .optional()
    .describe('A process runs nothing for a while (a garbage collection, a VM that is suspended).'),
  delay: closed('field', { ...message, by })
    .optional()
    .describe('A message arrives late.'),
  drop: closed('field', message).optional().describe('A message is lost.'),
  duplicate: closed('field', { ...message, by })
    .optional()
    .describe('A datagram is executed twice; needs link: datagram.'),
  partition: closed('field', {
    from: processes,
    to: processes,
    direction: z.enum(['both', 'one-way']).optional().describe('Default both.'),
    ...place,
    for: lasting,
    chance,
  })
    .optional()
    .describe('No message crosses. A word (clients) cuts each off by itself, a list all together.'),
  clock: closed('field', {
    process: processes,
    ...place,
    step: stepRange.optional().describe('How far the wall clock moves. Default inside the skew.'),
    rate: rateRange.optional().describe('How fast it runs, in ppm. Default inside the drift.'),
    chance,
  })
    .optional()
    .describe('A process believes another time.'),
  crash: closed('field', { process: processes, ...place, restart, chance })
    .optional()
    .describe('Volatile state is gone; pending calls never answer.'),
  reset: closed('field', { from: processes, to: processes, ...place, chance })
    .optional()
    .describe('The connections between two processes are replaced.'),
  failover: closed('field', { process: processes, ...place, lag: lasting, chance })
    .optional()
    .describe('A replica takes over that lags behind.'),
  evict: closed('field', { process: processes, ...place, key: name, chance })
    .optional()
    .describe('A cache forgets a key.'),
  'late-timer': closed('field', {
    timer: point.optional().describe('alice/1/backoff-2. Default any timer.'),
    process: processes.optional(),
    at: range.optional().describe('The first timer that the process arms from this time on.'),
    by,
    chance,
  })
    .optional()
    .describe('A timer fires later than asked.'),
} satisfies Record<FaultKind, unknown>;

/** One fault of a scenario file. */
export const readFaultSchema: z.ZodType<ReadFault> = closed('fault', kinds).transform(
  (entry, context): ReadFault => {
    const present = KINDS.filter((kind) => entry[kind] !== undefined);
    const [kind] = present;
    if (kind !== undefined && present.length === 1) return { kind, ...entry[kind] };
    context.issues.push({ code: 'custom', input: entry, message: 'a fault is a map of one key' });
    return z.NEVER;
  },
);

const KINDS = [
  ...(['pause', 'delay', 'drop', 'duplicate', 'partition', 'clock'] as const),
  ...(['crash', 'reset', 'failover', 'evict', 'late-timer'] as const),
];
