/**
 * Everything that can be done to the simulated world, as data: one table of the kinds of fault, in
 * the order of `docs/faults.md`, from which their types, their form in files, what shrinking may
 * move and the ranges of a scenario follow. All times are integer microseconds of virtual time, all
 * rates parts per million.
 *
 * A new kind is a word in `FaultKind`, a row here, its words in `fault-words.ts`, and a method of
 * `world/injector.ts` that does it. Only a field of a new type needs more: a line in `FieldTypes`,
 * and the lines in `fault-text.ts`, `scenario/read-faults.ts` and `scenario/expand-faults.ts` to
 * which the compiler then leads.
 */
import { assert } from '../kernel/assert.ts';

/**
 * When a fault is injected: at an instant; just before a point is reached; or just after it. A
 * point is an operation (`alice/1/write`, whose `before` is the instant at which the request is
 * fixed but has not left, and whose `after` is the instant at which its answer reached the program)
 * or a mark that the program sets (`alice/1/checked`; before and after are one instant).
 */
export type When =
  | { readonly kind: 'at'; readonly atUs: number }
  | { readonly kind: 'before'; readonly point: string }
  | { readonly kind: 'after'; readonly point: string };

/**
 * Which message: one by its name (`alice/1/write/1/request`), or the first that `from` sends to
 * `to` at `atUs` or later.
 */
export type Which =
  | { readonly kind: 'message'; readonly message: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string; readonly atUs: number };

/** Which timer: one by name (`alice/1/backoff-2`), or the first that `process` arms from `atUs`. */
export type WhichTimer =
  | { readonly kind: 'timer'; readonly timer: string }
  | { readonly kind: 'process'; readonly process: string; readonly atUs: number };

/** What a field of a fault may be, and the value that a plan then has. */
export interface FieldTypes {
  readonly process: string;
  readonly group: readonly string[];
  readonly message: Which;
  readonly timer: WhichTimer;
  readonly when: When;
  /** How long, how late, how far behind: what shrinking makes smaller. */
  readonly duration: number;
  /** The same, or null for what never ends. */
  readonly durationOrNever: number | null;
  /** How far a wall clock is moved; less than 0 is backwards. */
  readonly step: number;
  /** How much faster than true time a clock runs. */
  readonly rate: number;
  readonly key: string;
  readonly direction: 'both' | 'one-way';
  readonly clocks: 'run' | 'freeze';
}

export type FieldType = keyof FieldTypes;

/** The kinds of faults; `docs/faults.md` says what each does. */
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
 * Per kind, its fields in their order, whom or what it hits first; and what a scenario may leave
 * out of it. In files a field has its name without the unit: `forUs` is `for`.
 */
export const FAULTS = {
  /** The process runs nothing. Its clocks run on (a garbage collection) or freeze (a VM). */
  pause: {
    fields: { process: 'process', when: 'when', forUs: 'duration', clocks: 'clocks' },
    omitted: { process: 'clients' },
  },
  /** One message takes longer; on a connection it holds back what follows it. */
  delay: { fields: { which: 'message', byUs: 'duration' } },
  /** One message is lost; on a connection that is a reset. */
  drop: { fields: { which: 'message' } },
  /** One datagram is executed again `byUs` after it first arrived; the copy has no reply. */
  duplicate: { fields: { which: 'message', byUs: 'duration' } },
  /** No message crosses from `from` to `to` (and back, when `direction` is `both`). */
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
   * A process believes another time from now on. `stepUs` moves its wall clock only; `ratePpm` is
   * that of both its clocks (0 is exact), which 0 beside a step leaves as it is. An offset is a
   * step at time 0.
   */
  clock: {
    fields: { process: 'process', when: 'when', stepUs: 'step', ratePpm: 'rate' },
    omitted: { when: 'at the start' },
  },
  /** Volatile state is gone; pending calls never answer. Null: it stays down. */
  crash: { fields: { process: 'process', when: 'when', restartAfterUs: 'durationOrNever' } },
  /**
   * The connections between two processes are replaced: pending calls end unknown, what the old
   * ones carry still arrives, and the new one may overtake it.
   */
  reset: { fields: { from: 'process', to: 'process', when: 'when' } },
  /** A replica takes over whose durable state is the one of `lagUs` ago; volatile state is lost. */
  failover: { fields: { process: 'process', when: 'when', lagUs: 'duration' } },
  /** A server forgets one key (a cache under memory pressure). */
  evict: { fields: { process: 'process', key: 'key', when: 'when' } },
  /** One timer fires later than asked. */
  'late-timer': { fields: { which: 'timer', byUs: 'duration' } },
} as const;

