import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  ClaimResult,
  ScenarioResult,
  Summary,
  SystemResult,
} from '../search/campaign/result.ts';
import { NO_SECTIONS } from '../search/sweep/sections.ts';
import { displayWidth } from '../text/visible.ts';
import { boundText, renderConclusion, renderScenarioLine } from './conclusion.ts';
import { anyName } from './hostile.fixture.ts';
import { sampleSummary } from './summary.fixture.ts';

const plain = { colour: false, width: 100 };
const JUDGED = { unknown: 0, due: 1000, judged: 1000 };
const BREAKING: ClaimResult = {
  ...JUDGED,
  broken: 3,
  firstSeed: 17,
  exercised: 40,
  avoided: 0,
};
const HELD: ClaimResult = {
  ...JUDGED,
  broken: 0,
  firstSeed: null,
  exercised: 513,
  avoided: 7,
};

function systemWith(parts: Partial<SystemResult>): SystemResult {
  return {
    name: 'fenced',
    expect: {},
    met: true,
    seeds: 1000,
    broken: 0,
    unknown: 0,
    failed: 0,
    failures: [],
    claims: {},
    measured: {},
    sections: NO_SECTIONS,
    hints: [],
    vacuous: [],
    faults: {},
    counterexample: null,
    ...parts,
  };
}

function scenarioOf(name: string, systems: readonly SystemResult[]): ScenarioResult {
  return {
    name,
    file: `${name}.yaml`,
    range: { from: 0, to: 999 },
    systems,
    keptPlans: [],
    difference: null,
  };
}

function summaryOf(...systems: readonly SystemResult[]): Summary {
  return { ...sampleSummary, scenarios: [scenarioOf('zombie', systems)] };
}

const textOf = (summary: Summary): string => renderConclusion(summary, plain).replace(/\s+/g, ' ');

