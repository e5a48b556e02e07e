import { describe, expect, it } from 'vitest';
import { displayWidth } from '../text/visible.ts';
import { renderOverview } from './overview.ts';
import { sampleSummary } from './summary.fixture.ts';

describe('renderOverview', () => {
  it('shows for every system what was expected, what broke and what tested nothing', () => {
    const text = renderOverview(sampleSummary, { colour: false, width: 100, isFull: false });
    expect(text).toContain('✓ unfenced: met (must break: grant-order, fence-monotone)');
    expect(text).toContain('? fenced: not judged (must hold: grant-order, fence-monotone)');
    expect(text).toMatch(/fence-monotone +breaks +871 of 1,000 +0 +991 seeds/);
    expect(text).toMatch(/fence-monotone +holds +0 of 1,000 +– +never/);
    expect(text).toContain('vacuous, tested nothing: fence-monotone, drop');
    expect(text).toContain('pause fired on 994, under a held grant on 951');
    expect(text).toContain('holder-overlap measured on 902 seeds, at most 48.25 ms');
    expect(text.replace(/\s+/g, ' ')).toContain(
      'stampede: 1,012 computations measured, at most 2 of one value at once, several on 12 seeds',
    );
    expect(text).toContain('1 of 2 expectations met, 1 not judged; 8,123 seeds/s');
  });

  it('marks a claim that broke although it should hold', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const systems = [{ ...system, expect: { holds: ['grant-order'] }, met: false }];
    const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
    const text = renderOverview(summary, { colour: false, width: 100, isFull: false });
    expect(text).toMatch(/grant-order +holds ✗ +873 of 1,000/);
    expect(text).toContain('0 of 1 expectation met, 1 not met');
  });

  it('says of a system without grants that a fault struck while it was used', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const idle = { broken: 0, firstSeed: null, exercised: 0 };
    const claims = { 'mutual-exclusion': idle, 'lease-conservative': idle, progress: idle };
    const systems = [{ ...system, claims }];
    const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
    const text = renderOverview(summary, { colour: false, width: 100, isFull: false });
    expect(text).toContain('pause fired on 994, while it was used on 951');
  });

  it('advises on a late write where the fence held, nobody asked, and the lock was given back', () => {
    const [scenario] = sampleSummary.scenarios;
    const [system] = scenario?.systems ?? [];
    if (scenario === undefined || system === undefined) throw new Error('the sample has a system');
    const held = { broken: 0, firstSeed: null, exercised: 9 };
    const late = { broken: 12, firstSeed: 7, exercised: 30 };
    const told = (claims: typeof system.claims, expect: typeof system.expect = {}): string => {
      const systems = [{ ...system, expect, claims }];
      const summary = { ...sampleSummary, scenarios: [{ ...scenario, systems }] };
      return renderOverview(summary, { colour: false, width: 1000, isFull: false });
    };
    const fenced = { 'fence-monotone': held, 'no-write-after-release': late };
    const advice = 'advice: a write was accepted after its lock was released (12 seeds, first 7)';
    expect(told(fenced)).toContain(advice);
    expect(told(fenced, { breaks: ['no-write-after-release'] })).not.toContain('advice');
    expect(told({ ...fenced, 'fence-monotone': late })).not.toContain('advice');
    expect(told({ ...fenced, 'no-write-after-release': held })).not.toContain('advice');
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
