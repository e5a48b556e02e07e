/**
 * The keys of a Redis node, with their values and expiry times in milliseconds.
 *
 * A key is expired once the time is past its end: a key that ends at 10 exists at 10, but not at 11
 * (`keyIsExpired` in Redis' `db.c`).
 */

/** A stored key. Values are never modified in place. */
export interface KeyEntry<Value> {
  readonly value: Value;
  /** The last instant at which the key exists, or null if it does not expire. */
  readonly end: number | null;
}

export class Keyspace<Value> {
  private entries: Map<string, KeyEntry<Value>> = new Map();

  /** Returns the entry of a key, or null if there is none. Removes an expired entry. */
  get(key: string, now: number): KeyEntry<Value> | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    if (entry.end === null || now <= entry.end) return entry;
    this.entries.delete(key);
    return null;
  }

  /** Returns true if the key exists. Does not remove an expired key. */
  has(key: string, now: number): boolean {
    const entry = this.entries.get(key);
    return entry !== undefined && (entry.end === null || now <= entry.end);
  }

  set(key: string, value: Value, end: number | null): KeyEntry<Value> {
    const entry = { value, end };
    this.entries.set(key, entry);
    return entry;
  }

  /** Returns true if the key existed and was not expired. */
  delete(key: string, now: number): boolean {
    return this.get(key, now) !== null && this.entries.delete(key);
  }

  /**
   * Returns the keys that exist at `now`, in the order in which they were first set. Without `now`,
   * includes expired keys. Removes no key.
   */
  names(now: number = Number.NEGATIVE_INFINITY): readonly string[] {
    return [...this.entries.keys()].filter((key) => this.has(key, now));
  }

  /** Evicts a key, even if it is expired. Returns false if there was none. */
  forget(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Removes all keys, as a node without persistence does when it restarts. */
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
