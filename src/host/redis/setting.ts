/**
 * The environment of a command: the node's databases, the client's connection, and the current
 * time. Also defines the rows of the tables in `commands.ts`.
 */

import type { KeyRecorder, Keys, KeyWrite } from './key-recorder.ts';
import { type KeyEntry, Keyspace } from './keyspace.ts';
import { LuaChance } from './lua-library.ts';
import type { RedisCommand, RedisPush, RedisReply } from './reply.ts';

/** The value of a key, never modified in place. */
export type RedisData = string | HashData | ListData | SetData | SortedData;
export interface HashData {
  readonly type: 'hash';
  readonly fields: ReadonlyMap<string, string>;
}
export interface ListData {
  readonly type: 'list';
  readonly items: readonly string[];
}
export interface SetData {
  readonly type: 'set';
  readonly members: ReadonlySet<string>;
}
/** Members with their scores, unordered. */
export interface SortedData {
  readonly type: 'zset';
  readonly scores: ReadonlyMap<string, number>;
}

export type Entry = KeyEntry<RedisData>;

/** Number of databases per node, the default of Redis. */
export const DATABASES = 16;

/** One of a node's databases. Reports each change of a key. */
export class Database {
  readonly index: number;
  private readonly keys: Keyspace<RedisData> = new Keyspace();
  private readonly memory: Pick<NodeMemory, 'touch' | 'lifetimeUs'>;

  constructor(index: number, memory: Pick<NodeMemory, 'touch' | 'lifetimeUs'>) {
    this.index = index;
    this.memory = memory;
  }

  get(key: string, nowMs: number): Entry | null {
    return this.keys.get(key, nowMs);
  }

  has(key: string, nowMs: number): boolean {
    return this.keys.has(key, nowMs);
  }

  set(key: string, { value, end }: Entry, nowMs: number): void {
    const before = this.get(key, nowMs);
    // Only a new expiry in the future can be postponed.
    const isAhead = end !== null && end > nowMs && end !== before?.end;
    const lasting = isAhead ? nowMs + this.lifetimeMs(end - nowMs) : end;
    const after = this.keys.set(key, value, lasting);
    this.memory.touch({ database: this.index, key, before, after });
  }

  private lifetimeMs(ttlMs: number): number {
    return Math.ceil(this.memory.lifetimeUs(ttlMs * 1000) / 1000);
  }

  delete(key: string, nowMs: number): boolean {
    const before = this.get(key, nowMs);
    if (before === null) return false;
    this.keys.delete(key, nowMs);
    this.memory.touch({ database: this.index, key, before, after: null });
    return true;
  }

  /** Returns the keys as `Keyspace.names` does. Without `nowMs`, includes expired keys. */
  names(nowMs?: number): readonly string[] {
    return this.keys.names(nowMs);
  }

  flush(nowMs: number): void {
    for (const name of this.names()) this.delete(name, nowMs);
  }

  snapshot(): () => void {
    return this.keys.snapshot();
  }
}

/** The state that a node keeps per connection. */
export class Session {
  readonly id: string;
  database = 0;
  name = '';
  version: 2 | 3 = 2;
  /** Commands queued since MULTI, or null outside a transaction. */
  queue: RedisCommand[] | null = null;
  /** True if an invalid command was queued. EXEC will then fail. */
  isBroken = false;
  /** Watched keys with their databases. `wasThere` is true if the key existed at WATCH. */
  readonly watched: Map<string, { database: number; key: string; wasThere: boolean }> = new Map();
  /** True if a watched key was changed. */
  isDirty = false;
  readonly channels: Set<string> = new Set();
  readonly patterns: Set<string> = new Set();

  constructor(id: string) {
    this.id = id;
  }

  get isSubscriber(): boolean {
    return this.channels.size + this.patterns.size > 0;
  }

  endTransaction(): void {
    this.queue = null;
    this.isBroken = false;
    this.unwatch();
  }

  unwatch(): void {
    this.watched.clear();
    this.isDirty = false;
  }
}

/** All state in a node's memory except its scripts. */
export class NodeMemory {
  private readonly databases: Map<number, Database> = new Map();
  readonly sessions: Map<string, Session> = new Map();
  /** Random source of `SPOP` and similar commands. */
  chance: LuaChance = new LuaChance();
  /** Sends a message to a subscribed connection. */
  readonly push: (session: string, message: RedisPush) => void;
  /** Returns the lifetime of a key that the current command sets to expire after `ttlUs`. */
  lifetimeUs: (ttlUs: number) => number = (ttlUs) => ttlUs;
  /** Records the holders of keys and reports them to the observer. */
  readonly recorder: KeyRecorder;

  constructor(push: (session: string, message: RedisPush) => void, recorder: KeyRecorder) {
    this.push = push;
    this.recorder = recorder;
  }

