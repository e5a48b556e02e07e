import { describe, expect, test } from 'vitest';
import { NO_SECTIONS } from '../../src/search/sweep/sections.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../../src/search/sweep/tally.ts';
import { CROWD, pauseBefore, row, scenarioOf } from './mutant.ts';
import { baseFlaws } from './trial.ts';

const mutant = row('unfenced', {
  change: 'no comparison at all',
  caughtBy: 'fence-monotone',
  mutant: { store: 'unfenced' },
  ...CROWD,
  faults: [pauseBefore('write', '1/2')],
});

function tallyOf(broken: number, exercised: number): Tally {
  const claim = { ...claimTally(EMPTY_TALLY, 'fence-monotone'), broken, exercised };
  return {
    ...EMPTY_TALLY,
    seeds: 10,
    claims: { 'fence-monotone': claim },
    faults: { pause: { fired: 5, overlapped: 5, strikes: {} } },
    sections: { ...NO_SECTIONS, began: 30, entered: 30 },
  };
}

describe('a base', () => {
  const flaws = (base: Tally, mutated: Tally): readonly string[] =>
    baseFlaws(mutant, scenarioOf(mutant), { base, mutated });

  test('does not hold if it broke once', () => {
    expect(flaws(tallyOf(1, 4), tallyOf(1, 4))).toEqual(['it broke fence-monotone on 1 seeds']);
  });

  test('that never met the hazard holds if its mutant met it, and is untested otherwise', () => {
    expect(flaws(tallyOf(0, 0), tallyOf(1, 4))).toEqual([]);
    expect(flaws(tallyOf(0, 0), tallyOf(0, 0))).toEqual(['fence-monotone was never exercised']);
  });

  test('is untested if its faults never fired', () => {
    const idle = { ...tallyOf(0, 4), faults: {} };
    expect(flaws(idle, tallyOf(1, 4))).toEqual(['pause never fired']);
  });
});
