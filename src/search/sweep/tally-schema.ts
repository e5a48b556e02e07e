/** The shape of tallies and of what else a sweep writes to files that it reads again. */
import { z } from 'zod';
import { FAULT_KINDS, type FaultKind } from '../../core/plan/fault.ts';
import { MOST_TEXT } from '../../text/error-text.ts';
import { type ClaimTally, type FaultTally, KEPT_SEEDS, type Tally } from './tally.ts';

/** A number of things, or a seed. */
export const count: z.ZodType<number> = z.int().min(0);

/** What was cut to be kept. */
export const text: z.ZodType<string> = z.string().max(MOST_TEXT);

const claimTally: z.ZodType<ClaimTally> = z.strictObject({
  broken: count,
  brokenSeeds: z.array(count).max(KEPT_SEEDS),
  unknown: count,
  firstUnknown: z.strictObject({ seed: count, reason: text }).nullable(),
  exercised: count,
  times: count,
});

const faultTally: z.ZodType<FaultTally> = z.strictObject({ fired: count, overlapped: count });

const faultKind: z.ZodType<FaultKind, FaultKind> = z.enum(FAULT_KINDS);

export const tallySchema: z.ZodType<Tally> = z.strictObject({
  seeds: count,
  events: count,
  broken: count,
  unknown: count,
  claims: z.record(z.string(), claimTally),
  faults: z.partialRecord(faultKind, faultTally),
  overlap: z.strictObject({ seeds: count, longestUs: count }),
  stampede: z.strictObject({ seeds: count, computations: count, most: count }),
  failures: z.array(z.strictObject({ seed: count, error: text })).max(KEPT_SEEDS),
  failed: count,
  killed: count,
});

/** The modules of a scenario: from paths to digests. */
export const modulesSchema: z.ZodType<Readonly<Record<string, string>>> = z.record(
  z.string(),
  z.string(),
);
