/** The lines that `corpus` writes with `--json`, as schemas. */
import { z } from 'zod';
import { count, digest, head } from './output-parts.ts';

/** What may become of a kept plan. */
export const outcomes = ['reproduced', 'fixed', 'inert', 'diverged'] as const;

const signature = z
  .strictObject({
    id: z.string().describe('eight digits of claim, shape and roles'),
    shape: z.string().describe('of the plan, without times, names and seeds'),
    roles: z.array(z.string()).nullable().describe('of the evidence; null where nothing breaks'),
  })
  .describe('what kind of failure a plan shows, beside its claim');

export const keptPlan: z.ZodObject = z
  .strictObject({
    ...head('kept-plan'),
    file: z.string(),
    outcome: z.enum([...outcomes, 'damaged']),
    expected: z.enum(outcomes).optional(),
    claim: z.string().optional(),
    scenario: z.string().optional(),
    system: z.string().optional(),
    signature: signature.optional(),
    divergedAt: z.string().nullable().optional().describe('the name that found no match'),
    digest: digest.optional(),
    problems: z.array(z.string()).optional().describe('each with file, line and column'),
  })
  .describe('of a damaged plan only its problems are known');

export const corpusSummary: z.ZodObject = z.strictObject({
  ...head('corpus-summary'),
  exit: count.describe('the exit code'),
  plans: count,
  asExpected: count,
  reproduced: count,
  fixed: count,
  inert: count,
  diverged: count,
  damaged: count.describe('plans that cannot be read'),
});

export const addedPlan: z.ZodObject = z.strictObject({
  ...head('added-plan'),
  plan: z.string().describe('the file that was to be kept'),
  status: z.enum(['added', 'replaced', 'refused']),
  file: z.string().nullable().describe('where it is kept, or the kept one of its kind'),
  why: z.string().nullable().describe('why it was refused'),
  claim: z.string(),
  outcome: z.enum(outcomes),
  signature,
});

export const superfluousPlan: z.ZodObject = z.strictObject({
  ...head('superfluous-plan'),
  file: z.string(),
  why: z.enum(['inert', 'duplicate']),
  of: z.string().nullable().describe('the kept plan that shows the same failure'),
  isDeleted: z.boolean(),
});
