/** `fencepost shrink`: makes a plan, or one seed of a scenario, as small as it gets. */
import { examine, shrinkFailure } from '../harness.ts';
import type { Plan } from '../plan/plan.ts';
import { renderPlan } from '../plan/plan-text.ts';
import { groupDigits } from '../report/prose.ts';
import { digestOf } from '../run.ts';
import type { Boundary } from '../shrink/boundary.ts';
import { claimsJudged } from '../sweep/examiner.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { loadPlan, requireClaim, writeText } from './files.ts';
import { boundaryText } from './find.ts';
import { openTerminal } from './terminal.ts';

export interface ShrinkCommandOptions {
  /** The claim that must stay broken; null takes the plan's own, or the first that breaks. */
  readonly claim: string | null;
  /** Where the shrunk plan is written; null prints it. */
  readonly output: string | null;
  readonly maxRuns: number | null;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
}

export async function shrinkCommand(file: string, options: ShrinkCommandOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  const plan = loadPlan(file);
  await prepare([plan.system]);
  if (options.claim !== null) requireClaim(options.claim, '--claim');
  const claim = options.claim ?? plan.expect?.claim ?? firstBroken(plan);
  if (claim === null) throw new UserError([`${file}:1:1: this plan breaks no claim`]);
  const startedMs = performance.now();
  const limits = options.maxRuns === null ? {} : { maxRuns: options.maxRuns };
  const result = shrinkFailure(plan, claim, limits);
  const milliseconds = Math.round(performance.now() - startedMs);
  if (result.reproduced !== true)
    throw new UserError([`${file}:1:1: this plan does not break ${claim}`]);
  const digest = digestOf(examine(result.plan, [claim]).trace);
  const text = renderPlan(result.plan, `breaks ${claim}\n${digest}`);
  if (options.output !== null) writeText(options.output, text);
  if (options.isJson) {
    const sizes = { before: sizeOf(plan), after: sizeOf(result.plan) };
    const { runs, isMinimal } = result;
    const boundary = boundaryJson(result.boundary);
    const line = {
      type: 'shrink',
      version: 1,
      claim,
      ...sizes,
      runs,
      isMinimal,
      milliseconds,
      boundary,
      digest,
      plan: text,
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return result.isMinimal ? exits.met : exits.incomplete;
  }
  if (options.output === null) terminal.print(text.trimEnd());
  const [before, after] = [sizeOf(plan), sizeOf(result.plan)];
  const counts = Object.keys(before).map((key) => `${before[key]} → ${after[key]} ${key}`);
  terminal.note(`${counts.join(', ')} in ${groupDigits(result.runs)} runs, ${milliseconds} ms`);
  if (result.boundary !== null) terminal.note(boundaryText(result.boundary));
  if (!result.isMinimal) terminal.note('the budget of runs was spent: it may not be minimal');
  return result.isMinimal ? exits.met : exits.incomplete;
}

function firstBroken(plan: Plan): string | null {
  const { verdicts } = examine(plan, claimsJudged([]));
  return verdicts.find((verdict) => verdict.kind === 'invalid')?.claim ?? null;
}

function sizeOf(plan: Plan): Record<string, number> {
  return {
    clients: plan.clients.length,
    sections: plan.clients.reduce((total, client) => total + client.sections.length, 0),
    faults: plan.faults.length,
    decisions: Object.keys(plan.decisions).length,
  };
}

function boundaryJson(boundary: Boundary | null): object | null {
  if (boundary === null) return null;
  const { what, parameter, breaksAtUs, holdsAtUs } = boundary;
  return { what, parameter, breaksAtUs, holdsAtUs };
}
