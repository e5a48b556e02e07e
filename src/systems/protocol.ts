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
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import type { Name } from '../core/kernel/name.ts';
import type { ClientSettings } from '../core/plan/client-text.ts';
import type { ClientPlan, Odds, QueuePlan, SectionPlan, Work } from '../core/plan/plan.ts';
import type { LeaseEnd } from '../core/world/client-view.ts';
import type { Caller } from '../core/world/port.ts';
import type { Program, Self } from '../core/world/program.ts';
import type { ServerHost, Turn } from '../core/world/server.ts';
import type { World } from '../core/world/world.ts';
import type {
  Manners,
  PendingAccess,
  SeveralServers,
  StoreReply,
  StoreRequest,
} from './store/request.ts';

export interface Protocol {
  /** One line on what it is. */
  readonly about: string;
  /** Where its rules are written down. */
  readonly source: string;
  /** What scenarios may set, each with the values it may have. */
  readonly options: readonly OptionInfo[];
  /**
   * The processes that serve its lock under these options, in a fixed order. The first is `lock` or
   * begins with `lock-`, as do all others; a lock without a server has none.
   */
  readonly servers: (options: Options) => readonly string[];
  /** Whether a section may take other locks beside its own, with a `lock` step. */
  readonly takesSeveral: boolean;
  /** Whether an acquire is answered only when its turn has come: asking again would not help. */
  readonly waitsInLine?: boolean;
  /** Whether sections acquire a lock. Default true; without, a guard stands for no grant. */
  readonly hasGrants?: boolean;
  /** Whether a lease can be prolonged, with a `renew` step. Default true. */
  readonly canRenew?: boolean;
  /**
   * By how much of its length it lengthens the wait before another attempt, at most, where a
   * scenario does not say. Absent: by nothing.
   */
  readonly jitter?: Odds;
  /** Which of these options cannot be meant as it is, beside the others and with such clients. */
  readonly problem?: (options: Options, clients: readonly ClientSettings[]) => OptionProblem | null;
  /** Whether clients can get their steps from a queue, with `transition` steps. Default false. */
  readonly takesMessages?: boolean;
  /** Claims that it does not promise, even where nothing goes wrong. */
  readonly unpromised: readonly string[];
  /**
   * Adds its servers to the world; each life of a client's program gets a driver of its own. Absent
   * where `buildAsync` is given instead.
   */
  readonly build?: (world: World, options: Options, queue?: QueuePlan) => DriverOf;
  /** The same where its clients are real asynchronous code. */
  readonly buildAsync?: BuildAsync;
  /**
   * What clients call their operations at the lock (`set` of `alice/1/set`), and their marks, so
   * that scenarios can place faults at them; `heartbeat` stands for the first few of a section.
   * Absent, where clients are no asynchronous code: `acquire`, and `release` if they release.
   */
  readonly operations?: readonly string[];
  /** The same for stores that ask about tokens; absent where there is no server that could say. */
  readonly buildAsked?: (
    world: World,
    options: Options,
  ) => { readonly driverOf: DriverOf; readonly check: CheckToken };
}

/** The driver of a client; that of the probe, who comes when all is healed, waits patiently. */
export type DriverOf = (client: ClientPlan, role: 'client' | 'probe') => LockDriver;

export interface OptionProblem {
  readonly option: string;
  /** What is wrong with it, naming all that it concerns. */
  readonly what: string;
}

/**
 * How a store asks the lock, while it handles `turn`, whether `token` is that of a lease which
 * still runs. `told` learns it at true time `atUs`; null when no answer comes.
 */
export type CheckToken = (
  turn: Turn<StoreReply>,
  asked: { readonly lock: string; readonly token: number },
  told: (isCurrent: boolean | null, atUs: number) => void,
) => void;

/** A client's side of the protocol. It keeps what the client remembers between sections. */
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
  /** Called before the body of a job; false when it must not run, because it has run already. */
  claimJob?(at: Section, job: JobStep): Program<boolean>;
  /** Called when the body of a job has run. */
  finishJob?(at: Section, job: JobStep): Program<void>;
}

/** Occurrence `tick` of a job, delivered after `retries` failures. */
export type JobStep = Extract<Work, { readonly kind: 'job' }>;

/** A value that a step is to read and then to write. */
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

/** One section as its program goes through it. */
export interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: SectionPlan;
  readonly name: Name;
  readonly driver: LockDriver;
  readonly servers: Servers;
  /** Calls that were sent and not waited for. */
  readonly unanswered: PendingAccess[];
  readonly opened: Set<string>;
  /** The versions that it knows of, by store and key; null where stores have none. */
  readonly versions: Map<string, number | null> | null;
  end: LeaseEnd;
  /** The token that it was entered with; 0 for none. */
  token: number;
}

