/**
 * Optimistic locking by itself, without the simulator: a row changes only for an update that names
 * the version it has. It is the table of the stores `versioned`, `timestamped` and `stock`.
 */
import { MemoryTable, type Row } from '../store/version-table.ts';

export interface OptimisticTableSetting {
  /** What every row begins as; absent: with value 0, never written. */
  readonly first?: { readonly value: number; readonly version: number };
  /** Whether a version counts the changes, or is the time of the last one. Default `count`. */
  readonly version?: 'count' | 'timestamp';
}

/** An `UPDATE … WHERE id = ? AND version = ?`. */
export interface Update {
  readonly id: string;
  /** The row's new value, or what is added to the value that it has. */
  readonly set: { readonly value: number } | { readonly adds: number };
  /** The version that the row must have; null: it was never written; absent: any. */
  readonly version?: number | null;
  /** A name under which it is applied at most once, so that it can be sent again. */
  readonly once?: string;
  /** The time, a whole number; only a table with timestamps wants it. */
  readonly now?: number;
}

/** What became of an update, and what the row has now. */
export type UpdateAnswer = Row &
  (
    | { readonly kind: 'accepted'; readonly rows: 1 }
    /** It was applied before, under the same name, and is not applied again. */
    | { readonly kind: 'repeated'; readonly rows: 0 }
    /** The row has another version: read again, and try again. */
    | { readonly kind: 'refused'; readonly rows: 0 }
    /** The version is right, and nothing is left to take: where rows begin as something. */
    | { readonly kind: 'forbidden'; readonly rows: 0 }
  );

/**
 * Rows with versions.
 *
 * @example
 * const products = new OptimisticTable({ first: { value: 10, version: 5 } });
 * products.update({ id: '123', set: { adds: -1 }, version: 5 }); // accepted, version 6
 * products.update({ id: '123', set: { adds: -1 }, version: 5 }); // refused, 0 rows
 */
export class OptimisticTable {
  private readonly table: MemoryTable;
  private readonly hasTimestamps: boolean;

  constructor({ first, version = 'count' }: OptimisticTableSetting = {}) {
    const stock = first === undefined ? null : { pieces: first.value, version: first.version };
    this.table = new MemoryTable(stock);
    this.hasTimestamps = version === 'timestamp';
  }

  /** A row's value and version; null is the version of a row that was never written. */
  read(id: string): Row {
    const cell = cellOf(id);
    this.table.begin(cell);
    const { value, version } = this.table.find(cell);
    return { value, version };
  }

  /** Throws only where a table with timestamps is told no time. */
  update({ id, set, version, once, now }: Update): UpdateAnswer {
    if (this.hasTimestamps && now === undefined) {
      throw new Error('an update of a table with timestamps needs `now`');
    }
    const before = this.read(id);
    const outcome = this.table.commit({
      cell: cellOf(id),
      value: 'value' in set ? set.value : before.value + set.adds,
      adds: 'adds' in set ? set.adds : null,
      stamp: this.hasTimestamps ? (now ?? null) : null,
      expected: version,
      once: once ?? null,
    });
    const row = this.read(id);
    return outcome === 'applied'
      ? { kind: 'accepted', rows: 1, ...row }
      : { kind: outcome, rows: 0, ...row };
  }
}

function cellOf(id: string): { readonly resource: string; readonly key: string } {
  return { resource: id, key: '' };
}
