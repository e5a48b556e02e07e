/**
 * What a Redis node keeps: values by their keys, and when each ends, in milliseconds.
 *
 * A key is expired once the time is past its end (`now > when`, Redis' `keyIsExpired` in `db.c`),
 * so at its very end it is still there: one that ends at 10 is there at 10 and gone at 11.
 */

/** A key as it is kept. Values are never changed in place. */
export interface KeyEntry<Value> {
  readonly value: Value;
  /** The last instant at which it is there; null: it has no end. */
  readonly end: number | null;
}

export class Keyspace<Value> {
  private entries: Map<string, KeyEntry<Value>> = new Map();

  /** Returns what a key holds, or null if it is absent or expired; that drops it for good. */
  get(key: string, now: number): KeyEntry<Value> | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    if (entry.end === null || now <= entry.end) return entry;
    this.entries.delete(key);
    return null;
  }

  /** Says whether a key is there, without touching it. */
  has(key: string, now: number): boolean {
    const entry = this.entries.get(key);
    return entry !== undefined && (entry.end === null || now <= entry.end);
  }

  set(key: string, value: Value, end: number | null): KeyEntry<Value> {
    const entry = { value, end };
    this.entries.set(key, entry);
    return entry;
  }

  /** Whether there was such a key, and it was not expired. */
  delete(key: string, now: number): boolean {
    return this.get(key, now) !== null && this.entries.delete(key);
  }

  /**
   * The keys in the order in which they were first set, all or those that are not expired. None of
   * them is touched.
   */
  names(now: number = Number.NEGATIVE_INFINITY): readonly string[] {
    return [...this.entries.keys()].filter((key) => this.has(key, now));
  }

  /** Evicts a key, expired or not; false where nothing was kept. */
  forget(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Loses everything, as a node without persistence does when it starts again. */
  clear(): void {
    this.entries.clear();
  }

  snapshot(): () => void {
    const entries = new Map(this.entries);
    return () => {
      this.entries = new Map(entries);
    };
  }
}
