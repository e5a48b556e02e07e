/** Parts that several of the lines that `--json` writes have, as schemas. */
import { z } from 'zod';

const OUTPUT_VERSION = 1;

/** A whole number from 0. */
export const count: z.ZodInt = z.int().min(0);
/** Of a trace. */
export const digest: z.ZodString = z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** What every line begins with. */
export const head = <T extends string>(type: T): Head<T> => ({
  type: z.literal(type),
  version: z.literal(OUTPUT_VERSION),
});

interface Head<T extends string> {
  readonly type: z.ZodLiteral<T>;
  readonly version: z.ZodLiteral<1>;
}

/** Why a claim broke, in words. */
export const explanation: z.ZodObject = z.strictObject({
  headline: z.string(),
  given: z.string(),
  next: z.string(),
  however: z.string(),
  cure: z.string(),
});
