/**
 * Optimistic locking by itself, without the simulator: a row changes only for an update that names
 * the version it has. It is the table of the stores `versioned`, `timestamped` and `stock`. Values
 * are integers. A refusal is a value; an argument that cannot be meant throws (see `mistakes.ts`).
 */
import { argument } from '../../servers.ts';

/** A row as a reader sees it. */
export interface TableRow {
  readonly value: number;
  /** Null: never written. */
  readonly version: number | null;
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
export type UpdateAnswer = TableRow &
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
  private readonly first: { readonly value: number; readonly version: number } | undefined;
  private readonly hasTimestamps: boolean;
  private readonly rows: Map<string, TableRow> = new Map();
  /** The names under which updates were applied. */
  private readonly applied: Set<string> = new Set();

  /**
   * `first` is what every row begins as; absent: with value 0, never written. `version` says if a
   * version counts the changes, the default, or is the time of the last one.
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
      // A row begins with no fewer than no pieces; a version may be a time.
      argument.object('first', first);
      argument.whole('first.value', first.value, 0);
      argument.safe('first.version', first.version);
    }
    this.first = first && { value: first.value, version: first.version };
    this.hasTimestamps = version === 'timestamp';
  }

  /** A row's value and version; null is the version of a row that was never written. */
  read(id: string): TableRow {
    argument.name('id', id);
    return this.rows.get(id) ?? this.first ?? { value: 0, version: null };
  }

  /** A table with timestamps must be told the time. */
  update(update: Update): UpdateAnswer {
    argument.object('update', update);
    requireUpdate(update);
    const { id, set, version, once, now } = update;
    if (this.hasTimestamps || now !== undefined) argument.safe('now', now);
    const before = this.read(id);
    // Beyond 2^53 a sum would silently be another one.
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
