/**
 * A counter: an increment adds, a read returns the sum so far. Each key is a counter of its own.
 */
import { amount, anyText, type CallField, mistakesIn, type Shapes } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

export type CounterCall =
  | { readonly name: 'increment'; readonly key: string; readonly by: number }
  | { readonly name: 'read'; readonly key: string; readonly value: number | 'unknown' };

const sum: CallField = {
  expected: 'a number or unknown',
  accepts: (value) => value === 'unknown' || Number.isFinite(value),
};

const shapes: Shapes<CounterCall> = {
  increment: { key: anyText, by: amount },
  read: { key: anyText, value: sum },
};

export function counter(initial = 0): Model<number, CounterCall> {
  return {
    name: 'counter',
    init: initial,
    step(state, call): readonly number[] {
      if (call.name === 'increment') return [state + call.by];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    mistakeIn: mistakesIn(shapes),
    partition: (call) => call.key,
    describe: (call) =>
      call.name === 'increment' ? `increment(${call.by})` : `read=${call.value}`,
    needs: (call) => (call.name === 'read' ? `the sum ${call.value}` : 'nothing'),
    describeState: (sum) => `it is ${sum}`,
  };
}
