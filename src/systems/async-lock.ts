/**
 * What a lock is whose client is real asynchronous code, written with `async`, `Date` and timers:
 * the side of the world that such code sees. A host outside the core runs it.
 *
 * Code that reads, decides and sends without an `await` between has no point to pause at. A pause
 * `before alice/1/write` then holds back the message, which is fixed already: what it says may be
 * stale by the time it leaves. To have a point between, pass one: `await section.mark('checked')`.
 * After a pause comes first what it held back, then the messages that arrived, then the timers
 * that are due: a late reply is seen before the timeout that it missed.
 */
import type { ClientPlan } from '../core/plan/plan.ts';
import type { Caller } from '../core/world/port.ts';
import type { World } from '../core/world/world.ts';
import type { Options } from './protocol.ts';
import type { Servers } from './section-calls.ts';

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
   * be judged. A section without a guard had no lock.
   */
  guard(setting?: GuardSetting): Guard;
}

export interface GuardSetting {
  /** The fencing token to attach to each access; 0, below every token of a grant, if absent. */
  readonly token?: number;
  /**
   * Until when the program takes the lock for its own, by its own `Date`; if absent, until it
   * leaves.
   */
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

/**
 * Goes through one section. What it throws ends the section, and the client goes on to the next,
 * as a service does after a failed request; a `TypeError` or the like ends the run.
 */
export type SectionProgram = (section: AsyncSection) => Promise<void>;

/** Makes what a client does in its sections; called anew for each life of its process. */
export type SectionProgramOf = (client: AsyncClient) => SectionProgram;

/** Adds a lock's servers to the world of one run, and returns what its clients do. */
export type BuildAsync = (world: World, options: Options) => SectionProgramOf;

/** A client that is to be added to a world by whoever can run asynchronous code. */
export interface AsyncClientSetting extends Pick<Servers, 'stores' | 'manners'> {
  readonly plan: ClientPlan;
  readonly role: 'client' | 'probe';
  readonly programOf: SectionProgramOf;
}
