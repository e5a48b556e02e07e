import { expect, test } from 'vitest';
import { wilson } from '../search/compare/statistics.ts';
import { row } from '../search/mutants/mutant.ts';
import type { MutantTrial } from '../search/mutants/trial.ts';
import {
  listedMutant,
  type MutantRow,
  mutantLine,
  mutantsSummary,
  rateText,
  renderMutantList,
  renderMutants,
} from './mutants-report.ts';
import { outputLine } from './output-schema.ts';

const mutant = row('unfenced', {
  change: 'no comparison at all',
  caught: { by: 'fence-monotone', after: 'a pause' },
  mutant: { store: 'unfenced' },
});

const held: MutantTrial['base'] = { verdict: 'held', broken: 0, why: [] };

function rowOf(hits: number, base: MutantTrial['base'] = held): MutantRow {
  const trial: MutantTrial = {
    ...{ mutant, seeds: 100, base, found: wilson(hits, 100) },
    ...{ seedsToFind: hits === 0 ? null : 2, foundOn: hits === 0 ? [] : [1] },
    ...{ alsoBreaks: [], failed: 0, failure: null },
  };
  return { trial, size: hits === 0 ? null : { clients: 2, faults: 1, events: 8 } };
}

const plain = { colour: false, width: 100, chosen: 1 };

test('the interval of a rate is Wilson’s, worked out by hand', () => {
  // p = 0.1, n = 100, z = 1.96: (0.1 + 0.0192 ± 1.96 × √(0.0009 + 0.000096)) / 1.0384
  expect(rateText({ found: wilson(10, 100) })).toBe('100 (55–174)');
  expect(rateText({ found: wilson(100, 100) })).toBe('1,000 (963–1,000)');
  expect(rateText({ found: wilson(1, 1000) })).toBe('1 (0–6)');
});

test('a mutant that is found is a line with its rate, its seeds and its size', () => {
  const [head, line] = renderMutants([rowOf(10)], plain).split('\n');
  expect(head).toBe('  mutant    caught by       base  per 1,000 seeds  seeds  plan');
  expect(line).toBe('✓ unfenced  fence-monotone  held  100 (55–174)     2      2/1/8');
});

test('a mutant that survives, and a base that breaks, are marked and summed up', () => {
  const broke: MutantTrial['base'] = { verdict: 'broke', broken: 3, why: [] };
  const text = renderMutants([rowOf(0), rowOf(10, broke)], plain);
  expect(text).toMatch(/^✗ unfenced .* held +survived +– +–$/m);
  expect(text).toMatch(/^✗ unfenced .* broke +100 /m);
  expect(text).toContain('unfenced: the base breaks fence-monotone on 3 seeds');
  expect(text).toMatch(/^1 of 2 mutants found, bases that held: 1; 100 seeds of each$/m);
});

test('an untested base says what was missing', () => {
  const untested: MutantTrial['base'] = {
    verdict: 'untested',
    broken: 0,
    why: ['pause never fired'],
  };
  expect(renderMutants([rowOf(10, untested)], plain)).toContain(
    'unfenced: the base was not tested: pause never fired',
  );
});

test('no line is wider than the terminal', () => {
  const lines = renderMutants([rowOf(10)], { ...plain, width: 40 }).split('\n');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
});

test('a single seed that misses a mutant leaves it untested', () => {
  const { trial } = rowOf(0);
  const text = renderMutants([{ trial: { ...trial, seeds: 1 }, size: null }], plain);
  expect(text).toMatch(/^\? unfenced .* held +untested +– +–$/m);
});

test('an interrupted run says how much of it is done', () => {
  const interrupted = { ...plain, chosen: 39 };
  expect(renderMutants([], interrupted)).toBe('interrupted before any was judged');
  expect(renderMutants([rowOf(10)], interrupted)).toContain(
    'interrupted, 1 of 39 done: 1 of 1 mutant found, every base held; 100 seeds of each',
  );
  expect(renderMutants([rowOf(10)], plain)).not.toContain('interrupted');
});

test('the list wraps what does not fit, and cuts nothing', () => {
  const change = `${'a mistake that takes many words '.repeat(6)}to tell`;
  const long = { ...mutant, change };
  const words = (text: string): string => text.replace(/\s+/g, ' ');
  const lines = renderMutantList([long], { width: 60 }).split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  expect(words(lines.join(' '))).toBe(`unfenced fence-monotone ${change}`);
  expect(renderMutantList([long], { width: Infinity })).toContain(change);
});

test('the list says what each does wrong', () => {
  expect(renderMutantList([mutant], plain)).toBe('unfenced  fence-monotone  no comparison at all');
});

test('every JSON line fits the schema', () => {
  const lines = [mutantLine(rowOf(10)), mutantLine(rowOf(0)), listedMutant(mutant)];
  for (const line of [...lines, mutantsSummary([rowOf(10)], 0)]) {
    expect(outputLine.parse(JSON.parse(line))).toEqual(JSON.parse(line));
  }
});
