/** Rounds numbers to ones that people like to read, inside the bounds: all together, then each. */
import type { Plan } from '../plan/plan.ts';
import { parameterAt, parametersOf } from './parameter.ts';
import { rounderThan, roundTo } from './round.ts';
import type { Pass, Search, Steps } from './search.ts';

const GRIDS_US = [10_000, 5_000, 1_000] as const;

export const roundNumbers: Pass = {
  name: 'round numbers',
  *run(search: Search): Steps<void> {
    for (const gridUs of GRIDS_US) {
      if (yield* search.attempt(roundedTo(search.current, gridUs))) break;
    }
    for (const { path } of parametersOf(search.current)) yield* round(search, path);
  },
};

function roundedTo(plan: Plan, gridUs: number): Plan {
  return parametersOf(plan)
    .filter(({ kind }) => kind !== 'rate' && kind !== 'count')
    .reduce((next, { value, range, write }) => write(next, roundTo(value, gridUs, range)), plan);
}

function* round(search: Search, path: string): Steps<void> {
  const parameter = parameterAt(search.current, path);
  if (parameter === undefined) return;
  for (const value of rounderThan(parameter.value, parameter.range)) {
    if (yield* search.attempt(parameter.write(search.current, value))) return;
  }
}
