/** Finds mistakes in a plan whose fields are each well-formed, such as duplicate names and ids. */
import type { PathStep, UnplacedProblem } from '../../text/problem.ts';
import { isReserved, storesAccessed } from './operation-names.ts';
import { machinesOf, type Plan, type Work } from './plan.ts';
import { queueFindings, transitionFindings } from './queue-text.ts';

/** Returns all findings, in plan order. */
export function planFindings(plan: Plan): readonly UnplacedProblem[] {
  const stores = plan.clients.flatMap(({ sections }) =>
    sections.flatMap(({ work }) => work.flatMap(storesAccessed)),
  );
  const taken = new Set(stores);
  const names = plan.clients.map(({ name }) => name);
  const findings = [...usedTwice(names, (at) => ['clients', at, 'name'], 'client')];
  for (const [at, { name, sections }] of plan.clients.entries()) {
    if (taken.has(name) || isReserved(name)) {
      const what = `the name "${name}" is the name of a process that is not a client`;
      findings.push({ path: ['clients', at, 'name'], isKey: false, what });
    }
    const inClient = (section: number): PathStep[] => ['clients', at, 'sections', section];
    findings.push(...usedTwice(sections.map(idOf), inClient, 'section'));
    for (const [section, { work }] of sections.entries()) {
      const inSection = (step: number): PathStep[] => [...inClient(section), 'work', step];
      findings.push(
        ...usedTwice(work.map(idOf), inSection, 'step'),
        ...memoizeFindings(work, inSection),
        ...transferFindings(work, inSection),
        ...transitionFindings(work, plan.queue !== undefined, inSection),
      );
    }
  }
  if (plan.queue === undefined) return findings;
  return [...findings, ...queueFindings(plan.queue, machinesOf(plan))];
}

/** Finds a memoize that is not the only step of its section. */
export function memoizeFindings(
  steps: readonly { readonly kind: Work['kind'] }[],
  pathOf: (at: number) => readonly PathStep[],
): readonly UnplacedProblem[] {
  if (steps.length < 2) return [];
  const what = 'a memoize must be the only step of its section: it takes the lock itself';
  return steps.flatMap(({ kind }, at) =>
    kind === 'memoize' ? [{ path: pathOf(at), isKey: false, what }] : [],
  );
}

/** Finds transfers from a store to itself, whose second write would undo the first. */
function transferFindings(
  steps: readonly Work[],
  pathOf: (at: number) => readonly PathStep[],
): readonly UnplacedProblem[] {
  return steps.flatMap((step, at) => {
    if (step.kind !== 'transfer' || step.from !== step.to) return [];
    return [{ path: [...pathOf(at), 'transfer', 'to'], isKey: false, what: toItself(step.to) }];
  });
}

/** Describes a transfer whose stores are both `store`. */
export function toItself(store: string): string {
  return `a transfer needs two stores: this one leads from "${store}" to itself`;
}

function idOf({ id }: { readonly id: number }): number {
  return id;
}

/** Finds names or ids that an earlier item already has. */
export function usedTwice(
  ids: readonly (string | number)[],
  pathOf: (at: number) => readonly PathStep[],
  noun: string,
): readonly UnplacedProblem[] {
  const seen = new Set<string | number>();
  return ids.flatMap((id, at) => {
    const isTwice = seen.has(id);
    seen.add(id);
    const what = `there is another ${noun} ${JSON.stringify(id)}`;
    return isTwice ? [{ path: pathOf(at), isKey: false, what }] : [];
  });
}
