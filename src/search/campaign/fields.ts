/** The parts that the schemas of what fencepost writes have in common. */
import { z } from 'zod';

/** A whole number from 0. */
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

/** The fields that every line of `--json` begins with. */
export function head<T extends string>(type: T): Head<T> {
  return { type: z.literal(type), version: z.literal(1) };
}

/** A line of `type`, with these fields and no other. */
export function line(type: string, fields: z.ZodRawShape): z.ZodObject {
  return z.strictObject({ ...head(type), ...fields });
}
