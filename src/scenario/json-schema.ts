/** The JSON Schema of scenario files, with which editors complete and check them. */
import { z } from 'zod';
import { scenarioFileSchema, wordFields } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Draft 7; with a vocabulary it lists the names that are known, for an editor to offer. */
export function scenarioJsonSchema(vocabulary?: Vocabulary): object {
  const known = new Map<unknown, readonly string[]>([
    [wordFields.lock, [...(vocabulary?.locks.keys() ?? [])]],
    [wordFields.store, vocabulary?.stores ?? []],
    [wordFields.claim, vocabulary?.claims ?? []],
  ]);
  const schema = z.toJSONSchema(scenarioFileSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      const words = known.get(zodSchema) ?? [];
      if (words.length > 0) jsonSchema.enum = [...words];
    },
  });
  return { ...schema, title: 'fencepost scenario' };
}
