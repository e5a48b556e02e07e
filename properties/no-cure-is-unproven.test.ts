/**
 * Laws of the explanation of a breach, over every kept plan and every mutant: it never throws; the
 * story names every fault without which the claim holds, with its subject; and it states a cure
 * only if that cure was run on the same plan, holds there, and lets the work continue.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { builtIn } from '../src/catalogue.ts';
import { reportedCauses } from '../src/check/causation.ts';
import { builtInClaims } from '../src/check/claims.ts';
import { inWords } from '../src/check/in-words.fixture.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { examine } from '../src/harness.ts';
import { pin } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import { curesFor } from '../src/search/evidence/cures.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';
import type { ExplainedBreach } from '../src/search/evidence/explain-run.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { MUTANT, scenarioOf } from '../tools/mutants/mutant.ts';
import { mutants } from '../tools/mutants/mutants.ts';
import { some } from './runs.ts';

/** Of these seeds, the first one on which a mutant breaks its claim is explained. */
const SEEDS = 60;

/** Rules about how late something is: a run just within them has the same answers and order. */
const ABOUT_TIME: ReadonlySet<string> = new Set(['believes-longer', 'loss-unnoticed']);

const folder = fileURLToPath(new URL('../fixtures/plans/', import.meta.url));
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

function planOf(file: string): Plan {
  const read = readPlan({ file, text: readFileSync(`${folder}${file}`, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

const kept = files.map((file) => [file, planOf(file)] as const);

beforeAll(async () => {
  await prepare(kept.map(([, { system }]) => system));
  await prepare(mutants.map(({ mutant }) => mutant));
});

/** Words of a story for a fault of this kind. */
const SAID: Readonly<Record<string, RegExp>> = {
  pause: /paused/,
  delay: /late|delayed/,
  drop: /lost/,
  duplicate: /executed again/,
  partition: /cut off/,
  clock: /clock/,
  crash: /crashed/,
  reset: /replaced/,
  failover: /failed over/,
  evict: /forgot/,
  'late-timer': /late/,
};

interface Broken {
  readonly plan: Plan;
  readonly claim: string;
}

async function explanationOf({ plan, claim }: Broken): Promise<ExplainedBreach> {
  const explained = await explainPlan(plan, claim);
  if (explained === null) throw new Error(`${claim} does not break`);
  return explained;
}

/** Returns every claim that a plan breaks. */
function brokenBy(plan: Plan): readonly Broken[] {
  const { verdicts } = examine(plan, [...builtInClaims.keys()]);
  return verdicts.flatMap(({ kind, claim }) => (kind === 'invalid' ? [{ plan, claim }] : []));
}

function requireCausesNamed({ plan }: Broken, { explanation, causation }: ExplainedBreach): void {
  const story = inWords(explanation);
  const faults = pin(plan).faults;
  const { trace } = examine(pin(plan), []);
  for (const { fault, event } of reportedCauses(trace, causation.causes)) {
    if (fault !== null) expect(story).toMatch(SAID[faults[fault]?.kind ?? ''] ?? /^$/);
    expect(causation.evidence.map((part) => part.event)).toContain(event);
  }
}

function requireCureProven(
  { plan, claim }: Broken,
  { explanation, causation }: ExplainedBreach,
): void {
  const { cure } = causation;
  expect(explanation.cure).toBe(cure?.text ?? '');
  if (cure === null) return;
  const pinned = pin(plan);
  const { verdicts } = examine(pinned, [claim]);
  const rule = verdicts[0]?.kind === 'invalid' ? verdicts[0].rule : '';
  const cured = curesFor(pinned, rule, builtIn).find(({ change }) => change === cure.change);
  if (cured === undefined) throw new Error(`${cure.change} is no cure of ${rule}`);
  expect(cured.plan.faults).toEqual(pinned.faults);
  const after = examine(cured.plan, [claim]);
  expect(after.verdicts[0]?.kind).toBe('valid');
  const ended = after.trace.events.some((event) => event.kind === 'return' && isGood(event));
  expect(ended, 'somebody gets something done').toBe(true);
}

function isGood({ answer }: { readonly answer: { readonly kind: string } | null }): boolean {
  return answer !== null && !['denied', 'refused'].includes(answer.kind);
}

async function requireLaws(broken: Broken): Promise<ExplainedBreach> {
  const explained = await explanationOf(broken);
  requireCausesNamed(broken, explained);
  requireCureProven(broken, explained);
  return explained;
}

describe('the explanation of a breach', () => {
  test.each(some(kept))('by the kept plan %s', async (_, plan) => {
    for (const broken of brokenBy(plan)) await requireLaws(broken);
  });

  test('by every mutant, most of which have a proven cure', async () => {
    let proven = 0;
    for (const mutant of mutants) {
      const scenario = scenarioOf(mutant);
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const plan = expand(scenario, MUTANT, seed);
        const { verdicts } = examine(plan, [mutant.caughtBy]);
        if (verdicts[0]?.kind !== 'invalid') continue;
        const { causation } = await requireLaws({ plan, claim: mutant.caughtBy });
        if (causation.cure !== null) proven += 1;
        break;
      }
    }
    expect(proven).toBeGreaterThan(mutants.length / 2);
  });
});

test('most kept plans that break have a proven cure, and each cause has a difference', async () => {
  const counts = { broken: 0, cured: 0 };
  const unturned: string[] = [];
  for (const [file, plan] of kept) {
    const claim = plan.expect?.outcome === 'reproduced' ? plan.expect.claim : null;
    if (claim === null) continue;
    const { causation } = await explanationOf({ plan, claim });
    counts.broken += 1;
    if (causation.cure !== null) counts.cured += 1;
    const isTime = ABOUT_TIME.has(plan.expect?.cause?.rule ?? '');
    if (!isTime && causation.causes.length > 0 && causation.turn === null) unturned.push(file);
  }
  expect(counts.cured).toBeGreaterThan(counts.broken / 2);
  expect(unturned).toEqual([]);
});

// The compiler ensures that each rule of a claim is listed and has its row of cures.
test('each listed rule belongs to a claim', () => {
  const source = readFileSync(new URL('../src/check/claim.ts', import.meta.url), 'utf8');
  const [, union = ''] = /export type AccessRule =([^;]*);/.exec(source) ?? [];
  const [, ofLocks = ''] = /export type LockRule =([^;]*);/.exec(source) ?? [];
  const listed = [...`${union}${ofLocks}`.matchAll(/'([a-z-]+)'/g)].map(([, rule]) => rule);
  const rules = [...builtInClaims.values()].flatMap((claim) => claim.rules);
  expect(listed.sort()).toEqual([...new Set(rules)].sort());
});
