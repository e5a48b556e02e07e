import { describe, expect, test } from 'vitest';
import { type CanaryEvidence, judgeCanary } from './canary.ts';

const DIGEST = 'sha256:1';

interface Counted {
  readonly met: boolean | null;
  readonly seeds: number;
  readonly broken: number;
  readonly exercised: number;
}

const size = { clients: 2, faults: 1, events: 12, originalEvents: 51, chance: 0, digest: DIGEST };

function reportOf(
  unfenced: Partial<Counted> = {},
  fenced: Partial<Counted> = {},
  counterexample: object | null = size,
): string {
  const system = (name: string, counted: Counted, found: object | null): object => {
    const { met, seeds, broken, exercised } = counted;
    return {
      name,
      met,
      seeds,
      claims: { 'grant-order': { broken, exercised } },
      counterexample: found,
    };
  };
  const bad = { met: false, seeds: 200, broken: 15, exercised: 142, ...unfenced };
  const good = { met: true, seeds: 200, broken: 0, exercised: 142, ...fenced };
  const systems = [system('unfenced', bad, counterexample), system('fenced', good, null)];
  return JSON.stringify({ summary: { scenarios: [{ systems }] } });
}

const TEXT = '✗ Stale write accepted\nLet A be … However, bob, paused …\nreplay: npx';

function replayed(outcome: string, code: number, digest = DIGEST): CanaryEvidence['replay'] {
  return { code, out: JSON.stringify({ outcome, digest }), err: '' };
}

const SEEN: CanaryEvidence = {
  seeds: 200,
  run: { code: 1, out: TEXT, err: '' },
  report: reportOf(),
  pages: ['<svg>Stale write</svg>'],
  plan: 'fencepost: 1',
  replay: replayed('reproduced', 0),
  cured: replayed('fixed', 1),
};

/** Returns the stages that missed the canary. */
function missedBy(change: Partial<CanaryEvidence>): readonly string[] {
  return judgeCanary({ ...SEEN, ...change })
    .filter(({ status, fix }) => status === 'problem' && fix !== null)
    .map(({ name }) => name.replace('canary-', ''));
}

describe('the canary is found', () => {
  test('if every stage found it', () => {
    expect(missedBy({})).toEqual([]);
  });
});

describe('the canary is missed', () => {
  test('by a run that succeeds, crashes or hangs', () => {
    for (const code of [0, 3, null]) {
      expect(missedBy({ run: { code, out: TEXT, err: 'why' } })).toEqual(['alarm']);
    }
  });

  test('by a sweep that finds no breach, omits seeds, or judges nothing', () => {
    expect(missedBy({ report: reportOf({ broken: 0, met: true }) })).toEqual(['sweep']);
    expect(missedBy({ report: reportOf({ broken: 0 }) })).toEqual(['sweep']);
    expect(missedBy({ report: reportOf({ seeds: 100 }) })).toEqual(['sweep']);
    expect(missedBy({ report: reportOf({ met: null }) })).toEqual(['sweep']);
  });

  test('by a sweep that finds breaches everywhere, or tests nothing', () => {
    expect(missedBy({ report: reportOf({}, { broken: 3, met: false }) })).toEqual(['cure']);
    expect(missedBy({ report: reportOf({}, { exercised: 0 }) })).toEqual(['cure']);
    expect(missedBy({ report: reportOf({}, { seeds: 0 }) })).toEqual(['cure']);
  });

  test('by a shrinker that finds nothing, or nothing smaller', () => {
    expect(missedBy({ report: reportOf({}, {}, null) })).toEqual(['shrink', 'replay']);
    for (const larger of [{ faults: 2 }, { clients: 3 }, { events: 51 }, { chance: 1 }]) {
      const report = reportOf({}, {}, { ...size, ...larger });
      expect(missedBy({ report }), JSON.stringify(larger)).toEqual(['shrink']);
    }
  });

  test('by reports that omit the story, or draw nothing', () => {
    const silent = { code: 1, out: 'all is well', err: '' };
    expect(missedBy({ run: silent })).toEqual(['report']);
    expect(missedBy({ pages: [] })).toEqual(['report']);
    expect(missedBy({ pages: ['<svg></svg>'] })).toEqual(['report']);
  });

  test('by a replay with another result', () => {
    expect(missedBy({ replay: replayed('fixed', 1) })).toEqual(['replay']);
    expect(missedBy({ replay: replayed('reproduced', 0, 'sha256:2') })).toEqual(['replay']);
    expect(missedBy({ replay: null })).toEqual(['replay']);
    expect(missedBy({ cured: replayed('reproduced', 0) })).toEqual(['fixed']);
    expect(missedBy({ cured: { code: 1, out: 'no JSON', err: '' } })).toEqual(['fixed']);
  });

  test('by a run that writes no files', () => {
    const nothing = { report: null, plan: null, pages: [], replay: null, cured: null };
    const run = { code: 3, out: '', err: '' };
    expect(missedBy({ ...nothing, run })).toHaveLength(7);
  });
});
