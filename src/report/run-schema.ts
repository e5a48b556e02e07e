/** The lines that `run --json` writes, and the file of its reporter `json`, as schemas. */
import { z } from 'zod';
import { count, digest, explanation, head } from './output-parts.ts';

const claim = z.strictObject({
  broken: count.describe('seeds that broke it'),
  firstSeed: count.nullable().describe('the lowest of them'),
  exercised: count.describe('seeds on which its hazard arose'),
});

const counterexample = z.strictObject({
  file: z.string().describe('the shrunk plan'),
  claim: z.string(),
  clients: count,
  faults: count,
  events: count.describe('steps that a person would number, after shrinking'),
  originalEvents: count.describe('the same before shrinking'),
  chance: count.describe('decisions of the plan that are still drawn'),
  digest,
});

const system = z.strictObject({
  name: z.string(),
  expect: z.strictObject({
    holds: z.array(z.string()).optional(),
    breaks: z.array(z.string()).optional(),
  }),
  met: z.boolean().nullable().describe('null where it could not be judged'),
  seeds: count,
  broken: count.describe('seeds that broke a claim of expect'),
  unknown: count.describe('seeds on which a claim of expect could not be judged'),
  claims: z.record(z.string(), claim),
  measured: z.strictObject({
    'holder-overlap': z.strictObject({ seeds: count, longestUs: count }).optional(),
    stampede: z
      .strictObject({ seeds: count, computations: count, most: count })
      .optional()
      .describe('of memoized values, where any was computed; `most` by so many clients at once'),
  }),
  vacuous: z.array(z.string()).describe('faults and claims that tested nothing'),
  faults: z.record(z.string(), z.strictObject({ fired: count, overlapped: count })),
  counterexample: counterexample.nullable(),
});

/** The last line of `run`. */
export const summary: z.ZodObject = z.strictObject({
  ...head('summary'),
  exit: count.describe('the exit code'),
  seedsPerSecond: count,
  eventsPerSecond: count,
  scenarios: z.array(
    z.strictObject({ name: z.string(), file: z.string(), systems: z.array(system) }),
  ),
});

const sibling = z.strictObject({
  system: z.string(),
  claim: z.string(),
  outcome: z
    .enum(['holds', 'breaks', 'untested', 'unknown', 'diverged', 'cannot-run'])
    .describe('untested: the hazard did not arise; diverged: a name in the plan found no match'),
  text: z.string().describe('the same in a line'),
});

/** One counterexample. */
export const finding: z.ZodObject = z.strictObject({
  ...head('finding'),
  scenario: z.string(),
  system: z.string(),
  claim: z.string(),
  seed: count,
  explanation,
  digest,
  planFile: z.string(),
  pageFile: z.string(),
  boundary: z.string().nullable(),
  size: z.strictObject({
    events: count,
    originalEvents: count,
    faults: count,
    originalFaults: count,
  }),
  siblings: z
    .array(sibling)
    .optional()
    .describe('the same plan on the systems that must hold, where the break was expected'),
});

/** The file of `run --reporter json`. */
export const report: z.ZodObject = z
  .strictObject({ ...head('report'), summary, findings: z.array(finding) })
  .describe('the file of `run --reporter json`');
