/** One scenario whose systems came to everything that a case can come to. */
import { NO_SECTIONS } from '../search/sweep/sections.ts';
import { EMPTY_TALLY, type Tally } from '../search/sweep/tally.ts';
import type { ScenarioResult } from './cases.ts';
import { zombieFinding } from './sample.fixture.ts';
import type { ClaimSummary, Summary, SystemSummary } from './summary.ts';

const claimTally = { brokenSeeds: [], unknown: 0, firstUnknown: null, times: 1 };

const tally: Tally = {
  ...EMPTY_TALLY,
  seeds: 1000,
  events: 60_000,
  claims: {
    'fence-monotone': { ...claimTally, broken: 12, brokenSeeds: [17, 29], exercised: 900 },
    'grant-order': { ...claimTally, broken: 0, exercised: 990 },
    linearizable: {
      ...claimTally,
      broken: 0,
      exercised: 990,
      unknown: 2,
      firstUnknown: { seed: 40, reason: 'a limit was reached' },
    },
  },
};

const system: Omit<SystemSummary, 'name' | 'expect' | 'met'> = {
  seeds: 1000,
  broken: 12,
  unknown: 2,
  claims: Object.fromEntries(
    Object.entries(tally.claims).map(([name, { broken, brokenSeeds, exercised }]) => {
      const firstSeed = brokenSeeds[0] ?? null;
      const claim: ClaimSummary = { broken, firstSeed, exercised, avoided: 0 };
      return [name, claim];
    }),
  ),
  measured: {},
  sections: { ...NO_SECTIONS, began: 9000, entered: 8990 },
  hints: [],
  vacuous: [],
  faults: { pause: { fired: 994, overlapped: 951, strikes: {} } },
  counterexample: null,
};

const claims = ['fence-monotone', 'grant-order', 'linearizable'];

/** `unfenced` must hold what broke, `wanted` must break it, and `failing` fails on two seeds. */
export const sampleResult: ScenarioResult = {
  summary: {
    name: 'zombie-writer',
    file: 'fixtures/zombie-writer.yaml',
    systems: [
      { ...system, name: 'unfenced', expect: { holds: claims }, met: false },
      {
        ...system,
        name: 'wanted',
        expect: { breaks: ['fence-monotone', 'grant-order'] },
        met: false,
      },
      {
        ...system,
        name: 'failing',
        expect: { holds: ['grant-order'] },
        met: null,
        hints: [],
        vacuous: ['drop never fired'],
      },
    ],
  },
  findings: [zombieFinding, { ...zombieFinding, system: 'wanted' }],
  edges: [],
  tallies: new Map([
    ['unfenced', tally],
    ['wanted', tally],
    [
      'failing',
      { ...tally, failed: 11, failures: [{ seed: 3, error: 'TypeError: x is not a function' }] },
    ],
  ]),
  seeds: { from: 0, to: 999, isWhole: true },
  keptPlans: [
    { file: 'fixtures/plans/a.yaml', outcome: 'fixed', expected: 'fixed', divergedAt: null },
    {
      file: 'fixtures/plans/b.yaml',
      outcome: 'diverged',
      expected: 'reproduced',
      divergedAt: 'alice/1/wrote',
    },
  ],
  difference: { system: 'failing', seed: 5, what: 'event 12 is another' },
  seconds: 2.5,
  pageFile: 'reports/zombie-writer.html',
  lines: new Map([
    ['unfenced', 3],
    ['wanted', 7],
    ['failing', 11],
  ]),
};

export const sampleOverview: Summary = {
  type: 'summary',
  version: 1,
  exit: 3,
  seedsPerSecond: 400,
  eventsPerSecond: 24_000,
  scenarios: [sampleResult.summary],
};
