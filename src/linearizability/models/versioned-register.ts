/**
 * A register that counts its writes: a write returns the version that it made, a read the version
 * that it saw, as the `version` of a key in etcd or of a node in ZooKeeper does.
 */
import { amount, mistakesIn, orNull, type Shapes, scalar, text } from '../call-shape.ts';
import { decideByVersion } from '../fast/version-order.ts';
import { illegal, type Model } from '../model.ts';
import type { Value } from './register.ts';

export type VersionedCall =
  | {
      readonly name: 'write';
      readonly key: string;
      readonly value: Value;
      /** Null: unknown. */
      readonly version: number | null;
    }
  | {
      readonly name: 'read';
      readonly key: string;
      readonly value: Value;
      readonly version: number;
    };

export type Versioned = { readonly value: Value; readonly version: number };

const shapes: Shapes<VersionedCall> = {
  write: { key: text, value: scalar, version: orNull(amount) },
  read: { key: text, value: scalar, version: amount },
};

/** The initial value has version 0, or a later one that it is said to have. */
export function versionedRegister(
  initial: Value = null,
  firstVersion = 0,
): Model<Versioned, VersionedCall> {
  return {
    name: 'versioned-register',
    init: { value: initial, version: firstVersion },
    step(state, call): readonly Versioned[] {
      if (call.name === 'read') {
        return call.version === state.version && call.value === state.value ? [state] : illegal;
      }
      const version = state.version + 1;
      if (call.version !== null && call.version !== version) return illegal;
      return [{ value: call.value, version }];
    },
    isPure: (call) => call.name === 'read',
    mistakeIn: mistakesIn(shapes),
    partition: (call) => call.key,
    versionOf: (call) => call.version,
    fastPath: decideByVersion,
    describe(call): string {
      const version = call.version === null ? '' : ` at version ${call.version}`;
      return call.name === 'read'
        ? `read=${call.value}${version}`
        : `write(${call.value})${version}`;
    },
    needs(call): string {
      if (call.name === 'read') return `the value ${call.value} at version ${call.version}`;
      return call.version === null ? 'nothing' : `the version ${call.version - 1}`;
    },
    describeState: ({ value, version }) => `it is ${value} at version ${version}`,
  };
}
