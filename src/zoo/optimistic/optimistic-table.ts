/**
 * Optimistic locking without the simulator: an update must name the present version of its row. The
 * stores `versioned`, `timestamped` and `stock` follow the same rules. Values are integers. A
 * refusal is returned; an invalid argument throws (see `systems/argument.ts`).
 */
import { argument } from '../../servers.ts';

/** A row as a reader sees it. */
export interface TableRow {
  readonly value: number;
  /** Null if the row was never written. */
  readonly version: number | null;
}

/** An `UPDATE … WHERE id = ? AND version = ?`. */
export interface Update {
  readonly id: string;
  /** The row's new value, or the amount to add to its present value. */
  readonly set: { readonly value: number } | { readonly adds: number };
  /** The version that the row must have; null: never written; absent: any. */
  readonly version?: number | null;
  /** An identifier under which the update is applied at most once. */
  readonly once?: string;
  /** The time, as an integer. Only a table with timestamps requires it. */
  readonly now?: number;
}

/** The outcome of an update, and the row after it. */
export type UpdateAnswer = TableRow &
  (
    | { readonly kind: 'accepted'; readonly rows: 1 }
    /** An update with the same identifier was already applied. */
    | { readonly kind: 'repeated'; readonly rows: 0 }
    /** The row has another version: read again, and try again. */
    | { readonly kind: 'refused'; readonly rows: 0 }
    /** The version is right, but the new value would be negative. Only in a table with `first`. */
    | { readonly kind: 'forbidden'; readonly rows: 0 }
  );

/**
 * A table of versioned rows.
 *
 * @example
 * const products = new OptimisticTable({ first: { value: 10, version: 5 } });
 * products.update({ id: '123', set: { adds: -1 }, version: 5 }); // accepted, version 6
 * products.update({ id: '123', set: { adds: -1 }, version: 5 }); // refused, 0 rows
 */
export class OptimisticTable {
  private readonly first: { readonly value: number; readonly version: number } | undefined;
  private readonly hasTimestamps: boolean;
  private readonly rows: Map<string, TableRow> = new Map();
  private readonly applied: Set<string> = new Set();

  /**
   * `first` is the initial state of every row; without it, rows start unwritten, with value 0. A
   * `version` counts the changes (`count`, the default) or is the time of the last change
   * (`timestamp`).
   */
  constructor(
    setting: {
      readonly first?: { readonly value: number; readonly version: number };
      readonly version?: 'count' | 'timestamp';
    } = {},
  ) {
    argument.object('setting', setting);
    const { first, version = 'count' } = setting;
    argument.word('version', version, ['count', 'timestamp']);
    if (first !== undefined) {
      // A stock is not negative; a version may be a time.
      argument.object('first', first);
      argument.integerFrom('first.value', first.value, 0);
      argument.safe('first.version', first.version);
    }
    this.first = first && { value: first.value, version: first.version };
    this.hasTimestamps = version === 'timestamp';
  }

  /** Returns a row's value and version. The version of a row that was never written is null. */
  read(id: string): TableRow {
    argument.name('id', id);
    return this.rows.get(id) ?? this.first ?? { value: 0, version: null };
  }

  /** Applies an update if its version matches. A table with timestamps requires `now`. */
  update(update: Update): UpdateAnswer {
    argument.object('update', update);
    requireUpdate(update);
    const { id, set, version, once, now } = update;
    if (this.hasTimestamps || now !== undefined) argument.safe('now', now);
    const before = this.read(id);
    // Beyond 2^53 the sum would silently be rounded.
    if ('adds' in set) argument.safe('the sum of the value and set.adds', before.value + set.adds);
    const value = 'value' in set ? set.value : before.value + set.adds;
    const stamp = this.hasTimestamps ? now : undefined;
    const next = { value, version: stamp ?? (before.version ?? 0) + 1 };
    if (once !== undefined && this.applied.has(once)) {
      return Object.assign({ kind: 'repeated', rows: 0 } as const, before);
    }
    if (version !== undefined && version !== before.version) {
      return Object.assign({ kind: 'refused', rows: 0 } as const, before);
    }
    if (this.first !== undefined && next.value < 0) {
      return Object.assign({ kind: 'forbidden', rows: 0 } as const, before);
    }
    this.rows.set(id, next);
    if (once !== undefined) this.applied.add(once);
    return Object.assign({ kind: 'accepted', rows: 1 } as const, next);
  }
}

function requireUpdate({ id, set, version, once }: Update): void {
  argument.name('id', id);
  argument.object('set', set);
  if ('value' in set && 'adds' in set) throw new TypeError('set must name value or adds, not both');
  if ('adds' in set) argument.safe('set.adds', set.adds);
  else argument.safe('set.value', set.value);
  if (version !== undefined && version !== null) argument.safe('version', version);
  if (once !== undefined) argument.name('once', once);
}
