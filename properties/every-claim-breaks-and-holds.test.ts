/**
 * Law: each built-in claim breaks on some seed of a fixture or mutant that expects it to break, and
 * holds, not vacuously, in a system that promises it. A claim that cannot break judges nothing, and
 * one that cannot hold is useless.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { claims } from '../src/check/claims.ts';
import type { Verdict } from '../src/check/verdict.ts';
import { examineSeed } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario, SystemScenario } from '../src/scenario/scenario.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';

const SEEDS = 120;
const folder = fileURLToPath(new URL('../fixtures/', import.meta.url));

interface Subject {
  readonly scenario: Scenario;
  readonly system: SystemScenario;
}

const written: readonly Scenario[] = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => {
    const read = loadScenario(readFileSync(`${folder}${file}`, 'utf8'), file);
    return read.kind === 'scenario' ? [read.scenario] : [];
  });

const subjects: readonly Subject[] = [...written, ...mutants.map(scenarioOf)].flatMap((scenario) =>
  scenario.systems.map((system) => ({ scenario, system })),
);

/** `linearizable(register)` is `linearizable` with a given model: both count as one claim. */
const names = [...claims.keys()].filter((claim) => !claim.includes('('));

beforeAll(() => prepare(subjects.map(({ system }) => ({ store: system.store }))));

/** Yields a subject's verdicts on a claim, seed by seed, if it was exercised or broken. */
function* verdictsOf({ scenario, system }: Subject, claim: string): Generator<Verdict['kind']> {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const [verdict] = examineSeed(scenario, system.name, seed, [claim]).verdicts;
    if (verdict?.kind === 'invalid') yield 'invalid';
    if (verdict?.kind === 'valid' && verdict.exercised > 0) yield 'valid';
  }
}

function meets(subject: Subject, claim: string, wanted: Verdict['kind']): boolean {
  for (const kind of verdictsOf(subject, claim)) if (kind === wanted) return true;
  return false;
}

function setting(list: 'breaks' | 'holds', claim: string): readonly Subject[] {
  return subjects.filter(({ system }) => system.expect[list].includes(claim));
}

describe.each(names)('%s', (claim) => {
  const breaking = setting('breaks', claim);
  const promising = setting('holds', claim);

  test('breaks in a system that is known to break it', () => {
    expect(breaking.some((subject) => meets(subject, claim, 'invalid'))).toBe(true);
  });

  test('holds in a system that promises it, or on a seed of one that breaks it', () => {
    expect([...promising, ...breaking].some((subject) => meets(subject, claim, 'valid'))).toBe(
      true,
    );
  });

  const [promised] = promising;
  test.runIf(promised)('does not break in a system that promises it', () => {
    if (promised !== undefined) expect(meets(promised, claim, 'invalid')).toBe(false);
  });
});
