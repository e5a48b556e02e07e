/** The parts of a campaign's command that `run` and `merge` share. */
import { tooManyText } from '../report/exhausted.ts';
import type { ExhaustScope } from '../scenario/scenario.ts';
import type { TooManyPlans } from '../search/campaign/count-plans.ts';
import type { Subject } from '../search/campaign/setting.ts';
import { narrowed } from '../search/exhaust/narrowed.ts';
import type { LoadedScenario } from './sources.ts';

/** The scenario narrowed to the scope of an exhaustive search. */
export function narrowedTo(loaded: LoadedScenario, scope: ExhaustScope): LoadedScenario {
  return { ...loaded, scenario: narrowed(loaded.scenario, scope) };
}

/** The error of a scenario of which too many plans would have to be examined. */
export function tooManyLine(
  { scenario, file }: Pick<Subject, 'scenario' | 'file'>,
  { system, plans }: TooManyPlans,
): string {
  const fewer = 'take a smaller --exhaust, fewer --clients or --sections, or fewer kinds of fault';
  return `${file}:1:1 systems.${system}: ${tooManyText(scenario, plans)}: ${fewer}`;
}
