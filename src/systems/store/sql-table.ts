/**
 * Versioned rows in a real SQL engine. Each commit is one transaction, with the statements that a
 * program would send. SQLite's own clock is never read. The engine is loaded asynchronously, and
 * only if a plan needs it; everything else is synchronous.
 *
 * `ProductTable` contains products with a stock, changed by the statement that every shop uses:
 *
 *     UPDATE products SET stock = stock - 1, version = version + 1 WHERE id = ? AND version = ?
 *
 * The engine subtracts, not the client. If no row is updated, another client was faster, and the
 * client must read again. If no piece is left, the check `stock >= 0` returns an error, so that
 * "sold out" is not mistaken for "try again". With `AND stock > 0` instead, 0 rows would be updated
 * in both cases. The resource `product-123` is the row with id 123; the key `stock` is the column.
 */
import type { Database, Engine, SqlValue, Statement } from 'node-sqlite3-wasm';
import { assert } from '../../core/kernel/assert.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Cell, Commit, Row, Stock, VersionOutcome, VersionTable } from './version-table.ts';

const IS_CELL = 'resource = ? AND name = ?';
const FIND = `SELECT value, version FROM cells WHERE ${IS_CELL}`;
/** `IF_VERSION` is appended if the client expects a certain version. */
const COUNT = `UPDATE cells SET value = ?, version = version + 1 WHERE ${IS_CELL}`;
const STAMP = `UPDATE cells SET value = ?, version = ? WHERE ${IS_CELL}`;
const IF_VERSION = 'AND version = ?';
const INSERT = `INSERT INTO cells (resource, name, value, version) SELECT ?, ?, ?, ?
  WHERE NOT EXISTS (SELECT 1 FROM cells WHERE ${IS_CELL})`;

export class SqlTable implements VersionTable {
  private readonly sql: TableDatabase = new TableDatabase();

  find(cell: Cell): Row {
    const [row] = this.sql.database.rows(FIND, [cell.resource, cell.key]);
    return { value: numberIn(row?.[0]), version: row === undefined ? null : numberIn(row[1]) };
  }

  begin(): null {
    return null;
  }

  commit(commit: Commit): VersionOutcome {
    return this.sql.transaction(commit, (database) =>
      update(database, commit) === 0 && insert(database, commit) === 0 ? 'refused' : 'applied',
    );
  }

  contents(resource: string): ReadonlyMap<string, number> {
    const query = 'SELECT name, value FROM cells WHERE resource = ? ORDER BY id';
    const rows = this.sql.database.rows(query, [resource]);
    return new Map(rows.map(([name, value]) => [textIn(name), numberIn(value)]));
  }

  forget(key: string): readonly string[] {
    const rows = this.sql.database.rows('SELECT resource FROM cells WHERE name = ? ORDER BY id', [
      key,
    ]);
    this.sql.database.run('DELETE FROM cells WHERE name = ?', [key]);
    return rows.map(([resource]) => textIn(resource));
  }

  snapshot(): () => void {
    return this.sql.snapshot('cells', 'id, resource, name, value, version');
  }

  close(): void {
    this.sql.close();
  }
}

/** Returns the number of rows changed: 0 if another client was faster. */
function update(database: SqlDatabase, { cell, value, stamp, expected }: Commit): number {
  if (expected === null) return 0;
  const { resource, key } = cell;
  const set = stamp === null ? COUNT : STAMP;
  const values = stamp === null ? [value, resource, key] : [value, stamp, resource, key];
  if (expected === undefined) return database.run(set, values);
  return database.run(`${set} ${IF_VERSION}`, [...values, expected]);
}

/** Inserts a row unless there is one. Returns the number of rows inserted. */
function insert(database: SqlDatabase, { cell, value, stamp, expected }: Commit): number {
  if (typeof expected === 'number') return 0;
  const { resource, key } = cell;
  return database.run(INSERT, [resource, key, value, stamp ?? 1, resource, key]);
}

