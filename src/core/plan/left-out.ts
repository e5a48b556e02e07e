/**
 * Fields that a file may leave out: what they then are, and which need not be written. A field has
 * the name that it has in a plan, without its unit: `ttlUs` is `ttl`, `driftPpm` is `drift`. So
 * reading and writing follow from a record of defaults.
 */
import type { z } from 'zod';
import { formatDuration } from './duration.ts';
import type { FieldMap } from './fields.ts';

type InFiles<Name> = Name extends `${infer Bare}Us` | `${infer Bare}Ppm` ? Bare : Name;

/** `Values` as a file gives them; what is undefined was left out. */
export type ReadOf<Values> = {
  readonly [Name in keyof Values as InFiles<Name>]?: Values[Name] | undefined;
};

/** The shape of a `closed` map that gives a `ReadOf<Values>`. */
export type ShapeOf<Values> = {
  readonly [Name in keyof Values as InFiles<Name>]-?: z.ZodOptional<z.ZodType<Values[Name]>>;
};

function inFiles(name: string): string {
  return name.replace(/(Us|Ppm)$/, '');
}

/** `defaults` with what was read in their place; all else that was read is passed over. */
export function completed<Values extends object>(defaults: Values, read: ReadOf<Values>): Values {
  const given = new Map<string, unknown>(Object.entries(read));
  if (given.size === 0) return defaults;
  const stated = Object.keys(defaults).flatMap((name) => {
    const value = given.get(inFiles(name));
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...defaults, ...Object.fromEntries(stated) };
}

/** In place of a default, of a field that is always written. */
export const ALWAYS = undefined;

/** Returns the fields that differ from their default, in the order of `defaults`. */
export function statedFields(values: object, defaults: object): FieldMap {
  const given = new Map<string, unknown>(Object.entries(values));
  const stated = Object.entries(defaults).flatMap(([name, otherwise]: [string, unknown]) => {
    const value = given.get(name);
    if (value === undefined || value === otherwise) return [];
    return [[inFiles(name), fieldText(name, value)] as const];
  });
  return Object.fromEntries(stated);
}

/** A value of a plan as a file has it: a time with its unit, and null as what never comes. */
export function fieldText(name: string, value: unknown): unknown {
  if (value === null) return 'never';
  if (typeof value !== 'number') return value;
  if (name.endsWith('Ppm')) return `${value}ppm`;
  return name.endsWith('Us') ? formatDuration(value) : value;
}
