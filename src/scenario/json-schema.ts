/**
 * Builds the JSON Schema of scenario files, with which editors complete and check them. Also lists
 * the words of the schema with their descriptions.
 */
import { z } from 'zod';
import { isRecord } from '../core/plan/document.ts';
import { scenarioFileSchema } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Returns a draft-7 schema. With a vocabulary, the schema lists all names, for editors to suggest.
 * Scenarios with modules may use other names.
 */
export function scenarioJsonSchema(vocabulary?: Vocabulary): object {
  const schema = z.toJSONSchema(scenarioFileSchema, { io: 'input', target: 'draft-7' });
  const words = vocabulary === undefined ? {} : wordsUnlessModules(vocabulary);
  return { ...schema, ...words, title: 'fencepost scenario' };
}

function wordsUnlessModules({ locks, stores, claims }: Vocabulary): object {
  const word = (known: Iterable<string>): object => ({ type: 'string', enum: [...known] });
  const listed = { type: 'array', items: word(claims) };
  const system = objectWith({
    lock: word(locks.keys()),
    store: word(stores),
    expect: objectWith({ holds: listed, breaks: listed, may: listed }),
  });
  const systems = { type: 'object', additionalProperties: system };
  const use = { type: ['string', 'array'] };
  const uses = { ...objectWith({ use }), required: ['use'] };
  return { anyOf: [uses, objectWith({ systems })] };
}

function objectWith(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties };
}

/** A word that a scenario may use, with a one-line description. */
export interface DescribedWord {
  readonly name: string;
  readonly about: string;
}

/** A word with fields. The description of a field may be just its type: `a number`. */
export interface FieldedWord extends DescribedWord {
  readonly fields: readonly DescribedWord[];
}

/** The words of scenario files, in schema order. Excludes words of single locks and stores. */
export interface SchemaWords {
  /** The fields of a scenario. */
  readonly fields: readonly FieldedWord[];
  /** The possible expectations about a claim. */
  readonly expectations: readonly DescribedWord[];
  /** The settings of a client. */
  readonly settings: readonly DescribedWord[];
  /** The values of `workload.kind`. */
  readonly workloads: readonly DescribedWord[];
  readonly steps: readonly FieldedWord[];
  readonly faults: readonly FieldedWord[];
}

/** Returns the words of a schema. Editors and `fencepost list` share this source. */
export function schemaWords(schema: object): SchemaWords {
  const workload = inside(schema, 'properties', 'workload', 'properties');
  const clients = listOf(inside(schema, 'properties', 'clients', 'anyOf')).at(-1);
  const system = inside(schema, 'properties', 'systems', 'additionalProperties');
  const steps = listOf(inside(workload, 'steps', 'items', 'anyOf')).at(-1);
  const faults = listOf(inside(schema, 'properties', 'faults', 'anyOf')).at(-1);
  return {
    fields: fieldedIn(schema),
    expectations: fieldsOf(inside(system, 'properties', 'expect')),
    settings: fieldsOf(clients),
    workloads: listOf(inside(workload, 'kind', 'anyOf')).map((kind) =>
      describe(String(inside(kind, 'const')), kind),
    ),
    steps: fieldedIn(steps),
    faults: fieldedIn(inside(faults, 'items')),
  };
}

function fieldsOf(map: unknown): readonly DescribedWord[] {
  return Object.entries(recordOf(inside(map, 'properties'))).map(([name, field]) =>
    describe(name, field),
  );
}

function fieldedIn(map: unknown): readonly FieldedWord[] {
  return Object.entries(recordOf(inside(map, 'properties'))).map(([name, schema]) => {
    const choice = listOf(inside(schema, 'anyOf')).at(-1) ?? schema;
    const ofEach = inside(choice, 'additionalProperties');
    const shape = isRecord(ofEach) ? ofEach : choice;
    const fields = fieldsOf(shape).map((field) => {
      const about = field.about || shapeText(inside(shape, 'properties', field.name));
      return { name: field.name, about };
    });
    return { ...describe(name, schema), fields };
  });
}

function shapeText(schema: unknown): string {
  const type = inside(schema, 'type');
  const words = listOf(inside(schema, 'enum'));
  if (words.length > 0) return words.join(' | ');
  if (type === 'boolean') return 'true | false';
  if (type === 'integer') return 'a number';
  const isTime = String(inside(schema, 'pattern') ?? '').includes('us|ms');
  const [first] = listOf(inside(schema, 'anyOf'));
  if (first !== undefined) return shapeText(first);
  return isTime ? 'a time' : 'a name';
}

function describe(name: string, schema: unknown): DescribedWord {
  return { name, about: String(inside(schema, 'description') ?? '') };
}

function inside(schema: unknown, ...path: readonly string[]): unknown {
  return path.reduce((part: unknown, key) => recordOf(part)[key], schema);
}

function recordOf(schema: unknown): Readonly<Record<string, unknown>> {
  return isRecord(schema) ? schema : {};
}

function listOf(schema: unknown): readonly unknown[] {
  return Array.isArray(schema) ? schema : [];
}
