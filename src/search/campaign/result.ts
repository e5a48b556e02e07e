/**
 * Defines the result of a campaign. Each schema is also the type of its data, the format of
 * `--json` and the input of every report. `outputJsonSchema` in `report/output-schema.ts` derives
 * the published JSON Schema.
 *
 * A `Result` is everything that one command found: a `Summary` with one `ScenarioResult` per
 * scenario, and the findings of all scenarios. A `Finding` is a `FindingLine` plus runs for reports
 * to draw. JSON omits these runs, since the finding's plan determines them.
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

const kindOfFailure = z.strictObject({
  rule: text.describe('the rule of the claim that broke'),
  cause: text.describe('the cause of the breach, such as pause before release'),
  broken: count.describe('seeds that broke it for this cause'),
  firstSeed: count,
});

const claim = z.strictObject({
  broken: count.describe('seeds that broke it'),
  firstSeed: count.nullable().describe('the lowest of them'),
  exercised: count.describe('seeds on which its hazard arose'),
  avoided: count
    .default(0)
    .describe('seeds on which a twin broke it but it held here, at most the first 50'),
  due: count.describe('seeds on which it had to be judged'),
  judged: count.describe('of these, seeds whose code did not fail and on which it was not unknown'),
  unknown: count.describe('seeds on which it could not be judged, although the code did not fail'),
  firstUnknown: z
    .strictObject({ seed: count, reason: text })
    .exactOptional()
    .describe('the lowest of them, and why; absent if there is none'),
  kinds: z
    .array(kindOfFailure)
    .describe('kinds of failure by cause, in order of their first seeds')
    .exactOptional(),
});

const counterexample = z.strictObject({
  file: text.describe('the shrunk plan'),
  claim: text,
  clients: count,
  faults: count,
  events: count.describe('events that a person would number in the complete run, after shrinking'),
  originalEvents: count.describe('the same before shrinking'),
  chance: count.describe('decisions of the plan that are still drawn'),
  digest,
});

const sectionError = z.strictObject({
  error: text.describe('from the first of its seeds, with the call that failed'),
  place: text.nullable().describe('in user code: `lock.mjs:12:5`'),
  count: count.describe('sections that it ended'),
  firstSeed: count,
});

const fault = z.strictObject({
  fired: count.describe('seeds on which it fired'),
  overlapped: count.describe('seeds on which it fired while a grant was held'),
  strikes: faultStagesSchema.describe('how often, by what the affected client was doing'),
});

const overlap = z.strictObject({ seeds: count, longestUs: count });

const exhaustedScope = z
  .strictObject({
    faults: count.describe('maximum per plan'),
    kinds: texts.describe('of fault'),
    ties: count.describe('maximum number of swaps of events with the same time and receiver'),
    latencyUs: count.describe('latency of every message that no fault delays'),
    clients: count,
    sections: count.describe('maximum per client'),
    plans: count.describe('number of plans in this scope, of which `seeds` were examined'),
  })
  .describe('the scope of an exhaustive search; absent if seeds were run');

const edgePoint = z.strictObject({
  kind: z.enum(['pause', 'delay', 'partition', 'late-timer']).describe('of fault'),
  claim: text,
  ttlUs: count,
  edgeUs: count
    .nullable()
    .describe('the shortest length that breaks it: 0 without a fault, null if none does'),
});

const edges = z.strictObject({
  points: z.array(edgePoint).describe('by kind, ttl and claim, in this order'),
  givenUp: z.array(edgePoint.shape.kind).describe('kinds that would take too many runs'),
});

const sections = z.strictObject({
  planned: count.describe('sections in the plans'),
  began: count.describe('ended, gave up, failed, crashed or open'),
  ended: count.describe('returned, and did not fail to get a lock'),
  open: count.describe('had not ended when the run ended'),
  entered: count.describe('held their lock; without a lock, reached a store'),
  gaveUp: count.describe('returned without the lock that they had requested'),
  refused: count.describe('a store refused one of their accesses'),
  crashed: count.describe('their process crashed'),
  unguarded: count.describe('ended without section.guard(), although denied nothing'),
  failed: z.array(sectionError).describe('errors that ended sections, the most frequent first'),
  otherFailed: count.describe('ended with other errors'),
});

const system = z.strictObject({
  name: text,
  // An absent list expects nothing. `holds` also contains `progress` if user code broke that claim,
  // even if the scenario does not list it.
  expect: z.strictObject({
    holds: texts.exactOptional(),
    breaks: texts.exactOptional(),
    may: texts.exactOptional().describe('claims that may break: counted, and never a failure'),
  }),
  met: z.boolean().nullable().describe('null if it could not be judged'),
  isPart: z.boolean().exactOptional().describe('true if it is a shard, judged by merge'),
  seeds: count.describe('with `exhausted`, this and all other counts of seeds are counts of plans'),
  isWritten: z
    .boolean()
    .exactOptional()
    .describe('true if nothing is drawn, so all seeds are the same run'),
  exhausted: exhaustedScope.exactOptional(),
  edges: edges
    .exactOptional()
    .describe('the shortest faults that break each broken claim; only after an exhaustive search'),
  broken: count.describe('seeds that broke a claim of expect'),
  unknown: count.describe('seeds on which a claim of expect could not be judged'),
  failed: count.describe('seeds on which the code under test failed'),
  leftOut: count
    .exactOptional()
    .describe('seeds that were not run, because the first ones all failed with the same error'),
  failures: z
    .array(z.strictObject({ seed: count, error: text }))
    .describe('the first seed with each error'),
  output: z
    .strictObject({ seed: count, lines: texts.describe('alice | connected') })
    .exactOptional()
    .describe('output of one run: of the first seed that failed, or of the only one'),
  claims: z.record(text, claim),
  measured: z.strictObject({
    'holder-overlap': overlap.exactOptional(),
    'loss-noticed': overlap.exactOptional(),
    stampede: z
      .strictObject({ seeds: count, computations: count, most: count })
      .exactOptional()
      .describe('of memoized values, if any was computed; `most`: the most clients at once'),
  }),
  sections: sections.describe('sections of all runs, by their end'),
  hints: texts.describe(
    'what faults affected, if a claim that should break held; why sections gave up',
  ),
  vacuous: texts.describe(
    'why claims that should hold were not exercised: sections, faults, claims',
  ),
  unsimulated: unsimulatedSchema
    .exactOptional()
    .describe(
      'features that its code requested and that are not simulated; absent if there are none',
    ),
  faults: z.record(text, fault),
  counterexample: counterexample.nullable(),
});

/** In this order: Ctrl-C, `--time`, seeds that did not finish, an incomplete shard. */
const stopReasonSchema = z.enum(['interrupted', 'time', 'hangs', 'shard']);

