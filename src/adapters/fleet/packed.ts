/**
 * What workers return, as one text: JSON in PostgreSQL forgets the order of names, and cannot hold
 * U+0000 or half of a surrogate pair, as the error of a system under test may.
 */
import { z } from 'zod';

export interface Packed {
  readonly json: string;
}

const packedSchema: z.ZodType<Packed> = z.strictObject({ json: z.string() });

export function pack(value: object): Packed {
  return { json: JSON.stringify(value) };
}

/** What was packed; anything else as it is, as whoever reads it checks it. */
export function unpack(packed: unknown): unknown {
  const read = packedSchema.safeParse(packed);
  if (!read.success) return packed;
  try {
    return JSON.parse(read.data.json);
  } catch {
    return null;
  }
}
