import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { claimCounts, NO_COUNTS, type SweepCounts } from './counts.ts';
import { NO_COVERAGE } from './coverage.ts';
import { claimsToShrink, judgeSystem } from './expectation.ts';
import { NO_SECTIONS } from './sections.ts';

const file = new URL('../../../fixtures/zombie-writer.yaml', import.meta.url);
const read = loadScenario(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
if (read.kind === 'problems') throw new Error('the fixture does not load');
const { scenario } = read;
const quiet: Scenario = { ...scenario, faults: [] };
const complete = { isComplete: true, isSingle: false };
const partial = { isComplete: false, isSingle: false };
const single = { isComplete: true, isSingle: true };

function expecting(holds: readonly string[], breaks: readonly string[]): SystemScenario {
  const [system] = scenario.systems;
  if (system === undefined) throw new Error('the fixture has no system');
  return { ...system, expect: { holds, breaks } };
}

/** Counts of 100 seeds. All faults met a grant; `claim` broke, or was unknown, on this many. */
function countsOf(
  claim: string,
  counts: { broken?: number; unknown?: number; exercised?: number },
) {
  const { broken = 0, unknown = 0, exercised = 100 } = counts;
  const claimCounts = { broken, unknown, exercised, times: exercised, brokenSeeds: [] };
  const faults = scenario.faults.map(({ kind }) => [
    kind,
    { fired: 50, overlapped: 50, strikes: {} },
  ]);
  const sweepCounts: SweepCounts = {
    ...NO_COUNTS,
    seeds: 100,
    sections: { ...NO_SECTIONS, began: 300, entered: 280 },
    claims: { [claim]: { ...claimCounts, firstUnknown: null } },
    faults: Object.fromEntries(faults),
  };
  return sweepCounts;
}

test('a claim listed under `holds` is met if it held, and not met once it broke', () => {
  const system = expecting(['grant-order'], []);
  expect(judgeSystem(scenario, system, countsOf('grant-order', {}), complete).met).toBe(true);
  const broken = judgeSystem(scenario, system, countsOf('grant-order', { broken: 1 }), partial);
  expect(broken).toMatchObject({ met: false, unexpected: ['grant-order'] });
});

test('a system that asked for an unsimulated command is not judged, unless it failed', () => {
  const refused = { kind: 'command', what: 'XADD', place: null, package: null } as const;
  const unsimulated = { found: [{ ...refused, count: 1, firstSeed: 9 }], others: 0 };
  const judged = (holds: readonly string[], breaks: readonly string[], broken: number) =>
    judgeSystem(
      scenario,
      expecting(holds, breaks),
      { ...countsOf('grant-order', { broken }), unsimulated },
      complete,
    );
  const open = { met: null, isIncomplete: true };
  expect(judged(['grant-order'], [], 0)).toMatchObject(open);
  expect(judged([], ['grant-order'], 1)).toMatchObject(open);
  expect(judged(['grant-order'], [], 1)).toMatchObject({ met: false });
});

test('a claim listed under `breaks` is met once it broke, and fails only on the full range', () => {
  const system = expecting([], ['grant-order']);
  expect(judgeSystem(scenario, system, countsOf('grant-order', { broken: 3 }), partial).met).toBe(
    true,
  );
  const held = countsOf('grant-order', {});
  expect(judgeSystem(scenario, system, held, complete)).toMatchObject({ met: false });
  expect(judgeSystem(scenario, system, held, partial)).toMatchObject({ met: null });
  expect(judgeSystem(scenario, system, held, single)).toMatchObject({ met: null });
});

test('without its hazard, or without a fault that met a grant, a claim is not judged', () => {
  const system = expecting(['grant-order'], []);
  const idle = countsOf('grant-order', { exercised: 0 });
  expect(judgeSystem(scenario, system, idle, complete)).toMatchObject({
    met: null,
    vacuous: ['grant-order was never exercised'],
    isIncomplete: true,
  });
  const unmet = { ...countsOf('grant-order', {}), faults: {} };
  expect(judgeSystem(scenario, system, unmet, complete).vacuous).toContain('pause never fired');
  for (const coverage of [partial, single]) {
    const judged = judgeSystem(scenario, system, idle, coverage);
    expect(judged).toMatchObject({ met: null, vacuous: ['grant-order was never exercised'] });
  }
  // A single seed does not fire every kind of fault.
  expect(judgeSystem(scenario, system, unmet, single).vacuous).toContain('pause never fired');
  const { pause, ...others } = countsOf('grant-order', {}).faults;
  const some = { ...countsOf('grant-order', {}), faults: others };
  expect(judgeSystem(scenario, system, some, single)).toMatchObject({ met: true, vacuous: [] });
  expect(judgeSystem(scenario, system, some, complete).vacuous).toEqual(['pause never fired']);
});

test('without its hazard, a claim is not judged in a scenario without faults either', () => {
  const idle = countsOf('grant-order', { exercised: 0 });
  expect(judgeSystem(quiet, expecting(['grant-order'], []), idle, complete)).toMatchObject({
    met: null,
    vacuous: ['grant-order was never exercised'],
    isIncomplete: true,
  });
  const met = countsOf('grant-order', { exercised: 3 });
  expect(judgeSystem(quiet, expecting(['grant-order'], []), met, complete).met).toBe(true);
});

describe('if a twin broke the claim', () => {
  const coverage = { ...NO_COVERAGE, contested: 9, toWrite: 9 };
  const idle = { ...countsOf('grant-order', { exercised: 0 }), coverage, faults: {} };
  const met = (claims: readonly string[], twin: SweepCounts, asked = quiet): readonly string[] => {
    const system = expecting(claims, []);
    const { name } = system;
    const avoided = new Map([[name, new Map(claims.map((claim) => [claim, 3]))]]);
    const countsBySystem = new Map([
      [name, idle],
      ['twin', twin],
    ]);
    return judgeSystem(asked, system, idle, { ...complete, avoided, countsBySystem }).vacuous;
  };
  const quietTwin = { ...countsOf('grant-order', { broken: 9 }), coverage };

  test('the claim is exercised on the seeds on which the twin broke it', () => {
    expect(met(['at-most-once'], quietTwin)).toEqual([]);
    expect(met(['own-claim'], quietTwin)).toEqual([]);
  });

  test('a lock that only one client ever held is not judged', () => {
    const why = 'no second client ever acquired a lock';
    expect(met(['grant-order'], quietTwin)).toEqual([why]);
    expect(met(['at-most-once', 'grant-order'], quietTwin)).toEqual([why]);
  });

  test('a cure that never writes, unlike its twin, only stopped the work', () => {
    const writing = { ...quietTwin, coverage: { ...coverage, written: 1 } };
    expect(met(['at-most-once'], writing)).toEqual(['no write was ever accepted']);
  });

  test('a fault that has no place in the cured system counts if it met the twin', () => {
    expect(met(['at-most-once'], quietTwin, scenario)).toEqual([]);
    const unmet = { ...quietTwin, faults: {} };
    expect(met(['at-most-once'], unmet, scenario)).toContain('pause never fired');
  });
});

describe('if no section was ever entered, no claim is met', () => {
  const failed = [{ error: 'Error: no', place: 'lock.mjs:12:5', count: 250, firstSeed: 3 }];
  const sections = { ...NO_SECTIONS, began: 300, gaveUp: 50, failed };
  const why = 'no section was ever entered: 250 ended by Error: no at lock.mjs:12:5, 50 gave up';

  test.each([
    ['with faults', scenario, complete],
    ['without faults', quiet, complete],
    ['on a single seed', scenario, single],
    ['on a part of the seeds', scenario, partial],
  ])('%s', (_, asked, coverage) => {
    const noSections = { ...countsOf('grant-order', {}), sections };
    const judged = judgeSystem(asked, expecting(['grant-order'], []), noSections, coverage);
    expect(judged).toMatchObject({ met: null, vacuous: [why], isIncomplete: true });
    expect(judgeSystem(asked, expecting([], []), noSections, coverage).met).toBeNull();
  });

  test('on one shard, which leaves the judgment to the merge', () => {
    const noSections = { ...countsOf('grant-order', {}), sections };
    const system = expecting(['grant-order'], []);
    const judged = judgeSystem(scenario, system, noSections, { ...partial, isPart: true });
    expect(judged).toMatchObject({ met: null, vacuous: [why], isIncomplete: false });
    const empty = (isPart: boolean) =>
      judgeSystem(scenario, system, NO_COUNTS, { ...partial, isPart }).isIncomplete;
    expect([empty(true), empty(false)]).toEqual([false, true]);
  });

  test('except a claim that should break and broke', () => {
    const broken = { ...countsOf('grant-order', { broken: 1 }), sections };
    expect(judgeSystem(quiet, expecting([], ['grant-order']), broken, complete).met).toBe(true);
  });

  test('but a single entered section is enough', () => {
    const one = { ...countsOf('grant-order', {}), sections: { ...sections, entered: 1 } };
    expect(judgeSystem(quiet, expecting(['grant-order'], []), one, complete).met).toBe(true);
  });
});

describe('if an error ended every section', () => {
  const failed = [{ error: 'Error: no', place: 'lock.mjs:12:5', count: 300, firstSeed: 3 }];
  const sections = { ...NO_SECTIONS, began: 300, entered: 300, failed };
  const judged = (exercised: number, more = sections): ReturnType<typeof judgeSystem> => {
    const sweepCounts = { ...countsOf('grant-order', { exercised }), sections: more };
    return judgeSystem(quiet, expecting(['grant-order'], []), sweepCounts, complete);
  };

  test('no claim is met if none was exercised before', () => {
    const why = 'every section ended with an error: 300 ended by Error: no at lock.mjs:12:5';
    expect(judged(0)).toMatchObject({ met: null, vacuous: [why], isIncomplete: true });
  });

  test('a claim that was exercised counts, and so does a section that ended normally', () => {
    expect(judged(1).met).toBe(true);
    const more = judged(0, { ...sections, began: 301 });
    expect(more.vacuous).toEqual(['grant-order was never exercised']);
  });
});

describe('without coverage, no claim that should hold is met', () => {
  const coverage = { ...NO_COVERAGE, contested: 9, shared: 3, toWrite: 9, written: 9 };
  const seen = { ...coverage, readAfter: 9, readBack: 1 };

  test.each([
    ['only one client had the lock', { shared: 0 }, 'no second client ever acquired a lock'],
    ['no write was accepted', { written: 0 }, 'no write was ever accepted'],
    ['no write was kept', { readBack: 0 }, 'no accepted write was ever read back'],
  ])('%s', (_, more, why) => {
    const idle = { ...countsOf('grant-order', {}), coverage: { ...seen, ...more } };
    const holding = expecting(['grant-order'], []);
    expect(judgeSystem(quiet, holding, idle, complete)).toMatchObject({
      met: null,
      vacuous: [why],
    });
    for (const coverage of [partial, single]) {
      expect(judgeSystem(quiet, holding, idle, coverage).vacuous).toEqual([why]);
    }
  });

  test('but with coverage it is, or if no other client asked or no write was planned', () => {
    const met = (more: Partial<typeof seen>): boolean | null => {
      const sweepCounts = { ...countsOf('grant-order', {}), coverage: { ...seen, ...more } };
      return judgeSystem(quiet, expecting(['grant-order'], []), sweepCounts, complete).met;
    };
    expect(met({})).toBe(true);
    expect(met({ contested: 0, shared: 0 })).toBe(true);
    expect(met({ toWrite: 0, written: 0 })).toBe(true);
    expect(met({ readAfter: 0, readBack: 0 })).toBe(true);
  });
});

describe('a claim that was judged on fewer than nine of ten seeds', () => {
  const few = { unknown: 11 };

  test('leaves the system unjudged; one judged on more does not', () => {
    const system = expecting(['grant-order'], []);
    const of = (unknown: number) =>
      judgeSystem(scenario, system, countsOf('grant-order', { unknown }), complete);
    expect(of(11)).toMatchObject({ met: null, isIncomplete: true });
    expect(of(10)).toMatchObject({ met: true, isIncomplete: false });
  });

  test('counts a seed whose code failed as unjudged', () => {
    const system = expecting([], ['grant-order']);
    const of = (failed: number) => {
      const sweepCounts = { ...countsOf('grant-order', { unknown: 5 }), failed };
      return judgeSystem(scenario, system, sweepCounts, complete).met;
    };
    expect([of(5), of(6), of(95)]).toEqual([false, null, null]);
  });

  test('is still decided once it broke', () => {
    const broken = countsOf('grant-order', { ...few, broken: 1 });
    expect(judgeSystem(scenario, expecting(['grant-order'], []), broken, complete).met).toBe(false);
    expect(judgeSystem(scenario, expecting([], ['grant-order']), broken, complete).met).toBe(true);
  });

  test('is not reported as held if it should break', () => {
    const unbroken = countsOf('grant-order', few);
    expect(judgeSystem(scenario, expecting([], ['grant-order']), unbroken, complete)).toMatchObject(
      {
        met: null,
        isIncomplete: true,
        missing: ['grant-order'],
      },
    );
  });
});

describe('`progress` of user code', () => {
  const systemWith = (lists: Partial<SystemScenario['expect']>): SystemScenario => {
    const system = expecting(['grant-order'], []);
    return { ...system, lock: 'my-lock', expect: { ...system.expect, ...lists } };
  };
  /** The same counts, with all breaches under one rule of `progress`. */
  const countsBy = (rule: string, counts: Parameters<typeof countsOf>[1]): SweepCounts => {
    const sweepCounts = countsOf('progress', counts);
    const { broken = 0 } = counts;
    const cause = { rule, isByNonOwnerRelease: false, faults: [] };
    const causes = broken === 0 ? [] : [{ cause, broken, brokenSeeds: [0] }];
    return {
      ...sweepCounts,
      claims: { progress: { ...claimCounts(sweepCounts, 'progress'), causes } },
    };
  };
  const met = (system: SystemScenario, sweepCounts: SweepCounts) => {
    const avoided = new Map([[system.name, new Map([['grant-order', 1]])]]);
    return judgeSystem(scenario, system, sweepCounts, { ...complete, avoided }).met;
  };

  test('is judged even if it is not listed, unless it may break', () => {
    const hung = countsBy('never-ended', { broken: 1 });
    expect(met(systemWith({}), hung)).toBe(false);
    expect(claimsToShrink(systemWith({}), hung)).toEqual(['progress']);
    expect(met(systemWith({ may: ['progress'] }), hung)).toBe(true);
    expect(met(systemWith({ breaks: ['progress'] }), hung)).toBe(true);
    expect(met(expecting(['grant-order'], []), hung)).toBe(true);
    expect(met(systemWith({}), countsBy('', { unknown: 11 }))).toBeNull();
    expect(met(systemWith({}), countsBy('probe-not-granted', { broken: 1 }))).toBe(false);
    expect(met(systemWith({}), countsBy('', { exercised: 0 }))).toBe(true);
  });
});

test('a system of which no seed was examined is not judged', () => {
  const system = expecting(['grant-order'], []);
  expect(judgeSystem(scenario, system, NO_COUNTS, partial).met).toBeNull();
});

test('a fault that fired but never met a grant leaves the system unjudged, and is named', () => {
  const sweepCounts = countsOf('grant-order', {});
  const unmet = {
    ...sweepCounts,
    faults: { ...sweepCounts.faults, drop: { fired: 9, overlapped: 0, strikes: {} } },
  };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), unmet, complete)).toEqual({
    met: null,
    unexpected: [],
    missing: [],
    hints: [],
    isIncomplete: true,
    vacuous: ['drop never fired while a lock was held'],
  });
  // If no claim should hold, nothing needs to be exercised.
  expect(judgeSystem(scenario, expecting([], []), unmet, complete)).toMatchObject({
    met: true,
    isIncomplete: false,
  });
});

