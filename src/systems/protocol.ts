/**
 * Defines a lock protocol for the simulator: the servers that it adds to the world, and a driver
 * that acquires, renews and releases the lock for a client, section by section. Each folder of
 * `zoo` implements one protocol; `parts.ts` lists them.
 *
 * If the client is real asynchronous code, with `async`, `Date` and timers, it has no driver. The
 * code gets an `AsyncSection` instead, which is its view of the world, and a host outside the core
 * runs it. Code that reads, decides and sends without an `await` in between cannot be paused there:
 * a pause `before alice/1/write` then holds back a finished message, which may be stale by the time
 * it leaves. To add a point, call `await section.mark('checked')`. After a pause, the process first
 * runs the steps that the pause held back, then handles the messages that arrived, then the timers
 * that are due. It therefore sees a late reply before the timeout of its request.
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
 * A lock: the servers that it adds to the world, and how a client uses it. A definition requires
 * `about` and one of `section`, `build`, `buildAsked` and `buildAsync`. A lock with `section` or
 * `buildAsync` does not support `renew`, `lock` and `memoize` steps, since its own code handles
 * these.
 */
export interface LockDefinition {
  /** A one-line description. */
  readonly about: string;
  /** The document that specifies the lock's rules. */
  readonly source?: string;
  /** Options that scenarios may set, each with its accepted values. Default: none. */
  readonly options?: readonly OptionInfo[];
  /** Returns the option that conflicts with the others or with these clients, or null. */
  readonly problem?: (
    options: Options,
    clients: readonly Omit<ClientPlan, 'name' | 'sections' | 'concurrency'>[],
  ) => { readonly option: string; readonly what: string } | null;
  /**
   * `none`: sections run without acquiring a lock, as in optimistic locking by versions. Their
   * guards have no grants, and claims about grants do not apply.
   */
  readonly lock?: 'none';
  /**
   * The names of the lock's servers in a fixed order, so that faults can name them: `lock` or
   * `lock-…`; an empty list if the lock has no server; a function if the names depend on options.
   * Default: `lock`.
   */
  readonly servers?: readonly string[] | ((options: Options) => readonly string[]);
  /** True if a section may take further locks with a `lock` step. Default false. */
  readonly takesSeveral?: boolean;
  /** True if an acquire waits in a queue and is answered when its turn comes. Default false. */
  readonly waitsInLine?: boolean;
  /** True if a `renew` step can extend a lease. Default true with `build`. */
  readonly canRenew?: boolean;
  /**
   * Jitter for scenarios that set none: how much the wait before another attempt may exceed the
   * client's backoff, as a ratio. Default: none.
   */
  readonly jitter?: { readonly numerator: number; readonly denominator: number };
  /** Claims that the lock does not guarantee, even without faults. Default: it guarantees all. */
  readonly notGuaranteed?: readonly string[];
  /**
   * The labels of client operations at the lock (`set` of `alice/1/set`) and of marks, so that
   * scenarios can place faults at them; `heartbeat` means the first few heartbeats of a section.
   * Default with `build`: `acquire`, and `release` if clients release.
   */
  readonly operations?: readonly string[];
  /**
   * Runs one critical section of a client as real asynchronous code. It uses the servers of
   * `hosts`, which already exist. An error that it throws ends the section. `options` are the
   * options of the system. A lock that adds its own servers has `buildAsync` instead.
   */
  readonly section?: (section: AsyncSection, options: Options) => Promise<void>;
  /**
   * Adds the lock's servers to the world of one run (`world.addServer({ name: 'lock', role: 'lock'
   * }, server)`), and returns a function that creates a client's driver. The returned function is
   * called once per incarnation of a client's program. The probe is the patient client that starts
   * after all faults. `queue` is the scenario's queue, for a lock that takes messages.
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
   * once per incarnation of a client's process, and returns a function that runs a section. If the
   * latter throws, the section ends and the client continues with the next, as a service does after
   * a failed request; a programming error such as a `TypeError` ends the run.
   */
  readonly buildAsync?: (
    world: World,
    options: Options,
  ) => (client: AsyncClient) => (section: AsyncSection) => Promise<void>;
}

/** A lock with its defaults filled in. A lock that has `buildAsked` has `build` too. */
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
 * Asks the lock, while a store handles `turn`, whether `token` belongs to a lease that is still
 * live. Calls `onChecked` with the answer, or null if none comes, and its true time `atUs`, in
 * microseconds.
 */
export type CheckToken = (
  turn: Turn<StoreReply>,
  asked: { readonly lock: string; readonly token: number },
  onChecked: (isCurrent: boolean | null, atUs: number) => void,
) => void;

/**
 * A client's side of a lock, which acquires, renews and releases it, section by section. It exists
 * for one incarnation of the client's program and keeps its state between sections.
 */
