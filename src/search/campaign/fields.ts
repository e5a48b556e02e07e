/** Schema parts that all output formats of fencepost share. */
import { z } from 'zod';

/** A nonnegative integer. */
export const count = z.int().min(0);
/** The SHA-256 digest of a trace. */
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const text = z.string();
export const texts = z.array(text);
export const exit = z.literal([0, 1, 2, 3, 4, 5, 130]).describe('the exit code');

interface Head<T extends string> {
  readonly type: z.ZodLiteral<T>;
  readonly version: z.ZodLiteral<1>;
}

/** The first fields of every line of `--json`. */
export function head<T extends string>(type: T): Head<T> {
  return { type: z.literal(type), version: z.literal(1) };
}

/** A line of `type` with these fields. Refuses other fields. */
export function line(type: string, fields: z.ZodRawShape): z.ZodObject {
  return z.strictObject({ ...head(type), ...fields });
}
