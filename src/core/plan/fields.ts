/**
 * The elementary fields of scenario and plan files: durations, ranges, odds, rates and names. Each
 * converts between text and a value.
 */
import { z } from 'zod';
import type { Json } from '../kernel/json.ts';
import {
  DURATION_PATTERN,
  INSTANT_PATTERN,
  parseDuration,
  parseInstant,
  parseRange,
  parseStep,
  parseStepRange,
  type RangeUs,
} from './duration.ts';
import { parsePlace } from './places.ts';
import type { FaultPlace, HostNames, Odds } from './plan.ts';

/** Plain data for the YAML writer. */
export type FieldMap = { [key: string]: unknown };

/** A field that is read from text (or a bare number) into `Value`. */
export type Field<Value> = z.ZodType<Value, string | number>;

interface TextField<Value> {
  readonly pattern: string;
  /** Numbers that need no quotes. Default: only 0, which has no unit. */
  readonly bare?: readonly [number, ...number[]];
  readonly expected: string;
  readonly parse: (text: string) => Value | undefined;
}

function textField<Value>({
  pattern,
  bare = [0],
  expected,
  parse,
}: TextField<Value>): Field<Value> {
  const error = ({ input }: { readonly input?: unknown }): string => unexpected(expected, input);
  return z
    .union(
      [z.string({ error }).regex(new RegExp(pattern), { error }), z.literal([...bare], { error })],
      {
        error,
      },
    )
    .transform((input, context) => {
      const value = parse(String(input));
      if (value !== undefined) return value;
      context.issues.push({ code: 'custom', input, message: error({ input }) });
      return z.NEVER;
    });
}

/** Describes a value that differs from the expected one; undefined means it is missing. */
export function unexpected(expected: string, input: unknown): string {
  return input === undefined
    ? `is missing; expected ${expected}`
    : `expected ${expected}, not ${shown(input)}`;
}

/** Formats a value for an error message. */
export function shown(input: unknown): string {
  if (input === undefined) return 'nothing';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object' && input !== null) return 'a map';
  const text = typeof input === 'string' ? JSON.stringify(input) : String(input);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

const inner = DURATION_PATTERN.slice(1, -1);

/** `10ms`, in microseconds. */
export const duration: Field<number> = textField({
  pattern: DURATION_PATTERN,
  expected: 'a duration such as 10ms, 250us or 1.5s',
  parse: parseDuration,
});

/** `2024-01-01`, in microseconds since 1970. */
export const instant: Field<number> = textField({
  pattern: INSTANT_PATTERN,
  expected: 'an instant such as 2024-01-01 or 2024-01-01T12:30:00Z, from 1970 to 2199',
  parse: parseInstant,
});

/** A duration greater than 0. */
export const positiveDuration: Field<number> = duration.refine((us) => us > 0, {
  error: 'must be longer than 0',
});

/** `-5ms`, in microseconds. */
export const step: Field<number> = textField({
  pattern: `^-?${inner}$`,
  expected: 'a step of a clock such as 20ms or -5ms',
  parse: parseStep,
});

/** `1ms..5ms`, or only `5ms`. */
export const range: Field<RangeUs> = textField({
  pattern: `^${inner}(\\.\\.${inner})?$`,
  expected: 'a duration or a range in order, such as 1ms..5ms',
  parse: parseRange,
});

/** `1ms..5ms`, or `never`. */
export const rangeOrNever: Field<RangeUs | 'never'> = textField({
  pattern: `^(never|${inner}(\\.\\.${inner})?)$`,
  expected: 'a duration or a range in order, such as 1ms..5ms, or never',
  parse: (text) => (text === 'never' ? text : parseRange(text)),
});

/** `0ms..100ms`, `before write`, `after alice/1/acquire`, `any point`. */
export const place: Field<FaultPlace> = textField({
  pattern: `^(any point|(before|after) \\S{1,400}|${inner}(\\.\\.${inner})?)$`,
  expected: 'times such as 0ms..100ms, "before write", "after alice/1/acquire" or "any point"',
  parse: parsePlace,
});

/** `-5ms..5ms`, or only `-5ms`. */
export const stepRange: Field<RangeUs> = textField({
  pattern: `^-?${inner}(\\.\\.-?${inner})?$`,
  expected: 'a step of a clock or a range in order, such as -5ms..5ms',
  parse: parseStepRange,
});

/** `never`, or a duration. */
export const durationOrNever: z.ZodType<number | null, string | number> = textField({
  pattern: `^(never|${inner})$`,
  expected: 'a duration such as 10ms, or never',
  parse: (text) => (text === 'never' ? NEVER : parseDuration(text)),
}).transform((us) => (us === NEVER ? null : us));

const NEVER = -1;

/** Pattern of a clock rate. */
export const RATE_PATTERN = '-?\\d{1,7}ppm';

/** `200ppm` or `-200ppm`. */
export const rate: Field<number> = textField({
  pattern: `^(0|${RATE_PATTERN})$`,
  expected: 'a rate such as 200ppm or -200ppm',
  parse: parseRate,
});

/** Parses a rate error in ppm. It must exceed −10⁶, at which the clock would stand still. */
export function parseRate(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^-?\d{1,7}ppm$/.test(text)) return undefined;
  const ppm = Number(text.slice(0, -3)) + 0;
  return ppm > -1_000_000 ? ppm : undefined;
}

