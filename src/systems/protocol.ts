/**
 * What a lock protocol is to the simulator: servers that it adds to the world, and a driver that
 * takes, renews and gives back the lock on a client's behalf, section by section. One folder per
 * protocol implements this, and `protocols.ts` names them all.
 *
 * Where the client is real asynchronous code, written with `async`, `Date` and timers, there is no
 * driver but an `AsyncSection`, the side of the world that such code sees; a host outside the core
 * runs it. Code that reads, decides and sends without an `await` between has no point to pause at:
 * a pause `before alice/1/write` then holds back the message, which is fixed already, and what it
 * says may be stale by the time it leaves. To have a point between, pass one:
 * `await section.mark('checked')`. After a pause comes first what it held back, then the messages
 * that arrived, then the timers that are due: a late reply is seen before the timeout that it
 * missed.
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
  Manners,
  PendingAccess,
  SeveralServers,
  StoreReply,
  StoreRequest,
} from './store/request.ts';

/**
 * A lock: what it adds to the world, and how a client uses it. All but `about` and one of
 * `section`, `build`, `buildAsked` and `buildAsync` has a default. With `section` or `buildAsync`
 * it has no `renew`, `lock` and `memoize` steps: its code does as it does.
 */
export interface LockDefinition {
  /** One line on what it is. */
  readonly about: string;
  /** Where its rules are written down. */
  readonly source?: string;
  /** What scenarios may set, each with the values it may have. Default: nothing. */
  readonly options?: readonly OptionInfo[];
  /** Returns which of these options is a mistake, beside the others and with such clients. */
  readonly problem?: (
    options: Options,
    clients: readonly Omit<ClientPlan, 'name' | 'sections' | 'concurrency'>[],
  ) => { readonly option: string; readonly what: string } | null;
  /**
   * `none`: its sections run without acquiring a lock, as code does that goes by versions. Its
   * guards stand for no grants, and claims about grants do not apply.
   */
  readonly lock?: 'none';
  /**
   * The names of its servers in a fixed order, `lock` or `lock-…`, so that faults can name them;
   * none for a lock without a server. A function if they depend on options. Default: `lock`.
   */
  readonly servers?: readonly string[] | ((options: Options) => readonly string[]);
  /** Whether a section may take other locks too, with a `lock` step. Default false. */
  readonly takesSeveral?: boolean;
  /** Whether an acquire is answered only when its turn has come. Default false. */
  readonly waitsInLine?: boolean;
  /** Whether a lease can be prolonged, with a `renew` step. Default true with `build`. */
  readonly canRenew?: boolean;
  /**
   * How much longer the wait before another attempt may be than the client's backoff, as a ratio,
   * if a scenario does not say. Default: no longer.
   */
  readonly jitter?: { readonly numerator: number; readonly denominator: number };
  /** Claims that it does not promise, even without faults. Default: it promises all. */
  readonly unpromised?: readonly string[];
  /**
   * What clients call their operations at the lock (`set` of `alice/1/set`), and their marks, so
   * that scenarios can place faults at them; `heartbeat` stands for the first few of a section.
   * Default with `build`: `acquire`, and `release` if they release.
   */
  readonly operations?: readonly string[];
  /**
   * One critical section of a client, as its real asynchronous code goes through it, on servers
   * that exist already: those of `hosts`. What it throws ends the section. `options` are the
   * system's. A lock that adds servers of its own has `buildAsync` instead.
   */
  readonly section?: (section: AsyncSection, options: Options) => Promise<void>;
  /**
   * Adds its servers to the world of one run (`world.addServer({ name: 'lock', role: 'lock' },
   * server)`), and returns a function that makes the driver of a client. It is called for each life
   * of a client's program; the probe is the client that comes after all faults and waits patiently.
   * `queue` is the scenario's, for a lock that takes messages.
   */
  readonly build?: (
    world: World,
    options: Options,
    queue?: QueuePlan,
  ) => (client: ClientPlan, role: 'client' | 'probe') => LockDriver;
  /** Whether clients can get their steps from a queue, with `transition` steps. Default false. */
  readonly takesMessages?: boolean;
  /** As `build`, for stores that ask the lock about tokens. */
  readonly buildAsked?: (
    world: World,
    options: Options,
  ) => {
    readonly driverOf: (client: ClientPlan, role: 'client' | 'probe') => LockDriver;
    readonly check: CheckToken;
  };
  /**
   * As `build`, for clients that are real asynchronous code: returns a function that is called for
   * each life of a client's process, and returns one that goes through a section. What that throws
   * ends the section, and the client goes on to the next, as a service does after a failed request;
   * a `TypeError` or the like ends the run.
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
  readonly unpromised: readonly string[];
  /** Whether sections acquire a lock. Default true; without, a guard stands for no grant. */
  readonly hasGrants?: boolean;
}

