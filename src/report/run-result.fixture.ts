/** A scenario whose cases have all possible outcomes. */
import type {
  ClaimResult,
  Result,
  ScenarioResult,
  SystemResult,
} from '../search/campaign/result.ts';
import { NO_SECTIONS } from '../search/sweep/sections.ts';
import type { ReportedScenario, ScenarioPlace } from './cases.ts';
import { zombieFinding } from './sample.fixture.ts';

const claim: ClaimResult = {
  due: 1000,
  judged: 1000,
  broken: 0,
  firstSeed: null,
  unknown: 0,
  exercised: 990,
  avoided: 0,
};

const system: Omit<SystemResult, 'name' | 'expect' | 'met'> = {
  seeds: 1000,
  broken: 12,
  unknown: 200,
  failed: 0,
  failures: [],
  claims: {
    'fence-monotone': { ...claim, broken: 12, firstSeed: 17, exercised: 900 },
    'grant-order': claim,
    linearizable: {
      ...claim,
      unknown: 200,
      judged: 800,
      firstUnknown: { seed: 40, reason: 'a limit was reached' },
    },
  },
  measured: {},
  sections: { ...NO_SECTIONS, began: 9000, entered: 8990 },
  hints: [],
  vacuous: [],
  faults: { pause: { fired: 994, overlapped: 951, strikes: {} } },
  counterexample: null,
};

/**
 * In `unfenced`, a `holds` claim broke. In `wanted`, a `breaks` claim held. `failing` failed on 11
 * seeds.
 */
const scenario: ScenarioResult = {
  name: 'zombie-writer',
  file: 'fixtures/zombie-writer.yaml',
  range: { from: 0, to: 999 },
  systems: [
    {
      ...system,
      name: 'unfenced',
      expect: { holds: ['fence-monotone', 'grant-order', 'linearizable'] },
      met: false,
    },
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
      failed: 11,
      failures: [{ seed: 3, error: 'TypeError: x is not a function' }],
      vacuous: ['drop never fired'],
    },
  ],
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
};

export const samplePlace: ScenarioPlace = {
  pageFile: 'reports/zombie-writer.html',
  seconds: 2.5,
  lines: new Map([
    ['unfenced', 3],
    ['wanted', 7],
    ['failing', 11],
  ]),
};

const findings = [zombieFinding, { ...zombieFinding, system: 'wanted' }];

export const sampleScenario: ReportedScenario = { ...samplePlace, result: scenario, findings };

export const sampleResult: Result = {
  type: 'report',
  version: 1,
  summary: {
    type: 'summary',
    version: 1,
    exit: 3,
    seedsPerSecond: 400,
    eventsPerSecond: 24_000,
    scenarios: [scenario],
  },
  findings,
};
