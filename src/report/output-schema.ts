/**
 * The lines that `--json` writes, as a schema: what machines may rely on. Every line has a `type`
 * and the `version` of this format, which rises when a field changes its meaning or goes.
 */
import { z } from 'zod';
import { addedPlan, corpusSummary, keptPlan, outcomes, superfluousPlan } from './corpus-schema.ts';
import { doctor } from './doctor-schema.ts';
import { queueStatus, sweepStatus } from './fleet-schema.ts';
import { count, digest, head } from './output-parts.ts';
import { finding, report, summary } from './run-schema.ts';
import { event, list, show } from './show-schema.ts';

const replay = z.strictObject({
  ...head('replay'),
  file: z.string(),
  outcome: z.enum(outcomes),
  claim: z.string(),
  digest,
  divergedAt: z.string().nullable(),
  changedModules: z
    .array(z.string())
    .optional()
    .describe('of the plan’s own modules, those that are not as when it was made'),
});

const planSize = z.strictObject({
  clients: count,
  sections: count,
  faults: count,
  decisions: count,
});

const shrink = z.strictObject({
  ...head('shrink'),
  claim: z.string(),
  before: planSize,
  after: planSize,
  runs: count,
  isMinimal: z.boolean(),
  milliseconds: count,
  boundary: z
    .object({
      what: z.string(),
      parameter: z.string(),
      breaksAtUs: z.int(),
      holdsAtUs: z.int(),
    })
    .nullable(),
  digest,
  plan: z.string().describe('the shrunk plan, as the text of a plan file'),
});

const coreEntry = z.strictObject({
  process: z.string(),
  operation: z.string().describe('with its answer: cas(4→4)=ok'),
  invokeLine: count.describe('of the file'),
  returnLine: count.nullable().describe('null when it never completed'),
  role: z.enum(['first bad', 'core']).describe('first bad: no order satisfies its return'),
});

const checkedPart = z.strictObject({
  key: z.string().describe('of an independent object; empty when there is one only'),
  verdict: z.enum(['valid', 'invalid', 'unknown']),
  operations: count,
  configurations: count.describe('that the search met, a measure of its effort'),
  returns: count.describe('completed operations'),
  satisfied: count
    .nullable()
    .describe(
      'those that return before the first bad one, all satisfied by one order; null when a limit was reached before the first one was found',
    ),
  core: z.array(coreEntry).describe('operations that contradict each other'),
  isMinimal: z.boolean().nullable().describe('whether none of the core can be spared'),
  because: z.string().describe('why it is not valid, in one sentence'),
});

const check = z.strictObject({
  ...head('check'),
  file: z.string(),
  format: z.string(),
  model: z.string(),
  operations: count,
  verdict: z.enum(['valid', 'invalid', 'unknown']),
  configurations: count,
  parts: z.array(checkedPart),
});

const estimate = z
  .strictObject({
    value: z.number().nullable(),
    lower: z.number().nullable(),
    upper: z.number().nullable(),
  })
  .describe('with its 95 % interval, bootstrapped over whole runs; null for nothing');

const share = z
  .strictObject({ hits: count, runs: count, lower: z.number(), upper: z.number() })
  .describe('of runs, with its 95 % interval after Wilson');

const comparison = z.strictObject({
  ...head('comparison'),
  system: z.string(),
  contention: z.string().describe('low, medium, high, or `as written` in the scenario'),
  hasFaults: z.boolean(),
  about: z.string().describe('what the level of contention means'),
  seeds: count,
  figures: z.strictObject({
    throughput: estimate.describe('acknowledged sections per virtual second'),
    waitP50: estimate.describe('µs, from the first request to the lock, or without one the commit'),
    waitP99: estimate,
    commitP99: estimate.describe('µs, from the first request to the answer to the last write'),
    retries: estimate.describe('per section that began'),
    aborts: estimate.describe('per section that began'),
    deadlocks: estimate.describe('per section that began'),
    stuck: estimate.describe('sections that wait for ever, per section that began'),
    lost: estimate.describe('updates that a store accepted, per acknowledged section'),
    repeated: estimate.describe('how often one took effect again, per acknowledged section'),
    wrong: share.describe('runs that lost an update, or applied one twice'),
  }),
});

const rulings = z.enum(['holds', 'fails', 'mixed', 'undecided', 'not measured']);

const folkloreFinding = z.strictObject({
  contention: z.string().describe('`any`: all levels together'),
  hasFaults: z.boolean(),
  ruling: rulings,
  ours: z.string().describe('the system that the saying is for'),
  theirs: z.string(),
  evidence: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.enum(['throughput', 'commit-p99']),
      ours: estimate,
      theirs: estimate,
      gain: estimate.describe('positive where ours is better; of the same seeds; within 97.5 %'),
    }),
    z.strictObject({ kind: z.literal('wrong'), ours: share, theirs: share }),
  ]),
});

const compareSummary = z.strictObject({
  ...head('compare-summary'),
  exit: count.describe('the exit code'),
  seeds: count.describe('of each system under each condition'),
  systems: z.array(z.strictObject({ name: z.string(), about: z.string() })),
  folklore: z.array(
    z.strictObject({ saying: z.string(), ruling: rulings, findings: z.array(folkloreFinding) }),
  ),
});

const mutatedSystem = z.strictObject({
  lock: z.string(),
  store: z.string(),
  options: z.record(z.string(), z.json()).optional(),
  clients: z.record(z.string(), z.json()).optional(),
});

const aboutMutant = {
  name: z.string(),
  change: z.string().describe('the mistake'),
  caughtBy: z.string().describe('the claim that has to find it'),
  needs: z.string().describe('what has to go wrong; empty for nothing'),
  systems: z.strictObject({ base: mutatedSystem, mutant: mutatedSystem }),
};

const mutant = z.strictObject({
  ...head('mutant'),
  ...aboutMutant,
  seeds: count.describe('of each system'),
  base: z.strictObject({
    verdict: z.enum(['held', 'broke', 'untested']),
    broken: count.describe('seeds on which it broke the claim'),
    why: z.array(z.string()).describe('what made it untested'),
  }),
  found: share.describe('seeds that found it, with a 95 % interval after Wilson'),
  seedsToFind: count.nullable().describe('the median of searches; null for more than they had'),
  firstSeed: count.nullable(),
  alsoBreaks: z.array(z.string()).describe('claims that it breaks beside, and its base does not'),
  failed: count.describe('runs that failed'),
  size: z
    .strictObject({ clients: count, faults: count, events: count })
    .nullable()
    .describe('of the shrunk plan'),
});

const listedMutant = z.strictObject({ ...head('listed-mutant'), ...aboutMutant });

const mutantsSummary = z.strictObject({
  ...head('mutants-summary'),
  exit: count.describe('the exit code'),
  mutants: count,
  found: count,
  basesHeld: count,
});

/** Any line that a command writes with `--json`; a field that is not listed is refused. */
export const outputLine: z.ZodType = z.discriminatedUnion('type', [
  summary,
  finding,
  report,
  replay,
  keptPlan,
  corpusSummary,
  addedPlan,
  superfluousPlan,
  event,
  show,
  list,
  shrink,
  check,
  comparison,
  compareSummary,
  mutant,
  listedMutant,
  mutantsSummary,
  doctor,
  sweepStatus,
  queueStatus,
]);

/** The JSON Schema of those lines. */
export function outputJsonSchema(): object {
  return z.toJSONSchema(outputLine);
}
