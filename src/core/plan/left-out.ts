/**
 * Handles fields that a file may omit: fills in their defaults on reading, and omits defaults on
 * writing. A field's name in a file is its name in a plan without the unit: `ttlUs` is `ttl`,
 * `driftPpm` is `drift`. One record of defaults therefore serves both directions.
 */
import type { z } from 'zod';
import { formatDuration } from './duration.ts';
import type { FieldMap } from './fields.ts';

type InFiles<Name> = Name extends `${infer Bare}Us` | `${infer Bare}Ppm` ? Bare : Name;

/** `Values` as read from a file. Undefined means omitted. */
export type ReadOf<Values> = {
  readonly [Name in keyof Values as InFiles<Name>]?: Values[Name] | undefined;
};

/** Shape of a `closed` map that is read as a `ReadOf<Values>`. */
export type ShapeOf<Values> = {
  readonly [Name in keyof Values as InFiles<Name>]-?: z.ZodOptional<z.ZodType<Values[Name]>>;
};

function inFiles(name: string): string {
  return name.replace(/(Us|Ppm)$/, '');
}

/** Returns `defaults` overridden by the values that were read. Other fields are ignored. */
export function completed<Values extends object>(defaults: Values, read: ReadOf<Values>): Values {
  const fields = new Map<string, unknown>(Object.entries(read));
  if (fields.size === 0) return defaults;
  const stated = Object.keys(defaults).flatMap((name) => {
    const value = fields.get(inFiles(name));
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...defaults, ...Object.fromEntries(stated) };
}

/** Marks a field without a default, which is always written. */
export const ALWAYS = undefined;

/** Returns the fields that differ from their default, in the order of `defaults`. */
export function statedFields(values: object, defaults: object): FieldMap {
  const fields = new Map<string, unknown>(Object.entries(values));
  const stated = Object.entries(defaults).flatMap(([name, otherwise]: [string, unknown]) => {
    const value = fields.get(name);
    if (value === undefined || value === otherwise) return [];
    return [[inFiles(name), fieldText(name, value)] as const];
  });
  return Object.fromEntries(stated);
}

/** Returns the file form of a plan value: times with their unit, and null as `never`. */
export function fieldText(name: string, value: unknown): unknown {
  if (value === null) return 'never';
  if (typeof value !== 'number') return value;
  if (name.endsWith('Ppm')) return `${value}ppm`;
  return name.endsWith('Us') ? formatDuration(value) : value;
}
