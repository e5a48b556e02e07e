/** `fencepost shrink` makes a plan as small as possible. */
import type { Command } from 'commander';
import type { Catalogue } from '../catalogue.ts';
import type { Plan } from '../core/plan/plan.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import type { Boundary } from '../core/shrink/boundary.ts';
import type { ShrinkResult } from '../core/shrink/shrink.ts';
import { expectsBreach } from '../harness.ts';
import { yieldToEventLoop } from '../host/async/ambient.ts';
import { withLabel } from '../host/async/progress-beacon.ts';
import { examineAsync, shrinkFailureAsync } from '../host/async/run-async.ts';
import { digestsOf } from '../load.ts';
import { boundaryText } from '../report/describe-finding.ts';
import { storyOf } from '../report/failure.ts';
import { digestOf } from '../run.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { explainPlan } from '../search/evidence/explain-plan.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import { groupDigits } from '../text/prose.ts';
import { addModuleOptions, type Done, outputOptions, withExample } from './command.ts';
import { UserError } from './exit.ts';
import { writeText } from './files.ts';
import { loadPlan } from './sources.ts';
import { noteChanges, openTerminal } from './terminal.ts';

interface ShrinkFlags {
  readonly modules?: string | false;
  readonly output?: string;
  readonly json?: boolean;
}

export function addShrink(command: Command, done: Done): void {
  addModuleOptions(
    withExample(command, 'shrink zombie-writer-unfenced-grant-order --output smaller.yaml'),
  )
    .option('--output <file>', 'file for the shrunk plan (default: stdout)')
    .option('--json', 'print sizes, runs and milliseconds as one JSON line')
    .action(async (file: string, flags: ShrinkFlags) => done(await shrinkPlan(file, flags)));
}

/** Shrinks a plan as long as its expected claim, or else its first broken claim, still breaks. */
async function shrinkPlan(file: string, flags: ShrinkFlags): Promise<Exit> {
  const { modules = null, output = null } = flags;
  const terminal = openTerminal(outputOptions(flags));
  const loaded = await loadPlan(file, { modules });
  const { plan, catalogue } = loaded;
  noteChanges(file, loaded, terminal);
  const claim = plan.expect?.claim ?? (await firstBroken(plan, catalogue));
  if (claim === null) throw new UserError([`${file}:1:1: plan breaks no claim`]);
  const startedMs = performance.now();
  // The shrunk plan runs with the current modules, so record their digests.
  const now = plan.use === undefined ? plan : { ...plan, use: digestsOf(catalogue.modules) };
  const shrinking = (): Promise<ShrinkResult> =>
    shrinkFailureAsync(now, claim, { catalogue, yieldToEventLoop: yieldToEventLoop });
  const result = await withLabel(`shrinking ${file}`, shrinking);
  const milliseconds = Math.round(performance.now() - startedMs);
  if (result.reproduced !== true)
    throw new UserError([`${file}:1:1: plan does not break ${claim}`]);
  const { trace, causes } = await examineAsync(result.plan, [claim], catalogue);
  const digest = digestOf(trace);
  const kept = expectsBreach(result.plan, claim, causes.get(claim));
  const text = renderPlan(kept, `breaks ${claim}\n${digest}`);
  if (output !== null) writeText(output, text);
  const { runs, isMinimal, boundary, others } = result;
  const [before, after] = [sizeOf(plan), sizeOf(result.plan)];
  if (flags.json === true) {
    const found = { claim, before, after, runs, isMinimal, milliseconds };
    terminal.printJson('shrink', {
      ...found,
      boundary: fieldsOf(boundary),
      digest,
      plan: text,
      others: others.map((other) => ({ cause: other.cause, plan: renderPlan(other.plan) })),
    });
    return isMinimal ? exits.met : exits.incomplete;
  }
  if (output === null) process.stdout.write(`${text.trimEnd()}\n`);
  const counts = Object.keys(before).map((key) => `${before[key]} → ${after[key]} ${key}`);
  terminal.note(`${counts.join(', ')} in ${groupDigits(runs)} runs, ${milliseconds} ms`);
  if (boundary !== null) terminal.note(boundaryText(boundary));
  const explained = await explainPlan(result.plan, claim, { catalogue, boundary });
  for (const line of explained === null ? [] : storyOf(explained.explanation)) terminal.note(line);
  for (const { cause } of others) {
    terminal.note(`also found: ${claim} broke by another cause, ${cause}; --json has its plan`);
  }
  if (!isMinimal) terminal.note('run budget spent: the plan may not be minimal');
  return isMinimal ? exits.met : exits.incomplete;
}

async function firstBroken(plan: Plan, catalogue: Catalogue): Promise<string | null> {
  const { verdicts } = await examineAsync(plan, claimsJudged([], catalogue), catalogue);
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

function fieldsOf(boundary: Boundary | null): object | null {
  if (boundary === null) return null;
  const { what, parameter, breaksAtUs, holdsAtUs } = boundary;
  return { what, parameter, breaksAtUs, holdsAtUs };
}
