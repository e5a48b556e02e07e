/** Replaces properties of shared objects, and restores them. */
import { syncBuiltinESMExports } from 'node:module';

// The original, saved before processes get their own.
const { defineProperty } = Reflect;

export type AnyFunction = (...args: unknown[]) => unknown;

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

/** A change that stays in place while it has at least one user. */
export class Shared {
  private readonly begin: () => void;
  private readonly end: () => void;
  private users = 0;

  constructor(begin: () => void, end: () => void) {
    this.begin = begin;
    this.end = end;
  }

  /** Applies the change until the returned function is called. */
  use(): () => void {
    this.users += 1;
    if (this.users === 1) this.begin();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.users -= 1;
      if (this.users === 0) this.end();
    };
  }
}

interface Replaced {
  readonly target: object;
  readonly key: PropertyKey;
  /** Undefined if the target had no such own property. */
  readonly before: PropertyDescriptor | undefined;
}

export class Patches {
  /** Number of times that any `Patches` restored its properties. */
  static restorations = 0;
  private readonly replaced: Replaced[] = [];
  private readonly afterwards: (() => void)[] = [];

  /** Sets `target[key]`, hiding the current property. */
  set(target: object, key: PropertyKey, value: unknown): void {
    this.define(target, key, { value, writable: true });
  }

  /** Like `set`, with a getter or another descriptor. */
  define(target: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
    const before = Reflect.getOwnPropertyDescriptor(target, key);
    const enumerable = before?.enumerable ?? true;
    const isDone = defineProperty(target, key, {
      enumerable,
      configurable: true,
      ...descriptor,
    });
    if (isDone) this.replaced.push({ target, key, before });
  }

  /** Calls `action` after everything is restored, to keep values set in the meantime. */
  onRestored(action: () => void): void {
    this.afterwards.push(action);
  }

  /** Restores the replaced properties in reverse order. */
  restore(): void {
    for (const { target, key, before } of this.replaced.reverse()) {
      if (before === undefined) Reflect.deleteProperty(target, key);
      else defineProperty(target, key, before);
    }
    this.replaced.length = 0;
    for (const action of this.afterwards.splice(0)) action();
    Patches.restorations += 1;
  }
}

/** Returns patches that stay applied while they have at least one user. */
export function layerOf(fill: (patches: Patches) => void): Shared {
  const patches = new Patches();
  const restore = (): void => {
    patches.restore();
    syncBuiltinESMExports();
  };
  const putInPlace = (): void => {
    try {
      fill(patches);
      // `import { randomBytes } from 'node:crypto'` sees the new functions from here on.
      syncBuiltinESMExports();
    } catch (error) {
      restore();
      throw error;
    }
  };
  return new Shared(putInPlace, restore);
}
