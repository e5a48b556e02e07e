/**
 * The schema of the lines that `--json` writes, on which programs can rely. Every line has a `type`
 * and the format's `version`, which is incremented if a field is removed or changes its meaning.
 * This file defines the parts that several lines share, then the lines of `show`, `list`, `shrink`,
 * `check` and `doctor`. `search/campaign/result.ts` defines the lines of `run`, and
 * `kept-plan-schema.ts` defines the lines of `replay` and `corpus`.
 */
import { z } from 'zod';
import { count, digest, exit, head, line, text, texts } from '../search/campaign/fields.ts';
import { explanationSchema, resultLines } from '../search/campaign/result.ts';
import { unsimulatedInRunSchema } from '../search/sweep/unsimulated.ts';
import { keptPlanLines } from './kept-plan-schema.ts';

const verdicts = z.enum(['valid', 'invalid', 'unknown']);
const event = z
  .looseObject({
    ...head('event'),
    kind: text.describe('what happened; the other fields depend on it'),
    atUs: count.describe('virtual time in microseconds'),
  })
  .describe('one event of a trace');

const judged = { claim: text, exercised: count.describe('how often its hazard arose') };

const verdict = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('valid'), ...judged }),
  z.strictObject({
    kind: z.literal('invalid'),
    ...judged,
    rule: text,
    evidence: z.array(
      z.strictObject({ role: text, event: count.describe('index in the trace, from 0') }),
    ),
    explanation: explanationSchema.optional().describe('present only for user-defined claims'),
  }),
  z.strictObject({ kind: z.literal('unknown'), ...judged, reason: text }),
]);

/** The last line of `show`. */
const show = line('show', {
  digest,
  ending: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('complete') }),
    z.strictObject({ kind: z.literal('cut'), limit: text }),
    z.strictObject({
      kind: z.literal('failed'),
      process: text,
      error: text,
      unserved: text.optional().describe('the address of a server that is not simulated'),
    }),
  ]),
  unmatched: texts.describe('names in the plan that found no match'),
  sections: z
    .array(
      z.strictObject({
        section: text,
        beganUs: count,
        end: z.enum(['returned', 'failed', 'crashed', 'open']).describe('open: it never ended'),
        atUs: count.nullable().describe('when it ended; null: never'),
        isUnguarded: z.boolean().describe('it returned without section.guard()'),
        error: text.nullable().describe('the error that ended it'),
        sinceUs: count
          .nullable()
          .describe('when it began to wait for something that never happened'),
        place: text.nullable().describe('of the error or the wait, in user code'),
      }),
    )
    .describe('the sections that began'),
  unsimulated: unsimulatedInRunSchema
    .optional()
    .describe('requested features that are not simulated'),
  verdicts: z.array(verdict),
  output: texts.exactOptional().describe('output of user code; absent if there is none'),
});

/** A line of `show --points`. */
const pointPlace = line('point', {
  system: text,
  client: text,
  name: text,
  kind: z.enum(['operation', 'mark', 'timer']),
  section: count.nullable().describe('its number; null for a timer outside sections'),
  word: text.nullable().describe('the name that selects it in a fault, as in `before: write`'),
  atUs: count.nullable().describe('when a run without faults first passed it; null if it did not'),
  server: text.nullable().describe('the server that receives the operation'),
  about: text,
}).describe('a place at which a fault can be injected');

const word = z.looseObject({ name: text, about: text });

const list = z
  .looseObject({
    ...head('list'),
    locks: z.array(word),
    stores: z.array(word),
    claims: z.array(word),
  })
  .describe('a list for each kind of name in scenarios, also of kinds that are not listed here');

/** An entry in the line that `explain`, or `list` with a kind, writes. */
const entry = z.looseObject({
  kind: text,
  name: text,
  about: text,
  source: text,
  hazard: text,
  rules: texts,
  see: texts,
  fields: z.array(z.object({ name: text, values: text, about: text })),
  yaml: text.nullable().describe('part of a scenario; null if it is not a word in scenarios'),
  shownBy: z.array(z.object({ how: text, scenarios: texts })),
});
const explained = line('explain', { entries: z.array(entry) });

const planSize = z.strictObject({
  clients: count,
  sections: count,
  faults: count,
  decisions: count,
});

const shrink = line('shrink', {
  claim: text,
  before: planSize,
  after: planSize,
  runs: count,
  isMinimal: z.boolean(),
  milliseconds: count,
  boundary: z
    .object({ what: text, parameter: text, breaksAtUs: z.int(), holdsAtUs: z.int() })
    .nullable(),
  digest,
  plan: text.describe('the shrunk plan, as the text of a plan file'),
  others: z
    .array(z.object({ cause: text, plan: text }))
    .describe('plans found while shrinking that break the claim by another cause'),
});

const coreEntry = z.strictObject({
  process: text,
  operation: text.describe('operation with its answer: cas(4→4)=ok'),
  invokeLine: count.describe('line in the file'),
  returnLine: count.nullable().describe('null if it never completed'),
  role: z.enum(['first bad', 'core']).describe('first bad: no order satisfies its return'),
});

const checkedPart = z.strictObject({
  key: text.describe('key of an independent object; empty if there is only one'),
  verdict: verdicts,
  operations: count,
  configurations: count.describe('configurations visited by the search, a measure of its effort'),
  returns: count.describe('completed operations'),
  satisfied: count
    .nullable()
    .describe(
      'returns before the first bad one, all satisfied by one order; null if a limit was reached before a bad one was found',
    ),
  core: z.array(coreEntry).describe('operations that contradict each other'),
  isMinimal: z.boolean().nullable().describe('true if every operation of the core is needed'),
  because: text.describe('why it is not valid, in one sentence'),
});

const check = line('check', {
  file: text,
  format: text,
  model: text,
  operations: count,
  verdict: verdicts,
  configurations: count,
  parts: z.array(checkedPart),
  notes: z.array(text).describe('how the file was read, if it could be read in another way'),
});

const doctorCheck = z.strictObject({
  name: text.describe('one word; the stages of the canary are canary-…'),
  status: z.enum(['ok', 'warning', 'problem']),
  what: text,
  fix: text.nullable().describe('remedy; null if the status is ok'),
});

const doctor = line('doctor', {
  exit,
  canary: z
    .enum(['seen', 'not seen', 'not run'])
    .describe('seen: the known failure was found, and its fixed twin passed'),
  checks: z.array(doctorCheck),
});

/** Any line that a command writes with `--json`. Strict objects refuse unlisted fields. */
export const outputLine: z.ZodType = z.discriminatedUnion('type', [
  ...resultLines,
  ...keptPlanLines,
  event,
  show,
  pointPlace,
  list,
  explained,
  shrink,
  check,
  doctor,
]);

export function outputJsonSchema(): object {
  return z.toJSONSchema(outputLine);
}
