/** A register: a read returns what the last write wrote. Each key is a register of its own. */
import { illegal, type Model } from '../model.ts';

/** What a register holds; null before anything was written. */
export type Value = number | null;

export type RegisterCall =
  | { readonly name: 'read'; readonly key: string; readonly value: Value | 'unknown' }
  | { readonly name: 'write'; readonly key: string; readonly value: Value };

export function register(initial: Value = null): Model<Value, RegisterCall> {
  return {
    name: 'register',
    init: initial,
    step(state, call): readonly Value[] {
      if (call.name === 'write') return [call.value];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    partition: (call) => call.key,
  };
}
