/**
 * The points of a section where a fault can be placed, as far as the plan determines them.
 * `alice/2/write` is the write of step 1 in alice's section 2, and `alice/2/write-3` is the write
 * of step 3. A transfer has two of each: `alice/2/read-from`, `alice/2/write-to`. Also defines the
 * names that clients must not have.
 */
import type { ClientPlan, SectionPlan, Work } from './plan.ts';

/** The operations, and the mark `checked`, at which a fault can be placed. */
export type Verb =
  | 'acquire'
  | 'renew'
  | 'release'
  | 'read'
  | 'write'
  | 'open'
  | 'fence'
  | 'checked'
  | (typeof QUEUE_VERBS)[number];

/** Operations of a worker on its message in a run without faults. */
const QUEUE_VERBS = ['receive', 'next', 'delete'] as const;

/** An operation or mark of one section. */
export interface SectionPoint {
  /** A `Verb`, or the label of an operation of asynchronous clients. */
  readonly verb: string;
  /** Name of the point in a run: `alice/1/write-2`. */
  readonly point: string;
}

export interface PlacedSection {
  readonly client: ClientPlan;
  readonly section: SectionPlan;
  /** The kind of store, which determines whether tokens are announced. */
  readonly store: string;
  /** Labels of the clients' lock operations. Absent: `acquire` and `release`. */
  readonly operations?: readonly string[];
}

/** Stores that require a token to be announced before its first access. */
const OPENED_STORES: readonly string[] = ['fenced-open', 'unique-token'];

/** Stores whose clients request the highest token before each write. */
const FENCE_READ_STORES: readonly string[] = ['client-side-fence'];

/**
 * Returns the points that a section passes in a run without faults, starting with its steps. Only
 * the first attempt to acquire is included.
 */
export function sectionPointsOf(placed: PlacedSection): readonly SectionPoint[] {
  const { client, section, store, operations } = placed;
  const steps = section.work
    .flatMap(stepParts)
    .filter(({ verb }) => verb !== 'release' || client.releases);
  const stores = new Set(section.work.flatMap(storesAccessed));
  const opens = OPENED_STORES.includes(store) ? stores.size : 0;
  const fenced = FENCE_READ_STORES.includes(store) ? steps : [];
  const fences = fenced
    .filter(({ verb }) => verb === 'write')
    .map(({ part }): Part => ({ verb: 'fence', part: part.replace('write', 'fence') }));
  // A memoize step stores its value without checking its lease.
  const tests = section.work.some(({ kind }) => kind !== 'memoize');
  const hasTest = client.checksLease && tests && steps.some(({ verb }) => verb === 'write');
  // Without `operations`, use those of fencepost's own locks.
  const lockVerbs = operations ?? (client.releases ? ['acquire', 'release'] : ['acquire']);
  const parts: readonly Part[] = [
    ...steps,
    ...lockVerbs.flatMap((verb) =>
      Array.from({ length: verb === HEARTBEAT ? HEARTBEATS : 1 }, (_, at) => ({
        verb,
        part: nth(verb, at + 1),
      })),
    ),
    ...(hasTest ? [{ verb: 'checked', part: 'checked' } as const] : []),
    ...Array.from(
      { length: opens },
      (_, at): Part => ({ verb: 'open', part: nth('open', at + 1) }),
    ),
    ...fences,
  ];
  const prefix = `${client.name}/${section.id}`;
  return parts.map(({ verb, part }) => ({ verb, point: `${prefix}/${part}` }));
}

/** Label of background renewals: `alice/1/heartbeat`, `alice/1/heartbeat-2`, … */
export const HEARTBEAT = 'heartbeat';

/** Mark at the start of a section that runs concurrently with others: `alice/1/begin`. */
export const BEGIN = 'begin';

/** Heartbeats per section that can be named before a run. A run may have more or fewer. */
const HEARTBEATS = 4;

/** Returns the timers of a section's steps: `alice/1/compute-4`, `alice/1/job`. */
export function timersOf({ client, section }: Omit<PlacedSection, 'store'>): readonly string[] {
  return section.work
    .filter(({ kind }) => TIMED.has(kind))
    .flatMap((step) => {
      const label = step.kind === 'transition' ? 'job' : step.kind;
      const labels = step.kind === 'memoize' ? pieceLabels('compute', step.pieces) : [label];
      return labels.map((label) => `${client.name}/${section.id}/${nth(label, step.id)}`);
    });
}

/** Returns true if `text` names a timer: it begins with a client's name, and names no message. */
export function isTimer(text: string, clients: ReadonlySet<string>): boolean {
  const slash = text.indexOf('/');
  if (slash < 0 || !clients.has(text.slice(0, slash))) return false;
  return !/\/(request|reply|timers)$/.test(text);
}

/** Steps that take time; a transition runs as a job. */
const TIMED: ReadonlySet<Work['kind']> = new Set(['compute', 'job', 'transition', 'memoize']);

/** A point without its section. */
interface Part {
  readonly verb: string;
  readonly part: string;
}

function stepParts(step: Work): readonly Part[] {
  const { kind, id } = step;
  // A section has one message, so its operations need no number.
  if (kind === 'transition') return QUEUE_VERBS.map((verb) => ({ verb, part: verb }));
  const parts = Object.entries(OPERATIONS[kind]).map(
    ([label, verb]): Part => ({ verb, part: nth(label, id) }),
  );
  if (kind !== 'memoize') return parts;
  const again: Part = { verb: 'read', part: `${nth('read', id)}-again` };
  if (step.pieces === 1) return [...parts, again];
  const pieces = pieceLabels('write-piece', step.pieces).map(
    (label): Part => ({ verb: 'write', part: nth(label, id) }),
  );
  const renews = pieceLabels('renew', step.pieces).map((part): Part => ({ verb: 'renew', part }));
  return [...parts, again, ...pieces, ...renews];
}

function pieceLabels(label: string, pieces: number): readonly string[] {
  return Array.from({ length: pieces }, (_, at) => nth(label, at + 1));
}

/** The verbs of each kind of step, by label and in order. */
const OPERATIONS: Readonly<Record<Work['kind'], Readonly<Record<string, Verb>>>> = {
  read: { read: 'read' },
  write: { write: 'write' },
  increment: { read: 'read', write: 'write' },
  transfer: { 'read-from': 'read', 'read-to': 'read', 'write-from': 'write', 'write-to': 'write' },
  compute: {},
  renew: { renew: 'renew' },
  lock: { lock: 'acquire', unlock: 'release' },
  job: {},
  transition: {},
  memoize: { read: 'read', write: 'write' },
};

/** Returns the stores that a step accesses. */
export function storesAccessed(step: Work): readonly string[] {
  if (step.kind === 'transfer') return [step.from, step.to];
  return 'store' in step ? [step.store] : [];
}

/** Returns `write`, `write-2`, …: the first has no number. */
function nth(label: string, number: number): string {
  return number === 1 ? label : `${label}-${number}`;
}

/** The process that keeps the messages of a queue. */
export const QUEUE = 'lock-queue';

/** Returns true for names that clients must not have: `probe`, and the names of lock servers. */
export function isReserved(name: string): boolean {
  return name === 'probe' || isLockServer(name);
}

/** Returns true if a process of this name serves a lock. */
export function isLockServer(name: string): boolean {
  return name === 'lock' || name.startsWith('lock-');
}
