/**
 * A register: a read returns the value of the last write. The CAS register also compares and sets:
 * it writes `value` only if it finds `expected`. Each key is a separate register.
 */
import { mistakesIn } from '../call-shape.ts';
import { decideByZones } from '../fast/zones.ts';
import { illegal, type Model } from '../model.ts';

/**
 * The contents of a register; null before the first write. A text must not be `unknown` or
 * `refused`, which calls use in place of a value. Texts from recorded histories are in quotes, so
 * they cannot be these words.
 */
export type Value = number | string | null;

/** A call of `register`. */
export type RegisterCall =
  /** `unknown` in place of the value: the answer was not observed. */
  | { readonly name: 'read'; readonly key: string; readonly value: Value }
  | { readonly name: 'write'; readonly key: string; readonly value: Value };

const registerCalls = {
  read: { key: 'a string', value: 'a number, a string or null' },
  write: { key: 'a string', value: 'a number, a string or null' },
} as const;

export function register(initial: Value = null): Model<Value, RegisterCall> {
  return {
    name: 'register',
    init: initial,
    step(state, call): readonly Value[] {
      if (call.name === 'write') return [call.value];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    mistakeIn: mistakesIn<RegisterCall>(registerCalls),
    partition: (call) => call.key,
    awaits: (call) => (call.name === 'read' && call.value !== 'unknown' ? call.value : undefined),
    provides: (call) => (call.name === 'write' ? call.value : undefined),
    fastPath: decideByZones,
    describe: (call) =>
      call.name === 'write' ? `write(${show(call.value)})` : `read=${show(call.value)}`,
    needs: (call) => `the value ${show(call.value)}`,
    describeState: (state) => `it is ${show(state)}`,
    describeValue: show,
  };
}

/** A call of `cas-register`. */
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

const mistakeInCas = mistakesIn<CasRegisterCall>({
  ...registerCalls,
  cas: {
    key: 'a string',
    expected: 'a number, a string or null',
    value: 'a number, a string or null',
    answer: ['matched', 'missed', 'unknown'],
  },
});

export function casRegister(initial: Value = null): Model<Value, CasRegisterCall> {
  const plain = register(initial);
  return {
    ...plain,
    name: 'cas-register',
    step(state, call): readonly Value[] {
      if (call.name !== 'cas') return plain.step(state, call);
      const matches = state === call.expected;
      if (call.answer !== 'unknown' && matches !== (call.answer === 'matched')) return illegal;
      return [matches ? call.value : state];
    },
    isPure: (call) => call.name === 'read' || (call.name === 'cas' && call.answer === 'missed'),
    mistakeIn: mistakeInCas,
    whenFailed: (call) => (call.name === 'cas' ? { ...call, answer: 'missed' } : null),
    awaits: (call) => (call.name === 'cas' ? call.expected : plain.awaits?.(call)),
    provides: (call) => (call.name === 'cas' ? call.value : plain.provides?.(call)),
    describe(call): string {
      if (call.name !== 'cas') return plain.describe?.(call) ?? call.name;
      const answer = { matched: 'ok', missed: 'missed', unknown: 'unknown' }[call.answer];
      return `cas(${show(call.expected)}→${show(call.value)})=${answer}`;
    },
    needs(call): string {
      if (call.name !== 'cas') return plain.needs?.(call) ?? 'nothing';
      return `${call.answer === 'missed' ? 'any value but' : 'the value'} ${show(call.expected)}`;
    },
  };
}

function show(value: Value | 'unknown'): string {
  return value === null ? 'nothing' : String(value);
}
