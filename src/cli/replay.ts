/** `fencepost replay` runs kept plans again and reports the outcome of each. */

import type { Command } from 'commander';
import type { Catalogue } from '../catalogue.ts';
import { yieldToEventLoop } from '../host/async/ambient.ts';
import { withLabel } from '../host/async/progress-beacon.ts';
import { outputBlock, storyOf } from '../report/failure.ts';
import { evidenceShown } from '../report/finding.ts';
import { renderSequence } from '../report/sequence-text.ts';
import { essentialSteps } from '../report/story-steps.ts';
import { exitsOfKept } from '../search/campaign/conclude.ts';
import { type Exit, worstOf } from '../search/campaign/exit-codes.ts';
import { FATES, type KeptReplay, replayKept } from '../search/corpus/kept-replay.ts';
import { explainRun } from '../search/evidence/explain-plan.ts';
import { paintFor } from '../text/colour.ts';
import { wrap } from '../text/visible.ts';
import { addModuleOptions, type Done, outputOptions, withExample } from './command.ts';
import { adviceOf } from './kept-plans.ts';
import { type LoadedPlan, loadPlan } from './sources.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

interface ReplayFlags {
  readonly modules?: string | false;
  readonly json?: boolean;
}

export function addReplay(command: Command, done: Done): void {
  addModuleOptions(withExample(command, 'replay zombie-writer-unfenced-grant-order'))
    .option('--json', 'print one JSON line per plan')
    .action(async (files: string[], flags: ReplayFlags) => done(await replayPlans(files, flags)));
}

/** Reads all plans before it replays the first. */
async function replayPlans(files: readonly string[], flags: ReplayFlags): Promise<Exit> {
  const { modules = null } = flags;
  const terminal = openTerminal(outputOptions(flags));
  const plans: (LoadedPlan & { readonly file: string })[] = [];
  for (const file of files) plans.push({ file, ...(await loadPlan(file, { modules })) });
  const codes: Exit[] = [];
  for (const loaded of plans) {
    await yieldToEventLoop();
    const { file, plan, catalogue, changedModules, moduleChanges } = loaded;
    const hasChanged = changedModules.length > 0;
    const result = await withLabel(file, () => replayKept(plan, { catalogue, hasChanged }));
    const shown = { result, moduleChanges, isAlone: plans.length === 1, catalogue };
    const { outcome, expected, digest, divergedAt, changes, lost } = result;
    const close = { changes, nearest: lost?.nearest ?? [], otherCause: result.otherCause };
    const modules = plan.use === undefined ? null : { changedModules };
    terminal.printJson('replay', {
      file,
      outcome,
      claim: result.claim,
      digest,
      divergedAt,
      ...close,
      ...modules,
    });
    if (flags.json !== true) await printText(file, shown, terminal);
    codes.push(...exitsOfKept([{ file, outcome, expected, divergedAt }]));
  }
  return worstOf(codes);
}

async function printText(
  file: string,
  shown: {
    readonly result: KeptReplay;
    readonly moduleChanges: readonly string[];
    readonly isAlone: boolean;
    readonly catalogue: Catalogue;
  },
  terminal: Terminal,
): Promise<void> {
  const { result, moduleChanges, isAlone, catalogue } = shown;
  const { plan, verdict, outcome, expected, trace } = result;
  const sign = outcome === expected ? '✓' : '✗';
  const wanted = outcome === expected ? '' : `, expected ${expected}`;
  const other = moduleChanges.length === 0 ? '' : ', with another version of its system';
  terminal.print(
    `${sign} ${file}: ${outcome}${wanted}${other} (${result.claim}): ${FATES[outcome]}`,
  );
  noteChanges(file, shown, terminal);
  if (result.divergedAt !== null) terminal.print(`  no match for ${result.divergedAt}`);
  for (const line of adviceOf({ file, replay: result })) terminal.print(`  ${line}`);
  if (verdict.kind === 'invalid' && isAlone) {
    const width = Math.min(terminal.width, 100);
    const { explanation, causation } = await explainRun({ plan, trace, verdict }, { catalogue });
    const story = storyOf(explanation);
    for (const line of story) {
      for (const part of wrap(line, width)) terminal.print(part);
    }
    terminal.print('');
    const evidence = evidenceShown({ verdict, causation, trace });
    const shown = { evidence, faults: plan.faults, words: story.join(' ') };
    const steps = essentialSteps(trace, shown);
    const setting = { width, paint: paintFor(terminal.colour) };
    for (const line of renderSequence(steps, trace.processes, setting)) terminal.print(line);
    terminal.print('');
    for (const line of outputBlock(trace.output, width)) terminal.print(line);
  }
  terminal.print(`  digest ${result.digest}`);
}
