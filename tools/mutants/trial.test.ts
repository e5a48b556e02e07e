import { describe, expect, test } from 'vitest';
import { claimCounts, NO_COUNTS, type SweepCounts } from '../../src/search/sweep/counts.ts';
import { NO_SECTIONS } from '../../src/search/sweep/sections.ts';
import { CROWD, pauseBefore, row, scenarioOf } from './mutant.ts';
import { baseFlaws } from './trial.ts';

const mutant = row('unfenced', {
  change: 'no comparison at all',
  caughtBy: 'fence-monotone',
  mutant: { store: 'unfenced' },
  ...CROWD,
  faults: [pauseBefore('write', '1/2')],
});

function countsOf(broken: number, exercised: number): SweepCounts {
  const claim = { ...claimCounts(NO_COUNTS, 'fence-monotone'), broken, exercised };
  return {
    ...NO_COUNTS,
    seeds: 10,
    claims: { 'fence-monotone': claim },
    faults: { pause: { fired: 5, overlapped: 5, strikes: {} } },
    sections: { ...NO_SECTIONS, began: 30, entered: 30 },
  };
}

describe('a base', () => {
  const flaws = (base: SweepCounts, mutated: SweepCounts): readonly string[] =>
    baseFlaws(mutant, scenarioOf(mutant), { base, mutated });

  test('does not hold if it broke once', () => {
    expect(flaws(countsOf(1, 4), countsOf(1, 4))).toEqual(['it broke fence-monotone on 1 seeds']);
  });

  test('that never met the hazard holds if its mutant met it, and is untested otherwise', () => {
    expect(flaws(countsOf(0, 0), countsOf(1, 4))).toEqual([]);
    expect(flaws(countsOf(0, 0), countsOf(0, 0))).toEqual(['fence-monotone was never exercised']);
  });

  test('is untested if its faults never fired', () => {
    const idle = { ...countsOf(0, 4), faults: {} };
    expect(flaws(idle, countsOf(1, 4))).toEqual(['pause never fired']);
  });
});
