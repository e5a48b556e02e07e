import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadScenario } from '../../src/load.ts';
import { digestOf, run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import { sortedText, traceDigest } from './sorted-text.ts';

test('keys are sorted at any depth, and undefined fields are left out', () => {
  const text = '{"a":[1,{"c":null,"d":"x"}],"b":{}}';
  expect(sortedText({ b: {}, a: [1, { d: 'x', c: null }] })).toBe(text);
  expect(sortedText({ a: [1, { c: null, d: 'x', e: undefined }], b: {} })).toBe(text);
});

test.each(['zombie-writer', 'redlock', 'several-writes', 'stampede'])(
  'a trace of %s has the same digest as by digestOf',
  (name) => {
    const text = readFileSync(new URL(`../../fixtures/${name}.yaml`, import.meta.url), 'utf8');
    const read = loadScenario(text, name);
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    for (const { name: system } of read.scenario.systems) {
      for (let seed = 0; seed < 10; seed += 1) {
        const trace = run(expand(read.scenario, system, seed));
        expect(traceDigest(trace)).toBe(digestOf(trace));
      }
    }
  },
);
