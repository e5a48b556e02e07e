/** A sweep over two systems: one breaks as expected, one could not be judged. */

import type { Summary } from '../search/campaign/result.ts';
import { NO_SECTIONS } from '../search/sweep/sections.ts';

const claim = { unknown: 0, due: 1000, judged: 1000 };

export const sampleSummary: Summary = {
  type: 'summary',
  version: 1,
  exit: 1,
  seedsPerSecond: 8123.4,
  eventsPerSecond: 912345,
  scenarios: [
    {
      name: 'zombie-writer',
      file: 'fixtures/zombie-writer.yaml',
      range: { from: 0, to: 999 },
      keptPlans: [],
      difference: null,
      systems: [
        {
          name: 'unfenced',
          expect: { breaks: ['grant-order', 'fence-monotone'] },
          met: true,
          seeds: 1000,
          broken: 873,
          unknown: 0,
          failed: 0,
          failures: [],
          claims: {
            'grant-order': { ...claim, broken: 873, firstSeed: 0, exercised: 991, avoided: 0 },
            'fence-monotone': { ...claim, broken: 871, firstSeed: 0, exercised: 991, avoided: 0 },
            'mutual-exclusion': {
              ...claim,
              broken: 0,
              firstSeed: null,
              exercised: 1000,
              avoided: 0,
            },
          },
          measured: {
            'holder-overlap': { seeds: 902, longestUs: 48_250 },
            stampede: { seeds: 12, computations: 1_012, most: 2 },
          },
          sections: { ...NO_SECTIONS, planned: 9000, began: 9000, ended: 9000, entered: 8990 },
          hints: [],
          vacuous: [],
          faults: { pause: { fired: 994, overlapped: 951, strikes: {} } },
          counterexample: null,
        },
        {
          name: 'fenced',
          expect: { holds: ['grant-order', 'fence-monotone'] },
          met: null,
          seeds: 1000,
          broken: 0,
          unknown: 0,
          failed: 0,
          failures: [],
          claims: {
            'grant-order': { ...claim, broken: 0, firstSeed: null, exercised: 991, avoided: 28 },
            'fence-monotone': { ...claim, broken: 0, firstSeed: null, exercised: 0, avoided: 0 },
          },
          measured: {},
          sections: { ...NO_SECTIONS, planned: 9000, began: 9000, ended: 9000, entered: 8990 },
          hints: [],
          vacuous: ['fence-monotone', 'drop'],
          faults: {
            pause: { fired: 994, overlapped: 951, strikes: {} },
            drop: { fired: 0, overlapped: 0, strikes: {} },
          },
          counterexample: null,
        },
      ],
    },
  ],
};
