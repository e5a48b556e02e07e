/** `fencepost schema`: the shapes that others may rely on, as JSON Schema. */
import { vocabulary } from '../load.ts';
import { outputJsonSchema } from '../report/output-schema.ts';
import { scenarioJsonSchema } from '../scenario/json-schema.ts';
import { type Exit, exits } from './exit.ts';

export function schemaCommand(of: 'scenario' | 'output'): Exit {
  const schema = of === 'output' ? outputJsonSchema() : scenarioJsonSchema(vocabulary);
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return exits.met;
}