const scenario = z.strictObject({
  name: text,
  file: text,
  range: z
    .strictObject({ from: count, to: z.int().min(-1) })
    .describe('the requested seeds, both ends included'),
  systems: z.array(system),
  cutShort: z
    .strictObject({
      asked: count.describe('seeds requested for each system'),
      by: stopReasonSchema,
    })
    .exactOptional()
    .describe('why not all seeds were examined; absent if all were'),
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
    .describe('untested: the hazard did not arise; diverged: a name in the plan has no match'),
  text: text.describe('the same in one line'),
});

const place = count.describe('index in the trace, from 0');

const provenCure = z.strictObject({
  change: text.describe('of the system, as in a scenario: store: fenced'),
  text,
});

const causation: z.ZodType<Causation> = z.strictObject({
  causes: z
    .array(
      z.strictObject({
        kind: z.enum(['fault', 'message', 'timer', 'expiry', 'renewal', 'release', 'order']),
        fault: count
          .nullable()
          .describe('index in the faults of the plan, from 0; null if it is not a fault'),
        event: place,
        text,
      }),
    )
    .describe('the events without which the claim holds'),
  isPair: z.boolean().describe('true if either of the two causes alone causes the breach'),
  tested: z
    .strictObject({ tested: count, of: count })
    .describe('number of possible causes that were tested, and of all'),
  turn: z
    .strictObject({
      kind: z
        .enum(['answer', 'grant', 'order', 'only here'])
        .describe('a different answer, holder or order at a server, or an event in no other run'),
      event: place,
      neighbour: count.describe('index of the neighbour that shows it, from 0'),
      text,
    })
    .nullable()
    .describe('the first difference from a run without this breach'),
  neighbours: z
    .array(
      z.strictObject({
        kind: z.enum(['intervention', 'boundary', 'cure']),
        what: text.describe('the difference'),
        fault: count.nullable().describe('index of the fault that was removed from the plan'),
        outcome: z
          .enum(['holds', 'breaks', 'otherwise', 'stalls'])
          .describe('otherwise: breaks by another rule or cause; stalls: not judged, or not run'),
      }),
    )
    .describe('runs of similar plans'),
  cure: provenCure
    .nullable()
    .describe('a change with which the same plan holds, or null if none was found'),
  evidence: z
    .array(z.strictObject({ role: text, event: place }))
    .describe('the events of the breach, its causes and its turning point'),
});

