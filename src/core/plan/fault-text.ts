/**
 * Faults in a plan file, each a map with one key: `pause: { process: alice, before: alice/1/write,
 * for: 20ms }`. The schema, reading and writing follow from the types of a kind's fields. Fields
 * with a default may be omitted.
 */
import { z } from 'zod';
import { formatDuration } from './duration.ts';
import {
  FAULT_KINDS,
  type Fault,
  type FaultField,
  type FaultKind,
  type FieldType,
  type FieldTypes,
  faultWith,
  fieldsOfKind,
  type When,
  type Which,
  type WhichTimer,
} from './fault.ts';
import {
  closed,
  duration,
  durationOrNever,
  type FieldMap,
  mapOfOne,
  name,
  point,
  rate,
  step,
} from './fields.ts';
import { fieldText } from './left-out.ts';

type Value = FieldTypes[FieldType];
type Shape = Readonly<Record<string, z.ZodType<Value | undefined>>>;

const at = duration.optional();
const group = z.union([name.transform((only) => [only]), z.array(name).min(1).max(1000)]);

/** The fields in a file for each field type. */
const SHAPES: { readonly [Type in FieldType]: (field: string) => Shape } = {
  process: (field) => ({ [field]: name }),
  group: (field) => ({ [field]: group }),
  message: () => ({ message: point.optional(), from: name.optional(), to: name.optional(), at }),
  timer: () => ({ timer: point.optional(), process: name.optional(), at }),
  when: () => ({ at, before: point.optional(), after: point.optional() }),
  duration: (field) => ({ [field]: duration }),
  durationOrNever: (field) => ({ [field]: durationOrNever.optional() }),
  step: (field) => ({ [field]: step.optional() }),
  rate: (field) => ({ [field]: rate.optional() }),
  key: (field) => ({ [field]: name }),
  direction: (field) => ({ [field]: z.enum(['both', 'one-way']).optional() }),
  clocks: (field) => ({ [field]: z.enum(['run', 'freeze']).optional() }),
};

/** The valid combinations of a type's fields in a file, and the error for others. */
const RULES: {
  readonly [Type in FieldType]?: readonly [(has: (field: string) => boolean) => boolean, string];
} = {
  when: [
    (has) => ['at', 'before', 'after'].filter(has).length === 1,
    'needs exactly one of at, before and after',
  ],
  message: [
    (has) => ['from', 'to', 'at'].filter(has).length === (has('message') ? 0 : 3),
    'needs either a message, or from, to and at',
  ],
  timer: [
    (has) => ['process', 'at'].filter(has).length === (has('timer') ? 0 : 2),
    'needs either a timer, or process and at',
  ],
};

/** Defaults of the field types that a file may omit. */
const DEFAULTS: { readonly [Type in FieldType]?: FieldTypes[Type] } = {
  durationOrNever: null,
  step: 0,
  rate: 0,
  direction: 'both',
  clocks: 'run',
};

type Read = Readonly<Record<string, Value | undefined>>;

function schemaOf(kind: FaultKind): z.ZodType<Fault> {
  const fields = fieldsOfKind(kind);
  const shape: Shape = Object.fromEntries(
    fields.flatMap(({ type, inFiles }) => Object.entries(SHAPES[type](inFiles))),
  );
  const schema = fields.reduce(
    (all: z.ZodType<Read>, { type }) => {
      const [isMet, error] = RULES[type] ?? [];
      if (isMet === undefined || error === undefined) return all;
      return all.refine((read) => isMet((field) => read[field] !== undefined), { error });
    },
    closed('field', shape),
  );
  return schema.transform((read) => faultWith(kind, (field) => valueIn(read, field)));
}

/** The schema has checked that fields without a default are present. */
function valueIn(read: Read, { type, inFiles }: FaultField): Value {
  switch (type) {
    case 'when':
      if (read.before !== undefined) return { kind: 'before', point: String(read.before) };
      if (read.after !== undefined) return { kind: 'after', point: String(read.after) };
      return { kind: 'at', atUs: Number(read.at) };
    case 'message':
      return read.message === undefined
        ? { kind: 'link', from: String(read.from), to: String(read.to), atUs: Number(read.at) }
        : { kind: 'message', message: String(read.message) };
    case 'timer':
      return read.timer === undefined
        ? { kind: 'process', process: String(read.process), atUs: Number(read.at) }
        : { kind: 'timer', timer: String(read.timer) };
    default:
      return read[inFiles] ?? DEFAULTS[type] ?? null;
  }
}

/** Schema of one fault of a plan file. */
export const faultSchema: z.ZodType<Fault> = mapOfOne(
  'fault',
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, schemaOf(kind).optional()])),
);

/** Returns the one-key map that `faultSchema` reads back as the same fault. */
export function faultFields(fault: Fault): FieldMap {
  const values: Readonly<Record<string, Value>> = fault;
  const fields = Object.fromEntries(
    fieldsOfKind(fault.kind).flatMap((field) =>
      Object.entries(fieldsOf(field, values[field.name])),
    ),
  );
  return { [fault.kind]: fields };
}

function fieldsOf(field: FaultField, value: Value | undefined): FieldMap {
  const { type, inFiles } = field;
  // A crash without a restart is written as `never`, although that is the default.
  if (value === undefined || (value !== null && value === DEFAULTS[type])) return {};
  if (value === null || typeof value !== 'object') {
    return { [inFiles]: fieldText(field.name, value) };
  }
  return 'kind' in value ? placeFields(value) : { [inFiles]: [...value] };
}

function placeFields(place: When | Which | WhichTimer): FieldMap {
  if (place.kind === 'before' || place.kind === 'after') return { [place.kind]: place.point };
  const { kind, ...named } = place;
  if (!('atUs' in named)) return named;
  const { atUs, ...rest } = named;
  return { ...rest, at: formatDuration(atUs) };
}
