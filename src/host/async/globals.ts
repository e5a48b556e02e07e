/**
 * Makes the globals and builtin modules of this thread those of whichever simulated process runs,
 * and what they always were where none does. Everything is put back by the last who asked for it.
 */
import { syncBuiltinESMExports } from 'node:module';
import { patchExits } from './escapes.ts';
import { Patches } from './patches.ts';
import { patchClocks } from './virtual-clock.ts';
import { patchRandom } from './virtual-random.ts';
import { patchTimers } from './virtual-timers.ts';
import { patchWaits } from './virtual-waits.ts';

/** Patches that several may want at the same time. */
class Layer {
  private readonly patches: Patches = new Patches();
  private readonly fill: (patches: Patches) => void;
  private users = 0;

  constructor(fill: (patches: Patches) => void) {
    this.fill = fill;
  }

  /** Puts them in place until what it returns is called. */
  use(): () => void {
    this.users += 1;
    if (this.users === 1) this.putInPlace();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.users -= 1;
      if (this.users === 0) this.restore();
    };
  }

  private putInPlace(): void {
    try {
      this.fill(this.patches);
      // `import { randomBytes } from 'node:crypto'` sees it from here on.
      syncBuiltinESMExports();
    } catch (error) {
      this.restore();
      throw error;
    }
  }

  private restore(): void {
    this.patches.restore();
    syncBuiltinESMExports();
  }
}

const sources = new Layer((patches) => {
  // Waits first: `promisify(setTimeout)` is to be theirs.
  patchWaits(patches);
  patchTimers(patches);
  patchClocks(patches);
  patchRandom(patches);
});

const exits = new Layer(patchExits);

export interface GlobalsOptions {
  /** Whether leaving the simulated world is an error; true if absent. */
  readonly detectsEscapes?: boolean;
}

/** Puts them in place; call what it returns when it is over, in a `finally`. */
export function virtualizeGlobals({ detectsEscapes = true }: GlobalsOptions = {}): () => void {
  const restoreSources = sources.use();
  const restoreExits = detectsEscapes ? exits.use() : (): void => {};
  return () => {
    restoreExits();
    restoreSources();
  };
}

/**
 * Loads modules, as `() => import('./my-lock.mjs')`, so that what they take out of builtin modules
 * as they are loaded, `const { randomBytes } = require('crypto')`, is virtual in every run.
 */
export async function loadVirtually<T>(load: () => Promise<T>): Promise<T> {
  const restore = virtualizeGlobals();
  try {
    return await load();
  } finally {
    restore();
  }
}
