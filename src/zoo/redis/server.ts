/**
 * A Redis node as a simulated server. It judges expiry by its wall clock, as Redis does (redis.io,
 * "Distributed Locks with Redis"). A shift of this clock may let two processes hold a lock. Without
 * persistence, a restart loses all keys. A replica that takes over has the keys that it had
 * received by then.
 *
 * A key has expired once the time is past its end (`now > when`, Redis' `keyIsExpired` in `db.c`):
 * a key that ends at 10 still exists at 10 and is gone at 11.
 */
import type { Answer, Boot, Server, Turn } from '../../servers.ts';

/** A command. With `ifValue`, a script that compares and acts in one step. */
export type LockNodeRequest =
  | { readonly kind: 'set'; readonly key: string; readonly value: number; readonly ttlUs: number }
  /** `SET key value PX ttl`, whatever the key holds. */
  | { readonly kind: 'store'; readonly key: string; readonly value: number; readonly ttlUs: number }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'delete'; readonly key: string; readonly ifValue: number | null }
  | {
      readonly kind: 'expire';
      readonly key: string;
      readonly ifValue: number | null;
      readonly ttlUs: number;
    };

export type LockNodeReply =
  | { readonly kind: 'done' }
  /** Nothing was changed, or the key does not exist. */
  | { readonly kind: 'nil' }
  | { readonly kind: 'value'; readonly value: number }
  /** The node is up, but kept out of service. */
  | { readonly kind: 'unavailable' };

/** A key of a lock. Its value is a unique number. */
export interface LockKey {
  readonly value: number;
  /** The last microsecond at which the key exists. */
  readonly end: number;
}

/** Returns the meaning of a reply for the trace; `token` is the token of a granted `set`. */
export function describeRedisReply(
  request: LockNodeRequest,
  token: number,
): (reply: LockNodeReply) => Answer {
  return (reply) => {
    if (reply.kind === 'value') return reply;
    if (reply.kind !== 'done') return { kind: 'denied', holder: '' };
    if (request.kind === 'set') return { kind: 'granted', token };
    return { kind: request.kind === 'delete' ? 'released' : 'renewed' };
  };
}

/** Records a node's actions for the observer, without affecting the node. */
export interface RedisRecorder {
  taken(turn: Turn, key: string, kept: Kept): void;
  denied(turn: Turn, key: string): void;
  /** `kept` is null if nothing was extended. */
  prolonged(turn: Turn, key: string, kept: Kept | null): void;
  deleted(turn: Turn, key: string, entry: LockKey | null): void;
  /** The node lost a key (all keys if null) at true time `atUs`. */
  lost(key: string | null, atUs: number): void;
  snapshot(): () => void;
}

/** A stored key. `untilUs` is its true expiry time, by the node's clock at its current rate. */
export interface Kept {
  readonly value: number;
  readonly ttlUs: number;
  readonly untilUs: number;
}

export interface RedisServerOptions {
  readonly persistence: 'always' | 'none';
  readonly expiry: 'wall' | 'monotonic';
  /** Time at which a node that lost its keys serves again: at once, or after their expiry. */
  readonly restart: 'at-once' | 'delayed';
}

/** `ifValue`: the value that the key must hold; null accepts any. */
type Matched = { readonly ifValue: number | null; readonly nowUs: number };

/**
 * One Redis node, as far as locks use it: `SET key value NX PX`, `GET`, `DEL`, `PEXPIRE`, and
 * scripts that compare the value first. Each command gets the current time in microseconds. An
 * expired key reappears if the clock is set back.
 */
export class LockNode {
  private keys: Map<string, LockKey> = new Map();

  /** Returns a key's entry, or null if it does not exist or has expired. */
  entry(key: string, nowUs: number): LockKey | null {
    const entry = this.keys.get(key);
    return entry === undefined || nowUs > entry.end ? null : entry;
  }

  /** `SET key value NX PX ttl`. Returns the new entry, or null if the key exists. */
  setIfAbsent(
    key: string,
    { value, ttlUs, nowUs }: { value: number; ttlUs: number; nowUs: number },
  ): LockKey | null {
    return this.entry(key, nowUs) === null ? this.set(key, value, nowUs + ttlUs) : null;
  }

  /** `DEL key`, in a script if `ifValue` is given. Returns the deleted entry, or null. */
  delete(key: string, { ifValue, nowUs }: Matched): LockKey | null {
    const entry = this.matching(key, ifValue, nowUs);
    if (entry !== null) this.keys.delete(key);
    return entry;
  }

  /** `PEXPIRE key ttl`, in a script if `ifValue` is given. Returns the updated entry, or null. */
  expire(key: string, { ifValue, ttlUs, nowUs }: Matched & { ttlUs: number }): LockKey | null {
    const entry = this.matching(key, ifValue, nowUs);
    return entry === null ? null : this.set(key, entry.value, nowUs + ttlUs);
  }

