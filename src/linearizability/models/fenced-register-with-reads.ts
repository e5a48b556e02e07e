/**
 * A fenced register whose reads carry a token too: a read below the highest is refused, any other
 * registers its token, so that what a holder has read cannot change under it by an older holder.
 */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';
import {
  accept,
  describeFencedCall,
  describeFencedState,
  type FencedCall,
  type FencedState,
  fencedRegister,
  fencedShapes,
  held,
} from './fenced-register.ts';
import type { Value } from './register.ts';

export function fencedRegisterWithReads(initial: Value = null): Model<FencedState, FencedCall> {
  const writes = fencedRegister({ initial });
  return {
    name: 'fenced-register-with-reads',
    init: writes.init,
    step(state, call): readonly FencedState[] {
      if (call.name !== 'read') return writes.step(state, call);
      const passes = call.token >= state.highest;
      if (call.value === 'unknown') return [passes ? accept(state, call) : state];
      if (call.value === 'refused') return passes ? illegal : [state];
      return passes && call.value === held(state, call.key, initial)
        ? [accept(state, call)]
        : illegal;
    },
    isPure: (call) => (call.name === 'read' ? call.value : call.answer) === 'refused',
    mistakeIn: mistakesIn(fencedShapes),
    partition: (call) => call.resource,
    describe: describeFencedCall,
    needs(call): string {
      if (call.name !== 'read') return writes.needs?.(call) ?? 'nothing';
      if (call.value === 'refused') return `a token above ${call.token} before it`;
      return `${call.key} to be ${call.value} and every token before it at most ${call.token}`;
    },
    describeState: describeFencedState,
  };
}
