/** Replaces properties of objects that belong to others, and puts every one back as it was. */
import { syncBuiltinESMExports } from 'node:module';

// As it is before a process could get its own.
const { defineProperty } = Reflect;

export type AnyFunction = (...args: unknown[]) => unknown;

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

/** Something that is changed while at least one wants it so. */
export class Shared {
  private readonly begin: () => void;
  private readonly end: () => void;
  private users = 0;

  constructor(begin: () => void, end: () => void) {
    this.begin = begin;
    this.end = end;
  }

  /** Changes it until what this returns is called. */
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
  /** Undefined where it had none of its own. */
  readonly before: PropertyDescriptor | undefined;
}

export class Patches {
  /** How often any of them put something back. */
  static restorations = 0;
  private readonly replaced: Replaced[] = [];
  private readonly afterwards: (() => void)[] = [];

  /** Sets `target[key]`, hiding whatever is there. */
  set(target: object, key: PropertyKey, value: unknown): void {
    this.define(target, key, { value, writable: true });
  }

  /** The same with a getter, or another descriptor. */
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

  /** Once all is put back: what somebody has meanwhile given such a property is to be kept. */
  onRestored(action: () => void): void {
    this.afterwards.push(action);
  }

  /** Puts back what was replaced, the last first. */
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

/** Patches that several may want at the same time. */
export function layerOf(fill: (patches: Patches) => void): Shared {
  const patches = new Patches();
  const restore = (): void => {
    patches.restore();
    syncBuiltinESMExports();
  };
  const putInPlace = (): void => {
    try {
      fill(patches);
      // `import { randomBytes } from 'node:crypto'` sees it from here on.
      syncBuiltinESMExports();
    } catch (error) {
      restore();
      throw error;
    }
  };
  return new Shared(putInPlace, restore);
}
