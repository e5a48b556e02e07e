/**
 * The schemas that ship, by their files in `dist`. The build makes those files with this module
 * (`tools/schemas.mjs`), and bundles in its place one that reads them and knows their digests: so
 * what makes a schema of the code that reads a scenario is needed by nobody who has it.
 */
import { vocabulary } from '../load.ts';
import { outputJsonSchema } from '../report/output-schema.ts';
import { scenarioJsonSchema } from '../scenario/json-schema.ts';
import { digestOfSchema } from './doctor/surroundings.ts';

export const schemas: Readonly<
  Record<'scenario.schema.json' | 'output.schema.json', () => object>
> = {
  'scenario.schema.json': () => scenarioJsonSchema(vocabulary),
  'output.schema.json': outputJsonSchema,
};

/** What the files hold if they are of this version, for `fencepost doctor`. */
export function schemaDigests(): Readonly<Record<string, string>> {
  const made = Object.entries(schemas).map(([file, make]) => [file, digestOfSchema(make())]);
  return Object.fromEntries(made);
}
