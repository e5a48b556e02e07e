/** The lines that `show --json` and `list --json` write, as schemas. */
import { z } from 'zod';
import { count, digest, explanation, head } from './output-parts.ts';

/** One event of a trace. */
export const event: z.ZodObject = z
  .looseObject({
    ...head('event'),
    kind: z.string().describe('what happened; the other fields depend on it'),
    atUs: count.describe('virtual time in microseconds'),
  })
  .describe('one event of a trace');

const judged = { claim: z.string(), exercised: count.describe('how often its hazard arose') };

const verdict = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('valid'), ...judged }),
  z.strictObject({
    kind: z.literal('invalid'),
    ...judged,
    rule: z.string(),
    evidence: z.array(
      z.strictObject({ role: z.string(), event: count.describe('its place in the trace, from 0') }),
    ),
    explanation: explanation.optional().describe('of a claim that is not fencepost’s own'),
  }),
  z.strictObject({ kind: z.literal('unknown'), ...judged, reason: z.string() }),
]);

/** The last line of `show`. */
export const show: z.ZodObject = z.strictObject({
  ...head('show'),
  digest,
  ending: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('complete') }),
    z.strictObject({ kind: z.literal('cut'), limit: z.string() }),
    z.strictObject({ kind: z.literal('failed'), process: z.string(), error: z.string() }),
  ]),
  unmatched: z.array(z.string()).describe('names in the plan that found no match'),
  verdicts: z.array(verdict),
});

const word = z.looseObject({ name: z.string(), about: z.string() });

/** What `list` writes. */
export const list: z.ZodObject = z
  .looseObject({
    ...head('list'),
    locks: z.array(word),
    stores: z.array(word),
    claims: z.array(word),
  })
  .describe('and every other kind of word that a scenario has');
