/**
 * Rows with versions: what the optimistic stores keep. One table is in memory, others in a SQL
 * engine; they must answer alike. A row that was never written has no version: whoever wants to be
 * the first to write it says that he expects none, `null`, which is not a version 0.
 */

export interface Cell {
  readonly resource: string;
  readonly key: string;
}

export interface Row {
  readonly value: number;
  /** Null: never written. */
  readonly version: number | null;
}

/** A write, as one transaction. */
export interface Commit {
  readonly cell: Cell;
  readonly value: number;
  /** What is to be added to the value that the row has, in a table that adds itself; else null. */
  readonly adds: number | null;
  /** The row's next version; null for one more than it has. */
  readonly stamp: number | null;
  /** The version that the row must have, null that of no row; absent: any. */
  readonly expected?: number | null | undefined;
  /** A name under which it is applied at most once; null for none. */
  readonly once: string | null;
}

/**
 * What became of a commit: `repeated`, it was applied before and is not applied again; `refused`,
 * no row has the version that it expects; `forbidden`, the row does, and its value must not become
 * what it would.
 */
export type VersionOutcome = 'applied' | 'repeated' | 'refused' | 'forbidden';

export interface VersionTable {
  find(cell: Cell): Row;
  commit(commit: Commit): VersionOutcome;
  /** Puts the first row there where every row begins as one, and says which; null: it was there. */
  begin(cell: Cell): Row | null;
  /** The values of one resource by key. */
  contents(resource: string): ReadonlyMap<string, number>;
  /** Forgets the rows of a key; returns the resources that had one, oldest row first. */
  forget(key: string): readonly string[];
  /** A copy of all rows and names, as a function that brings it back. */
  snapshot(): () => void;
  /** Gives back what it holds outside of itself; a table that is used again begins empty. */
  close(): void;
}

const UNWRITTEN: Row = { value: 0, version: null };

interface Kept extends Row {
  readonly cell: Cell;
}

/** A table of products: each begins with some pieces, and there can be no fewer than none. */
export interface Stock {
  readonly pieces: number;
  readonly version: number;
}

export class MemoryTable implements VersionTable {
  private readonly stock: Stock | null;
  /** In the order in which they were first written. */
  private rows: Map<string, Kept> = new Map();
  private applied: Set<string> = new Set();

  /** Without a stock, rows begin with value 0, as never written. */
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