  private matching(key: string, ifValue: number | null, nowUs: number): LockKey | null {
    const entry = this.entry(key, nowUs);
    return entry === null || (ifValue !== null && entry.value !== ifValue) ? null : entry;
  }

  /** `SET key value PX ttl`, whatever the key holds. */
  set(key: string, value: number, end: number): LockKey {
    const entry = { value, end };
    this.keys.set(key, entry);
    return entry;
  }

  /** Evicts a key, expired or not. Returns false if there was none. */
  forget(key: string): boolean {
    return this.keys.delete(key);
  }

  clear(): void {
    this.keys.clear();
  }

  snapshot(): () => void {
    const keys = new Map(this.keys);
    return () => {
      this.keys = new Map(keys);
    };
  }
}

type Ask<K extends LockNodeRequest['kind']> = Extract<LockNodeRequest, { kind: K }>;

export class RedisServer implements Server<LockNodeRequest, LockNodeReply> {
  private readonly options: RedisServerOptions;
  private readonly recorder: RedisRecorder;
  private readonly node: LockNode = new LockNode();
  /** The longest ttl in use. Every lost key expires within this time. */
  private longestTtlUs = 0;
  /** End of the time out of service, by the node's monotonic clock. */
  private outOfServiceUntilUs = 0;
  private isReplica = false;

  constructor(options: RedisServerOptions, recorder: RedisRecorder) {
    this.options = options;
    this.recorder = recorder;
  }

  handle(request: LockNodeRequest, turn: Turn): LockNodeReply {
    if (turn.monotonicUs < this.outOfServiceUntilUs) return { kind: 'unavailable' };
    switch (request.kind) {
      case 'set':
        return this.set(request, turn);
      case 'get': {
        const entry = this.node.entry(request.key, this.nowUs(turn));
        return entry === null ? { kind: 'nil' } : { kind: 'value', value: entry.value };
      }
      case 'delete':
        return this.delete(request, turn);
      case 'expire':
      case 'store':
        return this.renew(request, turn);
    }
  }

  private set({ key, value, ttlUs }: Ask<'set'>, turn: Turn): LockNodeReply {
    this.longestTtlUs = Math.max(this.longestTtlUs, ttlUs);
    const nowUs = this.nowUs(turn);
    const entry = this.node.setIfAbsent(key, { value, ttlUs: turn.lifetimeUs(ttlUs), nowUs });
    if (entry === null) {
      this.recorder.denied(turn, key);
      return { kind: 'nil' };
    }
    this.recorder.taken(turn, key, this.kept(turn, entry, ttlUs));
    return { kind: 'done' };
  }

  private delete({ key, ifValue }: Ask<'delete'>, turn: Turn): LockNodeReply {
    const entry = this.node.delete(key, { ifValue, nowUs: this.nowUs(turn) });
    this.recorder.deleted(turn, key, entry);
    return { kind: entry === null ? 'nil' : 'done' };
  }

  private renew(request: Ask<'expire' | 'store'>, turn: Turn): LockNodeReply {
    const { key, ttlUs } = request;
    this.longestTtlUs = Math.max(this.longestTtlUs, ttlUs);
    const lifetimeUs = turn.lifetimeUs(ttlUs);
    const nowUs = this.nowUs(turn);
    const entry =
      request.kind === 'store'
        ? this.node.set(key, request.value, nowUs + lifetimeUs)
        : this.node.expire(key, { ifValue: request.ifValue, ttlUs: lifetimeUs, nowUs });
    const kept = entry === null ? null : this.kept(turn, entry, ttlUs);
    this.recorder.prolonged(turn, key, kept);
    return { kind: entry === null ? 'nil' : 'done' };
  }

  private nowUs(turn: Turn): number {
    return this.options.expiry === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  /** A key still exists at its end, and is gone one microsecond later. */
  private kept(turn: Turn, { value, end }: LockKey, ttlUs: number): Kept {
    return { value, ttlUs, untilUs: turn.trueTimeOf(this.options.expiry, end + 1) };
  }

  restart(boot: Boot): void {
    const keeps = this.isReplica || this.options.persistence === 'always';
    this.isReplica = false;
    if (keeps) return;
    this.node.clear();
    if (this.options.restart === 'delayed') {
      this.outOfServiceUntilUs = boot.monotonicUs + this.longestTtlUs;
    } else {
      this.recorder.lost(null, boot.atUs);
    }
  }

  /** A replica already has its keys in memory, so its start loses nothing more. */
  snapshot(): () => void {
    const restoreNode = this.node.snapshot();
    const restoreRecorder = this.recorder.snapshot();
    return () => {
      restoreNode();
      this.isReplica = true;
      restoreRecorder();
    };
  }

  evict(key: string, boot: Boot): boolean {
    this.recorder.lost(key, boot.atUs);
    return this.node.forget(key);
  }
}
