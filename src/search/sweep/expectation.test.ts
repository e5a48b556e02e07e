import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { claimsToShrink, judgeSystem } from './expectation.ts';
import { NO_SECTIONS } from './sections.ts';
import { NO_STAKES } from './stakes.ts';
import { claimTally, EMPTY_TALLY, type Tally } from './tally.ts';

const file = new URL('../../../fixtures/zombie-writer.yaml', import.meta.url);
const read = loadScenario(readFileSync(file, 'utf8'), 'zombie-writer.yaml');
if (read.kind === 'problems') throw new Error('the fixture does not load');
const { scenario } = read;
const quiet: Scenario = { ...scenario, faults: [] };
const whole = { isWhole: true, isSingle: false };
const cut = { isWhole: false, isSingle: false };
const single = { isWhole: true, isSingle: true };

function expecting(holds: readonly string[], breaks: readonly string[]): SystemScenario {
  const [system] = scenario.systems;
  if (system === undefined) throw new Error('the fixture has no system');
  return { ...system, expect: { holds, breaks } };
}

/** Counts of 100 seeds. All faults met a grant; `claim` broke, or was unknown, on this many. */
function tallyOf(claim: string, counts: { broken?: number; unknown?: number; exercised?: number }) {
  const { broken = 0, unknown = 0, exercised = 100 } = counts;
  const claimTally = { broken, unknown, exercised, times: exercised, brokenSeeds: [] };
  const faults = scenario.faults.map(({ kind }) => [
    kind,
    { fired: 50, overlapped: 50, strikes: {} },
  ]);
  const tally: Tally = {
    ...EMPTY_TALLY,
    seeds: 100,
    sections: { ...NO_SECTIONS, began: 300, entered: 280 },
    claims: { [claim]: { ...claimTally, firstUnknown: null } },
    faults: Object.fromEntries(faults),
  };
  return tally;
}

test('a claim listed under `holds` is met if it held, and not met once it broke', () => {
  const system = expecting(['grant-order'], []);
  expect(judgeSystem(scenario, system, tallyOf('grant-order', {}), whole).met).toBe(true);
  const broken = judgeSystem(scenario, system, tallyOf('grant-order', { broken: 1 }), cut);
  expect(broken).toMatchObject({ met: false, unexpected: ['grant-order'] });
});

test('a system that asked for an unsimulated command is not judged, unless it failed', () => {
  const refused = { kind: 'command', what: 'XADD', place: null, package: null } as const;
  const unsimulated = { found: [{ ...refused, count: 1, firstSeed: 9 }], others: 0 };
  const judged = (holds: readonly string[], breaks: readonly string[], broken: number) =>
    judgeSystem(
      scenario,
      expecting(holds, breaks),
      { ...tallyOf('grant-order', { broken }), unsimulated },
      whole,
    );
  const open = { met: null, isIncomplete: true };
  expect(judged(['grant-order'], [], 0)).toMatchObject(open);
  expect(judged([], ['grant-order'], 1)).toMatchObject(open);
  expect(judged(['grant-order'], [], 1)).toMatchObject({ met: false });
});

test('a claim listed under `breaks` is met once it broke, and fails only on the full range', () => {
  const system = expecting([], ['grant-order']);
  expect(judgeSystem(scenario, system, tallyOf('grant-order', { broken: 3 }), cut).met).toBe(true);
  const held = tallyOf('grant-order', {});
  expect(judgeSystem(scenario, system, held, whole)).toMatchObject({ met: false });
  expect(judgeSystem(scenario, system, held, cut)).toMatchObject({ met: null });
  expect(judgeSystem(scenario, system, held, single)).toMatchObject({ met: null });
});

