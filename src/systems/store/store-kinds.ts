/**
 * All stores by the names that scenarios use, and the definition of a user's own store. Read next:
 * `store.ts` (tokens) or `version-table.ts` (versions), then `store-server.ts` and
 * `store-recorder.ts`.
 */
import { assert, Defect } from '../../core/kernel/assert.ts';
import type { Server } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { type OptionInfo, Options, optionsFor } from '../options.ts';
import type { CheckToken } from '../protocol.ts';
import { buildReplicas, quorumOptions, quorumProblem, replicaNames } from './quorum.ts';
import type { ClientRequirements, SeveralServers, StoreReply, StoreRequest } from './request.ts';
import { isSqlLoaded, loadSqlEngine, ProductTable, SqlTable } from './sql-table.ts';
import { type FenceRule, stores } from './store.ts';
import { askingServer, StoreServer, type Version, VersionServer } from './store-server.ts';
import { MemoryTable } from './version-table.ts';

export interface StoreKind extends Pick<FenceRule, 'about' | 'source' | 'notGuaranteed'> {
  readonly requirements: ClientRequirements;
  /** Name of the store's sequential model, or null if it has none. */
  readonly model: string | null;
  /** True if the store is supposed to remember the highest token. */
  readonly isFenced: boolean;
  /** True if the store needs the SQL engine. */
  readonly needsSql: boolean;
  /** True if the store checks tokens with the lock. `build` then requires `check`. */
  readonly asksLock: boolean;
  /** Options that a system may set. Default: none. */
  readonly options?: readonly OptionInfo[];
  /**
   * Set only if the store consists of several servers, which clients call directly.
   *
   * @internal
   */
  readonly replicated?: Replicated;
  /** Without `options`, their defaults apply. */
  readonly build: (
    name: string,
    check: CheckToken | null,
    options?: Options,
  ) => ReturnType<StoreDefinition['build']>;
}

/** A store that consists of several servers. */
export interface Replicated {
  /** Returns the names of the servers of `store`. */
  readonly names: (store: string, options: Options) => readonly string[];
  /** Returns why this combination of options is invalid, or null if it is valid. */
  readonly problem: (options: Options) => string | null;
  /** Adds the servers of these stores to the world. */
  readonly build: (world: World, stores: readonly string[], options: Options) => SeveralServers;
}

const IN_SQL = '; in SQLite, through the package node-sqlite3-wasm';

const ABOUT: Readonly<Record<Version, string>> = {
  count: 'accepts a write if it expects the current version, and increments the version',
  clock: 'like versioned, but the version is the time of the last change, in whole milliseconds',
  'client-clock': 'like timestamped, by the clock of the client that made the change',
};

const checkSequencer: StoreKind = {
  about: 'asks the lock service whether the token of a write belongs to a live lease',
  source: 'Burrows, The Chubby lock service (OSDI 2006), 2.4',
  notGuaranteed: [],
  requirements: { needsOpen: false, comparesItself: false, hasVersions: false },
  model: null,
  isFenced: false,
  needsSql: false,
  asksLock: true,
  build: (name, check) => {
    assert(check !== null, 'a store that asks has a check');
    return askingServer(name, check);
  },
};

const quorum: StoreKind = {
  about: 'N replicas: a write needs W answers, a read needs R, and the latest timestamp wins',
  source: 'Kleppmann and Riccomini, Designing Data-Intensive Applications, 2nd edition, chapter 9',
  notGuaranteed: [],
  requirements: { needsOpen: false, comparesItself: false, hasVersions: false },
  // Without read repair before the reply, R + W > N guarantees a regular register only, and no
  // total order explains its histories.
  model: null,
  isFenced: true,
  needsSql: false,
  asksLock: false,
  options: quorumOptions,
  replicated: { names: replicaNames, problem: quorumProblem, build: buildReplicas },
  build: (name) => {
    throw new Defect(`${name} is several servers`);
  },
};

/** Far enough below the largest safe integer that no run reaches it. */
const MOST_PIECES = 1_000_000_000_000;

const ofStocks = optionsFor(
  {
    stock: { range: [0, MOST_PIECES], fallback: 10 },
    version: { range: [1, MOST_PIECES], fallback: 1 },
  },
  {
    stock: 'initial number of pieces of each product',
    version: 'initial version of each product',
  },
);

/** All stores: those that compare tokens, and those that compare versions. */
export const storeKinds: ReadonlyMap<string, StoreKind> = new Map<string, StoreKind>([
  ...[...stores].map(([name, rule]) => [name, fenceKind(rule)] as const),
  ['check-sequencer', checkSequencer],
  ['quorum', quorum],
  ['versioned', versionKind('count', false)],
  ['timestamped', versionKind('clock', false)],
  ['timestamped-by-client', versionKind('client-clock', false)],
  ['versioned-sql', versionKind('count', true)],
  ['timestamped-sql', versionKind('clock', true)],
  ['stock', stockKind(false)],
  ['stock-sql', stockKind(true)],
]);

