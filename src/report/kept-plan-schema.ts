/** The lines that `replay` and `corpus` write with `--json` about the outcomes of kept plans. */
import { z } from 'zod';
import { count, digest, exit, head, line, text, texts } from '../search/campaign/fields.ts';

/** The outcomes that a kept plan can expect. */
const outcomes = ['reproduced', 'fixed', 'inert', 'diverged'] as const;
/** The possible outcomes of a kept plan. */
const fates = z.enum([...outcomes, 'nondeterministic']);

/** Fields for a kept plan whose code has changed. */
const close = {
  changes: texts.describe('what its faults need now to break the claim, where that is not as kept'),
  nearest: texts.describe('what the lost name may be called now: what reproduces first'),
  otherCause: text
    .nullable()
    .describe('by what else than it was kept for it, or a plan close to it, breaks the claim'),
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
    .describe('of the plan’s own modules, those that are not as when it was made'),
});

const signature = z
  .strictObject({
    id: text.describe('eight digits of claim, shape and roles'),
    shape: text.describe('of the plan, without times, names and seeds'),
    roles: texts.nullable().describe('of the evidence; null where nothing breaks'),
  })
  .describe('what kind of failure a plan shows, beside its claim');

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
    divergedAt: text.nullable().optional().describe('the name that found no match'),
    digest: digest.optional(),
    changes: close.changes.optional(),
    nearest: close.nearest.optional(),
    otherCause: close.otherCause.optional(),
    problems: texts.optional().describe('each with file, line and column'),
  })
  .describe('of a damaged plan only its problems are known');

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
  plan: text.describe('the file that was to be kept'),
  status: z.enum(['added', 'replaced', 'known', 'refused']),
  file: text.nullable().describe('where it is kept, or the kept one of its kind'),
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