  database(index: number): Database {
    const known = this.databases.get(index);
    if (known !== undefined) return known;
    const fresh = new Database(index, this);
    this.databases.set(index, fresh);
    return fresh;
  }

  touch(write: KeyWrite): void {
    const { database, key } = write;
    this.recorder.note(write);
    for (const session of this.sessions.values()) {
      if (session.watched.has(`${database}:${key}`)) session.isDirty = true;
    }
  }

  session(id: string): Session {
    const known = this.sessions.get(id);
    if (known !== undefined) return known;
    const fresh = new Session(id);
    this.sessions.set(id, fresh);
    return fresh;
  }

  /** Returns the databases in the order in which they were first used. */
  get used(): readonly Database[] {
    return [...this.databases.values()];
  }

  /** Drops all connections and, unless `keepsKeys`, all databases. */
  restart({ keepsKeys }: { readonly keepsKeys: boolean }): void {
    if (!keepsKeys) this.databases.clear();
    this.sessions.clear();
    this.chance = new LuaChance();
  }

  snapshot(): () => void {
    const restores = this.used.map((database) => ({ database, restore: database.snapshot() }));
    return () => {
      this.databases.clear();
      for (const { database, restore } of restores) {
        restore();
        this.databases.set(database.index, database);
      }
    };
  }
}

/** The context of a command. */
export interface Setting {
  readonly memory: NodeMemory;
  readonly session: Session;
  readonly scripts: ScriptRunner;
  /** Microseconds since 1970 by the node's wall clock, constant during a script. */
  readonly nowUs: number;
  readonly nowMs: number;
  /** Executes a command that a transaction queued. `fromScript` executes a command of a script. */
  readonly carryOut: (command: RedisCommand, setting: Setting) => RedisReply;
  readonly fromScript: (command: RedisCommand, setting: Setting) => RedisReply;
  /** Counts a request for something that is not simulated, such as `XADD`. */
  readonly noteUnsimulated: (name: string) => void;
  /** True within a script that must not write. */
  readonly isReadOnly?: boolean | undefined;
}

/** The scripts that a node has loaded. */
export interface ScriptRunner {
  eval(args: readonly string[], setting: Setting): RedisReply;
  evalSha(args: readonly string[], setting: Setting): RedisReply;
  load(text: string): RedisReply;
  has(sha: string): boolean;
  clear(): void;
}

/** Executes a command. `args` does not include the command's name. */
export type Run = (args: readonly string[], setting: Setting) => RedisReply;

/**
 * `no script`: refused in scripts. `at once`: runs immediately, even within MULTI. `subscriber`:
 * allowed for a connection with subscriptions.
 */
export type Flag = 'no script' | 'at once' | 'subscriber';

/**
 * A command. `name` is in lower case, with a subcommand after a bar: `script|load`. `arity` counts
 * the name, and a negative arity is a minimum.
 */
export type Row = readonly [name: string, arity: number, run: Run, ...flags: readonly Flag[]];

export function databaseOf({ memory, session }: Setting): Database {
  return memory.database(session.database);
}

/** Returns the keys of the connection's current database. */
export function keysOf({ memory, session: { database }, nowMs }: Setting): Keys {
  return { database, get: (key) => memory.database(database).get(key, nowMs) };
}

/** Wraps a command whose first argument is a key. */
export function onKey(
  run: (key: string, rest: readonly string[], setting: Setting) => RedisReply,
): Run {
  return ([key = '', ...rest], setting) => run(key, rest, setting);
}

/** A type of value. Its empty value is equivalent to an absent key. */
export interface Shape<V extends RedisData> {
  readonly is: (data: RedisData) => data is V;
  readonly empty: V;
  readonly isEmpty: (value: V) => boolean;
}

/** Returns a key's value, the empty value if the key is absent, or null for another type. */
export function held<V extends RedisData>(shape: Shape<V>, key: string, at: Setting): V | null {
  const entry = entryOf(key, at);
  if (entry === null) return shape.empty;
  return shape.is(entry.value) ? entry.value : null;
}

/** Stores the value of a key and keeps the key's expiry. Deletes the key if the value is empty. */
export function keep<V extends RedisData>(
  shape: Shape<V>,
  { key, value }: { readonly key: string; readonly value: V },
  at: Setting,
): void {
  const database = databaseOf(at);
  if (shape.isEmpty(value)) database.delete(key, at.nowMs);
  else database.set(key, { value, end: endOf(entryOf(key, at)) }, at.nowMs);
}

export function entryOf(key: string, at: Setting): Entry | null {
  return databaseOf(at).get(key, at.nowMs);
}

export function endOf(entry: Entry | null): number | null {
  return entry?.end ?? null;
}
