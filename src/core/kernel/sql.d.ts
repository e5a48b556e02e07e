/** The parts of node-sqlite3-wasm (SQLite in WebAssembly) that are used, with stricter types. */
declare module 'node-sqlite3-wasm' {
  export type SqlValue = number | string | null;

  export interface Statement {
    /** Binds and runs the statement. Returns the number of changed rows. */
    run(values: readonly SqlValue[]): { readonly changes: number };
    /** Binds the statement. Returns all rows, each keyed by column name in column order. */
    all(values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
    finalize(): void;
  }

  export interface Database {
    exec(sql: string): void;
    prepare(sql: string): Statement;
    /** Frees the database. All its statements must be finalized. */
    close(): void;
  }

  export interface Engine {
    readonly Database: new (file: string) => Database;
  }

  const engine: Engine;
  export default engine;
}
