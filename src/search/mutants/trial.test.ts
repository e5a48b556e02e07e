import { describe, expect, test } from 'vitest';
import { NO_SECTIONS } from '../sweep/sections.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../sweep/tally.ts';
import { CROWD, row, scenarioOf } from './mutant.ts';
import { type Block, cutIntoBlocks, judgeTrial, medianOf } from './trial.ts';

const mutant = row('unfenced', {
  change: 'no comparison at all',
  caught: { by: 'fence-monotone', after: 'a pause' },
  mutant: { store: 'unfenced' },
  ...CROWD,
  faults: [{ pause: { process: 'clients', before: 'write', for: '1ms..9ms', chance: '1/2' } }],
});
const scenario = scenarioOf(mutant);

function tallyOf(brokenSeeds: readonly number[], exercised: number): Tally {
  const known = claimTally(EMPTY_TALLY, 'fence-monotone');
  const claim = { ...known, broken: brokenSeeds.length, brokenSeeds, exercised };
  return {
    ...{ ...EMPTY_TALLY, seeds: 10, claims: { 'fence-monotone': claim } },
    faults: { pause: { fired: 5, overlapped: 5, strikes: {} } },
    sections: { ...NO_SECTIONS, began: 30, entered: 30 },
  };
}

const blockOf = (from: number, found: readonly number[]): Block => ({
  ...{ from, to: from + 9, base: tallyOf([], 4), mutant: tallyOf(found, 4) },
});

describe('seeds', () => {
  test('are cut into five blocks that cover them, each once', () => {
    expect(cutIntoBlocks({ from: 100, to: 110 })).toEqual([
      { from: 100, to: 101 },
      { from: 102, to: 103 },
      { from: 104, to: 105 },
      { from: 106, to: 107 },
      { from: 108, to: 110 },
    ]);
  });

  test('that are fewer than five are blocks of one', () => {
    expect(cutIntoBlocks({ from: 7, to: 8 })).toEqual([
      { from: 7, to: 7 },
      { from: 8, to: 8 },
    ]);
  });
});

test('a search that found nothing counts as longer than any that did', () => {
  expect(medianOf([9, 1, null, 4, null])).toBe(9);
  expect(medianOf([null, 1, null, 4, null])).toBeNull();
});

test('seeds to find a mutant are counted from the start of each block', () => {
  const blocks = [blockOf(0, [3]), blockOf(10, [10, 11]), blockOf(20, [25])];
  expect(judgeTrial(mutant, scenario, { blocks, isWhole: true })).toMatchObject({
    seedsToFind: 4,
    foundOn: [3, 10, 11, 25],
    found: { hits: 4, runs: 30 },
    base: { verdict: 'held' },
  });
});

describe('a base', () => {
  const judged = (base: Tally, mutated: Tally): object => {
    const blocks = [{ from: 0, to: 9, base, mutant: mutated }];
    return judgeTrial(mutant, scenario, { blocks, isWhole: true }).base;
  };

  test('that broke once did not hold', () => {
    expect(judged(tallyOf([2], 4), tallyOf([2], 4))).toMatchObject({ verdict: 'broke', broken: 1 });
  });

  test('that never met the hazard held if its mutant did meet it, and is untested if not', () => {
    expect(judged(tallyOf([], 0), tallyOf([2], 4))).toMatchObject({ verdict: 'held' });
    expect(judged(tallyOf([], 0), tallyOf([], 0))).toEqual({
      ...{ verdict: 'untested', broken: 0, why: ['fence-monotone was never exercised'] },
    });
  });

  test('whose faults never fired is untested', () => {
    expect(judged({ ...tallyOf([], 4), faults: {} }, tallyOf([2], 4))).toMatchObject({
      ...{ verdict: 'untested', why: ['pause never fired'] },
    });
  });
});
