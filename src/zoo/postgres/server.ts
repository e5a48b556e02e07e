/**
 * PostgreSQL's advisory locks, as its server implements them (documentation, 13.3.5 and 9.28.10). A
 * lock belongs to a *session*, which is a connection to a backend process. Locks are in shared
 * memory, neither logged nor replicated. Only its owner can end a lock: there is no timeout and no
 * token.
 * - At *session* level, a lock is held until it is unlocked as often as it was locked, or until the
 *   session ends. At *transaction* level, it is held until the transaction ends.
 * - `pg_try_advisory_lock` returns true if the session holds the lock already. `pg_advisory_unlock`
 *   returns false, with a warning, if the session does not hold the lock.
 * - A session ends when its connection is closed. If a peer vanishes silently, its connection is
 *   half-open. The server detects this only by TCP keepalives, after two hours and eleven minutes
 *   by Linux's defaults.
 * - If configured to (`idle_session_timeout`, `idle_in_transaction_session_timeout`), the server
 *   also ends an idle session, even if its client is still working.
 *
 * A pooler in transaction mode may be in front of the server (PgBouncer, "SQL feature map for
 * pooling modes"). Each transaction gets any free server connection, here in rotation, as with
 * `server_round_robin = 1`. A single statement is a transaction, so lock and unlock may reach
 * different backends, and two clients may share a backend.
 */
import { type Answer, type Boot, GrantRecorder, type Server, type Turn } from '../../servers.ts';

export type PostgresRequest =
  | { readonly kind: 'lock' | 'unlock'; readonly lock: string }
  /** `pg_advisory_unlock_all()`. */
  | { readonly kind: 'unlock-all'; readonly lock: string };

export type PostgresReply =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'released' };

export function describePostgresReply(reply: PostgresReply): Answer {
  return reply;
}

export interface PostgresSettings {
  readonly level: 'session' | 'transaction';
  readonly pooler: 'none' | 'transaction';
  /** Number of server connections that the pooler keeps. */
  readonly backends: number;
  /** `closes`: the end of a client's connection reaches the server; `half-open`: it does not. */
  readonly peerDeath: 'closes' | 'half-open';
  /** Time of silence after which the server detects a vanished peer. */
  readonly keepaliveMs: number;
  /** Idle time after which a session is ended; 0 for never. */
  readonly idleTimeoutMs: number;
  readonly token: 'none' | 'sequence';
}

/** Owners of advisory locks: pure state and rules. */
export class AdvisoryLocks<S extends object> {
  private readonly holds: Map<string, { readonly session: S; count: number }> = new Map();

  /** Returns the session that holds a lock, or null if none does. */
  owner(lock: string): S | null {
    return this.holds.get(lock)?.session ?? null;
  }

  /** `pg_try_advisory_lock`. */
  tryLock(session: S, lock: string): boolean {
    const hold = this.holds.get(lock);
    if (hold === undefined) this.holds.set(lock, { session, count: 1 });
    else if (hold.session === session) hold.count += 1;
    return hold === undefined || hold.session === session;
  }

  /** `pg_advisory_unlock`. Returns false if the session does not hold the lock. */
  unlock(session: S, lock: string): boolean {
    const hold = this.holds.get(lock);
    if (hold?.session !== session) return false;
    hold.count -= 1;
    if (hold.count === 0) this.holds.delete(lock);
    return true;
  }

  /** `pg_advisory_unlock_all`, as at the end of a session. Returns the locks that it freed. */
  unlockAll(session: S): readonly string[] {
    const held = [...this.holds].flatMap(([lock, hold]) =>
      hold.session === session ? [lock] : [],
    );
    for (const lock of held) this.holds.delete(lock);
    return held;
  }
}

interface Session {
  /** The client's connection, or null if a pooler keeps the session open. */
  connection: Turn['connection'] | null;
  heardUs: number;
}

/** The client of a lock's latest grant, and its token. */
interface Given {
  readonly client: string;
  readonly token: number;
}

/** `nextval` logs this many values ahead, which a crash skips (`SEQ_LOG_VALS` in sequence.c). */
const LOGGED_AHEAD = 32;

type LockTurn = Turn<PostgresReply>;

export class PostgresServer implements Server<PostgresRequest, PostgresReply> {
  private readonly settings: PostgresSettings;
  private readonly recorder: GrantRecorder;
  private locks: AdvisoryLocks<Session> = new AdvisoryLocks();
  private readonly given: Map<string, Given> = new Map();
  private sessions: Session[] = [];
  /** The pooler's position in its rotation. */
  private turns = 0;
  /** The sequence that issues tokens: its value, and the highest logged value. */
  private value = 0;
  private logged = 0;

  constructor(name: string, settings: PostgresSettings) {
    this.settings = settings;
    this.recorder = new GrantRecorder(name);
  }

