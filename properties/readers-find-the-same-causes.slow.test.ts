/**
 * Engineers who read only the traces name the same causes as the stories: the same event, or the
 * one before it that brought the call, or its direct effect.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Causation } from '../src/check/causation.ts';
import type { Trace } from '../src/core/history/trace.ts';
import { examineEither } from '../src/host/async/run-async.ts';
import { loadPlanFile } from '../src/host/modules/load-files.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { READ } from './causes-read-from-traces.ts';

/**
 * Share of traces on which reader and story must agree. They differ on 4 of 62: the story names an
 * order of calls, or an unconditional delete, and the reader blamed the program's rule alone.
 */
const LEAST_AGREEMENT = 0.93;

/** Returns true if two events are of one message, or the same. */
function isOfOneCall({ events }: Trace, one: number, other: number): boolean {
  if (one === other) return true;
  const [a, b] = [events[one], events[other]];
  return a !== undefined && b !== undefined && 'message' in a && 'message' in b
    ? a.message === b.message
    : false;
}

function agree(trace: Trace, read: readonly number[], causes: Causation['causes']): boolean {
  if (read.length === 0 || causes.length === 0) return read.length === causes.length;
  return read.some((event) => causes.some((cause) => isOfOneCall(trace, event, cause.event)));
}

test('readers of the traces name the causes that the stories name', async () => {
  const differ: string[] = [];
  for (const [file, events] of READ) {
    const read = await loadPlanFile(fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url)));
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const { plan, catalogue } = read;
    const claim = plan.expect?.claim ?? '';
    await prepare([plan.system], catalogue);
    const { trace } = await examineEither(plan, [claim], catalogue);
    const explained = await explainPlan(plan, claim, { catalogue });
    if (explained === null) throw new Error(`${file} does not break ${claim}`);
    const { causes } = explained.causation;
    if (agree(trace, events, causes)) continue;
    differ.push(`${file}: ${causes.map(({ kind, event }) => `${kind} ${event}`).join(', ')}`);
  }
  expect(1 - differ.length / READ.size, differ.join('\n')).toBeGreaterThanOrEqual(LEAST_AGREEMENT);
});