// Does not compile while a row has no word in `FaultKind`.
true satisfies keyof typeof FAULTS extends FaultKind ? true : never;

type Fields = {
  readonly [Kind in FaultKind]: (typeof FAULTS)[Kind]['fields'];
};

/** A fault of one kind (or of any of several). */
export type FaultOf<Kind extends FaultKind> = {
  [One in Kind]: { readonly kind: One } & {
    readonly [Field in keyof Fields[One]]: Fields[One][Field] extends FieldType
      ? FieldTypes[Fields[One][Field]]
      : never;
  };
}[Kind];

export type Fault = FaultOf<FaultKind>;

/** A fault with a time or a point; the others wait for their message or timer. */
export type PlacedFault = Extract<Fault, { readonly when: unknown }>;

/** Every kind, in the order of the table. */
export const FAULT_KINDS: readonly FaultKind[] = Object.keys(FAULTS).filter(isFaultKind);

function isFaultKind(word: string): word is FaultKind {
  return Object.hasOwn(FAULTS, word);
}

/** A field of some kind: its name in a plan, its name in a file, and its type. */
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

/** What a scenario need not say of this kind, and what then holds. */
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

/** The fields of a kind, in the order of its row. */
export function fieldsOfKind(kind: FaultKind): readonly FaultField[] {
  return FIELDS.get(kind) ?? [];
}

/** Whether it hits one message; the trace then names that as its target. */
export function hitsMessage(kind: FaultKind): boolean {
  return fieldsOfKind(kind).some(({ type }) => type === 'message');
}

/** Whether it hits what lies between processes, and none of these alone. */
export function hitsBetween(kind: FaultKind): boolean {
  return fieldsOfKind(kind).some(({ name }) => name === 'to');
}

/** The fault whose fields have these values, each of the type that its row says. */
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

/** The field that says how much of it there is, which shrinking lowers; absent for none. */
export function amountField(kind: FaultKind): FaultField | undefined {
  return fieldsOfKind(kind).find(({ type }) => AMOUNTS.has(type));
}

/** Returns a fault's length, delay or step as a magnitude; null where it has none. */
export function amountOf(fault: Fault): number | null {
  const field = amountField(fault.kind);
  const values: Readonly<Record<string, FieldTypes[FieldType]>> = fault;
  const value = field === undefined ? null : values[field.name];
  if (typeof value !== 'number' || (field?.type === 'step' && value === 0)) return null;
  return Math.abs(value);
}

/** The same fault with another amount, a step in its old direction; one without stays as it is. */
export function withAmount(fault: Fault, amountUs: number): Fault {
  const field = amountField(fault.kind);
  if (field === undefined || amountOf(fault) === null) return fault;
  const sign = fault.kind === 'clock' && amountUs !== 0 ? Math.sign(fault.stepUs) : 1;
  return { ...fault, [field.name]: sign * amountUs };
}

/** The instant at or from which the fault is injected; null when it waits for something named. */
export function instantOf(fault: Fault): number | null {
  const time = 'which' in fault ? fault.which : fault.when;
  return 'atUs' in time ? time.atUs : null;
}

/** The same fault at another instant; one that waits for something named stays as it is. */
export function withInstant(fault: Fault, atUs: number): Fault {
  if (instantOf(fault) === null) return fault;
  if ('when' in fault) return { ...fault, when: { kind: 'at', atUs } };
  if (fault.kind === 'late-timer') return { ...fault, which: movedTo(fault.which, atUs) };
  return { ...fault, which: movedTo(fault.which, atUs) };
}

function movedTo<Target extends Which | WhichTimer>(which: Target, atUs: number): Target {
  return 'atUs' in which ? { ...which, atUs } : which;
}

/** The point, message or timer by which a fault is placed; '' when it is placed by time. */
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

/** The processes that a fault names, each with the field that names it; a group's are one. */
export function processesNamed(fault: Fault): readonly (readonly string[])[] {
  const named = 'which' in fault ? fault.which : fault;
  if ('process' in named) return [[named.process]];
  return 'from' in named ? [[named.from].flat(), [named.to].flat()] : [];
}

/** Whom or what the fault hits, for people: `alice`, `alice/1/write/1/request`. */
export function targetOf(fault: Fault): string {
  if ('which' in fault && placeNamed(fault) !== '') return placeNamed(fault);
  const between = fault.kind === 'partition' ? ' and ' : ' to ';
  return processesNamed(fault)
    .map((names) => names.join(', '))
    .join(between);
}

/** A server of a plan, and what can befall it beside what befalls any process. */
export interface ServerPlace {
  readonly name: string;
  readonly canFailOver: boolean;
  readonly canForget: boolean;
}
