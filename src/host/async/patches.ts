/** Replaces properties of objects that belong to others, and puts every one back as it was. */

interface Replaced {
  readonly target: object;
  readonly key: PropertyKey;
  /** Undefined where it had none of its own. */
  readonly before: PropertyDescriptor | undefined;
}

export class Patches {
  private readonly replaced: Replaced[] = [];

  /** Sets `target[key]`, hiding whatever is there. */
  set(target: object, key: PropertyKey, value: unknown): void {
    this.define(target, key, { value, writable: true });
  }

  /** The same with a getter, or another descriptor. */
  define(target: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
    const before = Reflect.getOwnPropertyDescriptor(target, key);
    const enumerable = before?.enumerable ?? true;
    const isDone = Reflect.defineProperty(target, key, {
      ...{ enumerable, configurable: true },
      ...descriptor,
    });
    if (isDone) this.replaced.push({ target, key, before });
  }

  /** Puts back what was replaced, the last first. */
  restore(): void {
    for (const { target, key, before } of this.replaced.reverse()) {
      if (before === undefined) Reflect.deleteProperty(target, key);
      else Reflect.defineProperty(target, key, before);
    }
    this.replaced.length = 0;
  }
}
