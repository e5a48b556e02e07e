import { describe, expect, it } from 'vitest';
import type { SectionCounts } from '../search/sweep/sections.ts';
import { displayWidth } from '../text/visible.ts';
import { renderOpenSystems, renderOverview } from './overview.ts';
import { sampleSummary } from './summary.fixture.ts';

const JUDGED = { unknown: 0, due: 1000, judged: 1000 };

describe('renderOverview', () => {
  it('shows per system the expectations, the breaches and what tested nothing', () => {
    const text = renderOverview(sampleSummary, { colour: false, width: 100, isFull: false });
    expect(text).toContain('✓ unfenced: met (must break: grant-order, fence-monotone)');
    expect(text).toContain('? fenced: not judged (must hold: grant-order, fence-monotone)');
    expect(text).toMatch(/fence-monotone +breaks +871 of 1,000 +0 +exercised on 991/);
    expect(text).toMatch(/fence-monotone +holds +0 of 1,000 +– +never/);
    expect(text).toContain('vacuous: fence-monotone, drop');
    expect(text).toContain('pause fired on 994, while a lock was held on 951');
    expect(text).toContain('holder-overlap measured on 902 seeds, at most 48.25 ms');
    expect(text.replace(/\s+/g, ' ')).toContain(
      'stampede: 1,012 computations measured, at most 2 of one value at once, several on 12 seeds',
    );
  });

  it('marks a claim that broke although it should hold', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const systems = [{ ...system, expect: { holds: ['grant-order'] }, met: false }];
    const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
    const text = renderOverview(summary, { colour: false, width: 100, isFull: false });
    expect(text).toMatch(/grant-order +holds ✗ +873 of 1,000/);
  });

  it('reports on how many seeds a claim was exercised, and its hazard avoided', () => {
    const text = renderOverview(sampleSummary, { colour: false, width: 100, isFull: false });
    expect(text).toMatch(
      /grant-order +holds +0 of 1,000 +– +exercised on 991, hazard avoided on 28$/m,
    );
  });

  it('lists no claim as held that was judged on too few seeds', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const rowFor = (judged: number): string => {
      const counts = { broken: 0, firstSeed: null, exercised: 9, avoided: 0, unknown: 0 };
      const progress = { ...counts, due: 1000, judged };
      const systems = [{ ...system, claims: { ...system.claims, progress } }];
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 1000, isFull: false });
    };
    expect(rowFor(900)).toMatch(/also held, unlisted: .*progress/);
    expect(rowFor(899)).toContain('judged on too few seeds: progress');
    expect(rowFor(899)).not.toMatch(/also held, unlisted: .*progress/);
  });

  it('suggests a twin if a claim was not exercised and no twin breaks it', () => {
    const [scenario] = sampleSummary.scenarios;
    const [breaking, untested] = scenario?.systems ?? [];
    if (scenario === undefined || untested === undefined || breaking === undefined) {
      throw new Error('the sample has two systems');
    }
    const rowsFor = (systems: typeof scenario.systems): string => {
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 1000, isFull: false });
    };
    const advice = 'to exercise fence-monotone, add a twin: the same lock without its check';
    expect(rowsFor([untested])).toContain(advice);
    expect(rowsFor([breaking, untested])).not.toContain('to test');
    expect(rowsFor([{ ...untested, vacuous: [] }])).not.toContain('to test');
    const avoided = { ...JUDGED, broken: 0, firstSeed: null, exercised: 0, avoided: 3 };
    const claims = { ...untested.claims, 'fence-monotone': avoided };
    expect(rowsFor([{ ...untested, claims }])).not.toContain('to test');
  });

  it('lists kinds of failure of a claim, counts the rest, and omits a single kind', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const kinds = ['a', 'b', 'c', 'd'].map((cause, at) => ({
      rule: 'stale-write',
      cause,
      broken: at + 1,
      firstSeed: at,
    }));
    const errorsFor = (isFull: boolean, ...of: typeof kinds): string => {
      const claims = {
        'grant-order': {
          ...JUDGED,
          broken: 10,
          firstSeed: 0,
          exercised: 10,
          avoided: 0,
          kinds: of,
        },
      };
      const systems = [{ ...system, claims }];
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 100, isFull });
    };
    expect(errorsFor(false, ...kinds)).toContain(
      'grant-order, 4 causes: a, 1 seed; b, 2; c, 3; 1 more\n',
    );
    expect(errorsFor(true, ...kinds)).toContain(
      'grant-order, 4 causes: a, 1 seed; b, 2; c, 3; d, 4\n',
    );
    const [first, second] = kinds;
    if (first === undefined || second === undefined) throw new Error('there are four');
    const later = { ...second, rule: 'write-after-read' };
    expect(errorsFor(false, first, later)).toContain(
      'a (stale-write), 1 seed; b (write-after-read), 2\n',
    );
    expect(errorsFor(true, first)).not.toContain('kind');
  });

  it('reports faults that fired during use for a system without grants', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const idle = { ...JUDGED, broken: 0, firstSeed: null, exercised: 0, avoided: 0 };
    const claims = { 'mutual-exclusion': idle, 'lease-conservative': idle, progress: idle };
    const systems = [{ ...system, claims }];
    const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
    const text = renderOverview(summary, { colour: false, width: 100, isFull: false });
    expect(text).toContain('pause fired on 994, while it was used on 951');
  });

  describe('the line of sections', () => {
    const failed = [
      { error: 'Error: none', place: 'lock.mjs:12:5', count: 20, firstSeed: 3 },
      { error: 'Error: other', place: null, count: 4, firstSeed: 1 },
    ];
    const sectionsFor = (sections: Partial<SectionCounts>, isFull = false): string => {
      const [scenario] = sampleSummary.scenarios;
      const [system] = scenario?.systems ?? [];
      if (scenario === undefined || system === undefined) throw new Error('there is a system');
      const systems = [{ ...system, sections: { ...system.sections, ...sections } }];
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 200, isFull });
    };

    it('is omitted if each was entered, gave up, was refused or crashed', () => {
      const plain = { gaveUp: 10, refused: 7, crashed: 3 };
      expect(sectionsFor(plain)).not.toContain('sections:');
      expect(sectionsFor(plain, true)).toContain(
        'sections: 9,000 planned, 9,000 begun: 9,000 ended, 10 gave up, 3 crashed; 8,990 entered, 7 refused',
      );
    });

    it('counts sections that never ended', () => {
      expect(sectionsFor({ open: 12 })).toContain(
        '9,000 begun: 9,000 ended, 12 never ended; 8,990 entered',
      );
    });

    it('has the most frequent error, and with -v all errors', () => {
      const text = sectionsFor({ failed, otherFailed: 2 });
      expect(text).toContain('begun: 9,000 ended, 26 failed; 8,990 entered');
      expect(text).toContain('20 ended by Error: none at lock.mjs:12:5, first on seed 3');
      expect(text).toContain('6 by other errors');
      expect(sectionsFor({ failed, otherFailed: 2 }, true)).toContain(
        '4 ended by Error: other, first on',
      );
    });

    it('with -v, counts sections that returned without a guard', () => {
      expect(sectionsFor({ unguarded: 12 })).not.toContain('sections:');
      expect(sectionsFor({ unguarded: 12 }, true)).toContain('12 returned without a guard');
    });

    it('omits errors that are reported as the reason why no section was entered', () => {
      expect(sectionsFor({ entered: 0, failed })).not.toContain('sections:');
    });
  });

  it('advises on an unlisted write after release if the fence held', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const held = { ...JUDGED, broken: 0, firstSeed: null, exercised: 9, avoided: 0 };
    const late = { ...JUDGED, broken: 12, firstSeed: 7, exercised: 30, avoided: 0 };
    const claimsFor = (claims: typeof system.claims, expect: typeof system.expect = {}): string => {
      const systems = [{ ...system, expect, claims }];
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 1000, isFull: false });
    };
    const fenced = { 'fence-monotone': held, 'no-write-after-release': late };
    const advice = 'advice: writes were accepted after the lock was released (12 seeds, first 7)';
    expect(claimsFor(fenced)).toContain(advice);
    expect(claimsFor(fenced, { breaks: ['no-write-after-release'] })).not.toContain('advice');
    expect(claimsFor({ ...fenced, 'fence-monotone': late })).not.toContain('advice');
    expect(claimsFor({ ...fenced, 'no-write-after-release': held })).not.toContain('advice');
  });

  it('can omit the systems that met their expectations', () => {
    const text = renderOpenSystems(sampleSummary, { colour: false, width: 100, isFull: false });
    expect(text).toContain('? fenced: not judged');
    expect(text).not.toContain('unfenced: met');
    const scenarios = sampleSummary.scenarios.map(({ systems, ...rest }) => ({
      ...rest,
      systems: systems.map((system) => ({ ...system, met: true })),
    }));
    const options = { colour: false, width: 100, isFull: false };
    expect(renderOpenSystems({ ...sampleSummary, scenarios }, options)).toBe('');
  });

  it('never exceeds the width of the terminal', () => {
    for (const width of [40, 60, 80]) {
      const lines = renderOverview(sampleSummary, { colour: false, width, isFull: false }).split(
        '\n',
      );
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
    }
  });
});
