/**
 * Defines the result of a campaign. Each schema here is also the type of its data, the format of
 * `--json` and the input of every report, so that each field is defined once. `outputJsonSchema` in
 * `report/output-schema.ts` derives the published JSON Schema from it.
 *
 * A `Result` is everything that one command found: a `Summary` with one `ScenarioResult` per
 * scenario, and the findings of all scenarios. A `Finding` is a `FindingLine` plus the runs that
 * reports draw. These follow from the plan of the finding, so JSON omits them.
 */
import { z } from 'zod';
import type { Causation } from '../../check/causation.ts';
import type { Evidence, Explanation, Invalid, Verdict } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Data } from '../../core/plan/fields.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ExhaustScope } from '../../scenario/scenario.ts';
import { faultStagesSchema } from '../sweep/fault-positions.ts';
import { keptOutcomeSchema, runDifferenceSchema } from '../sweep/shards.ts';
import { unsimulatedSchema } from '../sweep/unsimulated.ts';
import { count, digest, exit, head, text, texts } from './fields.ts';

/** Breaches of one claim with the same cause. */
const kindOfFailure = z.strictObject({
  rule: text.describe('the rule of the claim that broke'),
  cause: text.describe('what the breach came from, as pause before release'),
  broken: count.describe('seeds that broke it so'),
  firstSeed: count,
});

const claim = z.strictObject({
  broken: count.describe('seeds that broke it'),
  firstSeed: count.nullable().describe('the lowest of them'),
  exercised: count.describe('seeds on which its hazard arose'),
  avoided: count
    .default(0)
    .describe('seeds on which a twin broke it and it held here, of the first 50 at most'),
  due: count.describe('seeds on which it was to be judged'),
  judged: count.describe('of these, seeds whose code did not fail and on which it was not unknown'),
  unknown: count.describe('seeds on which it could not be judged, although the code did not fail'),
  firstUnknown: z
    .strictObject({ seed: count, reason: text })
    .exactOptional()
    .describe('the lowest of them, and why; absent where there is none'),
  kinds: z
    .array(kindOfFailure)
    .describe('kinds of failure by their cause, that of the lowest seed first')
    .exactOptional(),
});

const counterexample = z.strictObject({
  file: text.describe('the shrunk plan'),
  claim: text,
  clients: count,
  faults: count,
  events: count.describe('events that a person would number in the whole run, after shrinking'),
  originalEvents: count.describe('the same before shrinking'),
  chance: count.describe('decisions of the plan that are still drawn'),
  digest,
});

const sectionError = z.strictObject({
  error: text.describe('as on the first of its seeds, with the call that failed'),
  place: text.nullable().describe('in code of the user’s own, `lock.mjs:12:5`'),
  count: count.describe('sections that it ended'),
  firstSeed: count,
});

const fault = z.strictObject({
  fired: count.describe('seeds on which it fired'),
  overlapped: count.describe('seeds on which it fired while a grant was held'),
  strikes: faultStagesSchema.describe('how often, by what the client that it hit was about'),
});

const overlap = z.strictObject({ seeds: count, longestUs: count });

const exhaustedScope = z
  .strictObject({
    faults: count.describe('that a plan has at most'),
    kinds: texts.describe('of fault'),
    ties: count.describe('swaps of events of one instant and receiver, at most'),
    latencyUs: count.describe('of every message that no fault delays'),
    clients: count,
    sections: count.describe('of each client at most'),
    plans: count.describe('all that there are, of which `seeds` were examined'),
  })
  .describe('the scope of an exhaustive search; absent if seeds were run');

const edgePoint = z.strictObject({
  kind: z.enum(['pause', 'delay', 'partition', 'late-timer']).describe('of fault'),
  claim: text,
  ttlUs: count,
  edgeUs: count
    .nullable()
    .describe('the least length that breaks it: 0 without a fault, null if none does'),
});

const edges = z.strictObject({
  points: z.array(edgePoint).describe('by kind, ttl and claim, in this order'),
  givenUp: z.array(edgePoint.shape.kind).describe('kinds that would take too many runs'),
});

const sections = z.strictObject({
  planned: count.describe('that the plans have'),
  began: count.describe('ended, gave up, failed, crashed or open'),
  ended: count.describe('returned, and had not asked for a lock in vain'),
  open: count.describe('had not ended when their run did'),
  entered: count.describe('had their lock; where there is none, reached a store'),
  gaveUp: count.describe('returned, and were never granted the lock that they asked for'),
  refused: count.describe('a store refused an access of theirs'),
  crashed: count.describe('their process crashed'),
  unguarded: count.describe('of those that ended: denied nothing, and without section.guard()'),
  failed: z.array(sectionError).describe('errors that ended some, the most frequent first'),
  otherFailed: count.describe('ended by other errors than these'),
});

