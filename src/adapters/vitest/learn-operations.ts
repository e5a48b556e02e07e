/**
 * Learns what the asynchronous code of a lock calls its operations and marks, so that a fault can
 * be placed `before: 'acquire'` without a list of them: from a few runs in which nothing goes
 * wrong.
 */

import type { Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import { parseFile, type SourceFile } from '../../core/plan/document.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { loadScenario } from '../../load.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { prepare } from '../../systems/store/store-kinds.ts';

const SEEDS: readonly number[] = [0, 1, 2];

/** The names that clients of `lock` gave; none where the scenario cannot be read or run. */
export async function learnOperations(
  source: SourceFile,
  lock: string,
  catalogue: Catalogue,
): Promise<readonly string[]> {
  const scenario = calmScenario(source, catalogue);
  const system = scenario?.systems.find((one) => one.lock === lock);
  if (scenario === null || system === undefined) return [];
  const names = new Set<string>();
  for (const seed of SEEDS) {
    const plan = expand(scenario, system.name, seed);
    if (whyRefused(plan, catalogue) !== null) return [];
    await prepare([plan.system], catalogue);
    for (const name of namesIn(await runAsync(plan, catalogue))) names.add(name);
  }
  return [...names].filter((name) => !isRepeated(name, names)).sort();
}

/** The scenario without its faults; null where there is something wrong with it. */
function calmScenario({ text, file }: SourceFile, catalogue: Catalogue): Scenario | null {
  const parsed = parseFile({ text, file });
  if (parsed.kind === 'problems' || typeof parsed.value !== 'object') return null;
  const calm = JSON.stringify({ ...parsed.value, faults: [] });
  const read = loadScenario(calm, file, catalogue);
  return read.kind === 'problems' ? null : read.scenario;
}

/** `acquire` of `alice/1/acquire`: calls to the lock, and marks. */
function namesIn({ events }: Trace): readonly string[] {
  return events.flatMap((event) => {
    const isOfLock = event.kind === 'invoke' && 'lock' in event.call;
    const point = isOfLock ? event.operation : event.kind === 'mark' ? event.point : '';
    const [, section = '', name = '', ...rest] = point.split('/');
    return /^\d+$/.test(section) && name !== '' && rest.length === 0 ? [name] : [];
  });
}

/** `acquire-2`, where there is `acquire`. */
function isRepeated(name: string, names: ReadonlySet<string>): boolean {
  const [, first = ''] = /^(.+)-\d+$/.exec(name) ?? [];
  return names.has(first);
}
