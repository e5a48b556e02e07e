/**
 * Defines the options of `simTest`: the system, its faults, the claims, and limits. Checks the
 * options that are not part of a scenario, since callers may use plain JavaScript. All mistakes are
 * reported at once, each with its option.
 */
import type { SystemDefinition } from '../../catalogue.ts';
import { shown } from '../../core/plan/fields.ts';
import type { World } from '../../core/world/world.ts';
import type { ExhaustScope } from '../../scenario/scenario.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import type { AsyncClient, AsyncSection, LockDefinition } from '../../systems/protocol.ts';
import { type PathStep, renderPath, suggest } from '../../text/problem.ts';
import type { BodyModules } from './body-modules.ts';
import type { ClaimName, LockName, StoreName } from './known-names.ts';
import type { ScenarioFields } from './scenario-fields.ts';
import { TestRefused } from './test-place.ts';

/** Options for running a check, independent of its scenario. */
export interface TestOptions {
  /** The number of seeds, from 0, or the first and the last seed, both inclusive. Default 200. */
  readonly seeds?: number | readonly [from: number, to: number];
  /**
   * Examines every plan with at most this many faults, instead of seeds. `ties` also allows up to
   * that many swaps of simultaneous events (default 0). `clients` and `sections` limit the search
   * to the first clients, and to the first sections of each client.
   */
  readonly exhaust?:
    | number
    | {
        readonly faults: number;
        readonly ties?: number;
        readonly clients?: number;
        readonly sections?: number;
      };
  /** Real time in milliseconds after which an unfinished test fails. Default 60,000. */
  readonly timeout?: number;
  /** Real time in milliseconds after which no more seeds are started. Default: no limit. */
  readonly budgetMs?: number;
  /** User-defined stores, claims, models and locks, from `defineSystem`. */
  readonly use?: SystemDefinition | readonly SystemDefinition[];
}

/** The scenario to check: written as options, or given as a file or text. */
export type ScenarioOptions =
  | (ScenarioFields & {
      readonly scenario?: never;
      readonly system?: never;
      /** The faults to inject; `[]` for none. */
      readonly faults: NonNullable<ScenarioFields['faults']>;
      /** The store that the lock guards. Default `unfenced`. */
      readonly store?: StoreName;
      /**
       * Claims that must hold on every seed. Default, without `breaks`: `grant-order`, or
       * `no-lost-update` for `lock: 'none'`.
       */
      readonly holds?: readonly ClaimName[];
      /** Claims that must break on at least one seed. */
      readonly breaks?: readonly ClaimName[];
      /** Claims that may break, such as `progress` for a body that waits forever on some seeds. */
      readonly may?: readonly ClaimName[];
    })
  | {
      /** The path of a scenario file beside the test, `./lock.yaml`, or the text of a scenario. */
      readonly scenario: string;
      /** The name of one of its systems. Default: all of them. */
      readonly system?: string;
      readonly faults?: never;
      readonly store?: never;
      readonly holds?: never;
      readonly breaks?: never;
      readonly may?: never;
    };

export type WrittenHere = Extract<ScenarioOptions, { readonly scenario?: never }>;

/** Options for a lock whose client is the body of the test. */
export type BodyOptions<S extends object, T extends object> = TestOptions &
  ScenarioOptions & {
    readonly options?: never;
    /** `none`: sections run without a lock, and claims about grants do not apply. */
    readonly lock?: 'none';
    /**
     * Adds the servers of the lock to the world of one run. A server is named `lock`, or `lock-…`
     * if there are several. The result is passed to the body.
     */
    readonly servers?: (world: World) => S;
    /** Called when a client process starts, for example to create an instance of a lock library. */
    readonly start?: (client: AsyncClient, servers: S) => T;
    /**
     * Names of the body's lock operations and marks, as places for faults: `set` in `alice/1/set`.
     * By default, they are learned from a few runs without faults.
     */
    readonly operations?: readonly string[];
    /**
     * Modules to pass to the body as `modules`: names mapped to paths relative to the test. Each
     * process gets its own instances, and new instances at each start. To declare their types,
     * write `simTest<{ lock: typeof import('./my-lock.ts') }>(…)`.
     */
    readonly modules?: Readonly<Record<string, string>>;
  };

/** Options for a lock given by name or definition, or for the systems of a scenario. */
export type LockOptions = TestOptions & {
  readonly servers?: never;
  readonly start?: never;
  readonly operations?: never;
  readonly modules?: never;
} & (
    | (Extract<ScenarioOptions, { readonly scenario?: never }> & {
        readonly lock: LockName | LockDefinition;
        /** Options of the lock: `{ release: 'own' }`. */
        readonly options?: Readonly<Record<string, string | number>>;
      })
    | (Extract<ScenarioOptions, { readonly scenario: string }> & {
        readonly lock?: never;
        readonly options?: never;
      })
  );

/**
 * One critical section: acquires the lock, reports that with `section.guard()`, works, and releases
 * the lock. An error ends the section, as a failed request does; a `TypeError` or a failed
 * assertion ends the test. The body also receives the results of `servers` and `start`.
 */
