/**
 * Replays kept plans. What should hold must hold on all of them, and each must still put its claim
 * to the test: a plan that guards nothing any more is not passed over in silence.
 */

import { shellWords } from '../../report/finding.ts';
import { renderSequence } from '../../report/sequence-text.ts';
import { essentialSteps } from '../../report/steps.ts';
import { type Replay, replay } from '../../search/corpus/replay.ts';
import { paintFor } from '../../text/colour.ts';
import { asShrunk, findingOf, keptBlock, verdictLine } from './failure-block.ts';
import { type KeptPlan, keptPlansOf, readKept, takeOut, whyForeign } from './kept-plans.ts';
import type { SimRun } from './sim-run.ts';
import { SimTestError } from './sim-test-error.ts';
import { breathe } from './stopwatch.ts';
import { commandWith, typedPath } from './test-place.ts';

/** The claims that a kept plan broke and that should break, as `<system> <claim>`. */
export async function replayKeptPlans(run: SimRun): Promise<ReadonlySet<string>> {
  const broken = new Set<string>();
  for (const kept of keptPlansOf(run)) {
    await breathe();
    if (run.stopwatch.isOver) break;
    const result = await replayOne(kept, run);
    if (result !== null) broken.add(`${kept.plan.system.name} ${result.claim}`);
  }
  return broken;
}

/** Throws where it breaks what should hold, or is stale; null where it breaks nothing. */
async function replayOne(kept: KeptPlan, run: SimRun): Promise<Replay | null> {
  const { plan, file } = kept;
  const foreign = whyForeign(kept, run);
  if (foreign !== null) return stale(kept, run, foreign);
  const result = await replay(plan, undefined, run.catalogue);
  const { claim, outcome, trace } = result;
  if (trace.ending.kind === 'failed') {
    const { process, error } = trace.ending;
    const text = `✗ kept plan ${typedPath(file)} failed to run: ${process}: ${error}`;
    throw new SimTestError([text], run.mistakes.find(error));
  }
  const expect = run.systems.find(({ name }) => name === plan.system.name)?.expect;
  if (outcome === 'reproduced') {
    if (expect?.holds.includes(claim) !== true) return result;
    const finding = await findingOf(asShrunk(plan, claim), run);
    if (finding === null)
      throw new SimTestError([`✗ kept plan ${typedPath(file)} breaks ${claim}`]);
    throw new SimTestError([keptBlock(finding, run, file)]);
  }
  const isGuard = outcome === 'fixed' && expect?.breaks.includes(claim) !== true;
  if (isGuard || outcome === plan.expect?.outcome) return null;
  return stale(kept, run, `it is ${outcome}: ${meaningOf(result)}`);
}

function meaningOf({ outcome, claim, divergedAt }: Replay): string {
  if (outcome === 'fixed') return `${claim} held, and should break`;
  if (outcome === 'inert') return `the hazard of ${claim} no longer arises`;
  return `no match for ${divergedAt}`;
}

/** A plan that guards nothing is taken out if that is wished for, else the test fails. */
function stale(kept: KeptPlan, run: SimRun, why: string): null {
  if (run.wishes.isUpdate && run.wishes.planFile === null) {
    takeOut(kept, run);
    return null;
  }
  const command = shellWords(commandWith('FENCEPOST_UPDATE=1', run.place)).join(' ');
  throw new SimTestError([
    `✗ kept plan ${typedPath(kept.file)} guards nothing any more`,
    `  ${why}`,
    'to take it out, and to keep what fresh seeds break instead:',
    command,
  ]);
}

/** Replays one file alone, and prints what happens; false where it is of another test. */
export async function replayWished(file: string, run: SimRun): Promise<boolean> {
  const kept = readKept(file);
  if (kept.plan.scenario !== run.slug) return false;
  if (whyForeign(kept, run) === null) {
    const { trace, verdict, outcome } = await replay(kept.plan, undefined, run.catalogue);
    const evidence = verdict.kind === 'invalid' ? verdict.evidence : [];
    const steps = essentialSteps(trace, { evidence, faults: kept.plan.faults });
    const lines = renderSequence(steps, trace.processes, { width: 100, paint: paintFor(false) });
    run.print([...lines, '', `${outcome}: ${verdictLine(verdict)}`].join('\n'));
  }
  await replayOne(kept, run);
  return true;
}
