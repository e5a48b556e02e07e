/** What is used of node-sqlite3-wasm, SQLite in WebAssembly, in narrower types than its own. */
declare module 'node-sqlite3-wasm' {
  export type SqlValue = number | string | null;

  export interface Statement {
    /** Binds and runs it; how many rows it changed. */
    run(values: readonly SqlValue[]): { readonly changes: number };
    /** Binds it; all rows, each by the names of its columns in their order. */
    all(values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
    finalize(): void;
  }

  export interface Database {
    exec(sql: string): void;
    prepare(sql: string): Statement;
    /** Frees it, once its statements are finalized. */
    close(): void;
  }

  export interface Engine {
    readonly Database: new (file: string) => Database;
  }

  const engine: Engine;
  export default engine;
}
