/** Decides what a recorder meant by trying every order: the definition of linearizability. */
import type { Asked, ObjectKind, Value, Values } from './objects.ts';

/** An operation as its recorder meant it, before any format has seen it. */
export interface Meant extends Asked {
  readonly process: string;
  /** The independent object, '' if there is one only. */
  readonly object: string;
  readonly outcome: 'ok' | 'fail' | 'info';
  /** What it heard, as far as the record shows it; of an `ok` only. */
  readonly heard: Values;
  /** Equal positions happened in any order. */
  readonly invoke: number;
  /** Infinity if the outcome is unknown. */
  readonly end: number;
}

/** Whether some order of the operations explains all that was heard. For about 8 of them. */
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
