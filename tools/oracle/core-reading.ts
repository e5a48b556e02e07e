/** Interprets a core independently of the checker, by trying every order from every state. */
import type { Json } from '../../src/core/kernel/json.ts';
import type { Core } from '../../src/linearizability/core.ts';
import type { CallData, History, Model, Operation } from '../../src/linearizability/model.ts';
import { makeOptional } from '../../src/linearizability/relax.ts';
import { isLinearizable } from './naive.ts';

/** Returns all states that repeated `calls` reach from `states`, limited to a few hundred. */
function closure<State extends Json, Call extends CallData>(
  states: readonly State[],
  calls: readonly Call[],
  model: Model<State, Call>,
): readonly State[] {
  const doGrow = model.approaches !== undefined;
  const known = new Map(states.map((state) => [JSON.stringify(state), state]));
  for (const state of known.values()) {
    if (known.size > 100) break;
    for (const next of calls.flatMap((call) => model.step(state, call))) {
      // No text of the repertoires is as long: longer ones are equivalent.
      const isBlind = doGrow && typeof next === 'string' && next.length > 4;
      if (!isBlind) known.set(JSON.stringify(next), next);
    }
  }
  return [...known.values()];
}

/** Returns true if some order from some state satisfies the core. */
export function fits<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  { at, core }: { readonly at: number; readonly core: Core },
): boolean {
  const { required, optional, areOthersFree } = core;
  const from = core.from ?? Number.NEGATIVE_INFINITY;
  const end = history[at]?.return ?? 0;
  const called = history.filter(({ outcome, invoke }) => outcome !== 'fail' && invoke <= end);
  const all = called.map(({ call }) => call);
  const free: Call[] = [];
  const kept: Operation<Call>[] = [];
  for (const [index, operation] of history.entries()) {
    const { call, invoke, outcome, return: last } = operation;
    const isOver = outcome === 'ok' && last !== null && last < from;
    if (required.includes(index)) kept.push(operation);
    else if (outcome === 'fail' || isOver || invoke > end || model.isPure?.(call)) continue;
    else if (optional.includes(index) || !areOthersFree) kept.push(makeOptional(operation));
    else free.push(call);
  }
  const isAnywhere = core.from !== null;
  const starts = isAnywhere ? (model.startingStates?.(all) ?? []) : [];
  const states = isAnywhere ? closure([model.init, ...starts], all, model) : [model.init];
  const step = (state: State, call: Call): readonly State[] => {
    const next = closure([state], free, model).flatMap((current) => model.step(current, call));
    return closure(next, [], model);
  };
  return states.some((init) => isLinearizable(kept, { name: model.name, init, step }));
}