export interface LockDriver {
  /**
   * Tries once to take the section's lock; `attempt` counts from 1. Returns true if the section
   * holds the lock: the driver has then set `at.end`, and called `at.self.enter` if the lock has
   * grants. After `given up`, no further attempt is made. `refused` means an error of the caller,
   * after which the section does nothing.
   */
  acquire(at: Section, attempt: number): Program<boolean | 'given up' | 'refused'>;
  /**
   * Extends the lease and moves `at.end`. Returns false if the lease is lost and the section must
   * stop. Without this method, a section stops at its `renew` step.
   */
  renew?(at: Section, step: { readonly id: number; readonly ttlUs: number }): Program<boolean>;
  /** Releases the lock as far as still possible. The section has left before this call. */
  release(at: Section): Program<void>;
  /**
   * Returns the token to attach to an access made now, or 0 if there is none. Any granted token is
   * higher. Without this method, accesses carry the token that the section was entered with.
   */
  token?(lock: string): number;
  /** Takes a further lock until the section ends. Called only if the protocol `takesSeveral`. */
  also?(at: Section, step: { readonly id: number; readonly lock: string }): Program<boolean>;
  /**
   * Changes a value by a read and a write in the protocol's own way. Returns false if the section
   * must stop.
   */
  change?(at: Section, change: Change): Program<boolean>;
  /** Returns whether the driver holds this lock. If so, it refuses to acquire the lock again. */
  holds?(lock: string): boolean;
  /** Called when the client's program ends normally, not in a crash. */
  finish?(self: Self): void;
  /** Called right before a write to a store; `label` is the last part of its name. */
  beforeWrite?(at: Section, label: string): Program<void>;
  /** Returns the message that the section handles. Called only if the protocol `takesMessages`. */
  delivery?(): { readonly steps: number; readonly retries: number } | null;
  /** Called while the lock is still held. `isComplete` means that all of the work succeeded. */
  worked?(at: Section, isComplete: boolean): Program<void>;
  /** Called at the end of the section, after the release. */
  settle?(at: Section): Program<void>;
  /**
   * Called before the body of a job. `job` contains the occurrence, `tick`, and the number of
   * earlier failures, `retries`. Returns false if the job has run already and must not run again.
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
  /** The amount to add to the value read, or the value to write instead. */
  readonly by: { readonly adds: number } | { readonly value: number };
}

export interface Servers {
  readonly driverOf: DriverOf;
  readonly stores: ReadonlyMap<string, ServerHost<StoreRequest, StoreReply>>;
  /** The servers of the stores, if each store consists of several servers; otherwise absent. */
  readonly replicas?: SeveralServers;
  /** Client requirements of all of these stores. */
  readonly requirements: ClientRequirements;
}

/** One critical section of a generator client, from its first attempt to its release. */
export interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: ClientPlan['sections'][number];
  /** `alice/1`: the prefix of the names of its operations and timers. */
  readonly name: Name;
  /** Returns a name for the next operation or timer with a label: `alice/1/beat`, `…/beat-2`. */
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
   * Declares that the program counts on its lock from now on. Its accesses can then be judged until
   * it leaves. Without a guard, the section counts as one that had no lock. Each guard is a
   * separate acquisition: two guards open at once overlap just as those of two processes would.
   */
  guard(setting?: GuardSetting): Guard;
}

/** The client's knowledge of the lock that it counts on. */
export interface GuardSetting {
  /** Fencing token to attach to each access. Default 0, lower than any granted token. */
  readonly token?: number;
  /** Time, by the program's `Date`, until which it counts on the lock. Default: until it leaves. */
  readonly untilMs?: number;
}

/**
 * Marks a critical section. With these marks, `grant-order` can judge a lock that has no tokens or
 * hides them. The results must be as if the holders had taken turns: in the order of the grants or,
 * if no server reports grants, in the order in which the holders entered.
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
   * Resolves with true if the store accepted the write. Rejects with `NoAnswer`: the store may have
   * accepted it.
   */
  write(key: string, value: number): Promise<boolean>;
  /**
   * Continues the same acquisition until `untilMs`, or until the program leaves. Call it when the
   * lock confirms an extension. A guard that was left is not reopened.
   */
  renew(setting?: GuardSetting): void;
  /**
   * Declares that the program no longer counts on its lock. Call it before releasing the lock. If
   * the section ends without this call, the guard is left then.
   */
  leave(): void;
}

/** The store refused a read because it had seen a higher token. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
}

/** No answer came in time, or none can come; the store may or may not have executed the request. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export type BuildAsync = NonNullable<LockDefinition['buildAsync']>;
export type SectionProgramOf = ReturnType<BuildAsync>;
export type SectionProgram = ReturnType<SectionProgramOf>;

/** A client to be added to a world by a host that can run asynchronous code. */
export interface AsyncClientSetting extends Pick<Servers, 'stores' | 'replicas' | 'requirements'> {
  readonly plan: ClientPlan;
  readonly role: 'client' | 'probe';
  /** True if its guards have grants. */
  readonly hasGrants: boolean;
  readonly programOf: SectionProgramOf;
}
