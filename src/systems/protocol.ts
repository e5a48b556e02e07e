/**
 * Defines a lock protocol: its servers, and a driver that acquires, renews and releases the lock
 * for a client. Each folder of `zoo` implements one protocol; `parts.ts` lists them.
 *
 * A client that is real asynchronous code has no driver. The code gets an `AsyncSection`, and a
 * host outside the core runs it. A pause can stop such code only at an `await`. Without an `await`,
 * a pause `before alice/1/write` holds back a finished message, which may then be stale. Call
 * `await section.mark('checked')` to add a point. After a pause, the process first runs the steps
 * that the pause held back, then handles messages, then timers. A late reply therefore precedes the
 * timeout of its request.
 */
import type { Name } from '../core/kernel/name.ts';
import type { ClientPlan, QueuePlan, Work } from '../core/plan/plan.ts';
import type { ServerHost } from '../core/world/calls.ts';
import type { Caller } from '../core/world/port.ts';
import type { LeaseEnd, Program, Self } from '../core/world/program.ts';
import type { Turn } from '../core/world/server.ts';
import type { World } from '../core/world/world.ts';
import type { OptionInfo, Options } from './options.ts';
import type {
  ClientRequirements,
  PendingAccess,
  SeveralServers,
  StoreReply,
  StoreRequest,
} from './store/request.ts';

/**
 * A lock: its servers, and how a client uses it. A definition requires `about` and one of
 * `section`, `build`, `buildAsked` and `buildAsync`. A lock with `section` or `buildAsync` does not
 * support `renew`, `lock` and `memoize` steps.
 */
export interface LockDefinition {
  /** A one-line description. */
  readonly about: string;
  /** The document that specifies the lock's rules. */
  readonly source?: string;
  /** Options that scenarios may set, each with its accepted values. Default: none. */
  readonly options?: readonly OptionInfo[];
  /** Returns an option that conflicts with other options or with the clients, or null. */
  readonly problem?: (
    options: Options,
    clients: readonly Omit<ClientPlan, 'name' | 'sections' | 'concurrency'>[],
  ) => { readonly option: string; readonly what: string } | null;
  /**
   * `none`: sections run without a lock, as in optimistic locking. Claims about grants do not
   * apply.
   */
  readonly lock?: 'none';
  /**
   * Names of the lock's servers in a fixed order: `lock` or `lock-…`; empty if there is no server.
   * Pass a function if the names depend on options. Default: `lock`.
   */
  readonly servers?: readonly string[] | ((options: Options) => readonly string[]);
  /** True if a section may take further locks with a `lock` step. Default false. */
  readonly takesSeveral?: boolean;
  /** True if an acquire waits in a queue until it is granted. Default false. */
  readonly waitsInLine?: boolean;
  /** True if a `renew` step can extend a lease. Default true with `build`. */
  readonly canRenew?: boolean;
  /**
   * Jitter for scenarios that set none: the largest extra wait before another attempt, as a ratio
   * of the client's backoff. Default: none.
   */
  readonly jitter?: { readonly numerator: number; readonly denominator: number };
  /** Claims that the lock does not guarantee, even without faults. Default: none. */
  readonly notGuaranteed?: readonly string[];
  /**
   * Labels of the client's lock operations and marks, at which scenarios can place faults: `set`
   * for `alice/1/set`. `heartbeat` means the first few heartbeats of a section. Default with
   * `build`: `acquire`, and `release` if clients release.
   */
  readonly operations?: readonly string[];
  /**
   * Runs one critical section of a client as real asynchronous code, with the servers of `hosts`.
   * An error that it throws ends the section. A lock that adds its own servers has `buildAsync`
   * instead.
   */
  readonly section?: (section: AsyncSection, options: Options) => Promise<void>;
  /**
   * Adds the lock's servers to the world of one run (`world.addServer({ name: 'lock', role: 'lock'
   * }, server)`). Returns a function that creates a driver; it is called once per incarnation of a
   * client's program. The probe is the client that starts after all faults. `queue` is the
   * scenario's queue, for a lock that takes messages.
   */
  readonly build?: (
    world: World,
    options: Options,
    queue?: QueuePlan,
  ) => (client: ClientPlan, role: 'client' | 'probe') => LockDriver;
  /** True if clients can get their work from a queue, with `transition` steps. Default false. */
  readonly takesMessages?: boolean;
  /** Like `build`, for stores that check tokens with the lock. */
  readonly buildAsked?: (
    world: World,
    options: Options,
  ) => {
    readonly driverOf: (client: ClientPlan, role: 'client' | 'probe') => LockDriver;
    readonly check: CheckToken;
  };
  /**
   * Like `build`, but for clients that are real asynchronous code. The returned function is called
   * once per incarnation of a client's process, and returns the program of a section. If the
   * program throws, the client continues with its next section. A programming error such as a
   * `TypeError` ends the run.
   */
  readonly buildAsync?: (
    world: World,
    options: Options,
  ) => (client: AsyncClient) => (section: AsyncSection) => Promise<void>;
}

