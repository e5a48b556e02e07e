/** Decides drawn histories by trying every order: the definition of linearizability. */
import type { Asked, ObjectKind, Value, Values } from './objects.ts';

/** An operation as drawn, before it is written in any format. */
export interface Meant extends Asked {
  readonly process: string;
  /** The independent object, or '' if there is only one. */
  readonly object: string;
  readonly outcome: 'ok' | 'fail' | 'info';
  /** The answer, as far as the record shows it; only if `outcome` is `ok`. */
  readonly heard: Values;
  /** Events with equal positions happened in any order. */
  readonly invoke: number;
  /** Infinity if the outcome is unknown. */
  readonly end: number;
}

/** Returns true if some order explains all answers. Feasible for about 8 operations. */
export function isExplained(
  operations: readonly Meant[],
  kind: ObjectKind,
  initial: Value | undefined,
): boolean {
  const all = operations.filter(({ outcome }) => outcome !== 'fail');
  const hopeless = new Set<string>();
  const explains = (left: readonly Meant[], states: Readonly<Record<string, Value>>): boolean => {
    if (left.every(({ outcome }) => outcome === 'info')) return true;
    const key = JSON.stringify([left.map((one) => all.indexOf(one)), states]);
    if (hopeless.has(key)) return false;
    const isExplainable = left.some((next) => {
      if (left.some(({ end }) => end < next.invoke)) return false;
      const others = left.filter((other) => other !== next);
      const known = states[next.object];
      const state = known === undefined ? kind.begin(initial) : known;
      const possible = kind.outcomes(state, next).filter(({ heard }) => fits(next, heard));
      return possible.some((one) => explains(others, { ...states, [next.object]: one.next }));
    });
    if (!isExplainable) hopeless.add(key);
    return isExplainable;
  };
  return explains(all, {});
}

function fits({ outcome, heard }: Meant, truth: Values): boolean {
  if (outcome === 'info') return true;
  return Object.entries(heard).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(truth[field]),
  );
}
