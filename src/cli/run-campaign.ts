/** The parts of campaign commands that `run` and `merge` share. */
import { tooManyText } from '../report/exhausted.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { TooManyPlans } from '../search/campaign/count-plans.ts';
import type { Subject } from '../search/campaign/setting.ts';
import { narrowed } from '../search/exhaust/narrowed.ts';
import type { LoadedScenario } from './sources.ts';

/** Narrows a scenario to the scope of an exhaustive search. */
export function narrowedTo(loaded: LoadedScenario, scope: ExhaustScope): LoadedScenario {
  return { ...loaded, scenario: narrowed(loaded.scenario, scope) };
}

/** Returns the error message for a scenario with too many plans. */
export function tooManyLine(
  { scenario, file }: Pick<Subject, 'scenario' | 'file'>,
  { system, plans }: TooManyPlans,
): string {
  const fewer = 'use a smaller --exhaust, fewer --clients or --sections, or fewer kinds of fault';
  return `${file}:1:1 systems.${system}: ${tooManyText(scenario, plans)}: ${fewer}`;
}
