/**
 * All faults as data: one table of the fault kinds, in the order of `docs/faults.md`. It determines
 * their types, their file format, the numbers that shrinking may change, and the ranges of a
 * scenario. All times are integer microseconds of virtual time, all rates parts per million.
 *
 * A new kind needs an entry in `FaultKind`, a row here, its descriptions in `fault-words.ts`, and a
 * method in `world/injector.ts`. The compiler asks for everything else that a new type of field
 * needs.
 */
import { assert } from '../kernel/assert.ts';

/**
 * The time of a fault: an instant, or just before or after a point. A point is an operation
 * (`alice/1/write`) or a mark of the program (`alice/1/checked`). Before an operation: its request
 * is determined but not sent. After an operation: its answer has reached the program. For a mark,
 * both are the same instant.
 */
export type When =
  | { readonly kind: 'at'; readonly atUs: number }
  | { readonly kind: 'before'; readonly point: string }
  | { readonly kind: 'after'; readonly point: string };

/**
 * The affected message: one by name (`alice/1/write/1/request`), or the first that `from` sends to
 * `to` at `atUs` or later.
 */
export type Which =
  | { readonly kind: 'message'; readonly message: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string; readonly atUs: number };

/**
 * The affected timer: one by name (`alice/1/backoff-2`), or the first that `process` sets at `atUs`
 * or later.
 */
export type WhichTimer =
  | { readonly kind: 'timer'; readonly timer: string }
  | { readonly kind: 'process'; readonly process: string; readonly atUs: number };

/** The types of fault fields, with their values in a plan. */
export interface FieldTypes {
  readonly process: string;
  readonly group: readonly string[];
  readonly message: Which;
  readonly timer: WhichTimer;
  readonly when: When;
  /** A length, delay or lag, which shrinking reduces. */
  readonly duration: number;
  /** A duration, or null if it never ends. */
  readonly durationOrNever: number | null;
  /** Step of a wall clock; negative is backward. */
  readonly step: number;
  /** Rate error of a clock; positive is fast. */
  readonly rate: number;
  readonly key: string;
  readonly direction: 'both' | 'one-way';
  readonly clocks: 'run' | 'freeze';
}

export type FieldType = keyof FieldTypes;

/** The kinds of faults; see `docs/faults.md`. */
export type FaultKind =
  | 'pause'
  | 'delay'
  | 'drop'
  | 'duplicate'
  | 'partition'
  | 'clock'
  | 'crash'
  | 'reset'
  | 'failover'
  | 'evict'
  | 'late-timer';

/**
 * The fields of each kind, in order, and the fields that a scenario may omit. In files, field names
 * have no unit: `forUs` is `for`.
 */
export const FAULTS = {
  /** The process runs nothing. Its clocks keep running (garbage collection) or freeze (VM). */
  pause: {
    fields: { process: 'process', when: 'when', forUs: 'duration', clocks: 'clocks' },
    omitted: { process: 'clients' },
  },
  /** One message is delayed; on a connection, so are the messages behind it. */
  delay: { fields: { which: 'message', byUs: 'duration' } },
  /** One message is lost; on a connection, this is a reset. */
  drop: { fields: { which: 'message' } },
  /** One datagram is executed again `byUs` after its first arrival. The copy gets no reply. */
  duplicate: { fields: { which: 'message', byUs: 'duration' } },
  /** No message passes from `from` to `to` (and back, if `direction` is `both`). */
  partition: {
    fields: {
      from: 'group',
      to: 'group',
      direction: 'direction',
      when: 'when',
      forUs: 'duration',
    },
  },
  /**
   * The clocks of a process change. `stepUs` moves only the wall clock. `ratePpm` is the rate error
   * of both clocks (0 is exact); beside a step, 0 leaves the rate unchanged. An offset is a step at
   * time 0.
   */
  clock: {
    fields: { process: 'process', when: 'when', stepUs: 'step', ratePpm: 'rate' },
    omitted: { when: 'at the start' },
  },
  /**
   * Volatile state is lost; pending calls are never answered. `restartAfterUs` null: no restart.
   */
  crash: { fields: { process: 'process', when: 'when', restartAfterUs: 'durationOrNever' } },
  /**
   * The connections between two processes are replaced: pending calls end as unknown. Requests on
   * the old connections still arrive, possibly after later ones; replies on them are lost.
   */
  reset: { fields: { from: 'process', to: 'process', when: 'when' } },
  /** A replica takes over with the durable state of `lagUs` ago. Volatile state is lost. */
  failover: { fields: { process: 'process', when: 'when', lagUs: 'duration' } },
  /** A server forgets one key, as a cache does under memory pressure. */
  evict: { fields: { process: 'process', key: 'key', when: 'when' } },
  /** One timer fires late. */
  'late-timer': { fields: { which: 'timer', byUs: 'duration' } },
} as const;

// Does not compile if a row is missing from `FaultKind`.
true satisfies keyof typeof FAULTS extends FaultKind ? true : never;

type Fields = {
  readonly [Kind in FaultKind]: (typeof FAULTS)[Kind]['fields'];
};

/** A fault of kind `Kind`, which may be a union. */
export type FaultOf<Kind extends FaultKind> = {
  [One in Kind]: { readonly kind: One } & {
    readonly [Field in keyof Fields[One]]: Fields[One][Field] extends FieldType
      ? FieldTypes[Fields[One][Field]]
      : never;
  };
}[Kind];

export type Fault = FaultOf<FaultKind>;

/** A fault at a time or a point. All other faults affect a message or a timer. */
export type PlacedFault = Extract<Fault, { readonly when: unknown }>;

/** All kinds, in table order. */
export const FAULT_KINDS: readonly FaultKind[] = Object.keys(FAULTS).filter(isFaultKind);

