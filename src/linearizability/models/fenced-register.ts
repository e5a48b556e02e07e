/**
 * A store that guards a resource with fencing tokens (Kleppmann, "How to do distributed locking",
 * 2016). A write is accepted iff its token is at least the highest token seen so far. A strict
 * store requires a higher token. Reads register no token, except in `fenced-register-with-reads`.
 */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';
import type { Value } from './register.ts';

/** A call of `fenced-register`, `fenced-register-strict` or `fenced-register-with-reads`. */
export type FencedCall =
  | {
      readonly name: 'write';
      readonly resource: string;
      readonly key: string;
      readonly value: Value;
      readonly token: number;
      readonly answer: 'accepted' | 'refused' | 'unknown';
    }
  /** Registers its token and writes nothing. */
  | {
      readonly name: 'open';
      readonly resource: string;
      readonly token: number;
      readonly answer: 'accepted' | 'refused' | 'unknown';
    }
  | {
      readonly name: 'read';
      readonly resource: string;
      readonly key: string;
      readonly token: number;
      /** May be `refused` or `unknown` in place of the value. */
      readonly value: Value;
    };

const mistakeIn = mistakesIn<FencedCall>({
  write: {
    resource: 'a string',
    key: 'a string',
    value: 'a number, a string or null',
    token: 'a number',
    answer: ['accepted', 'refused', 'unknown'],
  },
  open: { resource: 'a string', token: 'a number', answer: ['accepted', 'refused', 'unknown'] },
  read: {
    resource: 'a string',
    key: 'a string',
    token: 'a number',
    value: 'a number, a string or null',
  },
});

/** The state of one resource. A key that is not in `values` was never written. */
export type FencedState = {
  readonly highest: number;
  readonly values: { readonly [key: string]: Value };
};

export interface FencedOptions {
  /** Value of an unwritten key; null by default. */
  readonly initial?: Value;
  /** True if a write needs a token above the highest, so that each token can write only once. */
  readonly isStrict?: boolean;
}

export function fencedRegister(options: FencedOptions = {}): Model<FencedState, FencedCall> {
  const initial = options.initial ?? null;
  const isStrict = options.isStrict ?? false;
  return {
    name: isStrict ? 'fenced-register-strict' : 'fenced-register',
    init: { highest: 0, values: {} },
    step(state, call): readonly FencedState[] {
      if (call.name === 'read') {
        return call.value === 'unknown' || call.value === held(state, call.key, initial)
          ? [state]
          : illegal;
      }
      const passes = isStrict ? call.token > state.highest : call.token >= state.highest;
      if (call.answer !== 'unknown' && passes !== (call.answer === 'accepted')) return illegal;
      return [passes ? accept(state, call) : state];
    },
    isPure: (call) => call.name === 'read' || call.answer === 'refused',
    mistakeIn,
    partition: (call) => call.resource,
    describe(call): string {
      const token = `with token ${call.token}`;
      if (call.name === 'read') return `read(${call.key})=${call.value} ${token}`;
      if (call.name === 'open') return `open ${token} (${call.answer})`;
      const where = call.key === '' ? '' : `${call.key}, `;
      return `write(${where}${call.value}) ${token} (${call.answer})`;
    },
    needs(call): string {
      if (call.name === 'read') return `${placeOf(call.key)} to be ${call.value}`;
      const bound = isStrict ? 'below' : 'at most';
      return call.answer === 'refused'
        ? `a token ${isStrict ? 'of at least' : 'above'} ${call.token} before it`
        : `every token before it to be ${bound} ${call.token}`;
    },
    describeState({ highest, values }): string {
      const shown = Object.entries(values).map(([key, value]) => `${key} is ${value}`);
      return [`the highest token is ${highest}`, ...shown].join(', ');
    },
  };
}

/**
 * A fenced register whose reads also carry a token. A read is refused if its token is below the
 * highest. Otherwise it registers the token, so that an older holder cannot change what was read.
 */
export function fencedRegisterWithReads(initial: Value = null): Model<FencedState, FencedCall> {
  const writes = fencedRegister({ initial });
  return {
    ...writes,
    name: 'fenced-register-with-reads',
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
    needs(call): string {
      if (call.name !== 'read') return writes.needs?.(call) ?? 'nothing';
      if (call.value === 'refused') return `a token above ${call.token} before it`;
      return `${placeOf(call.key)} to be ${call.value} and every token before it at most ${call.token}`;
    },
  };
}

function held(state: FencedState, key: string, initial: Value): Value {
  const value = Object.hasOwn(state.values, key) ? state.values[key] : undefined;
  return value === undefined ? initial : value;
}

function accept(state: FencedState, call: FencedCall): FencedState {
  if (call.name !== 'write') return { highest: call.token, values: state.values };
  return { highest: call.token, values: { ...state.values, [call.key]: call.value } };
}

/** `key` is '' if the history has no keys. */
function placeOf(key: string): string {
  return key === '' ? 'the value' : key;
}