test('a failed seed weakens a claim that held, but not a proven breach', () => {
  const proven = { ...countsOf('grant-order', { broken: 2 }), failed: 1 };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), proven, complete).met).toBe(false);
  expect(judgeSystem(scenario, expecting([], ['grant-order']), proven, complete).met).toBe(true);
  const failed = { ...countsOf('grant-order', {}), failed: 1 };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), failed, complete).met).toBeNull();
  expect(judgeSystem(scenario, expecting([], ['grant-order']), failed, complete).met).toBe(false);
});

test('each broken claim that should hold is shrunk, else the first that should break', () => {
  const { claims } = countsOf('grant-order', { broken: 1 });
  const sweepCounts = { ...countsOf('tokens-unique', { broken: 2 }) };
  const both = { ...sweepCounts, claims: { ...claims, ...sweepCounts.claims } };
  const shrunk = (holds: readonly string[], breaks: readonly string[]): readonly string[] =>
    claimsToShrink(expecting(holds, breaks), both);
  expect(shrunk(['grant-order', 'progress', 'tokens-unique'], [])).toEqual([
    'grant-order',
    'tokens-unique',
  ]);
  expect(shrunk(['tokens-unique'], ['grant-order'])).toEqual(['tokens-unique']);
  expect(shrunk(['progress'], ['fence-monotone', 'tokens-unique', 'grant-order'])).toEqual([
    'tokens-unique',
  ]);
  expect(shrunk([], ['progress'])).toEqual([]);
});