  handle(request: PostgresRequest, turn: LockTurn): PostgresReply {
    this.endSessions(turn);
    const session = this.sessionOf(turn);
    session.heardUs = turn.monotonicUs;
    const { lock } = request;
    if (request.kind === 'lock') return this.lock(lock, session, turn);
    if (request.kind === 'unlock') return this.unlock(lock, session, turn);
    for (const held of this.locks.unlockAll(session)) this.note(held, turn);
    return { kind: 'released' };
  }

  private sessionOf({ connection, monotonicUs: heardUs }: LockTurn): Session {
    const session = this.sessions.find((session) => session.connection === connection);
    if (session !== undefined) return session;
    const isPooled = this.settings.pooler !== 'none';
    const free = this.sessions.filter((session) => session.connection === null);
    if (!isPooled || free.length < this.settings.backends) {
      const session = { connection: isPooled ? null : connection, heardUs };
      this.sessions.push(session);
      return session;
    }
    this.turns += 1;
    const next = free[this.turns % free.length];
    if (next === undefined) throw new Error('a pooler has at least one connection');
    return next;
  }

  private lock(lock: string, session: Session, turn: LockTurn): PostgresReply {
    const { client } = turn;
    const wasHeld = this.locks.owner(lock) !== null;
    const last = this.given.get(lock);
    if (!this.locks.tryLock(session, lock)) {
      const holder = last?.client ?? '';
      this.recorder.deny(turn, { lock, client, holder });
      return { kind: 'denied', holder };
    }
    if (wasHeld && last?.client === client) {
      turn.grant(this.recorder.current(lock));
      return { kind: 'granted', token: last.token };
    }
    // A backend that holds the lock grants it again to any client that the pooler routes to it.
    if (wasHeld && last !== undefined) {
      const backend = `the backend that took ${lock} for ${last.client}`;
      this.recorder.explain(turn, `the pooler sends ${client} to ${backend}`);
    }
    const token = this.nextToken();
    this.given.set(lock, { client, token });
    // A transaction keeps its backend until it ends.
    if (this.settings.level === 'transaction') session.connection = turn.connection;
    this.recorder.grant(turn, { lock, client, token, ttlUs: 0, untilUs: null });
    return { kind: 'granted', token };
  }

  private nextToken(): number {
    if (this.settings.token === 'none') return 0;
    this.value += 1;
    if (this.value > this.logged) this.logged = this.value + LOGGED_AHEAD;
    return this.value;
  }

  /** Handles an unlock, or the end of the transaction. */
  private unlock(lock: string, session: Session, turn: LockTurn): PostgresReply {
    const { level, pooler } = this.settings;
    if (level === 'transaction') {
      if (pooler !== 'none') session.connection = null;
      for (const held of this.locks.unlockAll(session)) this.note(held, turn);
      return { kind: 'released' };
    }
    if (this.locks.unlock(session, lock)) {
      if (this.locks.owner(lock) === null) this.note(lock, turn);
      return { kind: 'released' };
    }
    const { atUs, server: process, client } = turn;
    const text = `WARNING: you don't own a lock of type ExclusiveLock (${client}, ${lock})`;
    turn.observe({ kind: 'log', atUs, process, topic: 'postgres', text });
    this.recorder.release(turn, { lock, client, isEffective: false });
    return { kind: 'denied', holder: '' };
  }

  /** Records that the lock is free. */
  private note(lock: string, turn: LockTurn): void {
    this.recorder.release(turn, { lock, client: turn.client, isEffective: true });
  }

  private endSessions(turn: LockTurn): void {
    for (const session of [...this.sessions]) {
      if (!this.isOver(session, turn.monotonicUs)) continue;
      for (const lock of this.locks.unlockAll(session)) {
        const { client = '' } = this.given.get(lock) ?? {};
        this.recorder.end(turn, { lock, client }, 'its session was over');
      }
      if (this.settings.pooler !== 'none') session.connection = null;
      else this.sessions = this.sessions.filter((other) => other !== session);
    }
  }

  private isOver({ connection, heardUs }: Session, nowUs: number): boolean {
    if (connection === null) return false;
    const { peerDeath, keepaliveMs, idleTimeoutMs } = this.settings;
    const idleUs = nowUs - heardUs;
    if (idleTimeoutMs > 0 && idleUs >= idleTimeoutMs * 1000) return true;
    if (connection.isOpen) return false;
    return peerDeath === 'closes' || idleUs >= keepaliveMs * 1000;
  }

  /** Locks do not survive a restart, and a standby never had them. */
  restart(_boot: Boot): void {
    this.sessions = [];
    this.locks = new AdvisoryLocks();
    this.value = this.logged;
  }

  snapshot(): () => void {
    const { logged } = this;
    return () => {
      this.logged = logged;
    };
  }
}