export type Body<S extends object, T extends object, A extends readonly unknown[] = []> = (
  section: AsyncSection,
  handles: S & T & { readonly client: AsyncClient },
  ...args: A
) => Promise<void>;

/** Options without the types of their handles. */
export type AnyOptions = TestOptions &
  ScenarioOptions & {
    readonly lock?: LockName | LockDefinition;
    readonly options?: Readonly<Record<string, string | number>>;
    readonly servers?: unknown;
    readonly start?: unknown;
    readonly operations?: unknown;
    readonly modules?: unknown;
  };

/** The scenario fields that a test may contain. */
export const SCENARIO_FIELDS: readonly (keyof ScenarioFields)[] = [
  'description',
  'hosts',
  'clients',
  'workload',
  'network',
  'jitter',
  'faults',
  'swarm',
  'epoch',
  'queue',
  'clocks',
  'time',
  'slack',
  'probe',
  'maxEvents',
];

/** Fields that belong to `systems` in a scenario file, but to the top level of the options. */
const CLAIM_FIELDS: readonly string[] = ['holds', 'breaks', 'may'];
const SYSTEM_FIELDS: readonly string[] = ['lock', 'options', 'store', ...CLAIM_FIELDS];

const TEST_FIELDS: readonly string[] = [
  'scenario',
  'system',
  'servers',
  'start',
  'operations',
  'modules',
  'seeds',
  'exhaust',
  'timeout',
  'budgetMs',
  'use',
];

/** Options whose own fields have been checked. The scenario has not been parsed yet. */
export interface CheckedOptions {
  /** The fields of the scenario and of its system, as given. */
  readonly fields: Partial<Omit<WrittenHere, 'scenario' | 'system'>> & {
    readonly lock?: string | LockDefinition;
    readonly options?: Readonly<Record<string, string | number>>;
  };
  /** A path or a text, or null if the scenario is written as options. */
  readonly scenario: string | null;
  readonly system: string | null;
  /** The lock that the test defines: its body or a definition. */
  readonly userLock: LockDefinition | null;
  /** True if `userLock` is the body of the test, which may use imports of the test file. */
  readonly isBody: boolean;
  /** True if a body adds no servers. Its servers are then the ones that `hosts` names. */
  readonly isServedByHosts: boolean;
  /** The modules to pass to the body, or null if there are none. */
  readonly modules: BodyModules | null;
  readonly use: readonly SystemDefinition[];
  readonly seeds: SeedRange;
  /** The scope of an exhaustive search, or null if seeds are examined. */
  readonly exhaust: ExhaustScope | null;
  readonly timeoutMs: number;
  readonly budgetMs: number | null;
}

const SEEDS = 200;
const TIMEOUT_MS = 60_000;

