/**
 * A register that counts its writes, like a key in etcd or a node in ZooKeeper. Writes return the
 * created version, and reads the current version. A write that expects a version is accepted if it
 * finds that version, and refused otherwise.
 */
import { mistakesIn } from '../call-shape.ts';
import { type FastDecision, type History, illegal, type Model } from '../model.ts';
import { refuteOrder } from '../verify-order.ts';
import type { Value } from './register.ts';

/** A call of `versioned-register`. */
export type VersionedCall =
  | {
      readonly name: 'write';
      readonly key: string;
      readonly value: Value;
      /** The version that the write created, or that a refused write found; null if unknown. */
      readonly version: number | null;
      /** Version that the write must find; any by default. The initial value has `firstVersion`. */
      readonly expected?: number;
      /** Not set for a write that was accepted, or whose outcome is unknown. */
      readonly answer?: 'refused';
    }
  /** For a read without an answer, the value is `unknown` and the version null. */
  | {
      readonly name: 'read';
      readonly key: string;
      readonly value: Value;
      readonly version: number | null;
    };

const mistakeIn = mistakesIn<VersionedCall>({
  write: {
    key: 'a string',
    value: 'a number, a string or null',
    version: 'a number or null',
    expected: { optional: 'a number' },
    answer: { optional: ['refused'] },
  },
  read: { key: 'a string', value: 'a number, a string or null', version: 'a number or null' },
});

export type Versioned = { readonly value: Value; readonly version: number };

/** Creates a versioned register, whose initial value has version `firstVersion`. */
export function versionedRegister(
  initial: Value = null,
  firstVersion = 0,
): Model<Versioned, VersionedCall> {
  return {
    name: 'versioned-register',
    init: { value: initial, version: firstVersion },
    step(state, call): readonly Versioned[] {
      if (call.name === 'read') {
        const isVersion = call.version === null || call.version === state.version;
        const isValue = call.value === 'unknown' || call.value === state.value;
        return isVersion && isValue ? [state] : illegal;
      }
      if (call.answer === 'refused') {
        const isRight = call.version === null || call.version === state.version;
        return isRight && call.expected !== state.version ? [state] : illegal;
      }
      if (call.expected !== undefined && call.expected !== state.version) return illegal;
      const version = state.version + 1;
      if (call.version !== null && call.version !== version) return illegal;
      return [{ value: call.value, version }];
    },
    isPure: (call) => call.name === 'read' || call.answer === 'refused',
    mistakeIn,
    partition: (call) => call.key,
    versionOf: (call) => call.version,
    fastPath: decideByVersion,
    describe,
    needs,
    describeState: ({ value, version }) => `it is ${value} at version ${version}`,
  };
}

/** Examples: `write(7) at version 2`, `write(7) over version 1, refused`. */
function describe(call: VersionedCall): string {
  const version = call.version === null ? '' : ` at version ${call.version}`;
  if (call.name === 'read') return `read=${call.value}${version}`;
  const over = call.expected === undefined ? '' : ` over version ${call.expected}`;
  const refused = call.answer === 'refused' ? ', refused' : '';
  return `write(${call.value})${over}${refused}${version}`;
}

function needs(call: VersionedCall): string {
  const at = call.version === null ? '' : ` at version ${call.version}`;
  if (call.name === 'read') return `the value ${call.value}${at}`;
  const { version, expected } = call;
  if (call.answer === 'refused') {
    if (version !== null && version !== expected) return `the version ${version}`;
    return expected === undefined ? 'nothing' : `a version other than ${expected}`;
  }
  if (version !== null) return `the version ${version - 1}`;
  return expected === undefined ? 'nothing' : `the version ${expected}`;
}

/**
 * Decides histories whose answers all contain versions: sorts the operations by version and replays
 * them. Returns null, for the search, if a version is missing or the order is not allowed.
 */
function decideByVersion(history: History, model: Model): FastDecision | null {
  const order: number[] = [];
  const versions = new Float64Array(history.length);
  const isPure = new Uint8Array(history.length);
  for (const [index, { call, outcome }] of history.entries()) {
    if (outcome !== 'ok') continue;
    const version = model.versionOf?.(call) ?? null;
    if (version === null) return null;
    order.push(index);
    versions[index] = version;
    isPure[index] = model.isPure?.(call) ? 1 : 0;
  }
  order.sort((a, b) => {
    const byVersion = (versions[a] ?? 0) - (versions[b] ?? 0);
    const byEffect = (isPure[a] ?? 0) - (isPure[b] ?? 0);
    return byVersion || byEffect || (history[a]?.invoke ?? 0) - (history[b]?.invoke ?? 0);
  });
  return refuteOrder(history, model, order) === null ? { kind: 'valid', order } : null;
}
