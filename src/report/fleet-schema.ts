/** The lines that `sweep status --json` and `sweep tail --json` write, as schemas. */
import { z } from 'zod';
import { count, head } from './output-parts.ts';

/** How far a sweep on a queue is: of `status` one a sweep, of `tail` one a change. */
export const sweepStatus: z.ZodObject = z.strictObject({
  ...head('sweep-status'),
  sweep: z.string().describe('its id'),
  scenario: z.string(),
  fencepost: z.string().describe('the version that its workers need'),
  from: count.describe('the first seed'),
  to: count.describe('the last seed'),
  state: z.enum(['running', 'stopped', 'ended']),
  hasCoordinator: z
    .boolean()
    .nullable()
    .describe('whether one was seen at work; null where nobody looked for long enough'),
  chunks: z.strictObject({ done: count, total: count }),
  progress: z
    .strictObject({
      runs: count.describe('a seed of one system each'),
      total: count,
      runsPerSecond: z.number().min(0).describe('since its coordinator began; 0 for unknown'),
      secondsLeft: count.nullable().describe('null for unknown'),
      broken: count,
      kinds: z.record(z.string(), count).describe('seeds that broke it, by `system claim`'),
    })
    .nullable()
    .describe('as its coordinator told last; null where none told anything yet'),
});

/** The last line of `status`: the jobs of all sweeps. */
export const queueStatus: z.ZodObject = z.strictObject({
  ...head('queue-status'),
  workers: count,
  waiting: count,
  active: count,
  delayed: count,
  ended: count.describe('and not collected by their coordinator'),
});
