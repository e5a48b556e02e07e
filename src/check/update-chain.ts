/**
 * Tracks the updates of one key. Each write adds a state on top of the state that it was computed
 * from, whatever the store contained when the write arrived. The key contains the updates from its
 * first value to its last state:
 *
 *     alice reads 0, bob reads 0, alice writes 1, bob writes 1, carol reads 1, carol writes 2
 *
 * The 2 was computed from bob's 1, and bob's 1 from 0. The key contains the updates of bob and
 * carol, and alice's is lost. Counting would miss this if bob's answer was lost: clients then know
 * of two accepted updates, and the value is 2.
 *
 * The basis of a write is one of these:
 * - the read by the same grant or section that returned the old value, for a workload's increment;
 * - the last access by which the guard knew the key (`base`), for asynchronous code;
 * - the store's value, if the store computes the sum.
 *
 * After a recovery, the key is in the latest state that has the recovered value.
 */
import type { Read, Recovered, Write } from '../core/history/events.ts';
import { addTo } from '../core/kernel/entries.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { firstValue, intentOf, isEffective, recoveredValue, unheardReads } from './contents.ts';
import type {
  AccessEvent,
  KeyLog,
  LogEntry,
  Numbered,
  PlaceLog,
  TraceIndex,
} from './trace-index.ts';

/** The contents of a key at some time. */
export interface State {
  readonly value: number;
  /** The first operation of the update, before any retry. '' if this is not an update. */
  readonly intent: string;
  readonly write: LogEntry<AccessEvent> | null;
  /** The read that the write was computed from. */
  readonly read: LogEntry<AccessEvent> | null;
  /** The state that this one was computed from, or null for a first value. */
  readonly from: State | null;
}

/** `after` took the place of `before` but was not computed from it. */
export interface Replacement {
  readonly before: State;
  readonly after: State;
  /** The recovery that replaced the state, or null if a write did. */
  readonly recovery: Numbered<Recovered> | null;
}

export interface UpdateChain {
  readonly last: State;
  readonly replacements: readonly Replacement[];
  /** The updates that were written, with or without effect. */
  readonly intents: ReadonlySet<string>;
}

/** Tracks the updates of a key up to event `before`. */
export function updateChain(
  indexed: TraceIndex,
  { place, key, before }: { place: PlaceLog; key: KeyLog; before: number },
  addsItself: boolean,
): UpdateChain {
  const walk = new Walk(indexed, firstValue(place, key.key), addsItself);
  let at = 0;
  for (const recovery of place.recoveries) {
    const { event, index } = recovery;
    if (index >= before) break;
    at = walk.accesses(key, at, index);
    walk.recover(recovery, recoveredValue(place, event, key.key));
  }
  walk.accesses(key, at, before);
  return walk;
}

/** Returns true if the basis of a write is known. */
export function isUpdate(indexed: TraceIndex, { event }: LogEntry<AccessEvent>): boolean {
  if (event.kind !== 'write') return false;
  return event.adds !== null || baseOf(indexed, event.operation) !== undefined;
}

/** Returns the grant under which an access was made or, without a grant, its section: `alice/1`. */
export function holderOf({ under, operation }: AccessEvent): number | string {
  return under > 0 ? under : sectionOf(operation);
}

/** Yields a state and the states that it is based on, down to a first value. */
export function* statesFrom(latest: State): Generator<State, void> {
  for (let state: State | null = latest; state !== null; state = state.from) yield state;
}

function baseOf({ operations }: TraceIndex, operation: string): string | undefined {
  const call = operations.get(operation)?.invoke.event.call;
  return call !== undefined && 'base' in call ? call.base : undefined;
}

/** The basis of a write. Both fields are null if the write is not an update. */
type Origin = Pick<State, 'read' | 'from'>;

interface Served {
  readonly read: LogEntry<Read>;
  readonly from: State;
}

class Walk implements UpdateChain {
  last: State;
  readonly replacements: Replacement[] = [];
  readonly intents: Set<string> = new Set();
  private readonly indexed: TraceIndex;
  private readonly first: State;
  private readonly addsItself: boolean;
  /** The successive states of the key. */
  private readonly held: State[];
  private readonly written: Map<string, State> = new Map();
  /** Reads by holder and by operation. */
  private readonly served: Map<number | string, Served[]> = new Map();
  private unheard: ReadonlySet<AccessEvent> | null = null;