/** A lock with its defaults filled in. A lock with `buildAsked` also has `build`. */
export interface Protocol extends Omit<LockDefinition, 'lock' | 'section' | 'servers'> {
  readonly source: string;
  readonly options: readonly OptionInfo[];
  readonly servers: (options: Options) => readonly string[];
  readonly takesSeveral: boolean;
  readonly notGuaranteed: readonly string[];
  /** False if sections acquire no lock; guards then have no grants. Default true. */
  readonly hasGrants?: boolean;
}

export type DriverOf = ReturnType<NonNullable<LockDefinition['build']>>;

/**
 * Asks the lock whether `token` belongs to a live lease, while a store handles `turn`. Calls
 * `onChecked` with the answer and its true time in microseconds. The answer is null if none comes.
 */
export type CheckToken = (
  turn: Turn<StoreReply>,
  asked: { readonly lock: string; readonly token: number },
  onChecked: (isCurrent: boolean | null, atUs: number) => void,
) => void;

/**
 * A client's side of a lock. A driver exists for one incarnation of the client's program and keeps
 * its state between sections.
 */
export interface LockDriver {
  /**
   * Tries once to take the section's lock; `attempt` counts from 1. Before it returns true, the
   * driver sets `at.end` and, if the lock has grants, calls `at.self.enter`. `given up` ends the
   * attempts. `refused` means an error of the caller, after which the section does nothing.
   */
  acquire(at: Section, attempt: number): Program<boolean | 'given up' | 'refused'>;
  /**
   * Extends the lease and moves `at.end`. Returns false if the lease is lost, which ends the
   * section. Without this method, a section stops at its `renew` step.
   */
  renew?(at: Section, step: { readonly id: number; readonly ttlUs: number }): Program<boolean>;
  /** Releases the lock if still possible. The section has left before this call. */
  release(at: Section): Program<void>;
  /**
   * Returns the token to attach to an access made now, or 0 if there is none. Without this method,
   * accesses carry the token that the section was entered with.
   */
  token?(lock: string): number;
  /** Takes a further lock until the section ends. Called only if the protocol `takesSeveral`. */
  also?(at: Section, step: { readonly id: number; readonly lock: string }): Program<boolean>;
  /** Changes a value by a read and a write. Returns false if the section must stop. */
  change?(at: Section, change: Change): Program<boolean>;
  /** Returns whether the driver holds this lock. If so, it refuses to acquire the lock again. */
  holds?(lock: string): boolean;
  /** Called when the client's program ends normally, not in a crash. */
  finish?(self: Self): void;
  /** Called right before a write to a store; `label` is the last part of the write's name. */
  beforeWrite?(at: Section, label: string): Program<void>;
  /** Returns the message that the section handles. Called only if the protocol `takesMessages`. */
  delivery?(): { readonly steps: number; readonly retries: number } | null;
  /** Called while the lock is still held. `isComplete` means that all of the work succeeded. */
  worked?(at: Section, isComplete: boolean): Program<void>;
  /** Called at the end of the section, after the release. */
  settle?(at: Section): Program<void>;
  /**
   * Called before the body of a job. `job.tick` is the occurrence, `job.retries` the number of
   * earlier failures. Returns false if the job must not run again.
   */
  claimJob?(at: Section, job: Extract<Work, { readonly kind: 'job' }>): Program<boolean>;
  /** Called after the body of a job. */
  finishJob?(at: Section, job: Extract<Work, { readonly kind: 'job' }>): Program<void>;
}

export type JobStep = Extract<Work, { readonly kind: 'job' }>;

/** A value that a driver's `change` reads and then writes. */
export interface Change {
  readonly id: number;
  readonly store: string;
  readonly key: string;
  /** Operation names: `read` and `write`, or those of a transfer. */
  readonly labels: { readonly read: string; readonly write: string };
  /** An amount to add to the value read, or a value to write. */
  readonly by: { readonly adds: number } | { readonly value: number };
}

