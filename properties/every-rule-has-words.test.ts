/**
 * Law: every breach is explained. Every rule that a kept plan or a mutant breaks has words that fit
 * its evidence, and explaining any verdict returns words and never throws.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { builtInClaims } from '../src/check/claims.ts';
import { explain, RULE_WORDS } from '../src/check/explain.ts';
import { Contradiction } from '../src/check/explanation.ts';
import { inWords } from '../src/check/in-words.fixture.ts';
import type { Invalid } from '../src/check/verdict.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { examine } from '../src/harness.ts';
import { expand } from '../src/scenario/expand.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { MUTANT, scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';
import { runs } from './runs.ts';

const SEEDS = runs(20);

const folder = fileURLToPath(new URL('../fixtures/plans/', import.meta.url));
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

function planOf(file: string): Plan {
  const read = readPlan({ file, text: readFileSync(`${folder}${file}`, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

/** Returns the rules that a run of the plan breaks, after explaining each. */
function wordsOf(plan: Plan): readonly string[] {
  const { trace, verdicts } = examine(plan, [...builtInClaims.keys()]);
  return verdicts.flatMap((verdict) => {
    if (verdict.kind !== 'invalid') return [];
    const words = new Map(Object.entries(RULE_WORDS)).get(verdict.rule);
    if (words === undefined) throw new Error(`${verdict.claim}: no words for ${verdict.rule}`);
    // Called directly, since `explain` would substitute words that do not fit.
    const { headline } = words(new Contradiction(trace, verdict));
    expect(inWords(explain(trace, verdict))).toContain(headline);
    return [verdict.rule];
  });
}

const kept = files.map((file) => [file, planOf(file)] as const);

beforeAll(async () => {
  await prepare(kept.map(([, { system }]) => system));
  await prepare(mutants.map(({ mutant }) => mutant));
});

describe('every broken rule has words', () => {
  test('by the kept plans', () => {
    for (const [file, plan] of kept) expect(wordsOf(plan), file).not.toContain('');
  });

  test('by the mutants, which break most of the rules', () => {
    const reached = new Set<string>();
    for (const mutant of mutants) {
      for (let seed = 0; seed < SEEDS; seed++) {
        for (const rule of wordsOf(expand(scenarioOf(mutant), MUTANT, seed))) reached.add(rule);
      }
    }
    expect(reached.size).toBeGreaterThan(20);
  });
});

const events = [0, 3, 12].map((ms) => {
  return { kind: 'log', atUs: ms * 1000, process: 'alice', topic: '', text: 'hello' } as const;
});
const trace: Trace = { processes: [], events, ending: { kind: 'complete' }, unmatched: [] };

const claimAndRule = fc.oneof(
  fc.constantFrom(
    ...[...builtInClaims.values()].flatMap(({ name, rules }) =>
      rules.map((rule) => [name, rule] as const),
    ),
  ),
  fc.tuple(fc.constantFrom('grant-order', 'mine', 'linearizable(mine)'), fc.string()),
);

test('a verdict with any claim, rule and evidence is explained', () => {
  const part = fc.record({ role: fc.string(), event: fc.integer({ min: -1, max: 4 }) });
  fc.assert(
    fc.property(claimAndRule, fc.array(part), ([claim, rule], evidence) => {
      const verdict: Invalid = { kind: 'invalid', claim, exercised: 1, rule, evidence };
      expect(inWords(explain(trace, verdict))).toMatch(/^.+\.$/s);
    }),
  );
});
