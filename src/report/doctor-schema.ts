/** The line that `doctor --json` writes, as a schema. */
import { z } from 'zod';
import { count, head } from './output-parts.ts';

const check = z.strictObject({
  name: z.string().describe('one word; the stages of the canary are canary-…'),
  status: z.enum(['ok', 'warning', 'problem']),
  what: z.string(),
  fix: z.string().nullable().describe('what to do; null where all is well'),
});

export const doctor: z.ZodObject = z.strictObject({
  ...head('doctor'),
  exit: count.describe('the exit code'),
  canary: z
    .enum(['seen', 'not seen', 'not run'])
    .describe('whether the failure that is known to be there was reported, and its cure was not'),
  checks: z.array(check),
});
