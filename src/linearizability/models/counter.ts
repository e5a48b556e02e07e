/** A counter: an increment adds, a read returns the sum so far. Each key is its own counter. */
import { type CallsOf, mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

const calls = {
  increment: { key: 'a text', by: 'a number' },
  read: { key: 'a text', value: 'a number or unknown' },
} as const;

export type CounterCall = CallsOf<typeof calls>;

export function counter(initial = 0): Model<number, CounterCall> {
  return {
    name: 'counter',
    init: initial,
    step(state, call): readonly number[] {
      if (call.name === 'increment') return [state + call.by];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    mistakeIn: mistakesIn(calls),
    partition: (call) => call.key,
    describe: (call) =>
      call.name === 'increment' ? `increment(${call.by})` : `read=${call.value}`,
    needs: (call) => (call.name === 'read' ? `the sum ${call.value}` : 'nothing'),
    describeState: (sum) => `it is ${sum}`,
  };
}
