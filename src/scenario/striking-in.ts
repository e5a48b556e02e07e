/** A fault as far as it can strike in one system: without the lock servers of the others. */
import { isLockServer } from '../core/plan/reserved-names.ts';
import type { FaultTemplate, SystemScenario, Target } from './scenario.ts';

/** The same fault on those of its processes that `system` has. */
export function strikingIn({ servers }: SystemScenario, fault: FaultTemplate): FaultTemplate {
  const here = (names: readonly string[]): readonly string[] =>
    names.filter((name) => !isLockServer(name) || servers.includes(name));
  if ('target' in fault) return { ...fault, target: targetIn(fault.target, here) };
  if (fault.kind === 'partition') {
    const groups = fault.groups.map(here).filter((group) => group.length > 0);
    return { ...fault, groups, to: here(fault.to) };
  }
  if (fault.kind === 'reset') {
    return { ...fault, processes: here(fault.processes), to: here(fault.to) };
  }
  return { ...fault, processes: here(fault.processes) };
}

function targetIn(target: Target, here: (names: readonly string[]) => readonly string[]): Target {
  if (target.kind === 'link') return { ...target, from: here(target.from), to: here(target.to) };
  if (target.kind === 'process') return { ...target, processes: here(target.processes) };
  return target;
}
