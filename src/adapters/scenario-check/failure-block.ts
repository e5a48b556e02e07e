/**
 * Renders a counterexample as the block that `fencepost run` prints, with the commands that run the
 * test again.
 */
import type { Verdict } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { renderPlan } from '../../core/plan/plan-text.ts';
import type { SeedResult } from '../../harness.ts';
import { examineAsync } from '../../host/async/run-async.ts';
import { describeShrunk, type Shrunk } from '../../report/describe-finding.ts';
import { type FailureWording, outputBlock, renderFailure } from '../../report/failure.ts';
import { renderSequence } from '../../report/sequence-text.ts';
import { essentialSteps } from '../../report/story-steps.ts';
import { expand } from '../../scenario/expand.ts';
import type { Finding } from '../../search/campaign/result.ts';
import type { Examined } from '../../search/campaign/setting.ts';
import { paintFor } from '../../text/colour.ts';
import { shellWords } from '../../text/prose.ts';
import { type SimRun, trialOf } from './sim-run.ts';
import { commandWith, replayCommandOf } from './test-place.ts';
import { namedInTest, seedOf } from './watchdog.ts';

const WIDTH = 100;

type Next = NonNullable<FailureWording['next']>;

/**
 * Renders a counterexample shrunk from a seed. `keptAs` is the file of the kept plan, or null if it
 * was not kept.
 */
export function seedBlock(finding: Finding, run: SimRun, keptAs: string | null): string {
  const again = commandWith(`FENCEPOST_SEED=${finding.seed}`, run.place);
  const keep = commandWith('FENCEPOST_UPDATE=1', run.place);
  const next: Next = [
    [trialOf(run) === 'seed' ? 'seed:  ' : 'plan:  ', again],
    keptAs === null ? ['keep:  ', keep] : ['replay:', replayCommandOf(keptAs, run.place)],
  ];
  const place = `${finding.claim} of ${finding.system}, ${trialOf(run)} ${finding.seed}`;
  return renderFailure(finding, { colour: false, width: WIDTH, wording: { place, next } });
}

/** Renders a kept plan that still breaks its claim. */
export function keptBlock(finding: Finding, run: SimRun, file: string): string {
  const next: Next = [['replay:', replayCommandOf(file, run.place)]];
  const place = `${finding.claim} of ${finding.system}, a kept plan`;
  const wording = { place, size: '', next };
  return renderFailure(finding, { colour: false, width: WIDTH, wording });
}

type Found = Pick<Shrunk, 'claim' | 'seed' | 'original' | 'result'>;

/** Describes a counterexample. Resolves to null if its plan no longer breaks the claim. */
export function findingOf(found: Found, run: SimRun): Promise<Finding | null> {
  const { scenario, catalogue, place } = run;
  const shrunk = { ...found, scenario: scenario.name, scenarioFile: place.file, catalogue };
  const nowhere = { planFile: '', pageFile: '', keptIn: '', command: '' };
  return describeShrunk(shrunk, nowhere);
}

export function keptText(finding: Finding, run: SimRun, file: string): string {
  const command = shellWords(replayCommandOf(file, run.place)).join(' ');
  const { plan, explanation, digest } = finding;
  return renderPlan(plan, [explanation.headline, command, digest].join('\n'));
}

/**
 * Prints one seed of a test: its sequence in each system, and the verdicts on its expectations. In
 * an exhaustive search, `plans` are its plans and `seed` is a plan number.
 */
export async function showSeed(run: SimRun, seed: number, plans: Examined['plans']): Promise<void> {
  for (const { name, expect } of run.systems) {
    const numbered = plans?.get(name)?.numbered;
    const plan = numbered?.planOf(seed) ?? expand(run.scenario, name, seed);
    const claims = [...expect.holds, ...expect.breaks];
    const examined = (): Promise<SeedResult> => examineAsync(plan, claims, run.catalogue);
    const { trace, verdicts } = await namedInTest(run.place, seedOf(name, seed), examined);
    const broken = verdicts.find((verdict) => verdict.kind === 'invalid');
    const lines = sequenceLines(trace, broken);
    const found = verdicts.map(verdictLine);
    const block = [...lines, '', ...outputBlock(trace.output, WIDTH), ...found];
    run.print([`${trialOf(run)} ${seed} of ${name}`, '', ...block].join('\n'));
  }
}

/** Renders the essential steps of a run, with the evidence of a breach if there is one. */
export function sequenceLines(trace: Trace, verdict: Verdict | undefined): readonly string[] {
  const evidence = verdict?.kind === 'invalid' ? verdict.evidence : [];
  const steps = essentialSteps(trace, { evidence });
  return renderSequence(steps, trace.processes, { width: WIDTH, paint: paintFor(false) });
}

/** Returns, for example, `✓ grant-order held, exercised 3 times`. */
export function verdictLine(verdict: Verdict): string {
  const { claim, exercised } = verdict;
  const times = `exercised ${exercised === 1 ? 'once' : `${exercised} times`}`;
  if (verdict.kind === 'invalid') return `✗ ${claim} broke, ${times}`;
  if (verdict.kind === 'unknown') return `? ${claim} is unknown: ${verdict.reason}`;
  return exercised === 0 ? `– ${claim} was never exercised` : `✓ ${claim} held, ${times}`;
}

/** Wraps a kept plan as if it were the result of shrinking. */
export function asShrunk(plan: Plan, claim: string): Found {
  return { claim, seed: 0, original: plan, result: { plan, boundary: null, whyNoBoundary: null } };
}