test('the hint suggests a pause between a read and its write if any client reads first', () => {
  const hintOf = (kinds: readonly ('blind-writes' | 'read-modify-write')[]): string | undefined => {
    const clients = kinds.flatMap((kind) =>
      scenario.clients.map((client) => ({ ...client, workload: { ...client.workload, kind } })),
    );
    const pause = { fired: 9, overlapped: 9, strikes: { 'before-access': 3 } };
    const sweepCounts = { ...countsOf('grant-order', {}), faults: { pause } };
    const asked = { ...scenario, clients, faults: [] };
    const [template] = scenario.faults.filter(({ kind }) => kind === 'pause');
    if (template === undefined) throw new Error('the fixture pauses');
    // At a time instead of before each write, as in the file.
    const at = { name: 'when', type: 'when', value: { kind: 'at', at: { minUs: 0, maxUs: 9 } } };
    const fields = template.fields.map((field) => (field.type === 'when' ? at : field));
    Object.assign(asked, { faults: [{ ...template, fields }] });
    return judgeSystem(asked, expecting([], ['grant-order']), sweepCounts, complete).hints.find(
      (hint) => hint.startsWith('pause'),
    );
  };
  const blind = hintOf(['blind-writes']);
  const reading = hintOf(['read-modify-write']);
  expect(reading).toMatch(/; to pause .*, try `before: write`$/);
  expect(blind).not.toBe(reading);
  expect(hintOf(['blind-writes', 'read-modify-write'])).toBe(reading);
});
