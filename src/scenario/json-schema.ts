/** The JSON Schema of scenario files, with which editors complete and check them. */
import { z } from 'zod';
import { scenarioFileSchema } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Draft 7; with a vocabulary it lists the names that are known, for an editor to offer. A scenario
 * that uses modules may have others.
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
    expect: objectWith({ holds: listed, breaks: listed }),
  });
  const systems = { type: 'object', additionalProperties: system };
  const use = { type: ['string', 'array'] };
  const uses = { ...objectWith({ use }), required: ['use'] };
  return { anyOf: [uses, objectWith({ systems })] };
}

function objectWith(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties };
}
