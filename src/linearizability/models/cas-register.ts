/** A register that also compares and sets: it writes `value` only where it finds `expected`. */
import { mistakesIn, oneOf, type Shapes, scalar, text } from '../call-shape.ts';
import { decideByZones } from '../fast/zones.ts';
import { illegal, type Model } from '../model.ts';
import { type RegisterCall, register, registerShapes, show, type Value } from './register.ts';

export type CasRegisterCall =
  | RegisterCall
  | {
      readonly name: 'cas';
      readonly key: string;
      readonly expected: Value;
      readonly value: Value;
      /** `missed`: it found another value and wrote nothing. */
      readonly answer: 'matched' | 'missed' | 'unknown';
    };

const shapes: Shapes<CasRegisterCall> = {
  ...registerShapes,
  cas: {
    key: text,
    expected: scalar,
    value: scalar,
    answer: oneOf('matched', 'missed', 'unknown'),
  },
};

export function casRegister(initial: Value = null): Model<Value, CasRegisterCall> {
  const plain = register(initial);
  return {
    name: 'cas-register',
    init: initial,
    step(state, call): readonly Value[] {
      if (call.name !== 'cas') return plain.step(state, call);
      const matches = state === call.expected;
      if (call.answer !== 'unknown' && matches !== (call.answer === 'matched')) return illegal;
      return [matches ? call.value : state];
    },
    isPure: (call) => call.name === 'read' || (call.name === 'cas' && call.answer === 'missed'),
    mistakeIn: mistakesIn(shapes),
    partition: (call) => call.key,
    whenFailed: (call) => (call.name === 'cas' ? { ...call, answer: 'missed' } : null),
    awaits: (call) => (call.name === 'cas' ? call.expected : plain.awaits?.(call)),
    provides: (call) => (call.name === 'cas' ? call.value : plain.provides?.(call)),
    fastPath: decideByZones,
    describe(call): string {
      if (call.name !== 'cas') return plain.describe?.(call) ?? call.name;
      const answer = { matched: 'ok', missed: 'missed', unknown: 'unknown' }[call.answer];
      return `cas(${show(call.expected)}→${show(call.value)})=${answer}`;
    },
    needs(call): string {
      if (call.name !== 'cas') return plain.needs?.(call) ?? 'nothing';
      return `${call.answer === 'missed' ? 'any value but' : 'the value'} ${show(call.expected)}`;
    },
    describeState: (state) => `it is ${show(state)}`,
  };
}
