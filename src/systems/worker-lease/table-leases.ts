/**
 * Leases kept in a table, as in DynamoDB: taking one and giving it back is one conditional update
 * each, and a record, with its fence token, is never forgotten.
 */
import {
  freedBy,
  type LeaseAsk,
  type LeaseRecord,
  type LeaseReturn,
  type LeaseRules,
  takenBy,
} from './lease-rules.ts';

export class TableLeases {
  private records: Map<string, LeaseRecord> = new Map();

  /** The lease as it is now taken, or null when somebody holds it. */
  acquire(key: string, ask: LeaseAsk, rules?: LeaseRules): LeaseRecord | null {
    const taken = takenBy(this.current(key), ask, rules);
    if (taken !== null) this.records.set(key, taken);
    return taken;
  }

  /** Whether the lease was that one and is free now. */
  release(key: string, given: LeaseReturn): boolean {
    const freed = freedBy(this.current(key), given);
    if (freed === null) return false;
    this.records.set(key, freed);
    return true;
  }

  private current(key: string): LeaseRecord | null {
    return this.records.get(key) ?? null;
  }

  /** A copy of its state, as a function that brings it back. */
  snapshot(): () => void {
    const records = new Map(this.records);
    return () => {
      this.records = new Map(records);
    };
  }
}
