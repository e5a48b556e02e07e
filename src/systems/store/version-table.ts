/**
 * Versioned rows, the state of the optimistic stores. One table is in memory, the others in an SQL
 * engine; they must behave alike. A row that was never written has the version null, which differs
 * from version 0.
 */

export interface Cell {
  readonly resource: string;
  readonly key: string;
}

export interface Row {
  readonly value: number;
  /** Null if the row was never written. */
  readonly version: number | null;
}

/** A write, as one transaction. */
export interface Commit {
  readonly cell: Cell;
  readonly value: number;
  /** The amount to add to the row's value, or null to store `value`. */
  readonly adds: number | null;
  /** The row's next version, or null to increment the version. */
  readonly stamp: number | null;
  /** The version that the row must have; null: no row; absent: any. */
  readonly expected?: number | null | undefined;
  /** An identifier under which the commit is applied at most once, or null. */
  readonly once: string | null;
}

/**
 * `repeated`: the commit was already applied. `refused`: the row has another version. `forbidden`:
 * the version matches, but the new value is not allowed.
 */
export type VersionOutcome = 'applied' | 'repeated' | 'refused' | 'forbidden';

export interface VersionTable {
  find(cell: Cell): Row;
  commit(commit: Commit): VersionOutcome;
  /**
   * Creates and returns a cell's initial row. Returns null if the row exists, or if cells start
   * unwritten.
   */
  begin(cell: Cell): Row | null;
  /** Returns the values of one resource by key. */
  contents(resource: string): ReadonlyMap<string, number>;
  /** Deletes the rows of a key. Returns the resources that had one, oldest row first. */
  forget(key: string): readonly string[];
  /** Returns a function that restores the present rows and identifiers. */
  snapshot(): () => void;
  /** Releases external resources. A table that is used again starts empty. */
  close(): void;
}

const UNWRITTEN: Row = { value: 0, version: null };

interface Kept extends Row {
  readonly cell: Cell;
}

/** The initial stock of each product. A stock is never negative. */
export interface Stock {
  readonly pieces: number;
  readonly version: number;
}

export class MemoryTable implements VersionTable {
  private readonly stock: Stock | null;
  /** In order of first write. */
  private rows: Map<string, Kept> = new Map();
  private applied: Set<string> = new Set();

  /** Without a stock, rows start unwritten, with value 0. */
  constructor(stock: Stock | null = null) {
    this.stock = stock;
  }

  find(cell: Cell): Row {
    return this.rows.get(nameOf(cell)) ?? UNWRITTEN;
  }

  commit({ cell, value: sent, adds, stamp, expected, once }: Commit): VersionOutcome {
    if (once !== null && this.applied.has(once)) return 'repeated';
    const row = this.find(cell);
    if (expected !== undefined && expected !== row.version) return 'refused';
    const value = adds === null ? sent : row.value + adds;
    if (this.stock !== null && value < 0) return 'forbidden';
    const version = stamp ?? (row.version ?? 0) + 1;
    this.rows.set(nameOf(cell), { cell, value, version });
    if (once !== null) this.applied.add(once);
    return 'applied';
  }

  begin(cell: Cell): Row | null {
    if (this.stock === null || this.rows.has(nameOf(cell))) return null;
    const { pieces: value, version } = this.stock;
    this.rows.set(nameOf(cell), { cell, value, version });
    return { value, version };
  }

  contents(resource: string): ReadonlyMap<string, number> {
    const rows = [...this.rows.values()].filter(({ cell }) => cell.resource === resource);
    return new Map(rows.map(({ cell, value }) => [cell.key, value]));
  }

  forget(key: string): readonly string[] {
    const gone = [...this.rows].filter(([, { cell }]) => cell.key === key);
    for (const [name] of gone) this.rows.delete(name);
    return gone.map(([, { cell }]) => cell.resource);
  }

  snapshot(): () => void {
    const rows = new Map(this.rows);
    const applied = new Set(this.applied);
    return () => {
      this.rows = new Map(rows);
      this.applied = new Set(applied);
    };
  }

  close(): void {}
}

function nameOf({ resource, key }: Cell): string {
  return JSON.stringify([resource, key]);
}
