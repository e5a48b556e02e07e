/** Gives a scenario its queue, and says which transitions and locks do not go with it. */

import type { QueuePlan } from '../core/plan/plan.ts';
import { CAPS } from '../core/plan/plan-defaults.ts';
import { completeQueue, queueFindings, transitionFindings } from '../core/plan/queue-text.ts';
import type { Finding, Step } from '../text/problem.ts';
import type { ClientScenario, Scenario } from './scenario.ts';
import type { ReadWorkload, ScenarioFile } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface BuiltQueue {
  readonly fields: Pick<Scenario, 'queue'>;
  readonly findings: readonly Finding[];
}

export function buildQueue(
  file: ScenarioFile,
  clients: readonly ClientScenario[],
  { locks }: Vocabulary,
): BuiltQueue {
  const { queue } = file;
  const findings = workloadsOf(file).flatMap(({ steps = [], path }) =>
    transitionFindings(steps, queue !== undefined, (at) => [...path, 'steps', at]),
  );
  if (queue === undefined) return { fields: {}, findings };
  const serving = clients.filter(({ workload }) =>
    workload.steps.some(({ kind }) => kind === 'transition'),
  );
  const machines = [...new Set(serving.flatMap(({ workload }) => workload.locks))];
  const plan = completeQueue(queue, machines);
  if (machines.length === 0) {
    const what = 'nobody receives a message: no section has a step transition';
    return { fields: {}, findings: [{ path: ['queue'], isKey: true, what }] };
  }
  for (const [name, { lock }] of Object.entries(file.systems)) {
    const word = locks.get(lock);
    if (word === undefined || word.takesMessages === true) continue;
    const others = [...locks].flatMap(([other, it]) => (it.takesMessages === true ? [other] : []));
    const what = `${lock} takes no messages from a queue; these do: ${others.join(', ')}`;
    findings.push({ path: ['systems', name, 'lock'], isKey: false, what });
  }
  const { duplicates } = queue;
  const drawn =
    duplicates === undefined
      ? null
      : { odds: duplicates.chance, after: duplicates.after ?? { minUs: 0, maxUs: 0 } };
  return {
    fields: { queue: { plan, duplicates: drawn } },
    findings: [
      ...findings,
      ...queueFindings(plan, new Set(machines)),
      ...(drawn === null ? [] : duplicatesFindings(plan)),
    ],
  };
}

/** Each message that may ever lie in the queue draws a copy; of so many a plan has no room. */
function duplicatesFindings(plan: QueuePlan): readonly Finding[] {
  const { steps, retries, messages, copies } = plan;
  const machines = new Set(messages.map(({ machine }) => machine)).size;
  const drawn = machines * steps * (retries + 1);
  const most = CAPS.sectionsPerClient - copies.length;
  if (drawn <= most) return [];
  const of = `${machines} × ${steps} × ${retries + 1} (machines × steps × tries of each)`;
  const what = `duplicates may draw ${drawn} copies, ${of}; a plan has room for ${most}`;
  return [{ path: ['queue', 'duplicates'], isKey: true, what }];
}

/** Every workload that the file writes down, and where. */
function workloadsOf({
  workload,
  clients,
}: ScenarioFile): readonly (ReadWorkload & { readonly path: readonly Step[] })[] {
  const found = workload === undefined ? [] : [{ ...workload, path: ['workload'] }];
  if (typeof clients !== 'object' || !('each' in clients || 'workload' in clients)) return found;
  const { workload: shared, each = {} } = clients;
  if (shared !== undefined) found.push({ ...shared, path: ['clients', 'workload'] });
  for (const [name, own] of Object.entries(each)) {
    if (own.workload === undefined) continue;
    found.push({ ...own.workload, path: ['clients', 'each', name, 'workload'] });
  }
  return found;
}
