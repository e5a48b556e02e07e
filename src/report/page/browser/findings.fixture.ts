/** Findings of real plans, created as the commands create them, for pages in a browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plan } from '../../../core/plan/plan.ts';
import { readPlan } from '../../../core/plan/plan-text.ts';
import { examine, shrinkFailure } from '../../../harness.ts';
import { digestOf } from '../../../run.ts';
import type { Finding, OtherRun } from '../../../search/campaign/result.ts';
import { explainRunNow } from '../../../search/evidence/explain-run.ts';
import { claimsJudged } from '../../../search/sweep/examiner.ts';

/** Returns a plan of `fixtures/plans` by its file name without the extension. */
export function planIn(name: string): Plan {
  const file = fileURLToPath(new URL(`../../../../fixtures/plans/${name}.yaml`, import.meta.url));
  const read = readPlan({ text: readFileSync(file, 'utf8'), file });
  if (read.kind !== 'plan') throw new Error(`${file} is no plan`);
  return read.plan;
}

/** Returns the finding of a plan that breaks `claim`, with the nearest plan that passes. */
export function findingOf(plan: Plan, claim: string): Finding {
  const { trace, verdicts } = examine(plan, claimsJudged([claim]));
  const verdict = verdicts.find((one) => one.claim === claim);
  if (verdict?.kind !== 'invalid') throw new Error(`the plan breaks no ${claim}`);
  const { boundary } = shrinkFailure(plan, claim);
  const nearest = boundary === null ? {} : { nearest: besides(boundary.holdsPlan, claim) };
  return {
    type: 'finding',
    version: 1,
    scenario: plan.scenario,
    scenarioFile: 'fixtures/a.yaml',
    system: plan.system.name,
    claim,
    seed: 1,
    ...explainRunNow({ plan, trace, verdict }),
    verdict,
    verdicts,
    trace,
    plan,
    digest: digestOf(trace),
    planText: 'fencepost: 1\n',
    boundary: 'breaks with a little more',
    size: { events: 12, originalEvents: 61, faults: 1, originalFaults: 6 },
    planFile: 'reports/a.yaml',
    pageFile: 'reports/a.html',
    keptIn: 'fixtures/plans/',
    ...nearest,
    cured: { system: 'fenced', ...besides(fencedOf(plan), claim) },
    original: besides(plan, claim),
  };
}

function fencedOf({ system, expect: _, ...plan }: Plan): Plan {
  return { ...plan, system: { ...system, name: 'fenced', store: 'fenced' } };
}

function besides(plan: Plan, claim: string): OtherRun {
  const { trace, verdicts } = examine(plan, [claim]);
  const [verdict] = verdicts;
  return { plan, trace, evidence: verdict?.kind === 'invalid' ? verdict.evidence : [] };
}

/** A paused client writes to `unfenced` after its successor; the store accepts the stale write. */
export const zombie: Finding = findingOf(
  planIn('zombie-writer-unfenced-grant-order'),
  'grant-order',
);
