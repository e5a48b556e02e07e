/** A counter: an increment adds, a read returns the sum so far. Each key is a separate counter. */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

/** A call of `counter`. */
export type CounterCall =
  | { readonly name: 'increment'; readonly key: string; readonly by: number }
  /** `unknown`: the answer was not observed. */
  | { readonly name: 'read'; readonly key: string; readonly value: number | 'unknown' };

const mistakeIn = mistakesIn<CounterCall>({
  increment: { key: 'a string', by: 'a number' },
  read: { key: 'a string', value: 'a number or unknown' },
});

export function counter(initial = 0): Model<number, CounterCall> {
  return {
    name: 'counter',
    init: initial,
    step(state, call): readonly number[] {
      if (call.name === 'increment') return [state + call.by];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    mistakeIn,
    partition: (call) => call.key,
    describe: (call) =>
      call.name === 'increment' ? `increment(${call.by})` : `read=${call.value}`,
    needs: (call) => (call.name === 'read' ? `the sum ${call.value}` : 'nothing'),
    describeState: (sum) => `it is ${sum}`,
  };
}
