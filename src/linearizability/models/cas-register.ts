/** A register that also compares and sets: it writes `value` only where it finds `expected`. */
import { illegal, type Model } from '../model.ts';
import { type RegisterCall, register, type Value } from './register.ts';

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
    partition: (call) => call.key,
  };
}
