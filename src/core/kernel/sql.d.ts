/** What is used of sql.js, SQLite in WebAssembly; the package has no types of its own. */
declare module 'sql.js' {
  export type SqlValue = number | string | null;

  export interface Statement {
    bind(values: readonly SqlValue[]): boolean;
    /** Whether there is a row. */
    step(): boolean;
    /** The row at hand. */
    get(): SqlValue[];
    reset(): void;
    /** Binds, steps once and resets. */
    run(values: readonly SqlValue[]): void;
  }

  export interface Database {
    run(sql: string): unknown;
    prepare(sql: string): Statement;
    /** Rows that the last statement changed. */
    getRowsModified(): number;
    /** Frees it, and all its statements. */
    close(): void;
  }

  export interface Engine {
    readonly Database: new () => Database;
  }

  export default function load(): Promise<Engine>;
}
