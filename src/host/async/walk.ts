/**
 * Finds the seeds that change what all simulated processes share, and the process and line that
 * does so. What each run changes of the globals is found after it (`run-filled.ts`); all else that
 * can be reached is compared once for a block of runs. Where the block has changed something there,
 * its results are discarded and it is run again, now with those objects compared after each run: so
 * exactly the runs that change them fail, and the others have the results that they have alone.
 */

import { ambient, inRealTurn } from './ambient.ts';
import { deepSiteOf } from './call-site.ts';
import { callerText } from './escapes.ts';
import { OF_ALL, type SharedChange, sharedState } from './global-objects.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';

// As it is before a process could get its own.
const { defineProperty } = Reflect;

/** Blocks that are run so often change other objects each time, which no code does for long. */
const MOST_ROUNDS = 20;

let isWalking = false;

/**
 * The result of `block`, which runs any number of plans of users' code and can be run again, once
 * it has changed nothing that is not compared after each of its runs. Within another block it is
 * run as a part of that.
 */
export async function walked<T>(block: () => Promise<T>, options?: GlobalsOptions): Promise<T> {
  if (isWalking) return await block();
  // Globals stay replaced in between: what is kept of them holds for as long.
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
    // Most runs are followed by another at once.
    inRealTurn(restore);
  }
}

/** The error of a process that changes what others share, as a clause. */
export function sharedChangeText({ name }: SharedChange): string {
  return `changes ${name}, ${OF_ALL}`;
}

/**
 * Looks after each step, when what it returns is called, whose code has changed what others share:
 * that process fails. Where it is known what will be changed, the line that sets it is noted.
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
 * Notes where a property is set. What it returns puts the property in its place again, as it was
 * set, and returns where that was first; null for nowhere.
 */
function trapWrites(change: SharedChange | null): () => string | null {
  const { target, key } = change ?? { target: {}, key: null };
  // A setter at an index would make an array longer.
  if (key === null || (Array.isArray(target) && /^\d/.test(String(key)))) return () => null;
  const before = Reflect.getOwnPropertyDescriptor(target, key);
  if (before !== undefined && before.writable !== true) return () => null;
  let place: string | null = null;
  let written: { readonly value: unknown } | null = null;
  const set = function (this: unknown, value: unknown): void {
    const here = (): string => callerText(deepSiteOf(here));
    // First, since the value may break what finds the place.
    const found = place ?? here();
    if (this === target) written = { value };
    else if (this instanceof Object) {
      defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
      // An object that inherits from it, and no proxy of the object itself.
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
