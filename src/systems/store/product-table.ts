/**
 * Products with a stock in a real SQL engine, changed by the statement that every shop has:
 *
 *     UPDATE products SET stock = stock - 1, version = version + 1 WHERE id = ? AND version = ?
 *
 * The engine subtracts, not the client. No row updated means that somebody was faster: read again.
 * A table that checks `stock >= 0` answers with an error instead where the version is right and the
 * last piece is gone, so that nobody takes "sold out" for "try again". `AND stock > 0` in the
 * statement would give 0 rows for both.
 *
 * A resource is a row and its key `stock` the column: `product-123` is the row with id 123.
 */
import { openDatabase, type SqlDatabase } from './sql-engine.ts';
import { numberIn, textIn } from './sql-table.ts';
import type { Cell, Commit, Outcome, Row, Stock, VersionTable } from './version-table.ts';

const FIND = 'SELECT stock, version FROM products WHERE id = ?';
const BEGIN = 'INSERT OR IGNORE INTO products (id, stock, version) VALUES (?, ?, ?)';
const IF_VERSION = ' AND version = ?';

export class ProductTable implements VersionTable {
  private readonly stock: Stock;
  private opened: SqlDatabase | null = null;
  /** What was ever asked for, by id. */
  private readonly cells: Map<string, Cell> = new Map();

  constructor(stock: Stock) {
    this.stock = stock;
  }

  /** Opened by its first use, so that a table which is never used costs nothing. */
  private get database(): SqlDatabase {
    this.opened ??= openDatabase();
    return this.opened;
  }

  find(cell: Cell): Row {
    const [row] = this.database.rows(FIND, [this.idOf(cell)]);
    return { value: numberIn(row?.[0]), version: row === undefined ? null : numberIn(row[1]) };
  }

  begin(cell: Cell): Row | null {
    const { pieces: value, version } = this.stock;
    const inserted = this.database.run(BEGIN, [this.idOf(cell), value, version]);
    return inserted === 0 ? null : { value, version };
  }

  commit(commit: Commit): Outcome {
    const { database } = this;
    database.run('BEGIN');
    const outcome = this.apply(database, commit);
    database.run(outcome === 'forbidden' ? 'ROLLBACK' : 'COMMIT');
    return outcome;
  }

  private apply(database: SqlDatabase, commit: Commit): Outcome {
    const { cell, once, expected } = commit;
    if (once !== null) {
      const [known] = database.rows('SELECT 1 FROM applied WHERE once = ?', [once]);
      if (known !== undefined) return 'repeated';
    }
    if (expected === null) return 'refused';
    const found = expected === undefined ? [] : [expected];
    const rows = database.runChecked(updateOf(commit), [this.idOf(cell), ...found]);
    if (rows === null) return 'forbidden';
    if (rows === 0) return 'refused';
    if (once !== null) database.run('INSERT INTO applied (once) VALUES (?)', [once]);
    return 'applied';
  }

  contents(resource: string): ReadonlyMap<string, number> {
    const rows = this.database.rows('SELECT id, stock FROM products ORDER BY rowid');
    return new Map(
      rows.flatMap(([id, stock]) => {
        const cell = this.cells.get(textIn(id));
        return cell?.resource === resource ? [[cell.key, numberIn(stock)] as const] : [];
      }),
    );
  }

  forget(key: string): readonly string[] {
    const rows = this.database.rows('SELECT id FROM products ORDER BY rowid');
    return rows.flatMap(([id]) => {
      const cell = this.cells.get(textIn(id));
      if (cell?.key !== key) return [];
      this.database.run('DELETE FROM products WHERE id = ?', [textIn(id)]);
      return [cell.resource];
    });
  }

  snapshot(): () => void {
    // One that was never used is empty; opening it would want the engine, which may not be loaded.
    const read = (query: string) => this.opened?.rows(query) ?? [];
    const products = read('SELECT rowid, id, stock, version FROM products');
    const applied = read('SELECT once FROM applied');
    return () => {
      const { database } = this;
      database.run('DELETE FROM products');
      database.run('DELETE FROM applied');
      const insert = 'INSERT INTO products (rowid, id, stock, version) VALUES (?, ?, ?, ?)';
      for (const row of products) database.run(insert, row);
      for (const row of applied) database.run('INSERT INTO applied VALUES (?)', row);
    };
  }

  close(): void {
    this.opened?.release();
    this.opened = null;
  }

  private idOf(cell: Cell): string {
    const { resource, key } = cell;
    const name = /^product-(\d+)$/.exec(resource)?.[1] ?? resource;
    const id = key === 'stock' ? name : JSON.stringify([resource, key]);
    this.cells.set(id, cell);
    return id;
  }
}

/** The statement of a change; a value that is not relative to the row is set as it is. */
function updateOf({ value, adds, expected }: Commit): string {
  const to = adds === null ? `${value}` : `stock ${adds < 0 ? '-' : '+'} ${Math.abs(adds)}`;
  const update = `UPDATE products SET stock = ${to}, version = version + 1 WHERE id = ?`;
  return expected === undefined ? update : `${update}${IF_VERSION}`;
}
