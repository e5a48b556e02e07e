import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { scenarioJsonSchema } from './json-schema.ts';

const vocabulary = {
  locks: new Map([
    ['lock-service', { options: [], servers: () => ['lock'] }],
    ['lock-service-published', { options: [], servers: () => ['lock'] }],
  ]),
  stores: ['unfenced', 'fenced', 'fenced-reads', 'fenced-open'],
  claims: ['grant-order'],
};

const folder = new URL('../../fixtures/', import.meta.url);
const fixtures = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

/** Returns all values of `pattern` in the schema. */
function patternsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
  );
}

describe('the JSON Schema of scenarios', () => {
  const schema = scenarioJsonSchema();

  test('is plain JSON, with a description for each field', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['name', 'systems'],
      properties: { faults: { description: expect.any(String) } },
    });
  });

  test('has patterns that mean the same with and without the unicode flag', () => {
    const patterns = patternsOf(schema);
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) {
      for (const text of ['alice', 'a b', '10ms', '1ms..5ms', 'Cc', 'p{', '1/2', 'a\u200b']) {
        expect(new RegExp(pattern, 'u').test(text)).toBe(new RegExp(pattern).test(text));
      }
    }
  });

  test.each(fixtures)('accepts %s, and refuses it with an error', (file) => {
    const check = z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
    const value: unknown = parse(readFileSync(new URL(file, folder), 'utf8'));
    expect(check.safeParse(value).error).toBeUndefined();
    expect(check.safeParse({ ...Object(value), nonsense: 1 }).success).toBe(false);
    expect(check.safeParse({ ...Object(value), time: 10 }).success).toBe(false);
  });

  test('lists the known words for completion in an editor', () => {
    const text = JSON.stringify(scenarioJsonSchema(vocabulary));
    expect(text).toContain('"enum":["lock-service","lock-service-published"]');
    expect(text).toContain('"enum":["grant-order"]');
  });

  test('accepts unknown words in a scenario with modules', () => {
    const check = z.fromJSONSchema(JSON.parse(JSON.stringify(scenarioJsonSchema(vocabulary))));
    const schema = { name: 'a', systems: { a: { lock: 'my-lock', store: 'fenced' } } };
    expect(check.safeParse(schema).success).toBe(false);
    expect(check.safeParse({ ...schema, use: './my-lock.mjs' }).success).toBe(true);
    const known = { lock: 'lock-service', store: 'fenced', expect: { holds: ['grant-order'] } };
    expect(check.safeParse({ ...schema, systems: { a: known } }).success).toBe(true);
  });
});
