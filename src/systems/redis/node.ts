/**
 * One Redis node, as far as locks use it: `SET key value NX PX`, `GET`, `DEL`, `PEXPIRE`, and the
 * scripts that compare the value before a DEL or PEXPIRE, in one step. A pure state machine; each
 * command is told the time.
 *
 * A key is expired once the time is past its end (`now > when`, Redis' `keyIsExpired` in `db.c`),
 * so at its very end it is still there. Redis counts in milliseconds, this model in microseconds.
 */

/** A key: its value, and the last instant at which it is there. */
export interface Entry {
  readonly value: number;
  readonly endUs: number;
}

export class RedisNode {
  private entries: Map<string, Entry> = new Map();

  /** What a key holds; null where it is absent or expired. */
  entry(key: string, nowUs: number): Entry | null {
    const entry = this.entries.get(key);
    return entry === undefined || nowUs > entry.endUs ? null : entry;
  }

  /** `SET key value NX PX ttl`: the new entry, or null where the key was there already. */
  setIfAbsent(
    key: string,
    { value, ttlUs, nowUs }: { value: number; ttlUs: number; nowUs: number },
  ): Entry | null {
    if (this.entry(key, nowUs) !== null) return null;
    const entry = { value, endUs: nowUs + ttlUs };
    this.entries.set(key, entry);
    return entry;
  }

  /**
   * `DEL key`, or the script that deletes it only if it holds `ifValue`: what was deleted, or null.
   */
  delete(key: string, { ifValue, nowUs }: { ifValue: number | null; nowUs: number }): Entry | null {
    const entry = this.entry(key, nowUs);
    if (entry === null || !matches(entry, ifValue)) return null;
    this.entries.delete(key);
    return entry;
  }

  /**
   * `PEXPIRE key ttl`, or the script that does so only if it holds `ifValue`: the entry as it now
   * is, or null.
   */
  expire(
    key: string,
    { ifValue, ttlUs, nowUs }: { ifValue: number | null; ttlUs: number; nowUs: number },
  ): Entry | null {
    const entry = this.entry(key, nowUs);
    if (entry === null || !matches(entry, ifValue)) return null;
    const prolonged = { value: entry.value, endUs: nowUs + ttlUs };
    this.entries.set(key, prolonged);
    return prolonged;
  }

  /** Evicts a key; false where there was none. */
  forget(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Loses everything, as a node without persistence does when it starts again. */
  clear(): void {
    this.entries.clear();
  }

  save(): ReadonlyMap<string, Entry> {
    return new Map(this.entries);
  }

  load(entries: ReadonlyMap<string, Entry>): void {
    this.entries = new Map(entries);
  }
}

function matches(entry: Entry, ifValue: number | null): boolean {
  return ifValue === null || entry.value === ifValue;
}
