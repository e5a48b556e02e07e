/** Schemas of the lines that `replay` and `corpus` write with `--json` about kept plans. */
import { z } from 'zod';
import { count, digest, exit, head, line, text, texts } from '../search/campaign/fields.ts';

/** The outcomes that a kept plan can expect. */
const outcomes = ['reproduced', 'fixed', 'inert', 'diverged'] as const;
const fates = z.enum([...outcomes, 'nondeterministic']);

/** Fields for a kept plan whose code has changed. */
const close = {
  changes: texts.describe('changes to its faults with which the plan breaks the claim again'),
  nearest: texts.describe(
    'current names that the lost name may stand for, the first one that reproduces first',
  ),
  otherCause: text
    .nullable()
    .describe(
      'the cause of the breach, if the plan or a similar one breaks the claim for another cause',
    ),
};

const replay = line('replay', {
  file: text,
  outcome: fates,
  claim: text,
  digest,
  divergedAt: text.nullable(),
  changes: close.changes,
  nearest: close.nearest,
  otherCause: close.otherCause,
  changedModules: texts
    .optional()
    .describe('modules of the plan that have changed since it was made'),
});

const signature = z
  .strictObject({
    id: text.describe('hash of claim, shape and roles: eight hexadecimal digits'),
    shape: text.describe('the plan without times, names and seeds'),
    roles: texts.nullable().describe('roles of the evidence; null if nothing breaks'),
  })
  .describe('the kind of failure of a plan, besides its claim');

const keptPlan = z
  .strictObject({
    ...head('kept-plan'),
    file: text,
    outcome: z.enum([...fates.options, 'damaged']),
    expected: z.enum(outcomes).optional(),
    claim: text.optional(),
    scenario: text.optional(),
    system: text.optional(),
    signature: signature.optional(),
    divergedAt: text.nullable().optional().describe('the first name without a match'),
    digest: digest.optional(),
    changes: close.changes.optional(),
    nearest: close.nearest.optional(),
    otherCause: close.otherCause.optional(),
    problems: texts.optional().describe('problems, each with file, line and column'),
  })
  .describe('a kept plan; for a damaged one, only its problems');

const corpusSummary = line('corpus-summary', {
  exit,
  plans: count,
  asExpected: count,
  reproduced: count,
  fixed: count,
  inert: count,
  diverged: count,
  nondeterministic: count,
  damaged: count.describe('plans that cannot be read'),
});

const addedPlan = line('added-plan', {
  plan: text.describe('the file to keep'),
  status: z.enum(['added', 'replaced', 'known', 'refused']),
  file: text.nullable().describe('the file of the plan, or of a kept plan of the same kind'),
  why: text.nullable().describe('why it was not kept'),
  claim: text,
  outcome: fates,
  signature,
});

const updatedPlan = line('updated-plan', {
  file: text,
  status: z.enum(['updated', 'unchanged', 'left']),
  outcome: fates,
  changes: close.changes,
  why: text.nullable().describe('reason why it was left unchanged'),
});

const acceptedPlan = line('accepted-plan', {
  file: text,
  outcome: text.describe('outcome of the replay; the plan is accepted if it is fixed'),
  isAccepted: z.boolean(),
});

const superfluousPlan = line('superfluous-plan', {
  file: text,
  why: z.enum(['inert', 'duplicate']),
  of: text.nullable().describe('the kept plan that shows the same failure'),
  isDeleted: z.boolean(),
});

export const keptPlanLines: readonly z.ZodObject[] = [
  replay,
  keptPlan,
  corpusSummary,
  addedPlan,
  updatedPlan,
  acceptedPlan,
  superfluousPlan,
];
