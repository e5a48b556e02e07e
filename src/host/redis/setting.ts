/**
 * What a command may touch: the node's databases, the connection that it came by, and the time at
 * which it runs; and what a row of the tables in `commands.ts` is.
 */

import type { KeyBook, Keys, KeyWrite } from './key-book.ts';
import { type KeyEntry, Keyspace } from './keyspace.ts';
import { LuaChance } from './lua-library.ts';
import type { RedisCommand, RedisPush, RedisReply } from './reply.ts';

/** What a key holds. It is never changed in place. */
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
/** Its members with their scores, in no order. */
export interface SortedData {
  readonly type: 'zset';
  readonly scores: ReadonlyMap<string, number>;
}

export type Entry = KeyEntry<RedisData>;

/** How many databases a node has, as Redis has by default. */
export const DATABASES = 16;

/** One of a node's databases; whoever watches a key is told that it was changed. */
export class Database {
  readonly index: number;
  private readonly keys: Keyspace<RedisData> = new Keyspace();
  private readonly changed: (write: KeyWrite) => void;

  constructor(index: number, changed: (write: KeyWrite) => void) {
    this.index = index;
    this.changed = changed;
  }

  get(key: string, nowMs: number): Entry | null {
    return this.keys.get(key, nowMs);
  }

  has(key: string, nowMs: number): boolean {
    return this.keys.has(key, nowMs);
  }

  set(key: string, { value, end }: Entry, nowMs: number): void {
    const before = this.get(key, nowMs);
    const after = this.keys.set(key, value, end);
    this.changed({ database: this.index, key, before, after });
  }

  /** Whether there was such a key. */
  delete(key: string, nowMs: number): boolean {
    const before = this.get(key, nowMs);
    if (before === null) return false;
    this.keys.delete(key, nowMs);
    this.changed({ database: this.index, key, before, after: null });
    return true;
  }

  /** As `Keyspace` has them: without a time, expired ones too. */
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

/** What a node knows of one connection; gone with it. */
export class Session {
  readonly id: string;
  database = 0;
  name = '';
  version: 2 | 3 = 2;
  /** What MULTI has queued; null outside of a transaction. */
  queue: RedisCommand[] | null = null;
  /** Something queued was no command: EXEC will refuse. */
  isBroken = false;
  /** The keys of WATCH, each with its database, and whether it was there. */
  readonly watched: Map<string, { database: number; key: string; wasThere: boolean }> = new Map();
  /** One of those was changed. */
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

/** All that a node has in memory but its scripts. */
export class NodeMemory {
  private readonly databases: Map<number, Database> = new Map();
  readonly sessions: Map<string, Session> = new Map();
  /** What `SPOP` and the like draw from: as for scripts, one stream. */
  chance: LuaChance = new LuaChance();
  /** Sends to a connection what it subscribed to. */
  readonly push: (session: string, message: RedisPush) => void;
  /** Tells the observer whose keys are. */
  readonly book: KeyBook;

  constructor(push: (session: string, message: RedisPush) => void, book: KeyBook) {
    this.push = push;
    this.book = book;
  }

  database(index: number): Database {
    const known = this.databases.get(index);
    if (known !== undefined) return known;
    const fresh = new Database(index, (write) => this.touch(write));
    this.databases.set(index, fresh);
    return fresh;
  }

  private touch(write: KeyWrite): void {
    const { database, key } = write;
    this.book.note(write);
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

  /** In the order in which they were first used. */
  get used(): readonly Database[] {
    return [...this.databases.values()];
  }

  /** Loses all connections, as a node does that starts again; `keys`: the databases too. */
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

/** Where and when a command runs. */
export interface Setting {
  readonly memory: NodeMemory;
  readonly session: Session;
  readonly scripts: ScriptRunner;
  /** By the node's wall clock, microseconds since 1970; the same all through a script. */
  readonly nowUs: number;
  readonly nowMs: number;
  /** Carries out a command that a transaction queued, or, `fromScript`, one that a script gave. */
  readonly carryOut: (command: RedisCommand, setting: Setting) => RedisReply;
  readonly fromScript: (command: RedisCommand, setting: Setting) => RedisReply;
  /** Counts something that is asked for and not simulated, such as `XADD`. */
  readonly noteUnsimulated: (what: string) => void;
  /** Of a script: it may call no command that writes. */
  readonly isReadOnly?: boolean | undefined;
}

/** The scripts that a node keeps. */
export interface ScriptRunner {
  eval(given: readonly string[], setting: Setting): RedisReply;
  evalSha(given: readonly string[], setting: Setting): RedisReply;
  load(text: string): RedisReply;
  has(sha: string): boolean;
  clear(): void;
}

/** `given` are the arguments of a command, without its name. */
export type Run = (given: readonly string[], setting: Setting) => RedisReply;

/**
 * What is special about a command: `no script` may call it; it runs `at once` also within MULTI; it
 * is for a `subscriber` too, who may call few others.
 */
export type Flag = 'no script' | 'at once' | 'subscriber';

/**
 * A command: its name, in lower case, a subcommand's behind a bar (`script|load`); how many words
 * it takes with its name, or, below 0, how many at least; what it does; its flags.
 */
export type Row = readonly [name: string, arity: number, run: Run, ...flags: readonly Flag[]];

export function databaseOf({ memory, session }: Setting): Database {
  return memory.database(session.database);
}

/** The keys of the database that the connection is in. */
export function keysOf({ memory, session: { database }, nowMs }: Setting): Keys {
  return { database, get: (key) => memory.database(database).get(key, nowMs) };
}

/** A command on one key. */
export function onKey(
  run: (key: string, rest: readonly string[], setting: Setting) => RedisReply,
): Run {
  return ([key = '', ...rest], setting) => run(key, rest, setting);
}

/** How a type of value is told from others, and which one is as good as no key. */
export interface Shape<V extends RedisData> {
  readonly is: (data: RedisData) => data is V;
  readonly empty: V;
  readonly isEmpty: (value: V) => boolean;
}

/** What a key holds, the empty value where it is absent; null where it is of another type. */
export function held<V extends RedisData>(shape: Shape<V>, key: string, at: Setting): V | null {
  const entry = entryOf(key, at);
  if (entry === null) return shape.empty;
  return shape.is(entry.value) ? entry.value : null;
}

/** Keeps what a key now holds; one that is empty is no more. Its end stays. */
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
