/** The random sources of Node for simulated processes: each draws from streams of its own. */
import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import process from 'node:process';
import { ambient } from './ambient.ts';
import { isFunction, type Patches } from './patches.ts';
import type { Randomness } from './randomness.ts';

/** What a call draws; undefined where its arguments are wrong, which Node's own version says. */
type Draw = (randomness: Randomness, args: readonly unknown[]) => unknown;

/** `Math.random`, and what draws in `node:crypto` and in the global `crypto`. */
export function patchRandom(patches: Patches): void {
  const { webcrypto } = crypto;
  const ofAll = Reflect.getPrototypeOf(webcrypto) ?? {};
  const sources: readonly (readonly [target: object, key: string, draw: Draw])[] = [
    [Math, 'random', (randomness) => randomness.fraction()],
    [crypto, 'randomUUID', (randomness) => randomness.uuid()],
    [crypto, 'randomBytes', drawBytes],
    [crypto, 'pseudoRandomBytes', drawBytes],
    [crypto, 'randomInt', drawInteger],
    [crypto, 'randomFillSync', fillSync],
    [crypto, 'randomFill', fillLater],
    [ofAll, 'randomUUID', (randomness) => randomness.uuid()],
    [ofAll, 'getRandomValues', fillSync],
    [webcrypto, 'randomUUID', (randomness) => randomness.uuid()],
    // `node:crypto` takes its own `getRandomValues` from here.
    [webcrypto, 'getRandomValues', fillSync],
  ];
  for (const [target, key, draw] of sources) {
    const real: unknown = Reflect.get(target, key);
    if (!isFunction(real)) continue;
    patches.set(target, key, function drawn(this: unknown, ...args: unknown[]) {
      const { current } = ambient;
      const value = current === null ? undefined : draw(current.randomness, args);
      const self = target === ofAll ? this : target;
      return value === undefined ? Reflect.apply(real, self, args) : value;
    });
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Gives `value` to a callback that is there, as Node does: later. */
function give(callback: unknown, value: unknown): unknown {
  if (!isFunction(callback)) return value;
  process.nextTick(callback, null, value);
  return null;
}

function drawBytes(randomness: Randomness, [size, callback]: readonly unknown[]): unknown {
  if (!isCount(size) || size > 0x7fffffff) return undefined;
  const bytes = Buffer.alloc(size);
  randomness.fill(bytes);
  return give(callback, bytes);
}

function drawInteger(randomness: Randomness, args: readonly unknown[]): unknown {
  const numbers = args.filter((arg) => typeof arg === 'number');
  const [min, max] = numbers.length === 1 ? [0, numbers[0]] : numbers;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max)) return undefined;
  if (min === undefined || max === undefined || max <= min || max - min > 2 ** 48) return undefined;
  return give(args[numbers.length], randomness.integer(min, max));
}

/** The bytes of a buffer or view, from `offset` (in its elements) on. */
function bytesOf([target, offset, size]: readonly unknown[]): Uint8Array | null {
  const isView = ArrayBuffer.isView(target);
  if (!isView && !(target instanceof ArrayBuffer)) return null;
  const all = isView
    ? new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
    : new Uint8Array(target);
  const width = isView && 'BYTES_PER_ELEMENT' in target ? Number(target.BYTES_PER_ELEMENT) : 1;
  const from = isCount(offset) ? offset * width : 0;
  return all.subarray(from, isCount(size) ? from + size * width : all.length);
}

function fillSync(randomness: Randomness, args: readonly unknown[]): unknown {
  const bytes = bytesOf(args);
  if (bytes === null) return undefined;
  randomness.fill(bytes);
  return args[0];
}

function fillLater(randomness: Randomness, args: readonly unknown[]): unknown {
  const callback = args.at(-1);
  if (!isFunction(callback) || fillSync(randomness, args.slice(0, -1)) === undefined) {
    return undefined;
  }
  return give(callback, args[0]);
}
