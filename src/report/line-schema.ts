/** What the schemas of the lines that `--json` writes are made of. */
import { z } from 'zod';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { ExhaustedScope } from './summary.ts';

/** A field that 0.1.0 did not write: its lines can be read all the same. */
export function since020<Schema extends z.ZodType>(schema: Schema): z.ZodOptional<Schema> {
  return schema.optional();
}

/** A whole number from 0. */
export const count: z.ZodInt = z.int().min(0);
/** Of a trace. */
export const digest: z.ZodString = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const text: z.ZodString = z.string();
export const texts: z.ZodArray<z.ZodString> = z.array(text);
export const exit: z.ZodInt = count.describe('the exit code');

interface Head<T extends string> {
  readonly type: z.ZodLiteral<T>;
  readonly version: z.ZodLiteral<1>;
}

/** What every line begins with. */
export function head<T extends string>(type: T): Head<T> {
  return { type: z.literal(type), version: z.literal(1) };
}

/** A line of `type`, with these fields and no other. */
export function line(type: string, fields: z.ZodRawShape): z.ZodObject {
  return z.strictObject({ ...head(type), ...fields });
}

/**
 * A schema for every field of what fencepost writes, and for no other: a field that is added to the
 * type, or taken from it, does not compile until the schema follows.
 */
export type SchemaFields<Line> = {
  readonly [Name in keyof Line]-?: z.ZodType<Loose<Line[Name]> | undefined>;
};
/** zod's optional fields may be undefined too, and what came later is optional. */
type Loose<Value> = { readonly [Name in keyof Value]?: Loose<Value[Name]> | undefined };

export const exhaustScope: z.ZodType<ExhaustScope> = z
  .strictObject({
    faults: count.describe('that a plan has at most'),
    ties: count.describe('swaps of events of one instant and receiver, at most'),
    clients: count.nullable().describe('the first of them; null for all'),
    sections: count.nullable().describe('of each client, the first; null for all'),
  } satisfies SchemaFields<ExhaustScope>)
  .describe('what an exhaustive search was asked for; absent where seeds were examined');

export const exhaustedScope: z.ZodType<ExhaustedScope> = z
  .strictObject({
    faults: count.describe('that a plan has at most'),
    kinds: texts.describe('of fault'),
    ties: count.describe('swaps of events of one instant and receiver, at most'),
    latencyUs: count.describe('of every message that no fault delays'),
    clients: count,
    sections: count.describe('of each client at most'),
    plans: count.describe('all that there are, of which `seeds` were examined'),
  } satisfies SchemaFields<ExhaustedScope>)
  .describe('the scope of an exhaustive search; absent where seeds were examined');
