/**
 * Loads SQLite, once and only when a plan wants it: loading is asynchronous, all that follows is
 * not. A database that a run has done with is emptied and kept for the next one.
 */
import type { Database, Engine, SqlValue, Statement } from 'sql.js';
import { assert } from '../../core/kernel/assert.ts';

let engine: Engine | null = null;

/** Loads the engine; without effect when that has been done. */
export async function loadSqlEngine(): Promise<void> {
  if (engine !== null) return;
  const { default: load } = await import('sql.js');
  engine = await load();
}

/** Whether databases can be opened. */
export function isSqlLoaded(): boolean {
  return engine !== null;
}

const SCHEMA = `
  CREATE TABLE cells (
    id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (resource, name)
  );
  CREATE TABLE products (
    id TEXT PRIMARY KEY,
    stock INTEGER NOT NULL CHECK (stock >= 0),
    version INTEGER NOT NULL
  );
  CREATE TABLE applied (once TEXT PRIMARY KEY);
`;

/** Databases that are kept for the next run. */
const MOST_IDLE = 4;
const idle: SqlDatabase[] = [];

/** An empty database; to be given back with `release`. The engine must have been loaded. */
export function openDatabase(): SqlDatabase {
  const known = idle.pop();
  if (known !== undefined) return known;
  assert(engine !== null, 'a plan is only run once its stores are prepared');
  return new SqlDatabase(new engine.Database());
}

/** Its statements are compiled once. */
export class SqlDatabase {
  private readonly database: Database;
  private readonly statements: Map<string, Statement> = new Map();

  constructor(database: Database) {
    this.database = database;
    database.run(SCHEMA);
  }

  /** Runs a statement; returns the number of rows that it changed. */
  run(sql: string, values: readonly SqlValue[] = []): number {
    this.prepared(sql).run(values);
    return this.database.getRowsModified();
  }

  /** The same, or null where a `CHECK` of the table forbids what the rows would become. */
  runChecked(sql: string, values: readonly SqlValue[] = []): number | null {
    try {
      return this.run(sql, values);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('CHECK constraint failed'))
        return null;
      throw error;
    }
  }

  /** The rows that a query gives. */
  rows(sql: string, values: readonly SqlValue[] = []): readonly SqlValue[][] {
    const statement = this.prepared(sql);
    statement.bind(values);
    const rows: SqlValue[][] = [];
    while (statement.step()) rows.push(statement.get());
    statement.reset();
    return rows;
  }

  private prepared(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  /** Empties it for the next run, or frees it when enough are kept. */
  release(): void {
    if (idle.length >= MOST_IDLE) {
      this.database.close();
      return;
    }
    this.run('DELETE FROM cells');
    this.run('DELETE FROM products');
    this.run('DELETE FROM applied');
    idle.push(this);
  }
}
