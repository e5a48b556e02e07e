/**
 * What a node keeps: values by their keys, and when each ends. A key is expired once the time is
 * past its end (`now > when`, Redis' `keyIsExpired`), so at its very end it is still there; an
 * expired key is forgotten as it is touched. Times are milliseconds since 1970.
 */

/** What a key holds: a string, or the fields of a hash. Values are never changed in place. */
export type Value = string | ReadonlyMap<string, string>;

export interface Entry {
  readonly value: Value;
  /** The last millisecond at which it is there; null: it has no end. */
  readonly endMs: number | null;
}

export class Keyspace {
  private entries: Map<string, Entry> = new Map();

  /** What a key holds; null where it is absent or expired. */
  get(key: string, nowMs: number): Entry | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    if (entry.endMs === null || nowMs <= entry.endMs) return entry;
    this.entries.delete(key);
    return null;
  }

  set(key: string, entry: Entry): void {
    this.entries.set(key, entry);
  }

  /** Whether there was such a key. */
  delete(key: string, nowMs: number): boolean {
    return this.get(key, nowMs) !== null && this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  /** A copy, as a function that brings it back. */
  snapshot(): () => void {
    const saved = new Map(this.entries);
    return () => {
      this.entries = new Map(saved);
    };
  }
}
