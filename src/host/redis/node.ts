/**
 * A Redis node as a simulated server, which executes Redis commands and runs real scripts. Expiry
 * follows the node's wall clock, as in Redis. A restart loses all scripts, and all keys that were
 * not persisted. A replica that takes over has only the keys that it had received.
 *
 * Read next: `commands.ts` (the commands), `scripts.ts` and `lua-engine.ts` (EVAL), `client.ts`
 * (the client for libraries), `meaning.ts` (the effect of a command on a lock) and `resp.ts` (the
 * wire format of drivers).
 */
import { assert } from '../../core/kernel/assert.ts';
import { type Boot, LATER, type Server, type Turn } from '../../core/world/server.ts';
import { globOf } from './commands/keys.ts';
import { callCommand, callFromScript } from './commands.ts';
import { type Actor, KeyRecorder } from './key-recorder.ts';
import type {
  PushRequest,
  RedisCommand,
  RedisPush,
  RedisReply,
  RedisRequest,
  SessionCommand,
} from './reply.ts';
import { bytesOf, OK } from './reply.ts';
import { Scripts } from './scripts.ts';
import { NodeMemory, type Setting } from './setting.ts';

/** Options of `RedisNode`. */
export interface RedisNodeOptions {
  /**
   * Keys that survive a restart. `always`: all keys, as with an append-only file and `appendfsync
   * always`. `none`: no keys. Default `none`.
   */
  readonly persistence?: 'always' | 'none';
  /**
   * Limit of interpreter steps per script. A script that exceeds the limit ends with an error
   * reply. Default 1,000,000.
   */
  readonly mostScriptSteps?: number;
  /**
   * Keys that are locks, as patterns of `KEYS`: `['job:*']`. The holder of a key is the client that
   * took it, for example by SET with NX or an expiry, or in a script. By default, keys named after
   * a lock of the scenario: `db`, `lock:db`.
   */
  readonly lockKeys?: readonly string[];
}

const MOST_SCRIPT_STEPS = 1_000_000;

/** A connection that is answered later. */
type Waits = Pick<Turn<RedisReply>, 'answer'>;

/** The time and the caller of a command. */
type Asked = Pick<Turn, 'wallUs'> & Partial<Actor & Pick<Turn, 'lifetimeUs' | 'noteUnsimulated'>>;

/**
 * A simulated Redis node with real commands, Lua scripts, transactions and subscriptions:
 * `world.addServer({ name: 'lock', role: 'lock' }, new RedisNode())`. Other commands are answered
 * with an error and reported.
 */
export class RedisNode implements Server<RedisRequest, RedisReply> {
  readonly speaks = 'redis';
  private readonly isDurable: boolean;
  private readonly memory: NodeMemory;
  private readonly scripts: Scripts;
  private readonly outbox: Outbox = new Outbox();
  private isReplica = false;

  constructor({
    persistence = 'none',
    mostScriptSteps = MOST_SCRIPT_STEPS,
    lockKeys,
  }: RedisNodeOptions = {}) {
    this.isDurable = persistence === 'always';
    this.scripts = new Scripts(mostScriptSteps);
    const push = (session: string, message: RedisPush): void => this.outbox.send(session, message);
    this.memory = new NodeMemory(push, new KeyRecorder(lockKeys?.map(globOf) ?? null));
  }

  /** Executes a command. Commands without a session use one session per client. */
  handle(request: RedisRequest, turn: Turn<RedisReply>): RedisReply | typeof LATER;
  /** @internal */
  handle(request: RedisCommand | SessionCommand, turn: Asked): RedisReply;
  handle(request: RedisRequest, turn: Asked & Partial<Waits>): RedisReply | typeof LATER {
    if ('awaits' in request) {
      const { answer } = turn;
      assert(answer !== undefined, 'what is pushed is awaited with a turn');
      return this.await(request, { answer: (reply) => answer.call(turn, reply) });
    }
    if ('closes' in request) return this.close(request.session);
    const [id, command] =
      'session' in request ? [request.session, request.command] : [turn.client ?? '', request];
    const { memory, scripts } = this;
    const nowMs = msOf(turn.wallUs);
    const at: Setting = {
      memory,
      session: memory.session(id),
      scripts,
      nowUs: turn.wallUs,
      nowMs,
      carryOut: callCommand,
      fromScript: callFromScript,
      noteUnsimulated: (name) => turn.noteUnsimulated?.(name),
    };
    memory.lifetimeUs = (ttlUs) => turn.lifetimeUs?.(ttlUs) ?? ttlUs;
    memory.recorder.begin(isActor(turn) ? turn : null);
    const reply = callCommand(command, at);
    this.endPushes(id);
    return reply;
  }

