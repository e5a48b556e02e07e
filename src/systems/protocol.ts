/**
 * What a lock protocol is to the simulator: servers that it adds to the world, and a driver that
 * takes, renews and gives back the lock on a client's behalf. One folder a protocol implements
 * this, and `protocols.ts` names them all.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import type { ClientSettings } from '../core/plan/client-text.ts';
import type { ClientPlan, Odds, QueuePlan, Work } from '../core/plan/plan.ts';
import type { Program, Self } from '../core/world/program.ts';
import type { Turn } from '../core/world/server.ts';
import type { World } from '../core/world/world.ts';
import type { BuildAsync } from './async-lock.ts';
import type { Section } from './section-calls.ts';
import type { StoreReply } from './store/request.ts';

export interface Protocol {
  /** One line for `fencepost list`. */
  readonly about: string;
  /** Where its rules are written down. */
  readonly source: string;
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
   * What asynchronous clients call their operations at the lock (`set` of `alice/1/set`), and the
   * marks that they pass, so that scenarios can place faults at them.
   */
  readonly operations?: readonly string[];
  /** The same for stores that ask about tokens; absent where there is no server that could say. */
  readonly buildAsked?: (
    world: World,
    options: Options,
  ) => { readonly driverOf: (client: ClientPlan) => LockDriver; readonly check: CheckToken };
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
   * The token to attach to an access made now; 0, below every token of a grant, for none. Absent:
   * there are none.
   */
  token?(lock: string): number;
  /**
   * Takes another lock, the step's, as well; it is given back with the section's. Only where the
   * protocol `takesSeveral`.
   */
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
  /**
   * Called right before a write to a store, `label` is its last name, where a protocol has
   * something to do there.
   */
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

export interface OptionInfo {
  readonly name: string;
  /** The values it may have; `integer` is any from 0, or in `range`. */
  readonly values: readonly string[] | 'integer';
  /** The least and the largest number that it may be. */
  readonly range?: readonly [number, number];
  readonly fallback: string | number;
  readonly about: string;
}

/** A system's options with their defaults filled in. */
export class Options {
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