function numberIn(value: SqlValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function textIn(value: SqlValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

const FIND_PRODUCT = 'SELECT stock, version FROM products WHERE id = ?';
const BEGIN = 'INSERT OR IGNORE INTO products (id, stock, version) VALUES (?, ?, ?)';

export class ProductTable implements VersionTable {
  private readonly stock: Stock;
  private readonly sql: TableDatabase = new TableDatabase();
  /** Every cell that was ever accessed, by id. */
  private readonly cells: Map<string, Cell> = new Map();

  constructor(stock: Stock) {
    this.stock = stock;
  }

  find(cell: Cell): Row {
    const [row] = this.sql.database.rows(FIND_PRODUCT, [this.idOf(cell)]);
    return { value: numberIn(row?.[0]), version: row === undefined ? null : numberIn(row[1]) };
  }

  begin(cell: Cell): Row | null {
    const { pieces: value, version } = this.stock;
    const inserted = this.sql.database.run(BEGIN, [this.idOf(cell), value, version]);
    return inserted === 0 ? null : { value, version };
  }

  commit(commit: Commit): VersionOutcome {
    return this.sql.transaction(commit, (database) => {
      const { cell, expected } = commit;
      if (expected === null) return 'refused';
      const found = expected === undefined ? [] : [expected];
      const rows = database.runChecked(updateOf(commit), [this.idOf(cell), ...found]);
      if (rows === null) return 'forbidden';
      return rows === 0 ? 'refused' : 'applied';
    });
  }

  contents(resource: string): ReadonlyMap<string, number> {
    const rows = this.sql.database.rows('SELECT id, stock FROM products ORDER BY rowid');
    return new Map(
      rows.flatMap(([id, stock]) => {
        const cell = this.cells.get(textIn(id));
        return cell?.resource === resource ? [[cell.key, numberIn(stock)] as const] : [];
      }),
    );
  }

  forget(key: string): readonly string[] {
    const rows = this.sql.database.rows('SELECT id FROM products ORDER BY rowid');
    return rows.flatMap(([id]) => {
      const cell = this.cells.get(textIn(id));
      if (cell?.key !== key) return [];
      this.sql.database.run('DELETE FROM products WHERE id = ?', [textIn(id)]);
      return [cell.resource];
    });
  }

  snapshot(): () => void {
    return this.sql.snapshot('products', 'rowid, id, stock, version');
  }

  close(): void {
    this.sql.close();
  }

  private idOf(cell: Cell): string {
    const { resource, key } = cell;
    const name = /^product-(\d+)$/.exec(resource)?.[1] ?? resource;
    const id = key === 'stock' ? name : JSON.stringify([resource, key]);
    this.cells.set(id, cell);
    return id;
  }
}

/** Returns a statement that applies the increment, or sets the value if there is none. */
function updateOf({ value, adds, expected }: Commit): string {
  const to = adds === null ? `${value}` : `stock ${adds < 0 ? '-' : '+'} ${Math.abs(adds)}`;
  const update = `UPDATE products SET stock = ${to}, version = version + 1 WHERE id = ?`;
  return expected === undefined ? update : `${update} ${IF_VERSION}`;
}

/** The database of one table, with the identifiers of applied commits. */
class TableDatabase {
  private opened: SqlDatabase | null = null;

  /** Opened on first use, so that an unused table costs nothing. */
  get database(): SqlDatabase {
    this.opened ??= openDatabase();
    return this.opened;
  }

  /** Applies a commit, at most once if it has an identifier. Rolls back a forbidden commit. */
  transaction(
    { once }: Commit,
    apply: (database: SqlDatabase) => Exclude<VersionOutcome, 'repeated'>,
  ): VersionOutcome {
    const { database } = this;
    database.run('BEGIN');
    const isKnown =
      once !== null && database.rows('SELECT 1 FROM applied WHERE once = ?', [once]).length > 0;
    const outcome = isKnown ? 'repeated' : apply(database);
    if (outcome === 'applied' && once !== null) {
      database.run('INSERT INTO applied (once) VALUES (?)', [once]);
    }
    database.run(outcome === 'forbidden' ? 'ROLLBACK' : 'COMMIT');
    return outcome;
  }

  /** Returns a function that restores the rows of one table, and all identifiers. */
  snapshot(table: 'cells' | 'products', columns: string): () => void {
    // An unopened database is empty. Do not open it here: the engine may not be loaded yet.
    const read = (query: string) => this.opened?.rows(query) ?? [];
    const rows = read(`SELECT ${columns} FROM ${table}`);
    const applied = read('SELECT once FROM applied');
    const insert = `INSERT INTO ${table} (${columns}) VALUES (${columns.replace(/\w+/g, '?')})`;
    return () => {
      const { database } = this;
      database.run(`DELETE FROM ${table}`);
      database.run('DELETE FROM applied');
      for (const row of rows) database.run(insert, row);
      for (const row of applied) database.run('INSERT INTO applied VALUES (?)', row);
    };
  }

  close(): void {
    this.opened?.release();
    this.opened = null;
  }
}

let engine: Engine | null = null;

/** Thrown if the package of the SQL engine is not installed. */
export class MissingSqlEngine extends Error {}

/** Loads the engine, once. Throws `MissingSqlEngine` if it is not installed. */
export async function loadSqlEngine(): Promise<void> {
  try {
    engine ??= (await import('node-sqlite3-wasm')).default;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const install = 'npm install --save-dev node-sqlite3-wasm';
    throw new MissingSqlEngine(`SQL stores need an additional package: ${install}`);
  }
}

/** Returns whether databases can be opened. */
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

/** Maximum number of databases kept for later runs. */
const MOST_IDLE = 4;
const idle: SqlDatabase[] = [];

/** Returns an empty database. Call its `release` after use. */
function openDatabase(): SqlDatabase {
  const known = idle.pop();
  if (known !== undefined) return known;
  assert(engine !== null, 'a plan is only run once its stores are prepared');
  return new SqlDatabase(new engine.Database(':memory:'));
}

/** A database that compiles each statement once. */
class SqlDatabase {
  private readonly database: Database;
  private readonly statements: Map<string, Statement> = new Map();

  constructor(database: Database) {
    this.database = database;
    database.exec(SCHEMA);
  }

  run(sql: string, values: readonly SqlValue[] = []): number {
    return this.prepared(sql).run(values).changes;
  }

  /** Like `run`, but returns null if a `CHECK` of the table forbids the new values. */
  runChecked(sql: string, values: readonly SqlValue[] = []): number | null {
    try {
      return this.run(sql, values);
    } catch (error) {
      this.forget(sql);
      if (error instanceof Error && error.message.startsWith('CHECK constraint failed'))
        return null;
      throw error;
    }
  }

  rows(sql: string, values: readonly SqlValue[] = []): readonly SqlValue[][] {
    return this.prepared(sql).all(values).map(Object.values);
  }

  private prepared(sql: string): Statement {
    return entryOf(this.statements, sql, () => this.database.prepare(sql));
  }

  /** A failed statement cannot be bound again, and `finalize` throws its error again. */
  private forget(sql: string): void {
    const failed = this.statements.get(sql);
    this.statements.delete(sql);
    try {
      failed?.finalize();
    } catch {}
  }

  /** Empties the database for the next run, or closes it if enough databases are kept. */
  release(): void {
    if (idle.length >= MOST_IDLE) {
      for (const sql of [...this.statements.keys()]) this.forget(sql);
      this.database.close();
      return;
    }
    this.run('DELETE FROM cells');
    this.run('DELETE FROM products');
    this.run('DELETE FROM applied');
    idle.push(this);
  }
}