export interface OptionInfo {
  readonly name: string;
  /** The values it may have; `integer` is any from 0, or in `range`. */
  readonly values: readonly string[] | 'integer';
  /** The least and the largest number that it may be. */
  readonly range?: readonly [number, number];
  readonly fallback: string | number;
  readonly about: string;
}

/** What may be chosen, by option: one of some words, by default the first, or a number. */
type Choices = Readonly<
  Record<
    string,
    readonly [string, ...string[]] | (Pick<OptionInfo, 'range'> & { fallback: number })
  >
>;

/** The options by which these choices are made, each with what it is about. */
export function optionsFor<C extends Choices>(
  choices: C,
  about: Readonly<Record<keyof C & string, string>>,
): readonly OptionInfo[] {
  return Object.entries<string>(about).map(([name, text]) => {
    const choice = choices[name];
    const values: OptionInfo['values'] = 'integer';
    assert(choice !== undefined, `${name} is one of the choices`);
    if (!('fallback' in choice)) {
      return { name, values: choice, fallback: choice[0], about: text };
    }
    return Object.assign({ name, values }, choice, { about: text });
  });
}

/** What was chosen, by the names of options. */
export type Chosen<C extends Choices> = {
  readonly [Option in keyof C]: C[Option] extends readonly (infer Word)[] ? Word : number;
};

/** So many ms are still a safe number of microseconds. */
export const LONGEST_MS = 1_000_000_000_000;

/** What `given` says of each of these choices; read once, since many runs have the same options. */
export function chosenFrom<C extends Choices>(given: Options, choices: C): Chosen<C> {
  const known = given.chosen.get(choices);
  if (known !== undefined && areChosen(known, choices)) return known;
  const values = readChosen(given, choices);
  given.chosen.set(choices, values);
  return values;
}

function readChosen<C extends Choices>(given: Options, choices: C): Chosen<C> {
  const values = Object.fromEntries(
    Object.entries(choices).map(([name, choice]) => [
      name,
      'fallback' in choice ? given.whole(name) : given.oneOf(name, choice),
    ]),
  );
  assert(areChosen(values, choices), 'each was read by its name');
  return values;
}

function areChosen<C extends Choices>(values: object, choices: C): values is Chosen<C> {
  for (const name in choices) if (!(name in values)) return false;
  return true;
}

/** A system's options with their defaults filled in: one object for all runs that have them. */
export class Options {
  /**
   * What was read of it by choices.
   * @internal
   */
  readonly chosen: WeakMap<Choices, object> = new WeakMap();
  private readonly values: ReadonlyMap<string, string | number>;

  private constructor(values: ReadonlyMap<string, string | number>) {
    this.values = values;
  }

  /** What is given over the defaults of `infos`, or in words what is wrong with it. */
  static read(
    infos: readonly OptionInfo[],
    given: Readonly<Record<string, Json>>,
  ): Options | string {
    const values = new Map(infos.map(({ name, fallback }) => [name, fallback]));
    for (const [name, value] of Object.entries(given)) {
      const info = infos.find((candidate) => candidate.name === name);
      if (info === undefined) return `there is no option ${name}`;
      if (typeof value === 'string' || typeof value === 'number') values.set(name, value);
      if (!mayBe(info, value)) return `there is no option ${name}: ${JSON.stringify(value)}`;
    }
    return new Options(values);
  }

  /** The value of an option with words for values. */
  word(name: string): string {
    const value = this.values.get(name);
    assert(typeof value === 'string', `${name} is no option with words for values`);
    return value;
  }

  /** The same, where `words` are all values that it may have. */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = words.find((word) => word === this.values.get(name));
    assert(value !== undefined, `${name} is no option with these words for values`);
    return value;
  }

  /** The value of an `integer` option. */
  whole(name: string): number {
    const value = this.values.get(name);
    assert(typeof value === 'number', `${name} is no option with a number`);
    return value;
  }
}

function mayBe({ values, range }: OptionInfo, value: Json): boolean {
  if (values !== 'integer') return typeof value === 'string' && values.includes(value);
  const [least, most] = range ?? [0, Number.MAX_SAFE_INTEGER];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return false;
  return value >= least && value <= most;
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
export interface AsyncClientSetting extends Pick<Servers, 'stores' | 'replicas' | 'manners'> {
  readonly plan: ClientPlan;
  readonly role: 'client' | 'probe';
  /** Whether its guards stand for grants. */
  readonly hasGrants: boolean;
  readonly programOf: SectionProgramOf;
}