const system = z.strictObject({
  name: text,
  // An absent list expects nothing. `holds` also contains `progress` if user code broke it, even if
  // the scenario does not list it.
  expect: z.strictObject({
    holds: texts.exactOptional(),
    breaks: texts.exactOptional(),
    may: texts.exactOptional().describe('claims that may break: counted, and never a failure'),
  }),
  met: z.boolean().nullable().describe('null if it could not be judged'),
  isPart: z.boolean().exactOptional().describe('whether it is a shard, and judged at merge'),
  seeds: count.describe('or plans, and so all counts of seeds, where `exhausted` is there'),
  isWritten: z
    .boolean()
    .exactOptional()
    .describe('whether all seeds are one run: nothing is drawn'),
  exhausted: exhaustedScope.exactOptional(),
  edges: edges
    .exactOptional()
    .describe('from which length on a fault breaks what broke; only of an exhaustive search'),
  broken: count.describe('seeds that broke a claim of expect'),
  unknown: count.describe('seeds on which a claim of expect could not be judged'),
  failed: count.describe('seeds that the system under test did not survive'),
  leftOut: count
    .exactOptional()
    .describe('seeds that were not run, since each of the first ones died of one error'),
  failures: z
    .array(z.strictObject({ seed: count, error: text }))
    .describe('the first of them with each error'),
  output: z
    .strictObject({ seed: count, lines: texts.describe('alice | connected') })
    .exactOptional()
    .describe('what one run printed: that of the first seed that failed, or of the only one'),
  claims: z.record(text, claim),
  measured: z.strictObject({
    'holder-overlap': overlap.exactOptional(),
    'loss-noticed': overlap.exactOptional(),
    stampede: z
      .strictObject({ seeds: count, computations: count, most: count })
      .exactOptional()
      .describe('of memoized values, where any was computed; `most` by so many clients at once'),
  }),
  sections: sections.describe('of all runs together, what became of their sections'),
  hints: texts.describe(
    'where a claim that should break held, what faults met; why sections gave up',
  ),
  vacuous: texts.describe('why what should hold was not exercised: sections, faults, claims'),
  unsimulated: unsimulatedSchema
    .exactOptional()
    .describe('what its code asked for and is not simulated; absent where there was nothing'),
  faults: z.record(text, fault),
  counterexample: counterexample.nullable(),
});

/**
 * The reasons are, in this order: Ctrl-C, `--time`, seeds that did not finish, an incomplete shard.
 */
const stopReasonSchema = z.enum(['interrupted', 'time', 'hangs', 'shard']);

const scenario = z.strictObject({
  name: text,
  file: text,
  range: z
    .strictObject({ from: count, to: z.int().min(-1) })
    .describe('the seeds that were asked for, both included'),
  systems: z.array(system),
  cutShort: z
    .strictObject({
      asked: count.describe('seeds that each system was to be examined on'),
      by: stopReasonSchema,
    })
    .exactOptional()
    .describe('why not all seeds were examined; absent where all were'),
  keptPlans: z.array(keptOutcomeSchema).describe('the kept plans that were replayed'),
  difference: runDifferenceSchema
    .nullable()
    .describe('the first event that differed between two runs of one seed, or null'),
});

const explanation: z.ZodType<Explanation> = z.strictObject({
  headline: text,
  given: text,
  next: text,
  however: text,
  cure: text,
});

/** The schema of an explanation of a breach. */
export const explanationSchema: z.ZodType<Explanation> = explanation;

const sibling = z.strictObject({
  system: text,
  claim: text,
  outcome: z
    .enum(['holds', 'breaks', 'untested', 'unknown', 'diverged', 'cannot-run'])
    .describe('untested: the hazard did not arise; diverged: a name in the plan found no match'),
  text: text.describe('the same in a line'),
});

const place = count.describe('its place in the trace, from 0');

const provenCure = z.strictObject({
  change: text.describe('of the system, as a scenario has it: store: fenced'),
  text,
});

/** The causes of a breach, as shown by runs of similar plans. */
const causation: z.ZodType<Causation> = z.strictObject({
  causes: z
    .array(
      z.strictObject({
        kind: z.enum(['fault', 'message', 'timer', 'expiry', 'renewal', 'release', 'order']),
        fault: count.nullable().describe('index in the faults of the plan, from 0; null: no fault'),
        event: place,
        text,
      }),
    )
    .describe('the events without which the claim holds'),
  isPair: z.boolean().describe('true: either of the two causes is enough for the breach'),
  tested: z
    .strictObject({ tested: count, of: count })
    .describe('possible causes that were tested, of all'),
  turn: z
    .strictObject({
      kind: z
        .enum(['answer', 'grant', 'order', 'only here'])
        .describe('another answer, another holder, another order at a server, or in no other run'),
      event: place,
      neighbour: count.describe('which of the neighbours shows it, from 0'),
      text,
    })
    .nullable()
    .describe('the first difference from a run that holds'),
  neighbours: z
    .array(
      z.strictObject({
        kind: z.enum(['intervention', 'boundary', 'cure']),
        what: text.describe('in what it differs'),
        fault: count.nullable().describe('the fault of the plan that was taken out'),
        outcome: z
          .enum(['holds', 'breaks', 'otherwise', 'stalls'])
          .describe('otherwise: breaks by another rule or cause; stalls: its sections did not run'),
      }),
    )
    .describe('the runs beside it'),
  cure: provenCure
    .nullable()
    .describe('what was run on the same plan and holds; null: nothing did'),
  evidence: z
    .array(z.strictObject({ role: text, event: place }))
    .describe('the events of the breach, its causes and its turning point'),
});