  constructor(indexed: TraceIndex, value: number, addsItself: boolean) {
    this.indexed = indexed;
    this.addsItself = addsItself;
    this.first = { value, intent: '', write: null, read: null, from: null };
    this.last = this.first;
    this.held = [this.first];
  }

  recover(recovery: Numbered<Recovered>, value: number): void {
    if (value !== this.last.value) this.hold(this.heldWith(value), recovery);
  }

  /**
   * Processes the accesses from position `from` up to event `before`. Returns the next position.
   */
  accesses({ accesses }: KeyLog, from: number, before: number): number {
    let at = from;
    for (let next = accesses[at]; next !== undefined && next.index < before; next = accesses[at]) {
      this.access(next);
      at += 1;
    }
    return at;
  }

  private access({ event, index, latest }: LogEntry<AccessEvent>): void {
    if (event.value === null) return;
    if (event.kind === 'write') {
      this.write({ event, index, latest });
      return;
    }
    const { written } = event;
    const from = written === undefined ? this.last : (this.written.get(written) ?? this.first);
    for (const name of [event.operation, holderOf(event)]) {
      addTo(this.served, name, { read: { event, index, latest }, from });
    }
  }

  private write(write: LogEntry<Write>): void {
    const { operation, value, adds, stamp } = write.event;
    // A replica may have served the value of a write that the store ignored.
    if (value === null || !(write.event.isAccepted || stamp !== undefined)) return;
    const { read, from } = this.originOf(write, value);
    const isChange = from !== null && (adds !== null || value !== from.value);
    const intent = isChange ? intentOf(this.indexed, operation) : '';
    const state = { value, intent, write, read, from };
    if (intent !== '') this.intents.add(intent);
    this.written.set(operation, state);
    if (isEffective(write)) this.hold(state, null);
    else this.replacements.push({ before: state, after: this.last, recovery: null });
  }

  private hold(after: State, recovery: Replacement['recovery']): void {
    if (after.from !== this.last) this.replacements.push({ before: this.last, after, recovery });
    this.last = after;
    this.held.push(after);
  }

  private originOf({ event }: LogEntry<Write>, value: number): Origin {
    const { operation, adds } = event;
    const base = baseOf(this.indexed, operation);
    if (base !== undefined) return this.knownBy(base);
    if (adds === null) return { read: null, from: null };
    const found = value - adds;
    const holder = holderOf(event);
    const origin = this.lastServed(holder, ({ read }) => read.event.value === found);
    if (origin !== null && !(this.addsItself && found === this.last.value)) return origin;
    const from = found === this.last.value ? this.last : this.heldWith(found);
    return { read: origin?.read ?? null, from };
  }

  /**
   * Returns the state that a guard knew after an operation. A write without effect changes nothing.
   */
  private knownBy(operation: string): Origin {
    const from = this.written.get(operation);
    if (from !== undefined) return { read: null, from };
    const served = this.lastServed(operation, () => true);
    if (served !== null) return served;
    const base = baseOf(this.indexed, operation);
    return base === undefined ? { read: null, from: this.last } : this.knownBy(base);
  }

  /**
   * Returns the last matching read of a holder or operation. If that read was executed several
   * times, only one result reached its client.
   */
  private lastServed(name: number | string, isMeant: (served: Served) => boolean): Served | null {
    const last = this.served.get(name)?.findLast(isMeant) ?? null;
    if (last === null) return null;
    const executions = (this.served.get(last.read.event.operation) ?? []).filter(isMeant);
    if (executions.every(({ from }) => from === last.from)) return last;
    this.unheard ??= unheardReads(this.indexed);
    return executions.findLast(({ read }) => this.unheard?.has(read.event) === false) ?? last;
  }

  /** Returns the latest state with this value, or a new first value if there is none. */
  private heldWith(value: number): State {
    return this.held.findLast((state) => state.value === value) ?? { ...this.first, value };
  }
}
