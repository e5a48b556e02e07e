/**
 * The points of a section at which a fault can be placed, as far as the plan decides them:
 * `alice/2/write` is the write of step 1 in alice's section 2, `alice/2/write-3` that of step 3. A
 * transfer has two of each: `alice/2/read-from`, `alice/2/write-to`. And the names that no client
 * may have, since other processes of a run are called so.
 */
import type { ClientPlan, SectionPlan, Work } from './plan.ts';

/** The operations, and the mark `checked`, that a fault can be placed at. */
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

/** What a worker does with a message, apart from its step, when nothing goes wrong. */
const QUEUE_VERBS = ['receive', 'next', 'delete'] as const;

/** An operation or mark of one section. */
export interface SectionPoint {
  /** A `Verb`, or what asynchronous clients call an operation of theirs. */
  readonly verb: string;
  /** Its name in a run: `alice/1/write-2`. */
  readonly point: string;
}

export interface PlacedSection {
  readonly client: ClientPlan;
  readonly section: SectionPlan;
  /** The kind of store, which decides whether tokens are announced. */
  readonly store: string;
  /** What its clients call their operations at the lock; absent: `acquire` and `release`. */
  readonly operations?: readonly string[];
}

/** Stores that want a token announced before its first access. */
const OPENED_STORES: readonly string[] = ['fenced-open', 'unique-token'];

/** Stores whose clients ask for the highest token before each write. */
const FENCE_READ_STORES: readonly string[] = ['client-side-fence'];

/**
 * The points that the section passes, each once, when nothing goes wrong: those of its steps first,
 * in their order. Second and later attempts to acquire are none of them.
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
  // A memoize stores its value without a look at its lease.
  const tests = section.work.some(({ kind }) => kind !== 'memoize');
  const hasTest = client.checksLease && tests && steps.some(({ verb }) => verb === 'write');
  // The default is how fencepost's own locks are taken.
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

/** What keeps a lock in the background: `alice/1/heartbeat`, `alice/1/heartbeat-2`, … */
export const HEARTBEAT = 'heartbeat';

/** The mark that a section of several at once passes as its code begins: `alice/1/begin`. */
export const BEGIN = 'begin';

/** How many heartbeats of a section are named before it has run; there may be more, or fewer. */
const HEARTBEATS = 4;

/** The timers of a section's steps: `alice/1/compute-4`, `alice/1/job`. */
export function timersOf({ client, section }: Omit<PlacedSection, 'store'>): readonly string[] {
  return section.work
    .filter(({ kind }) => TIMED.has(kind))
    .flatMap((step) => {
      const label = step.kind === 'transition' ? 'job' : step.kind;
      const labels = step.kind === 'memoize' ? pieceLabels('compute', step.pieces) : [label];
      return labels.map((label) => `${client.name}/${section.id}/${nth(label, step.id)}`);
    });
}

/** What is due under a client's name, and is no message. */
export function isTimer(text: string, clients: ReadonlySet<string>): boolean {
  const slash = text.indexOf('/');
  if (slash < 0 || !clients.has(text.slice(0, slash))) return false;
  return !/\/(request|reply|timers)$/.test(text);
}

/** Steps that take a time of their own; a transition does so as a job. */
const TIMED: ReadonlySet<Work['kind']> = new Set(['compute', 'job', 'transition', 'memoize']);

/** A point without the name of its section. */
interface Part {
  readonly verb: string;
  readonly part: string;
}

function stepParts(step: Work): readonly Part[] {
  const { kind, id } = step;
  // A section has one message, so what is done with it needs no number.
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

/** What a step calls its operations, in their order, and what each does. */
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

/** The stores that a step accesses. */
export function storesAccessed(step: Work): readonly string[] {
  if (step.kind === 'transfer') return [step.from, step.to];
  return 'store' in step ? [step.store] : [];
}

/** `write`, `write-2`, …: the first has no number. */
function nth(label: string, number: number): string {
  return number === 1 ? label : `${label}-${number}`;
}

/** The process that keeps the messages of a queue. */
export const QUEUE = 'lock-queue';

/** The servers of a lock are `lock`, or `lock-1`, `lock-standby`; the fresh client is `probe`. */
export function isReserved(name: string): boolean {
  return name === 'probe' || isLockServer(name);
}

/** Whether a process of this name serves a lock. */
export function isLockServer(name: string): boolean {
  return name === 'lock' || name.startsWith('lock-');
}