const exhaustScope: z.ZodType<ExhaustScope> = z
  .strictObject({
    faults: count.describe('that a plan has at most'),
    ties: count.describe('swaps of events of one instant and receiver, at most'),
    clients: count.nullable().describe('the first of them; null for all'),
    sections: count.nullable().describe('of each client, the first; null for all'),
  })
  .describe('what an exhaustive search was asked for; absent if seeds were run');

const finding = z.strictObject({
  ...head('finding'),
  scenario: text,
  system: text,
  claim: text,
  seed: count.describe('or the number of the plan, where `exhaust` is there'),
  explanation,
  digest,
  planFile: text,
  pageFile: text.describe("'' where no page was written"),
  boundary: text.nullable(),
  size: z.strictObject({
    events: count,
    originalEvents: count,
    faults: count,
    originalFaults: count,
  }),
  exhaust: exhaustScope.exactOptional(),
  siblings: z
    .array(sibling)
    .exactOptional()
    .describe('the same plan on the systems that must hold, where the break was expected'),
  causation: causation.exactOptional().describe('what runs beside it show that it came from'),
  isExpected: z.boolean().exactOptional().describe('whether the scenario says that it breaks'),
  output: texts.exactOptional().describe('what the run of the shrunk plan printed'),
});

const summary = z.strictObject({
  ...head('summary'),
  exit,
  seedsPerSecond: count,
  eventsPerSecond: count,
  scenarios: z.array(scenario),
  notBegun: count.exactOptional().describe('scenarios that were left when it was interrupted'),
});

const report = z
  .strictObject({ ...head('report'), summary, findings: z.array(finding) })
  .describe('the file of `run --reporter json`');

/** The lines of `run`, `merge` and `sweep` with `--json`, and the report file. */
export const resultLines = [summary, finding, report] as const;

export type Summary = Data<typeof summary>;
export type ScenarioResult = Data<typeof scenario>;
export type SystemResult = Data<typeof system>;
/** The counts of a claim. All of them count seeds. */
export type ClaimResult = Data<typeof claim>;
export type CounterexampleSummary = Data<typeof counterexample>;
export type ExhaustedScope = Data<typeof exhaustedScope>;
/** The shortest fault of one kind that breaks one claim, at one ttl. */
export type EdgePoint = Data<typeof edgePoint>;
export type SystemEdges = Data<typeof edges>;
export type StopReason = z.infer<typeof stopReasonSchema>;
/** The number of seeds that each system should have been examined on, and why some are missing. */
export type EarlyStop = NonNullable<ScenarioResult['cutShort']>;
/** The outcome of the same plan on another system. */
export type SiblingLine = Data<typeof sibling>;
/** The part of a finding that is written as JSON. */
export type FindingLine = Data<typeof finding>;
/** The size of a counterexample and of the run it was shrunk from. */
export type ShrunkSize = FindingLine['size'];

/** A counterexample with the runs that reports draw. */
export interface Finding extends FindingLine {
  readonly scenarioFile: string;
  /** The verdict on `claim`; its evidence indexes `trace`. */
  readonly verdict: Invalid;
  /** Every verdict on `trace`, including the one on `claim`. */
  readonly verdicts: readonly Verdict[];
  readonly trace: Trace;
  /** The shrunk plan. `planText` is the same plan as written to `planFile`. */
  readonly plan: Plan;
  readonly planText: string;
  /** The run before shrinking, with evidence against the same claim; absent if not kept. */
  readonly original?: OtherRun;
  /** The most similar run that passes; absent if no boundary was found. */
  readonly nearest?: OtherRun;
  /**
   * The same plan on the first system that must hold the claim and does; absent if there is none.
   */
  readonly cured?: OtherRun & { readonly system: string };
  /** The scenario as an argument of `run`: its name if it ships with fencepost, else its file. */
  readonly scenarioTyped?: string;
  /** The folder of the scenario's kept plans, or '' if `corpus add` finds it without `--corpus`. */
  readonly keptIn: string;
}

/** A run to compare with the counterexample. */
export interface OtherRun {
  readonly plan: Plan;
  readonly trace: Trace;
  /** Indexes `trace`. Empty if the claim holds. */
  readonly evidence: readonly Evidence[];
}

/** Everything that one command found. */
export interface Result extends Omit<Data<typeof report>, 'findings'> {
  readonly findings: readonly Finding[];
}
