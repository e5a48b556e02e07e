/**
 * Keys of what was done already, by which a delivery that comes again is known. For what belongs to
 * one machine the key is (machine, step); for a resource that several machines share and that
 * understands fence tokens it is (machine, step, fence), and a token below the highest is refused.
 */

/** A step of a machine; `fence` null where the key leaves it out. */
export interface JobKey {
  readonly lock: string;
  readonly tick: number;
  readonly fence: number | null;
}

export class JobKeys {
  private done: Set<string> = new Set();
  private highest: Map<string, number> = new Map();

  has(key: JobKey): boolean {
    return this.done.has(textOf(key));
  }

  /** Takes the key; false when it was taken, or when a later fence token came for the machine. */
  claim(key: JobKey): boolean {
    const { lock, fence } = key;
    if (this.has(key)) return false;
    if (fence !== null) {
      if (fence < (this.highest.get(lock) ?? 0)) return false;
      this.highest.set(lock, fence);
    }
    this.done.add(textOf(key));
    return true;
  }

  /** A copy of its state, as a function that brings it back. */
  snapshot(): () => void {
    const done = new Set(this.done);
    const highest = new Map(this.highest);
    return () => {
      this.done = new Set(done);
      this.highest = new Map(highest);
    };
  }
}

function textOf({ lock, tick, fence }: JobKey): string {
  return `${lock}/${tick}/${fence ?? ''}`;
}
