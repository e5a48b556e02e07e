/** A register: a read returns what the last write wrote. Each key is a register of its own. */
import { mistakesIn, type Shapes, scalar, text } from '../call-shape.ts';
import { decideByZones } from '../fast/zones.ts';
import { illegal, type Model } from '../model.ts';

/**
 * What a register holds; null before anything was written. A text must be none of the words that
 * calls say in place of a value, `unknown` and `refused`; recorded ones stand in quotes.
 */
export type Value = number | string | null;

export type RegisterCall =
  | { readonly name: 'read'; readonly key: string; readonly value: Value | 'unknown' }
  | { readonly name: 'write'; readonly key: string; readonly value: Value };

/** What the calls of a register must hold. */
export const registerShapes: Shapes<RegisterCall> = {
  read: { key: text, value: scalar },
  write: { key: text, value: scalar },
};

export function register(initial: Value = null): Model<Value, RegisterCall> {
  return {
    name: 'register',
    init: initial,
    step(state, call): readonly Value[] {
      if (call.name === 'write') return [call.value];
      return call.value === state || call.value === 'unknown' ? [state] : illegal;
    },
    isPure: (call) => call.name === 'read',
    mistakeIn: mistakesIn(registerShapes),
    partition: (call) => call.key,
    awaits: (call) => (call.name === 'read' && call.value !== 'unknown' ? call.value : undefined),
    provides: (call) => (call.name === 'write' ? call.value : undefined),
    fastPath: decideByZones,
    describe: (call) =>
      call.name === 'write' ? `write(${show(call.value)})` : `read=${show(call.value)}`,
    needs: (call) => `the value ${show(call.value)}`,
    describeState: (state) => `it is ${show(state)}`,
  };
}

/** A value as it reads in a sentence. */
export function show(value: Value | 'unknown'): string {
  return value === null ? 'nothing' : String(value);
}
