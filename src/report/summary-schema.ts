/** The schema of a run's last line with `--json`, and of what it consists of. */
import { z } from 'zod';
import { faultStagesSchema } from '../search/sweep/fault-stages.ts';
import type { SectionCounts, SectionErrorCount } from '../search/sweep/sections.ts';
import {
  count,
  digest,
  exhaustedScope,
  exit,
  head,
  type SchemaFields,
  since020,
  text,
  texts,
} from './line-schema.ts';
import {
  type ClaimSummary,
  type CounterexampleSummary,
  CUT_REASONS,
  type CutShort,
  type KindOfFailure,
  type ScenarioSummary,
  type Summary,
  type SystemSummary,
} from './summary.ts';

const kindOfFailure = z.strictObject({
  rule: text.describe('the rule of the claim that broke'),
  cause: text.describe('what the breach came from, as pause before release'),
  broken: count.describe('seeds that broke it so'),
  firstSeed: count,
} satisfies SchemaFields<KindOfFailure>);

const claim = z.strictObject({
  broken: count.describe('seeds that broke it'),
  firstSeed: count.nullable().describe('the lowest of them'),
  exercised: count.describe('seeds on which its hazard arose'),
  avoided: count
    .default(0)
    .describe('seeds that broke it in a sibling and not here, of the first 50 at most'),
  kinds: z
    .array(kindOfFailure)
    .describe('kinds of failure by their cause, that of the lowest seed first')
    .optional(),
} satisfies SchemaFields<ClaimSummary>);

const counterexample = z.strictObject({
  file: text.describe('the shrunk plan'),
  claim: text,
  clients: count,
  faults: count,
  events: count.describe('events that a person would number in the whole run, after shrinking'),
  originalEvents: count.describe('the same before shrinking'),
  chance: count.describe('decisions of the plan that are still drawn'),
  digest,
} satisfies SchemaFields<CounterexampleSummary>);

const sectionError = z.strictObject({
  error: text.describe('as on the first of its seeds, with the call that failed'),
  place: text.nullable().describe('in code of the user’s own, `lock.mjs:12:5`'),
  count: count.describe('sections that it ended'),
  firstSeed: count,
} satisfies SchemaFields<SectionErrorCount>);

const fault = z.strictObject({
  fired: count.describe('seeds on which it fired'),
  overlapped: count.describe('seeds on which it fired while a grant was held'),
  strikes: since020(faultStagesSchema).describe(
    'how often, by what the client that it hit was about',
  ),
});

const system = z.strictObject({
  name: text,
  expect: z.strictObject({
    ...{ holds: texts.optional(), breaks: texts.optional() },
    may: texts.optional().describe('claims that may break: counted, and never a failure'),
  }),
  met: z.boolean().nullable().describe('null where it could not be judged'),
  seeds: count.describe('or plans, and so all counts of seeds, where `exhausted` is there'),
  isWritten: z.boolean().optional().describe('whether all seeds are one run: nothing is drawn'),
  exhausted: exhaustedScope.optional(),
  broken: count.describe('seeds that broke a claim of expect'),
  unknown: count.describe('seeds on which a claim of expect could not be judged'),
  claims: z.record(text, claim),
  measured: z.strictObject({
    'holder-overlap': z.strictObject({ seeds: count, longestUs: count }).optional(),
    'loss-noticed': z.strictObject({ seeds: count, longestUs: count }).optional(),
    stampede: z
      .strictObject({ seeds: count, computations: count, most: count })
      .optional()
      .describe('of memoized values, where any was computed; `most` by so many clients at once'),
  }),
  sections: since020(
    z.strictObject({
      began: count,
      entered: count.describe('had their lock; where there is none, reached a store'),
      gaveUp: count.describe('never granted the lock that they asked for'),
      refused: count.describe('a store refused an access of theirs'),
      crashed: count.describe('their process crashed'),
      unguarded: count.describe('were denied nothing, and returned without section.guard()'),
      failed: z.array(sectionError).describe('errors that ended some, the most frequent first'),
      otherFailed: count.describe('ended by other errors than these'),
    } satisfies SchemaFields<SectionCounts>),
  ).describe('of all runs together, what became of their sections'),
  hints: since020(texts).describe(
    'where a claim that should break held, what faults met; without faults, what is untested',
  ),
  vacuous: texts.describe('why nothing was tested: of sections, faults and claims'),
  faults: z.record(text, fault),
  counterexample: counterexample.nullable(),
} satisfies SchemaFields<SystemSummary>);

const scenario = z.strictObject({
  ...{ name: text, file: text, systems: z.array(system) },
  cutShort: z
    .strictObject({
      asked: count.describe('seeds that each system was to be examined on'),
      by: z.enum(CUT_REASONS),
    } satisfies SchemaFields<CutShort>)
    .optional()
    .describe('why not all seeds were examined; absent where all were'),
} satisfies SchemaFields<ScenarioSummary>);

/** The last line of `run`. */
export const summary: z.ZodObject = z.strictObject({
  ...head('summary'),
  exit,
  seedsPerSecond: count,
  eventsPerSecond: count,
  scenarios: z.array(scenario),
  notBegun: count.optional().describe('scenarios that were left when it was interrupted'),
} satisfies SchemaFields<Summary>);