const exhaustScope: z.ZodType<ExhaustScope> = z
  .strictObject({
    faults: count.describe('maximum per plan'),
    ties: count.describe('maximum number of swaps of events with the same time and receiver'),
    clients: count.nullable().describe('number of clients, the first ones; null for all'),
    sections: count
      .nullable()
      .describe('number of sections per client, the first ones; null for all'),
  })
  .describe('the requested exhaustive search; absent if seeds were run');

const finding = z.strictObject({
  ...head('finding'),
  scenario: text,
  system: text,
  claim: text,
  seed: count.describe('with `exhaust`, the number of the plan'),
  explanation,
  digest,
  planFile: text,
  pageFile: text.describe("'' if no page was written"),
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
    .describe('the same plan on the systems that must hold, if the break was expected'),
  causation: causation.exactOptional().describe('its causes, as shown by runs of similar plans'),
  isExpected: z.boolean().exactOptional().describe('true if the scenario expects it to break'),
  output: texts.exactOptional().describe('output of the run of the shrunk plan'),
});

const summary = z.strictObject({
  ...head('summary'),
  exit,
  seedsPerSecond: count,
  eventsPerSecond: count,
  scenarios: z.array(scenario),
  notBegun: count.exactOptional().describe('scenarios that had not begun when it was interrupted'),
});

const report = z
  .strictObject({ ...head('report'), summary, findings: z.array(finding) })
  .describe('the file of `run --reporter json`');

/** The lines of `run`, `merge` and `sweep` with `--json`, and the report file. */
export const resultLines = [summary, finding, report] as const;

export type Summary = Data<typeof summary>;
export type ScenarioResult = Data<typeof scenario>;
export type SystemResult = Data<typeof system>;
/** The counts of a claim, in seeds. */
export type ClaimResult = Data<typeof claim>;
export type CounterexampleSummary = Data<typeof counterexample>;
export type ExhaustedScope = Data<typeof exhaustedScope>;
/** The shortest fault of one kind that breaks one claim, at one ttl. */
export type EdgePoint = Data<typeof edgePoint>;
export type SystemEdges = Data<typeof edges>;
export type StopReason = z.infer<typeof stopReasonSchema>;
/** The number of requested seeds per system, and why some were not examined. */
export type EarlyStop = NonNullable<ScenarioResult['cutShort']>;
/** The outcome of a plan on a twin. */
export type SiblingLine = Data<typeof sibling>;
/** The part of a finding that JSON contains. */
export type FindingLine = Data<typeof finding>;
/** The size of a counterexample, before and after shrinking. */
export type ShrunkSize = FindingLine['size'];

/** A counterexample with the runs that reports draw. */
export interface Finding extends FindingLine {
  readonly scenarioFile: string;
  /** The verdict on `claim`. The evidence contains indexes into `trace`. */
  readonly verdict: Invalid;
  /** All verdicts on `trace`, including the one on `claim`. */
  readonly verdicts: readonly Verdict[];
  readonly trace: Trace;
  /** The shrunk plan. `planText` is its text in `planFile`. */
  readonly plan: Plan;
  readonly planText: string;
  /** The run before shrinking, with evidence against the same claim. Absent if not kept. */
  readonly original?: OtherRun;
  /** The most similar run that passes. Absent if no boundary was found. */
  readonly nearest?: OtherRun;
  /** The same plan on the first system that must hold the claim and does. Absent if none does. */
  readonly cured?: OtherRun & { readonly system: string };
  /** The scenario as an argument of `run`: the name of a built-in scenario, otherwise its file. */
  readonly scenarioTyped?: string;
  /** The folder of the scenario's kept plans. '' if `corpus add` finds it without `--corpus`. */
  readonly keptIn: string;
}

/** A run to compare with the counterexample. */
export interface OtherRun {
  readonly plan: Plan;
  readonly trace: Trace;
  /** Events of `trace`, by index. Empty if the claim holds. */
  readonly evidence: readonly Evidence[];
}

/** Everything that one command found. */
export interface Result extends Omit<Data<typeof report>, 'findings'> {
  readonly findings: readonly Finding[];
}