function fenceKind(rule: FenceRule): StoreKind {
  const { about, source, notGuaranteed, needsOpen, comparedBy } = rule;
  const requirements = { needsOpen, comparesItself: comparedBy === 'client', hasVersions: false };
  return {
    about,
    source,
    notGuaranteed,
    requirements,
    model: modelOf(rule),
    isFenced: rule.refuses !== 'nothing' && !rule.opensAnything,
    needsSql: false,
    asksLock: false,
    build: (name) => new StoreServer(name, rule),
  };
}

function modelOf({ refuses, coversReads, opensAnything, comparedBy }: FenceRule): string | null {
  if (refuses === 'lower-or-repeated' || opensAnything || comparedBy === 'client') return null;
  if (refuses === 'lower-or-equal') return 'fenced-register-strict';
  return coversReads ? 'fenced-register-with-reads' : 'fenced-register';
}

function versionKind(version: Version, isSql: boolean): StoreKind {
  return {
    about: `${ABOUT[version]}${isSql ? IN_SQL : ''}`,
    source: 'optimistic locking, Kung and Robinson (1981)',
    notGuaranteed: version === 'count' ? [] : ['no-lost-update', 'linearizable'],
    requirements: { needsOpen: false, comparesItself: false, hasVersions: true },
    model: version === 'count' ? 'versioned-register' : 'cas-register',
    isFenced: false,
    needsSql: isSql,
    asksLock: false,
    build: (name) => new VersionServer(name, version, isSql ? new SqlTable() : new MemoryTable()),
  };
}

function stockKind(isSql: boolean): StoreKind {
  const about =
    'products: adds to or subtracts from the stock if the version matches, never below 0';
  return {
    about: `${about}${isSql ? IN_SQL : ''}`,
    source: 'UPDATE … SET stock = stock - 1, version = version + 1 WHERE id = ? AND version = ?',
    notGuaranteed: [],
    requirements: { needsOpen: false, comparesItself: false, hasVersions: true, addsItself: true },
    model: 'versioned-register',
    isFenced: false,
    needsSql: isSql,
    asksLock: false,
    options: ofStocks.infos,
    build: (name, _check, chosen) => {
      const options = chosen ?? Options.read(ofStocks.infos, {});
      assert(typeof options !== 'string', 'the defaults are right');
      const { stock: pieces, version } = ofStocks.read(options);
      const stock = { pieces, version };
      const table = isSql ? new ProductTable(stock) : new MemoryTable(stock);
      return new VersionServer(name, 'count', table);
    },
  };
}

/**
 * Loads the dependencies of these systems' stores. Call it before the first run. Rejects with
 * `MissingSqlEngine`, whose message names the package to install.
 */
export async function prepare(
  systems: Iterable<{ readonly store: string }>,
  { stores }: { readonly stores: ReadonlyMap<string, StoreKind> } = { stores: storeKinds },
): Promise<void> {
  for (const { store } of systems) {
    if (stores.get(store)?.needsSql === true) await loadSqlEngine();
  }
}

/** Returns whether runs with this store can start. */
export function isPrepared(kind: StoreKind): boolean {
  return !kind.needsSql || isSqlLoaded();
}

/** A store that a lock protects. Only `about` and `build` are required. */
export interface StoreDefinition {
  /** A one-line description. */
  readonly about: string;
  /** The document that specifies the store's rule. */
  readonly source?: string;
  /** Claims that the store does not guarantee, even without faults. Default: none. */
  readonly notGuaranteed?: readonly string[];
  /** True if the store is supposed to remember the highest token. Default false. */
  readonly isFenced?: boolean;
  /** True if the store checks tokens with the lock. `build` then gets a `check`. Default false. */
  readonly asksLock?: boolean;
  /** Client requirements, each false by default. */
  readonly requirements?: {
    /** A client must announce its token before its first access. */
    readonly needsOpen?: boolean;
    /** The client itself compares its token with the store's before it writes. */
    readonly comparesItself?: boolean;
    /** A read returns a version, and a write may name the version that it expects. */
    readonly hasVersions?: boolean;
    /** The store applies increments itself; a write carries an increment beside the new value. */
    readonly addsItself?: boolean;
  };
  /** Name of the model that `linearizable` uses. Without a model, the claim is unknown. */
  readonly model?: string;
  /**
   * Creates the server called `name` for one run. The server must record each access, and its
   * contents after a restart, with a `StoreRecorder`; otherwise no claim about the data is tested.
   * A `StoreServer` with a custom rule does so already. `close` releases resources outside the run.
   */
  readonly build: (
    name: string,
    check: CheckToken | null,
  ) => Server<StoreRequest, StoreReply> & { readonly close?: () => void };
}

/** Returns the complete store kind. Throws an error that names the first invalid field. */
export function storeKindOf(name: string, definition: StoreDefinition): StoreKind {
  const { about, source = '', notGuaranteed = [], requirements = {}, build } = definition;
  const { model = null, isFenced = false, asksLock = false } = definition;
  if (typeof about !== 'string') throw new Error(`stores.${name}.about is not a string`);
  if (typeof build !== 'function') throw new Error(`stores.${name}.build is not a function`);
  const { needsOpen = false, comparesItself = false } = requirements;
  const { hasVersions = false, addsItself = false } = requirements;
  return {
    about,
    source,
    notGuaranteed,
    model,
    isFenced,
    asksLock,
    build,
    requirements: { needsOpen, comparesItself, hasVersions, addsItself },
    needsSql: false,
  };
}