test('without its hazard, or without a fault that met a grant, a claim is not judged', () => {
  const system = expecting(['grant-order'], []);
  const idle = tallyOf('grant-order', { exercised: 0 });
  expect(judgeSystem(scenario, system, idle, whole)).toMatchObject({
    met: null,
    vacuous: ['grant-order was never exercised'],
    isIncomplete: true,
  });
  const unmet = { ...tallyOf('grant-order', {}), faults: {} };
  expect(judgeSystem(scenario, system, unmet, whole).vacuous).toContain('pause never fired');
  for (const coverage of [cut, single]) {
    const judged = judgeSystem(scenario, system, idle, coverage);
    expect(judged).toMatchObject({ met: null, vacuous: ['grant-order was never exercised'] });
  }
  // A single seed does not fire every kind of fault.
  expect(judgeSystem(scenario, system, unmet, single).vacuous).toContain('pause never fired');
  const { pause, ...others } = tallyOf('grant-order', {}).faults;
  const some = { ...tallyOf('grant-order', {}), faults: others };
  expect(judgeSystem(scenario, system, some, single)).toMatchObject({ met: true, vacuous: [] });
  expect(judgeSystem(scenario, system, some, whole).vacuous).toEqual(['pause never fired']);
});

test('without its hazard, a claim is not judged in a scenario without faults either', () => {
  const idle = tallyOf('grant-order', { exercised: 0 });
  expect(judgeSystem(quiet, expecting(['grant-order'], []), idle, whole)).toMatchObject({
    met: null,
    vacuous: ['grant-order was never exercised'],
    isIncomplete: true,
  });
  const met = tallyOf('grant-order', { exercised: 3 });
  expect(judgeSystem(quiet, expecting(['grant-order'], []), met, whole).met).toBe(true);
});

describe('if a twin broke the claim', () => {
  const stakes = { ...NO_STAKES, contested: 9, toWrite: 9 };
  const idle = { ...tallyOf('grant-order', { exercised: 0 }), stakes, faults: {} };
  const met = (claims: readonly string[], twin: Tally, asked = quiet): readonly string[] => {
    const system = expecting(claims, []);
    const { name } = system;
    const avoided = new Map([[name, new Map(claims.map((claim) => [claim, 3]))]]);
    const tallies = new Map([
      [name, idle],
      ['twin', twin],
    ]);
    return judgeSystem(asked, system, idle, { ...whole, avoided, tallies }).vacuous;
  };
  const quietTwin = { ...tallyOf('grant-order', { broken: 9 }), stakes };

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
    const writing = { ...quietTwin, stakes: { ...stakes, written: 1 } };
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
    ['with faults', scenario, whole],
    ['without faults', quiet, whole],
    ['on a single seed', scenario, single],
    ['on a part of the seeds', scenario, cut],
  ])('%s', (_, asked, coverage) => {
    const nobody = { ...tallyOf('grant-order', {}), sections };
    const judged = judgeSystem(asked, expecting(['grant-order'], []), nobody, coverage);
    expect(judged).toMatchObject({ met: null, vacuous: [why], isIncomplete: true });
    expect(judgeSystem(asked, expecting([], []), nobody, coverage).met).toBeNull();
  });

  test('on one shard, which leaves the judgment to the merge', () => {
    const nobody = { ...tallyOf('grant-order', {}), sections };
    const system = expecting(['grant-order'], []);
    const judged = judgeSystem(scenario, system, nobody, { ...cut, isPart: true });
    expect(judged).toMatchObject({ met: null, vacuous: [why], isIncomplete: false });
    const empty = (isPart: boolean) =>
      judgeSystem(scenario, system, EMPTY_TALLY, { ...cut, isPart }).isIncomplete;
    expect([empty(true), empty(false)]).toEqual([false, true]);
  });

  test('except a claim that should break and broke', () => {
    const broken = { ...tallyOf('grant-order', { broken: 1 }), sections };
    expect(judgeSystem(quiet, expecting([], ['grant-order']), broken, whole).met).toBe(true);
  });

  test('but a single entered section is enough', () => {
    const one = { ...tallyOf('grant-order', {}), sections: { ...sections, entered: 1 } };
    expect(judgeSystem(quiet, expecting(['grant-order'], []), one, whole).met).toBe(true);
  });
});