function isFaultKind(word: string): word is FaultKind {
  return Object.hasOwn(FAULTS, word);
}

/** A field of a kind: its name in a plan, its name in a file, and its type. */
export interface FaultField {
  readonly name: string;
  readonly inFiles: string;
  readonly type: FieldType;
}

interface FaultRow {
  readonly fields: Readonly<Record<string, FieldType>>;
  readonly omitted?: { readonly process?: 'clients'; readonly when?: 'at the start' };
}

const ROWS: Readonly<Record<FaultKind, FaultRow>> = FAULTS;

/** Returns the fields that a scenario may omit for this kind, with their meaning if omitted. */
export function omittable(kind: FaultKind): NonNullable<FaultRow['omitted']> {
  return ROWS[kind].omitted ?? {};
}

const FIELDS: ReadonlyMap<FaultKind, readonly FaultField[]> = new Map(
  FAULT_KINDS.map((kind) => [
    kind,
    Object.entries(ROWS[kind].fields).map(([name, type]) => ({
      name,
      inFiles: name.replace(/(AfterUs|Us|Ppm)$/, ''),
      type,
    })),
  ]),
);

/** Returns the fields of a kind, in table order. */
export function fieldsOfKind(kind: FaultKind): readonly FaultField[] {
  return FIELDS.get(kind) ?? [];
}

/** Returns true if the kind affects one message, which the trace then records as its target. */
export function affectsMessage(kind: FaultKind): boolean {
  return fieldsOfKind(kind).some(({ type }) => type === 'message');
}

/** Returns true if the kind affects the links between processes instead of a single process. */
export function affectsLinks(kind: FaultKind): boolean {
  return fieldsOfKind(kind).some(({ name }) => name === 'to');
}

/** Builds a fault from field values, each of the type that its row declares. */
export function faultWith(
  kind: FaultKind,
  give: (field: FaultField) => FieldTypes[FieldType],
): Fault {
  const values = fieldsOfKind(kind).map((field) => [field.name, give(field)] as const);
  const fault = { kind, ...Object.fromEntries(values) };
  assert(isComplete(fault), `a ${kind} has all its fields`);
  return fault;
}

function isComplete(fault: { readonly kind: FaultKind }): fault is Fault {
  return fieldsOfKind(fault.kind).every(({ name }) => Object.hasOwn(fault, name));
}

const AMOUNTS: ReadonlySet<FieldType> = new Set(['duration', 'durationOrNever', 'step']);

/** Returns the field of a fault's amount, which shrinking reduces, or undefined if none. */
export function amountField(kind: FaultKind): FaultField | undefined {
  return fieldsOfKind(kind).find(({ type }) => AMOUNTS.has(type));
}

/** Returns the magnitude of a fault's length, delay or step, or null if it has none. */
export function amountOf(fault: Fault): number | null {
  const field = amountField(fault.kind);
  const values: Readonly<Record<string, FieldTypes[FieldType]>> = fault;
  const value = field === undefined ? null : values[field.name];
  if (typeof value !== 'number' || (field?.type === 'step' && value === 0)) return null;
  return Math.abs(value);
}

/** Returns the fault with another amount, or unchanged if it has none. A step keeps its sign. */
export function withAmount(fault: Fault, amountUs: number): Fault {
  const field = amountField(fault.kind);
  if (field === undefined || amountOf(fault) === null) return fault;
  const sign = fault.kind === 'clock' && amountUs !== 0 ? Math.sign(fault.stepUs) : 1;
  return { ...fault, [field.name]: sign * amountUs };
}

/** Returns the instant at or after which the fault is injected, or null if it is placed by name. */
export function instantOf(fault: Fault): number | null {
  const time = 'which' in fault ? fault.which : fault.when;
  return 'atUs' in time ? time.atUs : null;
}

/** Returns the fault at another instant; unchanged if it is placed by name. */
export function withInstant(fault: Fault, atUs: number): Fault {
  if (instantOf(fault) === null) return fault;
  if ('when' in fault) return { ...fault, when: { kind: 'at', atUs } };
  if (fault.kind === 'late-timer') return { ...fault, which: movedTo(fault.which, atUs) };
  return { ...fault, which: movedTo(fault.which, atUs) };
}

function movedTo<Target extends Which | WhichTimer>(place: Target, atUs: number): Target {
  return 'atUs' in place ? { ...place, atUs } : place;
}

/** Returns the point, message or timer that places a fault, or '' if it is placed by time. */
export function placeNamed(fault: Fault): string {
  const place = 'which' in fault ? fault.which : fault.when;
  switch (place.kind) {
    case 'message':
      return place.message;
    case 'timer':
      return place.timer;
    case 'before':
    case 'after':
      return place.point;
    default:
      return '';
  }
}

/** Returns the processes named in each field of a fault, one list per field. */
export function processesNamed(fault: Fault): readonly (readonly string[])[] {
  const named = 'which' in fault ? fault.which : fault;
  if ('process' in named) return [[named.process]];
  return 'from' in named ? [[named.from].flat(), [named.to].flat()] : [];
}

/** Returns the affected target, as shown to users: `alice`, `alice/1/write/1/request`. */
export function targetOf(fault: Fault): string {
  if ('which' in fault && placeNamed(fault) !== '') return placeNamed(fault);
  const between = fault.kind === 'partition' ? ' and ' : ' to ';
  return processesNamed(fault)
    .map((names) => names.join(', '))
    .join(between);
}

/** A server of a plan, and whether failover and evict can affect it. */
export interface ServerPlace {
  readonly name: string;
  readonly canFailOver: boolean;
  readonly canForget: boolean;
}