export type DriverOf = ReturnType<NonNullable<LockDefinition['build']>>;

/**
 * Asks the lock, while a store handles `turn`, whether `token` belongs to a lease that still runs.
 * Calls `told` at true time `atUs`, in microseconds, with the answer, or with null if none comes.
 */
export type CheckToken = (
  turn: Turn<StoreReply>,
  asked: { readonly lock: string; readonly token: number },
  told: (isCurrent: boolean | null, atUs: number) => void,
) => void;

/**
 * A client's side of a lock, which takes, renews and releases it, section by section. It lives as
 * long as one incarnation of the client's program, and keeps what that remembers between sections.
 */
export interface LockDriver {
  /**
   * One attempt, the `attempt`-th from 1, to take the section's lock. When it is true the section
   * holds it: the driver has set `at.end`, and called `at.self.enter` where the lock has grants.
   * After `given up` no other attempt is made; `refused` is an error of the caller's, after which
   * the section does nothing.
   */
  acquire(at: Section, attempt: number): Program<boolean | 'given up' | 'refused'>;
  /**
   * Prolongs the lease and moves `at.end`; false when the section must stop: the lease is lost.
   * Absent: a section stops where it is to renew.
   */
  renew?(at: Section, step: { readonly id: number; readonly ttlUs: number }): Program<boolean>;
  /** Gives the lock back, as far as it still can. The section has left already. */
  release(at: Section): Program<void>;
  /**
   * The token to attach to an access made now; 0, below every token of a grant, for none. If it is
   * absent, accesses carry the one that the section was entered with.
   */
  token?(lock: string): number;
  /** Takes the step's lock too, until the section ends. Only where the protocol `takesSeveral`. */
  also?(at: Section, step: { readonly id: number; readonly lock: string }): Program<boolean>;
  /**
   * Changes one value by a read and a write, where the protocol has a way of its own to do so;
   * false when the section must stop.
   */
  change?(at: Section, change: Change): Program<boolean>;
  /** Whether it holds this lock already and would refuse it, where a protocol does so. */
  holds?(lock: string): boolean;
  /** Called when the client's program ends by itself, not in a crash. */
  finish?(self: Self): void;
  /** Called right before a write to a store; `label` is the last part of its name. */
  beforeWrite?(at: Section, label: string): Program<void>;
  /** The message that the section is about; only where the protocol `takesMessages`. */
  delivery?(): { readonly steps: number; readonly retries: number } | null;
  /** Called while the lock is still held: whether all of the section's work went through. */
  worked?(at: Section, isWhole: boolean): Program<void>;
  /** Called when the lock was given back, at the end of the section. */
  settle?(at: Section): Program<void>;
  /**
   * Called before the body of a job, which is occurrence `tick` after `retries` failures; false
   * when it must not run, because it has run already.
   */
  claimJob?(at: Section, job: Extract<Work, { readonly kind: 'job' }>): Program<boolean>;
  /** Called when the body of a job has run. */
  finishJob?(at: Section, job: Extract<Work, { readonly kind: 'job' }>): Program<void>;
}

export type JobStep = Extract<Work, { readonly kind: 'job' }>;

/** A value that a driver's `change` reads and then writes. */
export interface Change {
  readonly id: number;
  readonly store: string;
  readonly key: string;
  /** What its operations are called: `read` and `write`, or those of a transfer. */
  readonly labels: { readonly read: string; readonly write: string };
  /** What to add to the value read, or to write instead of it. */
  readonly by: { readonly adds: number } | { readonly value: number };
}

