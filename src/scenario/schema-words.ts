/** The words of a scenario file with what each means, as its JSON Schema describes them. */
import { isRecord } from '../core/plan/document.ts';
import { scenarioJsonSchema } from './json-schema.ts';

/** A word that a scenario may use, in one line. */
export interface DescribedWord {
  readonly name: string;
  readonly about: string;
}

/** All words that are not of a system, each kind in the order of the schema. */
export interface SchemaWords {
  /** What a client may be set to. */
  readonly settings: readonly DescribedWord[];
  /** What `workload.kind` may be. */
  readonly workloads: readonly DescribedWord[];
  readonly steps: readonly DescribedWord[];
  readonly faults: readonly DescribedWord[];
}

/** Read once from the schema, so that editors and `fencepost list` say the same. */
export function schemaWords(): SchemaWords {
  const schema = scenarioJsonSchema();
  const workload = inside(schema, 'properties', 'workload', 'properties');
  const clients = listOf(inside(schema, 'properties', 'clients', 'anyOf')).at(-1);
  const steps = listOf(inside(workload, 'steps', 'items', 'anyOf')).at(-1);
  return {
    settings: fieldsOf(clients),
    workloads: listOf(inside(workload, 'kind', 'anyOf')).map((kind) =>
      describe(String(inside(kind, 'const')), kind),
    ),
    steps: fieldsOf(steps),
    faults: fieldsOf(inside(schema, 'properties', 'faults', 'items')),
  };
}

function fieldsOf(map: unknown): readonly DescribedWord[] {
  return Object.entries(recordOf(inside(map, 'properties'))).map(([name, field]) =>
    describe(name, field),
  );
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