  private close(session: string): RedisReply {
    this.memory.sessions.delete(session);
    this.outbox.take(session);
    this.endPushes(session);
    return OK;
  }

  private isSubscriber(session: string): boolean {
    return this.memory.sessions.get(session)?.isSubscriber === true;
  }

  /** Ends a connection's wait for pushes if it has no subscriptions. */
  private endPushes(session: string): void {
    if (!this.isSubscriber(session)) this.outbox.end(session);
  }

  /**
   * Returns the messages pushed to a connection so far. If there are none, the answer waits for the
   * next message. The answer is empty if the connection has no subscriptions.
   * @internal
   */
  await({ session }: PushRequest, turn: Waits): RedisReply | typeof LATER {
    const pushes = this.outbox.take(session);
    if (pushes !== null || !this.isSubscriber(session)) return { pushes: pushes ?? [] };
    this.outbox.wait(session, turn);
    return LATER;
  }

  restart(boot?: Boot): void {
    const keepsKeys = this.isReplica || this.isDurable;
    this.isReplica = false;
    this.memory.restart({ keepsKeys });
    this.outbox.clear();
    this.scripts.restart();
    if (boot !== undefined) this.reconcile(boot);
  }

  private reconcile(boot: Boot): void {
    const { memory } = this;
    const nowMs = msOf(boot.wallUs);
    memory.recorder.reconcile(boot, ({ database, key }) =>
      memory.database(database).get(key, nowMs),
    );
  }

  /** Captures what a replica receives: since Redis 7, all keys but no scripts. */
  snapshot(): () => void {
    const restore = this.memory.snapshot();
    return () => {
      restore();
      this.isReplica = true;
    };
  }

  /** Evicts a key from each database that has it. */
  evict(key: string, boot: Pick<Boot, 'wallUs'> & Partial<Boot>): boolean {
    this.memory.recorder.begin(null);
    let isThere = false;
    for (const database of this.memory.used) {
      if (database.delete(bytesOf(key), msOf(boot.wallUs))) isThere = true;
    }
    if (isBoot(boot)) this.reconcile(boot);
    return isThere;
  }
}

/** Returns true if the turn has an observer, as it does in a world. */
function isActor(turn: Asked): turn is Asked & Actor {
  return turn.observe !== undefined;
}

function isBoot(boot: Pick<Boot, 'wallUs'> & Partial<Boot>): boot is Boot {
  return boot.observe !== undefined;
}

function msOf(us: number): number {
  return Math.floor(us / 1000);
}

/** Messages to be pushed to connections, and the connections that wait for them. */
class Outbox {
  private readonly kept: Map<string, RedisPush[]> = new Map();
  private readonly waiting: Map<string, Waits> = new Map();

  /** Returns the messages since the last request, or null if there are none. */
  take(session: string): readonly RedisPush[] | null {
    const pushes = this.kept.get(session) ?? null;
    this.kept.delete(session);
    return pushes;
  }

  wait(session: string, turn: Waits): void {
    this.waiting.set(session, turn);
  }

  send(session: string, message: RedisPush): void {
    const turn = this.waiting.get(session);
    this.waiting.delete(session);
    if (turn !== undefined) turn.answer({ pushes: [message] });
    else this.kept.set(session, [...(this.kept.get(session) ?? []), message]);
  }

  /** Answers a waiting connection with no messages. */
  end(session: string): void {
    const turn = this.waiting.get(session);
    this.waiting.delete(session);
    turn?.answer({ pushes: [] });
  }

  clear(): void {
    this.kept.clear();
    this.waiting.clear();
  }
}