export interface Servers {
  readonly driverOf: DriverOf;
  readonly stores: ReadonlyMap<string, ServerHost<StoreRequest, StoreReply>>;
  /** Where each store is several servers; absent: they are `stores`. */
  readonly replicas?: SeveralServers;
  /** What all of these stores want of a client. */
  readonly manners: Manners;
}

/** One critical section of a generator client, from its first attempt to its release. */
export interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: ClientPlan['sections'][number];
  /** `alice/1`: the names of its operations and timers lie under it. */
  readonly name: Name;
  /** Returns the name of its next operation or timer of this label: `alice/1/beat`, `…/beat-2`. */
  nextName(label: string): Name;
  /** @internal */
  readonly driver: LockDriver;
  /** @internal */
  readonly servers: Servers;
  /**
   * Calls that were sent and not waited for.
   * @internal
   */
  readonly unanswered: PendingAccess[];
  /** @internal */
  readonly opened: Set<string>;
  /**
   * The versions that it knows of, by store and key; null where stores have none.
   * @internal
   */
  readonly versions: Map<string, number | null> | null;
  /** When the client takes its lease to end. A driver sets it. */
  end: LeaseEnd;
  /** The token that it was entered with; 0 for none. A driver sets it. */
  token: number;
}

/** A client process, as its code sees it. */
export interface AsyncClient extends Caller {
  readonly name: string;
  /** What the scenario asks of it: its ttl, timeouts and sections, times in microseconds. */
  readonly plan: ClientPlan;
  /** 1, and one more after each restart. */
  readonly life: number;
  /** Writes a line into the trace. */
  log(topic: string, text: string): void;
}

/** One critical section of the plan: take a lock, do the work, give it back. */
export interface AsyncSection extends Caller {
  readonly id: number;
  /** The lock to take. */
  readonly lock: string;
  /** For how long to take it. */
  readonly ttlMs: number;
  /** Passes the point `alice/1/<point>`, at which a plan may place a fault. */
  mark(point: string): Promise<void>;
  /**
   * Says that the program counts on its lock from now on, so that what it does until it leaves can
   * be judged. A section without a guard had no lock. Each guard is an acquisition of its own: two
   * that are open at once exclude each other no better than those of two processes.
   */
  guard(setting?: GuardSetting): Guard;
}

/** What a program knows of the lock that it counts on. */
export interface GuardSetting {
  /** The fencing token to attach to each access; 0, below every token of a grant, if absent. */
  readonly token?: number;
  /** Until when the program counts on the lock, by its `Date`; absent: until it leaves. */
  readonly untilMs?: number;
}

/**
 * The marks of a critical section. With them `grant-order` judges a lock that has no tokens, or
 * hides them: the holders might as well have taken turns, in the order in which the lock was given
 * to them, or, where no server says so, in which they entered.
 */
export interface Guard {
  /** Does what the scenario's workload asks of this section. */
  work(): Promise<void>;
  /**
   * The value of a key of the store, 0 at first. Rejects with `NoAnswer`, and with `AccessRefused`
   * where the store refuses the token.
   */
  read(key: string): Promise<number>;
  /** Whether the store took it. Rejects with `NoAnswer`: it may have been taken. */
  write(key: string, value: number): Promise<boolean>;
  /**
   * The same acquisition goes on until `untilMs`, or until the program leaves: its lock said so.
   * A guard that was left stays so.
   */
  renew(setting?: GuardSetting): void;
  /**
   * The program stops counting on its lock; call it before the lock is given back. Where its
   * section ends without, it leaves then.
   */
  leave(): void;
}

/** The store refused a read, because a higher token had come before. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
}

/** What a store was asked may have happened or not: no answer came in time, or can come. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export type BuildAsync = NonNullable<LockDefinition['buildAsync']>;
export type SectionProgramOf = ReturnType<BuildAsync>;
export type SectionProgram = ReturnType<SectionProgramOf>;

/** A client that is to be added to a world by whoever can run asynchronous code. */
export interface AsyncClientSetting extends Pick<Servers, 'stores' | 'replicas' | 'manners'> {
  readonly plan: ClientPlan;
  readonly role: 'client' | 'probe';
  /** Whether its guards stand for grants. */
  readonly hasGrants: boolean;
  readonly programOf: SectionProgramOf;
}