export interface Servers {
  readonly driverOf: DriverOf;
  readonly stores: ReadonlyMap<string, ServerHost<StoreRequest, StoreReply>>;
  /** Set only if each store consists of several servers. */
  readonly replicas?: SeveralServers;
  /** Client requirements of these stores. */
  readonly requirements: ClientRequirements;
}

/** One critical section of a generator client, from its first attempt to its release. */
export interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: ClientPlan['sections'][number];
  /** Prefix of the names of operations and timers: `alice/1`. */
  readonly name: Name;
  /** Returns the next name with this label: `alice/1/beat`, then `alice/1/beat-2`. */
  nextName(label: string): Name;
  /** @internal */
  readonly driver: LockDriver;
  /** @internal */
  readonly servers: Servers;
  /**
   * Calls sent without waiting for the answer.
   *
   * @internal
   */
  readonly unanswered: PendingAccess[];
  /** @internal */
  readonly opened: Set<string>;
  /**
   * Known versions by store and key; null if the stores have none.
   *
   * @internal
   */
  readonly versions: Map<string, number | null> | null;
  /** The end of the lease, as the client sees it. Set by the driver. */
  end: LeaseEnd;
  /** The token that the section was entered with; 0 if there is none. Set by the driver. */
  token: number;
}

/** A client process, as its own code sees it. */
export interface AsyncClient extends Caller {
  readonly name: string;
  /** The client's settings: ttl, timeouts and sections. Times are in microseconds. */
  readonly plan: ClientPlan;
  /** Incarnation number: 1, plus one per restart. */
  readonly incarnation: number;
  /** Writes a line to the trace. */
  log(topic: string, text: string): void;
}

/** One critical section of the plan: take a lock, do the work, release the lock. */
export interface AsyncSection extends Caller {
  readonly id: number;
  /** The lock to take. */
  readonly lock: string;
  /** The ttl to request. */
  readonly ttlMs: number;
  /** Passes the point `alice/1/<point>`, at which a plan can place a fault. */
  mark(point: string): Promise<void>;
  /**
   * Declares that the program relies on its lock from now on. Its accesses can be judged until it
   * leaves. A section without a guard counts as a section without a lock. Each guard is a separate
   * acquisition, so two open guards overlap like those of two processes.
   */
  guard(setting?: GuardSetting): Guard;
}

/** The client's knowledge of its lock. */
export interface GuardSetting {
  /** Fencing token to attach to each access. Default 0, lower than any granted token. */
  readonly token?: number;
  /** End of the lease by the program's `Date`. Default: until the program leaves. */
  readonly untilMs?: number;
}

/**
 * Marks a critical section, so that `grant-order` can judge a lock without visible tokens. The
 * results must be as if the holders had taken turns in the order of their grants. If no server
 * reports grants, the order in which the holders entered counts.
 */
export interface Guard {
  /** Does the work that the scenario assigns to this section. */
  work(): Promise<void>;
  /**
   * Resolves with the value of a key of the store, 0 at first. Rejects with `NoAnswer`, or with
   * `AccessRefused` if the store refuses the token.
   */
  read(key: string): Promise<number>;
  /**
   * Resolves with true if the store accepted the write. Rejects with `NoAnswer`; the write may have
   * been accepted.
   */
  write(key: string, value: number): Promise<boolean>;
  /**
   * Continues the same acquisition until `untilMs`, or until the program leaves. Call it when the
   * lock confirms an extension. Does not reopen a guard.
   */
  renew(setting?: GuardSetting): void;
  /**
   * Declares that the program no longer relies on its lock. Call this before releasing the lock.
   * The end of the section also leaves the guard.
   */
  leave(): void;
}

/** The store refused a read because it had seen a higher token. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
}

/** No answer came in time, or none can come. The store may have executed the request. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export type BuildAsync = NonNullable<LockDefinition['buildAsync']>;
export type SectionProgramOf = ReturnType<BuildAsync>;
export type SectionProgram = ReturnType<SectionProgramOf>;

/** A client that a host for asynchronous code adds to a world. */
export interface AsyncClientSetting extends Pick<Servers, 'stores' | 'replicas' | 'requirements'> {
  readonly plan: ClientPlan;
  readonly role: 'client' | 'probe';
  /** True if its guards have grants. */
  readonly hasGrants: boolean;
  readonly programOf: SectionProgramOf;
}