describe('if an error ended every section', () => {
  const failed = [{ error: 'Error: no', place: 'lock.mjs:12:5', count: 300, firstSeed: 3 }];
  const sections = { ...NO_SECTIONS, began: 300, entered: 300, failed };
  const judged = (exercised: number, more = sections): ReturnType<typeof judgeSystem> => {
    const tally = { ...tallyOf('grant-order', { exercised }), sections: more };
    return judgeSystem(quiet, expecting(['grant-order'], []), tally, whole);
  };

  test('no claim is met if none was exercised before', () => {
    const why = 'every section ended by an error: 300 ended by Error: no at lock.mjs:12:5';
    expect(judged(0)).toMatchObject({ met: null, vacuous: [why], isIncomplete: true });
  });

  test('a claim that was exercised counts, and so does a section that ended normally', () => {
    expect(judged(1).met).toBe(true);
    const more = judged(0, { ...sections, began: 301 });
    expect(more.vacuous).toEqual(['grant-order was never exercised']);
  });
});

describe('without coverage, no claim that should hold is met', () => {
  const stakes = { ...NO_STAKES, contested: 9, shared: 3, toWrite: 9, written: 9 };
  const seen = { ...stakes, readAfter: 9, readBack: 1 };

  test.each([
    ['only one client had the lock', { shared: 0 }, 'no second client ever acquired a lock'],
    ['no write was accepted', { written: 0 }, 'no write was ever accepted'],
    ['no write was kept', { readBack: 0 }, 'no accepted write was ever read back'],
  ])('%s', (_, more, why) => {
    const idle = { ...tallyOf('grant-order', {}), stakes: { ...seen, ...more } };
    const holding = expecting(['grant-order'], []);
    expect(judgeSystem(quiet, holding, idle, whole)).toMatchObject({ met: null, vacuous: [why] });
    for (const coverage of [cut, single]) {
      expect(judgeSystem(quiet, holding, idle, coverage).vacuous).toEqual([why]);
    }
  });

  test('but with coverage it is, or if no other client asked or no write was planned', () => {
    const met = (more: Partial<typeof seen>): boolean | null => {
      const tally = { ...tallyOf('grant-order', {}), stakes: { ...seen, ...more } };
      return judgeSystem(quiet, expecting(['grant-order'], []), tally, whole).met;
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
      judgeSystem(scenario, system, tallyOf('grant-order', { unknown }), whole);
    expect(of(11)).toMatchObject({ met: null, isIncomplete: true });
    expect(of(10)).toMatchObject({ met: true, isIncomplete: false });
  });

  test('counts a seed whose code failed as unjudged', () => {
    const system = expecting([], ['grant-order']);
    const of = (failed: number) => {
      const tally = { ...tallyOf('grant-order', { unknown: 5 }), failed };
      return judgeSystem(scenario, system, tally, whole).met;
    };
    expect([of(5), of(6), of(95)]).toEqual([false, null, null]);
  });

  test('is still decided once it broke', () => {
    const broken = tallyOf('grant-order', { ...few, broken: 1 });
    expect(judgeSystem(scenario, expecting(['grant-order'], []), broken, whole).met).toBe(false);
    expect(judgeSystem(scenario, expecting([], ['grant-order']), broken, whole).met).toBe(true);
  });

  test('is not reported as held if it should break', () => {
    const unbroken = tallyOf('grant-order', few);
    expect(judgeSystem(scenario, expecting([], ['grant-order']), unbroken, whole)).toMatchObject({
      met: null,
      isIncomplete: true,
      missing: ['grant-order'],
    });
  });
});

describe('`progress` of user code', () => {
  const own = (lists: Partial<SystemScenario['expect']>): SystemScenario => {
    const system = expecting(['grant-order'], []);
    return { ...system, lock: 'my-lock', expect: { ...system.expect, ...lists } };
  };
  /** The same counts, with all breaches under one rule of `progress`. */
  const tallyBy = (rule: string, counts: Parameters<typeof tallyOf>[1]): Tally => {
    const tally = tallyOf('progress', counts);
    const { broken = 0 } = counts;
    const cause = { rule, isByForeignRelease: false, faults: [] };
    const causes = broken === 0 ? [] : [{ cause, broken, brokenSeeds: [0] }];
    return { ...tally, claims: { progress: { ...claimTally(tally, 'progress'), causes } } };
  };
  const met = (system: SystemScenario, tally: Tally) => {
    const avoided = new Map([[system.name, new Map([['grant-order', 1]])]]);
    return judgeSystem(scenario, system, tally, { ...whole, avoided }).met;
  };

  test('is judged even if it is not listed, unless it may break', () => {
    const hung = tallyBy('never-ended', { broken: 1 });
    expect(met(own({}), hung)).toBe(false);
    expect(claimsToShrink(own({}), hung)).toEqual(['progress']);
    expect(met(own({ may: ['progress'] }), hung)).toBe(true);
    expect(met(own({ breaks: ['progress'] }), hung)).toBe(true);
    expect(met(expecting(['grant-order'], []), hung)).toBe(true);
    expect(met(own({}), tallyBy('', { unknown: 11 }))).toBeNull();
    expect(met(own({}), tallyBy('probe-not-granted', { broken: 1 }))).toBe(false);
    expect(met(own({}), tallyBy('', { exercised: 0 }))).toBe(true);
  });
});

test('a system of which no seed was examined is not judged', () => {
  const system = expecting(['grant-order'], []);
  expect(judgeSystem(scenario, system, EMPTY_TALLY, cut).met).toBeNull();
});

test('a fault that fired but never met a grant leaves the system unjudged, and is named', () => {
  const tally = tallyOf('grant-order', {});
  const unmet = {
    ...tally,
    faults: { ...tally.faults, drop: { fired: 9, overlapped: 0, strikes: {} } },
  };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), unmet, whole)).toEqual({
    met: null,
    unexpected: [],
    missing: [],
    hints: [],
    isIncomplete: true,
    vacuous: ['drop never fired while a lock was held'],
  });
  // If no claim should hold, nothing needs to be exercised.
  expect(judgeSystem(scenario, expecting([], []), unmet, whole)).toMatchObject({
    met: true,
    isIncomplete: false,
  });
});

