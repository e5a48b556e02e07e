/**
 * The shipped schemas, by file name in `dist`. The build writes these files (`tools/schemas.mjs`).
 * In the bundle, it replaces this module with one that reads the files and contains their digests.
 * The code that derives a schema does not ship.
 */
import { vocabulary } from '../load.ts';
import { outputJsonSchema } from '../report/output-schema.ts';
import { scenarioJsonSchema } from '../scenario/json-schema.ts';
import { digestOfSchema } from './doctor/environment.ts';

export const schemas: Readonly<
  Record<'scenario.schema.json' | 'output.schema.json', () => object>
> = {
  'scenario.schema.json': () => scenarioJsonSchema(vocabulary),
  'output.schema.json': outputJsonSchema,
};

/** Returns the digests of the current schemas, for `fencepost doctor`. */
export function schemaDigests(): Readonly<Record<string, string>> {
  const made = Object.entries(schemas).map(([file, make]) => [file, digestOfSchema(make())]);
  return Object.fromEntries(made);
}
