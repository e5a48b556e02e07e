/**
 * Rows with versions: what the optimistic stores keep. One table is in memory, one in a SQL engine;
 * they must answer alike. Every row begins at value 0, version 0.
 */

export interface Cell {
  readonly resource: string;
  readonly key: string;
}

export interface Row {
  readonly value: number;
  readonly version: number;
}

/** A write, as one transaction. */
export interface Commit {
  readonly cell: Cell;
  readonly value: number;
  /** The row's next version; null for one more than it has. */
  readonly stamp: number | null;
  /** The version that the row must have; null for any. */
  readonly expected: number | null;
  /** A name under which it is applied at most once; null for none. */
  readonly once: string | null;
}

/** What became of a commit: `repeated`, it was applied before and is not applied again. */
export type Outcome = 'applied' | 'repeated' | 'refused';

export interface VersionTable {
  find(cell: Cell): Row;
  commit(commit: Commit): Outcome;
  /** The values of one resource by key. */
  contents(resource: string): ReadonlyMap<string, number>;
  /** Forgets the rows of a key; returns the resources that had one, oldest row first. */
  forget(key: string): readonly string[];
  /** A copy of all rows and names, as a function that brings it back. */
  snapshot(): () => void;
  /** Gives back what it holds outside of itself; a table that is used again begins empty. */
  close(): void;
}

const NEW: Row = { value: 0, version: 0 };

interface Kept extends Row {
  readonly cell: Cell;
}

export class MemoryTable implements VersionTable {
  /** In the order in which they were first written. */
  private rows: Map<string, Kept> = new Map();
  private applied: Set<string> = new Set();

  find(cell: Cell): Row {
    return this.rows.get(nameOf(cell)) ?? NEW;
  }

  commit({ cell, value, stamp, expected, once }: Commit): Outcome {
    if (once !== null && this.applied.has(once)) return 'repeated';
    const { version } = this.find(cell);
    if (expected !== null && expected !== version) return 'refused';
    this.rows.set(nameOf(cell), { cell, value, version: stamp ?? version + 1 });
    if (once !== null) this.applied.add(once);
    return 'applied';
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