describe('the conclusion', () => {
  it('reports the seeds of a held claim, with a bound, and those that exercised it', () => {
    const holding = systemWith({
      expect: { holds: ['grant-order'] },
      claims: { 'grant-order': HELD },
    });
    expect(textOf(summaryOf(holding))).toContain(
      'held on all 1,000 seeds (95 % confidence: fewer than 3.0 in 1,000 break) exercised: fenced: grant-order on 513 (hazard avoided on 7)',
    );
  });

  it('leaves the judgment of a shard to the merge', () => {
    const part = systemWith({ expect: { holds: ['grant-order'] }, isPart: true });
    const text = textOf(summaryOf(part));
    expect(text).toContain('not judged: fenced (judged at merge)');
    expect(text).toContain('? 0 of 1 expectation met, 1 judged at merge');
    expect(textOf(summaryOf({ ...part, met: false }))).not.toContain('judged at merge');
  });

  it('reports how many sections of a met system ended with an error, and which', () => {
    const error = { error: 'ReplyError: no', place: 'lock.mjs:12:5', count: 12, firstSeed: 3 };
    const failed = [{ ...error, error: 'Late', count: 2 }, error];
    const sections = { ...NO_SECTIONS, began: 1600, entered: 1600, failed, otherFailed: 1 };
    const holding = systemWith({ sections });
    const text = 'fenced: 15 of 1,600 sections ended by an error: ReplyError: no at lock.mjs:12:5';
    expect(textOf(summaryOf(holding))).toContain(text);
    // For all other systems, the overview reports it.
    for (const met of [false, null]) {
      expect(textOf(summaryOf({ ...holding, met }))).not.toContain('by an error');
    }
    expect(textOf(summaryOf(systemWith({})))).not.toContain('by an error');
    const painted = (began: number): string =>
      renderConclusion(summaryOf({ ...holding, sections: { ...sections, began } }), {
        ...plain,
        colour: true,
      });
    const line = (text: string): string =>
      text.split('\n').find((one) => one.includes('by an error')) ?? '';
    const plainly = renderConclusion(summaryOf(holding), plain);
    expect(line(painted(1600))).toBe(line(plainly));
    // All sections ended with an error, so the line is highlighted.
    expect(line(painted(15))).toContain('\u001b[33m');
  });

  it('gives no bound if all seeds are the same run', () => {
    const holding = systemWith({
      expect: { holds: ['grant-order'] },
      claims: { 'grant-order': HELD },
      isWritten: true,
    });
    expect(textOf(summaryOf(holding))).toContain('held on the only run exercised:');
    expect(textOf(summaryOf(holding))).not.toContain('95 %');
  });

  it('gives the scope of an exhaustive search, without a bound and without seeds', () => {
    const scope = {
      faults: 2,
      kinds: ['pause', 'delay'],
      ties: 0,
      latencyUs: 1_000,
      clients: 2,
      sections: 1,
    };
    const holding = systemWith({
      expect: { holds: ['grant-order'] },
      claims: { 'grant-order': HELD },
      seeds: 6919,
      exhausted: { ...scope, plans: 6919 },
    });
    const held =
      'held (exhausted: ≤ 2 faults of pause, delay; lengths at every threshold; latency 1 ms; 6,919 plans) exercised: fenced: grant-order on 513 (hazard avoided on 7)';
    const text = textOf(summaryOf(holding));
    expect(text).toContain(held);
    expect(text).not.toMatch(/95 %|seed|prove/);
    const truncated = textOf(summaryOf({ ...holding, seeds: 100 }));
    expect(truncated).toContain('held (not exhausted: ≤ 2 faults');
    expect(truncated).toContain('100 of 6,919 plans)');
  });

  it('gives the common part of the scopes of several systems', () => {
    const scope = { faults: 1, ties: 1, latencyUs: 1_000, clients: 2, sections: 1 };
    const claims = { 'grant-order': HELD };
    const [one, two] = [20, 31].map((plans) =>
      systemWith({
        name: `of-${plans}`,
        expect: { holds: ['grant-order'] },
        claims,
        seeds: plans,
        exhausted: { ...scope, kinds: [`kind-${plans}`], plans },
      }),
    );
    if (one === undefined || two === undefined) throw new Error('there are two');
    expect(textOf(summaryOf(one, two))).toContain(
      'held (exhausted: ≤ 1 fault; ≤ 1 swap of ties; lengths at every threshold; latency 1 ms; 20 to 31 plans) exercised: ',
    );
  });

  it('does not list a claim as held if it was not exercised', () => {
    const idle = { ...HELD, exercised: 0, avoided: 0 };
    const system = systemWith({
      expect: { holds: ['grant-order'] },
      claims: { 'grant-order': idle },
    });
    expect(textOf(summaryOf(system))).not.toContain('held');
  });

  it.each([
    ['interrupted', 130, '? interrupted after 239–240 of 10,000,000 seeds: 2 of 2'],
    ['time', 0, '✓ passed, time limit reached after 239–240 of 10,000,000 seeds: 2 of 2'],
  ] as const)('reports that not all seeds were examined: %s', (by, exit, last) => {
    const systems = [systemWith({ seeds: 240 }), systemWith({ name: 'other', seeds: 239 })];
    const cutShort = { asked: 10_000_000, by };
    const [scenario] = summaryOf(...systems).scenarios;
    if (scenario === undefined) throw new Error('there is one');
    const one: Summary = { ...sampleSummary, exit, scenarios: [{ ...scenario, cutShort }] };
    expect(textOf(one)).toContain(last);
    expect(renderScenarioLine({ ...scenario, cutShort }, plain)).toContain(
      last.slice(2, -' 2 of 2'.length).replace('passed, ', ''),
    );
    const [first] = textOf({ ...one, notBegun: 71 }).split(': ');
    expect(first).toBe(
      exit === 130 ? '? interrupted in scenario 1 of 72' : '✓ passed, 1 scenario incomplete',
    );
  });

  it('reports an interruption even if every seed had been examined', () => {
    const text = textOf({ ...summaryOf(systemWith({})), exit: 130 });
    expect(text).toMatch(/^\? interrupted: 1 of 1 expectation met/);
  });

  it('lists unexpected results first, then claims that broke: expected, allowed, unlisted', () => {
    const expected = { holds: ['a'], breaks: ['b', 'e'], may: ['c'] };
    const claims = { a: BREAKING, b: BREAKING, c: BREAKING, d: BREAKING, e: HELD };
    const text = textOf(summaryOf(systemWith({ expect: expected, claims, met: false })));
    expect(text).toMatch(/^ failed: fenced: a broke on 3 of 1,000 seeds, first 17, e held but/);
    expect(text).toContain('broke as expected: fenced: b on 3 of 1,000 seeds; broke, as allowed:');
    expect(text).toContain('broke, as allowed: fenced: c on 3');
    expect(text).toContain('broke, unlisted: fenced: d on 3 of 1,000, first 17');
    expect(text).toMatch(/✗ failed on .*: 0 of 1 expectation met, 1 not met;/);
  });

  it('lists systems that were not judged, with the reason', () => {
    const open = systemWith({ expect: { holds: ['a'] }, met: null, vacuous: ['drop never fired'] });
    expect(textOf(summaryOf(open))).toContain('not judged: fenced (drop never fired)');
    const claims = { a: { ...HELD, judged: 800, unknown: 200 } };
    const unknown = { expect: { holds: ['a'] }, claims, met: null, unknown: 200 };
    expect(textOf(summaryOf(systemWith(unknown)))).toContain(
      'not judged: fenced (unknown on 200 seeds)',
    );
    expect(textOf(summaryOf(systemWith(unknown)))).not.toContain('held:');
  });

  it('bounds a claim judged on nine of ten seeds by the judged seeds alone', () => {
    const claims = { a: { ...HELD, judged: 900, unknown: 100 } };
    const most = systemWith({ expect: { holds: ['a'] }, claims, unknown: 100 });
    expect(textOf(summaryOf(most))).toContain('held on all 900 seeds');
  });

  it('has at most six lines within the width, and one for errors, for any summary', () => {
    const anySections = fc.record({ name: anyName, count: fc.nat(9) }).map(({ name, count }) => {
      const failed = [{ error: name, place: null, count, firstSeed: 0 }];
      return { ...NO_SECTIONS, began: 9, entered: 9, failed: count === 0 ? [] : failed };
    });
    const anyClaim = fc.record({
      due: fc.nat(1000),
      judged: fc.nat(1000),
      broken: fc.nat(1000),
      firstSeed: fc.constantFrom(null, 3),
      unknown: fc.constant(0),
      exercised: fc.nat(1000),
      avoided: fc.nat(50),
    });
    const anySystem = fc
      .record({
        name: anyName,
        met: fc.constantFrom(true, false, null),
        unknown: fc.constantFrom(0, 0, 3),
        claims: fc.dictionary(anyName, anyClaim, { maxKeys: 12 }),
        vacuous: fc.array(anyName, { maxLength: 3 }),
        sections: fc.oneof(fc.constant(NO_SECTIONS), anySections),
      })
      .map((parts) => {
        const names = Object.keys(parts.claims);
        const every = (rest: number): string[] => names.filter((_, at) => at % 4 === rest);
        return systemWith({
          ...parts,
          expect: { holds: every(0), breaks: every(1), may: every(2) },
        });
      });
    const anySummary = fc
      .array(fc.array(anySystem, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
      .map((all) => ({
        ...sampleSummary,
        scenarios: all.map((systems, at) => scenarioOf(`s${at}`, systems)),
      }));
    fc.assert(
      fc.property(anySummary, fc.integer({ min: 60, max: 160 }), (summary, width) => {
        const lines = renderConclusion(summary, { colour: false, width }).split('\n');
        const all = summary.scenarios.flatMap(({ systems }) => systems);
        const isListed = all.some(
          ({ met, sections }) => met === true && sections.failed.length > 0,
        );
        expect(lines.length).toBeLessThanOrEqual(isListed ? 7 : 6);
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
        for (const scenario of summary.scenarios) {
          const line = renderScenarioLine(scenario, { colour: false, width });
          expect(line).not.toContain('\n');
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('the bound', () => {
  it.each([
    [1_000, 'fewer than 3.0 in 1,000'],
    [300, 'fewer than 10.0 in 1,000'],
    [10, 'fewer than 25.9 in 100'],
    [100_000, 'fewer than 3.0 in 100,000'],
  ])('of %i seeds is %s', (seeds, text) => {
    expect(boundText(seeds)).toBe(text);
  });

  it('is never below the exact bound, and at most a tenth above', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), (seeds) => {
        const [, most = '', scale = ''] = /than ([\d.]+) in ([\d,]+)/.exec(boundText(seeds)) ?? [];
        // At a rate equal to the bound, this many seeds pass with a probability of 5 %.
        const exact = (1 - 0.05 ** (1 / seeds)) * Number(scale.replaceAll(',', ''));
        expect(Number(most)).toBeGreaterThanOrEqual(exact - 1e-6);
        expect(Number(most)).toBeLessThan(exact + 0.1 + 1e-6);
      }),
    );
  });
});
