/**
 * Finds the seeds that change objects shared by all simulated processes, and the process and line
 * responsible. Changes of globals are found after each run (`run-filled.ts`). All other reachable
 * objects are compared once per block of runs. If a block has changed an object, its results are
 * discarded, and it runs again with that object compared after each run. As a result, exactly the
 * runs that change such objects fail. All others have the same results as alone.
 */

import { ambient, inRealTurn } from './ambient.ts';
import { deepSiteOf } from './call-site.ts';
import { callerText } from './forbidden-apis.ts';
import { OF_ALL, type SharedChange, sharedState } from './global-objects.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';

// The original; simulated processes get their own.
const { defineProperty } = Reflect;

/** A block that needs more rounds changes different objects each time, which no real code does. */
const MOST_ROUNDS = 20;

let isWalking = false;

/**
 * Runs `block` until it changes no shared objects except those compared after each of its runs.
 * Returns its last result. A nested block runs as part of the outer block.
 */
export async function walked<T>(block: () => Promise<T>, options?: GlobalsOptions): Promise<T> {
  if (isWalking) return await block();
  // Globals stay replaced between rounds, so their snapshots remain valid.
  const restore = virtualizeGlobals(options);
  isWalking = true;
  try {
    for (let round = 1; ; round += 1) {
      sharedState.renewAll();
      const result = await block();
      if (sharedState.takeBackAll() === null || round === MOST_ROUNDS) return result;
    }
  } finally {
    isWalking = false;
    // Another run usually follows at once.
    inRealTurn(restore);
  }
}

/** Returns a clause about a process that changes shared objects. */
export function sharedChangeText({ name }: SharedChange): string {
  return `changes ${name}, ${OF_ALL}`;
}

/**
 * Returns an object whose `look`, called after each step, fails the process whose code changed a
 * shared object. If the change is known from an earlier run, the error names the line that makes
 * it.
 */
export function blameForChanges(known: SharedChange | null): { look(): void; end(): void } {
  let lift = trapWrites(known);
  return {
    look: (): void => {
      const { current } = ambient;
      if (current === null) return;
      const place = lift();
      const change = sharedState.takeBack();
      if (change !== null) {
        const at = change.name === known?.name && place !== null ? `; at ${place}` : '';
        current.fail(new Error(`it ${sharedChangeText(change)}${at}`));
      }
      lift = trapWrites(known);
    },
    end: () => void lift(),
  };
}

/**
 * Records where a property is set. The returned function restores the property with its new value.
 * It returns the place of the first assignment, or null if there was none.
 */
function trapWrites(change: SharedChange | null): () => string | null {
  const { target, key } = change ?? { target: {}, key: null };
  // A setter at an index would lengthen an array.
  if (key === null || (Array.isArray(target) && /^\d/.test(String(key)))) return () => null;
  const before = Reflect.getOwnPropertyDescriptor(target, key);
  if (before !== undefined && before.writable !== true) return () => null;
  let place: string | null = null;
  let written: { readonly value: unknown } | null = null;
  const set = function (this: unknown, value: unknown): void {
    const here = (): string => callerText(deepSiteOf(here));
    // First, because the new value may break the code that finds the place.
    const found = place ?? here();
    if (this === target) written = { value };
    else if (this instanceof Object) {
      defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      // The receiver inherits from the target; it is not a proxy of it.
      if (isInPlace()) return;
    }
    place = found;
  };
  const isInPlace = (): boolean => Reflect.getOwnPropertyDescriptor(target, key)?.set === set;
  const get = (): unknown => (written ?? before)?.value;
  defineProperty(target, key, {
    get,
    set,
    enumerable: before?.enumerable ?? true,
    configurable: true,
  });
  return () => {
    if (!isInPlace()) return place;
    if (before === undefined) Reflect.deleteProperty(target, key);
    else defineProperty(target, key, before);
    if (written !== null) Reflect.set(target, key, written.value);
    return place;
  };
}
