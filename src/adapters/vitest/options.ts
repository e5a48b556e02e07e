/** What `simTest` is given: which system, which faults, what should hold, and for how long. */
import type { SystemDefinition } from '../../catalogue.ts';
import type { World } from '../../core/world/world.ts';
import type { LockDefinition } from '../../systems/define-lock.ts';
import type { AsyncClient, AsyncSection } from '../../systems/protocol.ts';
import type { ScenarioFields } from './scenario-fields.ts';

export interface TestOptions {
  /** How many, from 0 on, or from one to another, both included. Default 200. */
  readonly seeds?: number | readonly [from: number, to: number];
  /** Milliseconds of real time after which the test fails, unless it is done. Default 60,000. */
  readonly timeout?: number;
  /** Milliseconds of real time after which no further seed is begun; if absent all are. */
  readonly budgetMs?: number;
  /** Stores, claims, models and locks of your own, from `defineSystem`. */
  readonly use?: SystemDefinition | readonly SystemDefinition[];
}

/** A scenario that is written here. */
export interface WrittenHere extends ScenarioFields {
  readonly scenario?: never;
  readonly system?: never;
  /** What may go wrong; `[]` where nothing does. */
  readonly faults: NonNullable<ScenarioFields['faults']>;
  /** What the lock guards. Default `unfenced`. */
  readonly store?: string;
  /** Claims that must hold on every seed; `grant-order` if neither this nor `breaks` is given. */
  readonly holds?: readonly string[];
  /** Claims that must break on some seed. */
  readonly breaks?: readonly string[];
}

/** A scenario that is written elsewhere. */
export interface WrittenElsewhere {
  /** A file beside the test, `./lock.yaml`, or the text of one; it lists its own expectations. */
  readonly scenario: string;
  /** One of its systems; all of them, if absent. */
  readonly system?: string;
  readonly faults?: never;
  readonly store?: never;
  readonly holds?: never;
  readonly breaks?: never;
}

/** A lock whose client is the body of the test. */
export interface BodyParts<S extends object, T extends object> {
  readonly lock?: never;
  readonly options?: never;
  /**
   * Adds the lock's servers to the world of one run: `lock`, or `lock-…` where there are several.
   * The body is handed what it returns.
   */
  readonly servers?: (world: World) => S;
  /** What each client process makes as it starts, a lock library's instance say; handed on, too. */
  readonly start?: (client: AsyncClient, servers: S) => T;
  /**
   * What the body calls its operations at the lock (`set` of `alice/1/set`) and its marks, for
   * faults to be placed at; if absent, those of a few runs in which nothing goes wrong.
   */
  readonly operations?: readonly string[];
}

/** A lock that fencepost has, or that is defined with `build` or `buildAsync`. */
export interface LockParts {
  readonly lock: string | LockDefinition;
  /** Options of the lock: `{ release: 'own' }`. */
  readonly options?: Readonly<Record<string, string | number>>;
  readonly servers?: never;
  readonly start?: never;
  readonly operations?: never;
}

export type BodyOptions<S extends object, T extends object> = TestOptions &
  BodyParts<S, T> &
  (WrittenHere | WrittenElsewhere);

/** Nothing but what the scenario says. */
interface NoParts {
  readonly lock?: never;
  readonly options?: never;
  readonly servers?: never;
  readonly start?: never;
  readonly operations?: never;
}

export type LockOptions = TestOptions & ((WrittenHere & LockParts) | (WrittenElsewhere & NoParts));

/** What a body uses beside its section. */
export type Handles<S extends object, T extends object> = S & T & { readonly client: AsyncClient };

/**
 * One critical section: takes the lock, says so with `section.guard()`, works, gives it back. What
 * it throws ends the section, as a failed request does; a `TypeError`, or an assertion of the
 * test's own, ends the test.
 */
export type Body<S extends object, T extends object, A extends readonly unknown[] = []> = (
  section: AsyncSection,
  handles: Handles<S, T>,
  ...args: A
) => Promise<void>;

/** Options whose handles are not known any more. */
export type AnyOptions = TestOptions &
  (WrittenHere | WrittenElsewhere) &
  Partial<Pick<LockParts, 'lock' | 'options'>> & {
    readonly servers?: unknown;
    readonly start?: unknown;
    readonly operations?: unknown;
  };

/** The fields of a scenario that a test may write. */
export const SCENARIO_FIELDS: readonly (keyof ScenarioFields)[] = [
  ...([
    'description',
    'clients',
    'workload',
    'network',
    'jitter',
    'faults',
    'swarm',
    'epoch',
    'queue',
  ] as const),
  ...(['clocks', 'time', 'slack', 'probe', 'maxEvents'] as const),
];

/** The fields that stand in a scenario's `systems`, and here beside the others. */
export const SYSTEM_FIELDS: readonly string[] = ['lock', 'options', 'store', 'holds', 'breaks'];

/** All others. */
export const TEST_FIELDS: readonly string[] = [
  ...['scenario', 'system', 'servers', 'start', 'operations'],
  ...['seeds', 'timeout', 'budgetMs', 'use'],
];
