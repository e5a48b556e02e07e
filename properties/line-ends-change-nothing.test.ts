/**
 * Law: line ends change nothing. A file that Windows wrote, or that git checked out there, has the
 * same meaning as elsewhere, and a mistake in it has the same place.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { formatOf, formats, readHistory } from '../src/linearizability/formats/formats.ts';
import { loadScenario } from '../src/load.ts';

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url));
const crlf = (text: string): string => text.replaceAll('\n', '\r\n');

function textsIn(
  folder: string,
  ending: RegExp,
): readonly (readonly [file: string, text: string])[] {
  const files = readdirSync(join(fixtures, folder)).filter((file) => ending.test(file));
  return files.map((file) => [file, readFileSync(join(fixtures, folder, file), 'utf8')] as const);
}

test('every scenario of the package loads the same', () => {
  const scenarios = textsIn('.', /\.yaml$/);
  expect(scenarios.length).toBeGreaterThan(20);
  for (const [file, text] of scenarios) {
    const read = loadScenario(text, file);
    expect(read.kind, file).toBe('scenario');
    expect(loadScenario(crlf(text), file), file).toEqual(read);
  }
});

test('every kept plan of the package reads the same', () => {
  const plans = textsIn('plans', /\.yaml$/);
  expect(plans.length).toBeGreaterThan(100);
  for (const [file, text] of plans) {
    const read = readPlan({ file, text });
    expect(read.kind, file).toBe('plan');
    expect(readPlan({ file, text: crlf(text) }), file).toEqual(read);
  }
});

test('a mistake has the same place', () => {
  const text = readFileSync(join(fixtures, 'zombie-writer.yaml'), 'utf8').replace(
    'pause:',
    'pausee:',
  );
  const read = loadScenario(text, 'a.yaml');
  if (read.kind !== 'problems') expect.fail('it loads');
  expect(read.problems[0]).toMatchObject({ what: expect.stringContaining('"pausee"') });
  expect(loadScenario(crlf(text), 'a.yaml')).toEqual(read);
});

describe('a history', () => {
  const jepsenText =
    '0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t1\n';
  const array = [
    { process: 0, type: 'invoke', f: 'write', value: 1 },
    { process: 0, type: 'ok', f: 'write', value: 1 },
  ].map((event) => JSON.stringify(event));
  const histories = [
    ...textsIn('histories', /\.(?:log|txt|edn|jsonl?)$/),
    ['history.txt', jepsenText] as const,
    ['array.json', `[\n${array.join(',\n')}\n]\n`] as const,
  ];

  test('of each format is included', () => {
    const found = new Set(histories.map(([, text]) => formatOf(text)?.name));
    expect([...found].sort()).toEqual(formats.map(({ name }) => name).sort());
  });

  test.each(histories)('%s reads the same', (_, text) => {
    const read = readHistory(text);
    expect(read.kind).toBe('history');
    expect(formatOf(crlf(text))).toBe(formatOf(text));
    // The model has functions, which differ between two readings.
    expect(JSON.stringify(readHistory(crlf(text)))).toBe(JSON.stringify(read));
    expect(JSON.stringify(read)).toContain('invoke');
  });
});