test('a failed seed weakens a claim that held, but not a proven breach', () => {
  const proven = { ...tallyOf('grant-order', { broken: 2 }), failed: 1 };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), proven, whole).met).toBe(false);
  expect(judgeSystem(scenario, expecting([], ['grant-order']), proven, whole).met).toBe(true);
  const failed = { ...tallyOf('grant-order', {}), failed: 1 };
  expect(judgeSystem(scenario, expecting(['grant-order'], []), failed, whole).met).toBeNull();
  expect(judgeSystem(scenario, expecting([], ['grant-order']), failed, whole).met).toBe(false);
});

test('each broken claim that should hold is shrunk, else the first that should break', () => {
  const { claims } = tallyOf('grant-order', { broken: 1 });
  const tally = { ...tallyOf('tokens-unique', { broken: 2 }) };
  const both = { ...tally, claims: { ...claims, ...tally.claims } };
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
    const tally = { ...tallyOf('grant-order', {}), faults: { pause } };
    const asked = { ...scenario, clients, faults: [] };
    const [template] = scenario.faults.filter(({ kind }) => kind === 'pause');
    if (template === undefined) throw new Error('the fixture pauses');
    // At a time instead of before each write, as in the file.
    const at = { name: 'when', type: 'when', value: { kind: 'at', at: { minUs: 0, maxUs: 9 } } };
    const fields = template.fields.map((field) => (field.type === 'when' ? at : field));
    Object.assign(asked, { faults: [{ ...template, fields }] });
    return judgeSystem(asked, expecting([], ['grant-order']), tally, whole).hints.find((hint) =>
      hint.startsWith('pause'),
    );
  };
  const blind = hintOf(['blind-writes']);
  const reading = hintOf(['read-modify-write']);
  expect(reading).toMatch(/; to pause .*, try `before: write`$/);
  expect(blind).not.toBe(reading);
  expect(hintOf(['blind-writes', 'read-modify-write'])).toBe(reading);
});
