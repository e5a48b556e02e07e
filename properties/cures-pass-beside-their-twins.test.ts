/**
 * Law: a correct fix can pass. Next to its twin, the same code without it, it passes although the
 * hazard never arises in it; the twin in its place fails; and alone, where the hazard cannot arise,
 * it is not judged.
 */
import { describe, expect, test } from 'vitest';
import { loadScenario } from '../src/load.ts';
import { campaign } from '../src/search/campaign/campaign.ts';
import { exits } from '../src/search/campaign/exit-codes.ts';
import type { Summary } from '../src/search/campaign/result.ts';
import { QUIET } from '../src/search/campaign/small-scenario.fixture.ts';
import { type Cure, cures, userCures } from './cures.ts';
import { runs } from './runs.ts';

/** Ten show each twin's mistake; more of them look for a cure that fails occasionally. */
const COUNT = Math.max(10, runs(30));
const SEEDS = { from: 0, to: COUNT - 1 };

async function resultOf(systems: string, world: string): Promise<Summary> {
  const text = `name: cure\nsystems:\n${systems}\n${world}\n`;
  const read = loadScenario(text, 'cure.yaml', userCures);
  if (read.kind === 'problems') throw new Error(JSON.stringify([text, read.problems]));
  const subject = { scenario: read.scenario, file: 'cure.yaml', catalogue: userCures };
  const shrinking = { ...QUIET.shrinking, claimsOf: () => [] };
  const { summary } = await campaign([subject], { ...QUIET, range: SEEDS, shrinking });
  return summary;
}

const lineOf = ({ title, claim }: Cure, variant: 'cure' | 'twin', expected: string): string => {
  const expect = expected === '' ? '{}' : `{ ${expected}: [${claim}] }`;
  return `  ${variant}: { lock: ${title}-${variant}, store: unfenced, expect: ${expect} }`;
};

describe.each(cures.map((cure) => [cure.title, cure] as const))('%s', (_, cure) => {
  test.each(['breaks', ''])(
    'the cure passes next to a twin that is listed by "%s"',
    async (side) => {
      const systems = [lineOf(cure, 'twin', side), lineOf(cure, 'cure', 'holds')].join('\n');
      const { exit, scenarios } = await resultOf(systems, cure.world);
      const [twin, cured] = scenarios[0]?.systems ?? [];
      const broken = twin?.claims[cure.claim]?.broken ?? 0;
      expect(broken).toBeGreaterThanOrEqual(cure.isEverySeed ? COUNT : 1);
      expect(cured).toMatchObject({ met: true, vacuous: [] });
      expect(cured?.claims[cure.claim]?.avoided).toBeGreaterThan(0);
      // For user code, `progress` is judged even if it is not listed.
      const isTwinJudged = side === '' && cure.claim === 'progress';
      expect(exit).toBe(isTwinJudged ? exits.broken : exits.met);
    },
  );

  test('the twin in place of the cure fails', async () => {
    const { exit } = await resultOf(lineOf(cure, 'twin', 'holds'), cure.world);
    expect(exit).toBe(exits.broken);
  });

  test('alone, if the hazard cannot arise, the cure is not judged', async () => {
    const { exit, scenarios } = await resultOf(lineOf(cure, 'cure', 'holds'), cure.idle);
    const [cured] = scenarios[0]?.systems ?? [];
    expect(cured?.met).toBeNull();
    expect(cured?.vacuous).toContain(cure.why);
    expect(exit).toBe(exits.incomplete);
  });
});
