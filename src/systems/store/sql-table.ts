/**
 * Rows with versions in a real SQL engine. Each commit is one transaction, in the statements that a
 * program would send; times are handed in, SQLite's own clock is never asked.
 */
import type { SqlValue } from 'sql.js';
import { openDatabase, type SqlDatabase } from './sql-engine.ts';
import type { Cell, Commit, Outcome, Row, VersionTable } from './version-table.ts';

const IS_CELL = 'resource = ? AND name = ?';
const FIND = `SELECT value, version FROM cells WHERE ${IS_CELL}`;
/** By whether a version is set, or counted; and by whether one is expected. */
const COUNT = `UPDATE cells SET value = ?, version = version + 1 WHERE ${IS_CELL}`;
const STAMP = `UPDATE cells SET value = ?, version = ? WHERE ${IS_CELL}`;
const IF_VERSION = 'AND version = ?';
const INSERT = `INSERT INTO cells (resource, name, value, version) SELECT ?, ?, ?, ?
  WHERE NOT EXISTS (SELECT 1 FROM cells WHERE ${IS_CELL})`;

export class SqlTable implements VersionTable {
  private opened: SqlDatabase | null = null;

  /** Opened by its first use, so that a table which is never used costs nothing. */
  private get database(): SqlDatabase {
    this.opened ??= openDatabase();
    return this.opened;
  }

  find(cell: Cell): Row {
    const [row] = this.database.rows(FIND, [cell.resource, cell.key]);
    return { value: numberIn(row?.[0]), version: row === undefined ? null : numberIn(row[1]) };
  }

  begin(): null {
    return null;
  }

  commit(commit: Commit): Outcome {
    const { database } = this;
    database.run('BEGIN');
    const outcome = this.apply(database, commit);
    database.run('COMMIT');
    return outcome;
  }

  private apply(database: SqlDatabase, commit: Commit): Outcome {
    const { once } = commit;
    if (once !== null) {
      const [known] = database.rows('SELECT 1 FROM applied WHERE once = ?', [once]);
      if (known !== undefined) return 'repeated';
    }
    if (update(database, commit) === 0 && insert(database, commit) === 0) return 'refused';
    if (once !== null) database.run('INSERT INTO applied (once) VALUES (?)', [once]);
    return 'applied';
  }

  contents(resource: string): ReadonlyMap<string, number> {
    const query = 'SELECT name, value FROM cells WHERE resource = ? ORDER BY id';
    const rows = this.database.rows(query, [resource]);
    return new Map(rows.map(([name, value]) => [textIn(name), numberIn(value)]));
  }

  forget(key: string): readonly string[] {
    const rows = this.database.rows('SELECT resource FROM cells WHERE name = ? ORDER BY id', [key]);
    this.database.run('DELETE FROM cells WHERE name = ?', [key]);
    return rows.map(([resource]) => textIn(resource));
  }

  snapshot(): () => void {
    // One that was never used is empty; opening it would want the engine, which may not be loaded.
    const read = (query: string) => this.opened?.rows(query) ?? [];
    const cells = read('SELECT id, resource, name, value, version FROM cells');
    const applied = read('SELECT once FROM applied');
    return () => {
      const { database } = this;
      database.run('DELETE FROM cells');
      database.run('DELETE FROM applied');
      for (const row of cells) database.run('INSERT INTO cells VALUES (?, ?, ?, ?, ?)', row);
      for (const row of applied) database.run('INSERT INTO applied VALUES (?)', row);
    };
  }

  close(): void {
    this.opened?.release();
    this.opened = null;
  }
}

/** Rows that an update changes: none is the answer that somebody was faster. */
function update(database: SqlDatabase, { cell, value, stamp, expected }: Commit): number {
  if (expected === null) return 0;
  const { resource, key } = cell;
  const set = stamp === null ? COUNT : STAMP;
  const values = stamp === null ? [value, resource, key] : [value, stamp, resource, key];
  if (expected === undefined) return database.run(set, values);
  return database.run(`${set} ${IF_VERSION}`, [...values, expected]);
}

/** Who expects no row is refused where there is one. */
function insert(database: SqlDatabase, { cell, value, stamp, expected }: Commit): number {
  if (typeof expected === 'number') return 0;
  const { resource, key } = cell;
  return database.run(INSERT, [resource, key, value, stamp ?? 1, resource, key]);
}

export function numberIn(value: SqlValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

export function textIn(value: SqlValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