/** `1/20` or `5%`, at most 1, which means always. */
export const odds: Field<Odds> = textField({
  pattern: '^(0|1|\\d+/\\d+|\\d+(\\.\\d+)?%)$',
  bare: [0, 1],
  expected: 'odds such as 1/20 or 5%, at most 1',
  parse: (text) => {
    const value = parseRatio(text);
    return value === undefined || value.numerator > value.denominator ? undefined : value;
  },
});

/** A ratio that may exceed 1: `1/4`, `25%`, `3/2`. */
export const ratio: Field<Odds> = textField({
  pattern: '^(0|1|\\d+/\\d+|\\d+(\\.\\d+)?%)$',
  bare: [0, 1],
  expected: 'a ratio such as 1/4 or 25%',
  parse: parseRatio,
});

function parseRatio(text: string): Odds | undefined {
  if (text === '0' || text === '1') return { numerator: Number(text), denominator: 1 };
  const [, integer = '', places = ''] = /^(\d{1,9})(?:\.(\d{1,4}))?%$/.exec(text) ?? [];
  if (integer !== '')
    return {
      numerator: Number(integer + places),
      denominator: Number(`100${'0'.repeat(places.length)}`),
    };
  const [, numerator, denominator] = /^(\d{1,16})\/(\d{1,16})$/.exec(text) ?? [];
  const result = { numerator: Number(numerator), denominator: Number(denominator) };
  const isSafe = Number.isSafeInteger(result.numerator) && Number.isSafeInteger(result.denominator);
  return isSafe && result.denominator > 0 ? result : undefined;
}

/** Formats odds as `1/20`. */
export function formatOdds({ numerator, denominator }: Odds): string {
  return `${numerator}/${denominator}`;
}

// No \p{…}, so that the pattern means the same to every reader of the JSON Schema.
const UNSEEN =
  '\\s\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff';
const NAME = new RegExp(`^[^/${UNSEEN}]{1,100}$`);
const POINT = new RegExp(`^[^${UNSEEN}]{1,400}$`);

/** Name of a process, lock, key or system: 1 to 100 characters, no `/`, no blanks. */
export const name: z.ZodType<string, string> = z
  .string()
  .regex(NAME, { error: 'a name has 1 to 100 characters, none of them "/" or blank' })
  .refine((text) => !/^\d+$/.test(text), { error: 'a name must not be a number' })
  .refine((text) => text !== '__proto__', { error: 'the name "__proto__" cannot be used' });

/** From 1 to 65535. */
const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const ADDRESS = new RegExp(`^(?:[\\w.-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\]):${PORT}$`);

/** Maps a host and port in a client's code to the name of the server that listens there. */
export const hosts: z.ZodType<HostNames, HostNames> = z.record(
  z.string().regex(ADDRESS, { error: 'expected a host and its port, such as redis-1:6379' }),
  name,
);

/** Name of an operation, message, timer or mark: `alice/1/write/1/request`. */
export const point: z.ZodType<string, string> = z
  .string()
  .regex(POINT, { error: 'expected a name such as alice/1/write' });

/** Accepts an integer from `min` to `max`. */
export function integer(min: number, max: number): z.ZodType<number, number> {
  return z.int().min(min).max(max);
}

/** The read-only type of the data that a schema describes. */
export type Data<Schema extends z.ZodType> = DeepReadonly<z.infer<Schema>>;

/** `Json` is left as is: it is read-only already, and recursive. */
type DeepReadonly<Value> = Json extends Value
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value;

/** An optional field. `about` describes it to readers of the schema. */
export function optional<S extends z.ZodType>(schema: S, about: string): z.ZodOptional<S> {
  return z.optional(schema).describe(about);
}

/** A map with these fields only. `noun` is the word for an unknown key in messages. */
export function closed<Shape extends z.core.$ZodLooseShape>(
  noun: string,
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `${noun}: ${known}` : undefined),
  });
}

/** A map with one key, which is the kind of its value. `noun` names the value in messages. */
export function mapOfOne<Value extends object>(
  noun: string,
  kinds: Readonly<Record<string, z.ZodType<Value | undefined>>>,
): z.ZodType<Value> {
  return closed(noun, kinds).transform((entry, context) => {
    const [only, ...others] = Object.values(entry).filter((value) => value !== undefined);
    if (only !== undefined && others.length === 0) return only;
    const message = `a ${noun} is a map of one key`;
    context.issues.push({ code: 'custom', input: entry, message });
    return z.NEVER;
  });
}
