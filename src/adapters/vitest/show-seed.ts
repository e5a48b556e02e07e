/** One seed alone: what happens in it is printed, whatever comes of it. */
import { examineAsync } from '../../host/async/run-async.ts';
import { renderSequence } from '../../report/sequence-text.ts';
import { essentialSteps } from '../../report/steps.ts';
import { expand } from '../../scenario/expand.ts';
import { paintFor } from '../../text/colour.ts';
import { verdictLine } from './failure-block.ts';
import type { SimRun } from './sim-run.ts';

/** Prints the sequence of a seed of each system, and how what was expected turned out. */
export async function showSeed(run: SimRun, seed: number): Promise<void> {
  for (const { name, expect } of run.systems) {
    const plan = expand(run.scenario, name, seed);
    const claims = [...expect.holds, ...expect.breaks];
    const { trace, verdicts } = await examineAsync(plan, claims, run.catalogue);
    const broken = verdicts.find((verdict) => verdict.kind === 'invalid');
    const evidence = broken?.kind === 'invalid' ? broken.evidence : [];
    const steps = essentialSteps(trace, { evidence, faults: plan.faults });
    const lines = renderSequence(steps, trace.processes, { width: 100, paint: paintFor(false) });
    const found = verdicts.map(verdictLine);
    run.print([`seed ${seed} of ${name}`, '', ...lines, '', ...found].join('\n'));
  }
}