/** Throws a `TestRefused` if options are invalid. `body` is the lock made from the test's body. */
export function checkOptions(
  options: AnyOptions,
  body: LockDefinition | null,
  modules: BodyModules | null = null,
): CheckedOptions {
  const value: unknown = options;
  if (typeof value !== 'object' || value === null) {
    throw new TestRefused([`options: expected an object, not ${shown(value)}`]);
  }
  const lines = [
    ...unknownFields(value),
    ...(options.scenario === undefined ? problemsHere(options, body) : problemsBeside(options)),
    ...(body === null ? needingBody(options) : []),
    ...seedProblems(options.seeds),
    ...timeProblems(options),
    ...exhaustProblems(options),
  ];
  if (lines.length > 0) throw new TestRefused(lines);
  const { seeds = SEEDS, timeout = TIMEOUT_MS, budgetMs = null, use = [] } = options;
  const lock = 'lock' in options && typeof options.lock === 'object' ? options.lock : null;
  return {
    fields: options.scenario === undefined ? options : {},
    scenario: options.scenario ?? null,
    system: options.system ?? null,
    userLock: body ?? lock,
    isBody: body !== null,
    isServedByHosts: body !== null && options.servers === undefined,
    modules,
    use: isList(use) ? use : [use],
    seeds:
      typeof seeds === 'number' ? { from: 0, to: seeds - 1 } : { from: seeds[0], to: seeds[1] },
    exhaust: exhaustOf(options),
    timeoutMs: timeout,
    budgetMs,
  };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function unknownFields(options: object): readonly string[] {
  const known: readonly string[] = [...SCENARIO_FIELDS, ...SYSTEM_FIELDS, ...TEST_FIELDS];
  return Object.keys(options).flatMap((field) => {
    if (known.includes(field)) return [];
    const hint = suggest(field, known);
    return [`unknown field "${field}"${hint === '' ? `; known: ${known.join(', ')}` : hint}`];
  });
}

/** Reports missing fields, and values that are not plain data, in a scenario written as options. */
function problemsHere(options: AnyOptions, body: LockDefinition | null): readonly string[] {
  const { system, faults } = options;
  const lock: unknown = options.lock;
  const lines: string[] = [];
  if (system !== undefined) lines.push('system: allowed only with `scenario`');
  if (body !== null && lock !== undefined && lock !== 'none') {
    lines.push("lock: not allowed with a body, which is the lock; omit it, or pass lock: 'none'");
  }
  if (body === null && lock === undefined) {
    lines.push("lock: is missing; give a body, or name a lock, e.g. lock: 'redlock'");
  }
  if (faults === undefined) {
    const example = "[{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }]";
    lines.push(`faults: is missing; list the faults, e.g. ${example}, or [] for none`);
  }
  const plain: readonly string[] = [...SCENARIO_FIELDS, 'options', 'store', ...CLAIM_FIELDS];
  const entries = Object.entries(options).filter(([field]) => plain.includes(field));
  return [...lines, ...entries.flatMap(([field, value]) => unplainParts(value, [field]))];
}

/** Reports fields that the scenario already contains. */
function problemsBeside(options: AnyOptions): readonly string[] {
  const { scenario } = options;
  const text: unknown = scenario;
  if (typeof text !== 'string' || text === '') {
    return [`scenario: expected a path or the text of a scenario, not ${shown(text)}`];
  }
  const fields: readonly string[] = [...SCENARIO_FIELDS, ...SYSTEM_FIELDS];
  return Object.keys(options)
    .filter((field) => fields.includes(field))
    .map((field) => `${field}: the scenario sets it; omit it here`);
}

function needingBody({ servers, start, operations, modules }: AnyOptions): readonly string[] {
  return Object.entries({ servers, start, operations, modules }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field}: allowed only with a body`],
  );
}

function seedProblems(seeds: AnyOptions['seeds'] = SEEDS): readonly string[] {
  const isSeed = (seed: unknown): boolean => Number.isSafeInteger(seed) && Number(seed) >= 0;
  if (typeof seeds === 'number') {
    if (isSeed(seeds) && seeds > 0) return [];
  } else if (Array.isArray(seeds)) {
    const [from, to, ...rest] = seeds;
    if (isSeed(from) && isSeed(to) && to >= from && rest.length === 0) return [];
  }
  return [`seeds: expected a count, or the first and the last, e.g. [0, 199], not ${shown(seeds)}`];
}

function timeProblems({ timeout, budgetMs }: AnyOptions): readonly string[] {
  return Object.entries({ timeout, budgetMs }).flatMap(([field, value]) =>
    value === undefined || (typeof value === 'number' && value > 0)
      ? []
      : [`${field}: expected milliseconds, more than 0, not ${shown(value)}`],
  );
}

function exhaustProblems(options: AnyOptions): readonly string[] {
  const { exhaust } = options;
  if (exhaust === undefined) return [];
  const value: unknown = exhaust;
  if (typeof value !== 'number' && (typeof value !== 'object' || value === null)) {
    return [`exhaust: expected a maximum number of faults, e.g. 2, not ${shown(value)}`];
  }
  const other = (['seeds', 'budgetMs'] as const).filter((name) => options[name] !== undefined);
  const beside = other.map((name) => `${name}: not allowed with exhaust, which runs every plan`);
  const fields = typeof exhaust === 'number' ? { faults: exhaust } : exhaust;
  const known: readonly string[] = ['faults', 'ties', 'clients', 'sections'];
  const missing =
    'faults' in fields ? [] : ['exhaust.faults: is missing; give the maximum number of faults'];
  const wrong = Object.entries(fields).flatMap(([name, value]) => {
    const at = typeof exhaust === 'number' ? 'exhaust' : `exhaust.${name}`;
    if (!known.includes(name)) return [`${at}: unknown; known: ${known.join(', ')}`];
    const least = name === 'faults' || name === 'ties' ? 0 : 1;
    if (Number.isSafeInteger(value) && Number(value) >= least) return [];
    return [`${at}: expected a whole number of at least ${least}, not ${shown(value)}`];
  });
  return [...beside, ...missing, ...wrong];
}

function exhaustOf({ exhaust }: AnyOptions): ExhaustScope | null {
  if (exhaust === undefined) return null;
  const fields = typeof exhaust === 'number' ? { faults: exhaust } : exhaust;
  return { ties: 0, clients: null, sections: null, ...fields };
}

/** Reports each value that is not plain: `clients.ttl: expected plain data, not a function`. */
function unplainParts(value: unknown, path: readonly PathStep[]): readonly string[] {
  const kind = whyUnplain(value);
  if (kind !== null) return [`${renderPath(path)}: expected plain data, not ${kind}`];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((part, at) => unplainParts(part, [...path, at]));
  return Object.entries(value).flatMap(([key, part]) => unplainParts(part, [...path, key]));
}

function whyUnplain(value: unknown): string | null {
  switch (typeof value) {
    case 'function':
    case 'symbol':
    case 'bigint':
      return `a ${typeof value}`;
    case 'number':
      return Number.isFinite(value) ? null : String(value);
    case 'object': {
      if (value === null || Array.isArray(value)) return null;
      const kind: unknown = Reflect.getPrototypeOf(value);
      return kind === Object.prototype || kind === null ? null : 'an object of a class';
    }
    default:
      return null;
  }
}
