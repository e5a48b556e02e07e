/**
 * A Redis node as a server of the world. It judges expiry by its wall clock, as Redis does
 * (redis.io, "Distributed Locks with Redis": it "doesn't use monotonic clock for TTL expiry", so a
 * shift of the clock may let two processes hold a lock). Without persistence a restart loses all
 * keys; a replica that takes over has what it was sent in time.
 *
 * A key is expired once the time is past its end (`now > when`, Redis' `keyIsExpired` in `db.c`),
 * so at its very end it is still there: one that ends at 10 is there at 10 and gone at 11.
 */
import type { Answer, Boot, Server, Turn } from '../../servers.ts';

/** A command; with `ifValue` a script, which compares and acts in one step. */
export type LockNodeRequest =
  | { readonly kind: 'set'; readonly key: string; readonly value: number; readonly ttlUs: number }
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
  /** Nothing was changed, or nothing is there. */
  | { readonly kind: 'nil' }
  | { readonly kind: 'value'; readonly value: number }
  /** The node is up, but kept out of service. */
  | { readonly kind: 'unavailable' };

/** A key that locks are made of: a number that nobody else has, with an end. */
export interface LockKey {
  readonly value: number;
  /** The last microsecond at which it is there. */
  readonly end: number;
}

/** What the trace says of a reply; `token` is what a granted `set` brings. */
export function describeRedisReply(
  request: LockNodeRequest,
  token: number,
): (reply: LockNodeReply) => Answer {
  return (reply) => {
    if (reply.kind === 'value') return reply;
    if (reply.kind !== 'done') return { kind: 'denied', holder: '' };
    if (request.kind === 'set') return { kind: 'granted', token };
    return { kind: request.kind === 'expire' ? 'renewed' : 'released' };
  };
}

/**
 * Is told what the node did, for the observer; nothing of it changes what the node does. `untilUs`
 * is the true time at which the node's clock, as it now runs, lets go of the key.
 */
export interface Witness {
  taken(turn: Turn, key: string, kept: Kept): void;
  denied(turn: Turn, key: string): void;
  /** `null`: nothing was prolonged. */
  prolonged(turn: Turn, key: string, kept: Kept | null): void;
  deleted(turn: Turn, key: string, entry: LockKey | null): void;
  /** The node forgot a key, null for all, and may give it again from true time `atUs` on. */
  lost(key: string | null, atUs: number): void;
  snapshot(): () => void;
}

/** What a node keeps of a key, and until when. */
export interface Kept {
  readonly value: number;
  readonly ttlUs: number;
  readonly untilUs: number;
}

export interface RedisServerOptions {
  readonly persistence: 'always' | 'none';
  readonly expiry: 'wall' | 'monotonic';
  /** Whether it serves again at once after it lost its keys, or only when they would be expired. */
  readonly restart: 'at-once' | 'delayed';
}

/** `ifValue`: the value that the key must hold; null takes whatever is there. */
type Matched = { readonly ifValue: number | null; readonly nowUs: number };

/**
 * One Redis node, as far as locks use it: `SET key value NX PX`, `GET`, `DEL`, `PEXPIRE`, and the
 * scripts that compare the value before a DEL or PEXPIRE, in one step. Each command is told the
 * time, in microseconds; a key that is expired comes back where the clock is set back.
 */
export class LockNode {
  private keys: Map<string, LockKey> = new Map();

  /** Returns what a key holds, or null if it is absent or expired. */
  entry(key: string, nowUs: number): LockKey | null {
    const entry = this.keys.get(key);
    return entry === undefined || nowUs > entry.end ? null : entry;
  }

  /** `SET key value NX PX ttl`: the new entry, or null where the key was there already. */
  setIfAbsent(
    key: string,
    { value, ttlUs, nowUs }: { value: number; ttlUs: number; nowUs: number },
  ): LockKey | null {
    return this.entry(key, nowUs) === null ? this.set(key, value, nowUs + ttlUs) : null;
  }

  /**
   * `DEL key`, or the script that deletes it only if it holds `ifValue`: what was deleted, or null.
   */
  delete(key: string, { ifValue, nowUs }: Matched): LockKey | null {
    const entry = this.matching(key, ifValue, nowUs);
    if (entry !== null) this.keys.delete(key);
    return entry;
  }

  /** `PEXPIRE key ttl`, in a script if `ifValue` is given: the entry as it now is, or null. */
  expire(key: string, { ifValue, ttlUs, nowUs }: Matched & { ttlUs: number }): LockKey | null {
    const entry = this.matching(key, ifValue, nowUs);
    return entry === null ? null : this.set(key, entry.value, nowUs + ttlUs);
  }

  private matching(key: string, ifValue: number | null, nowUs: number): LockKey | null {
    const entry = this.entry(key, nowUs);
    return entry === null || (ifValue !== null && entry.value !== ifValue) ? null : entry;
  }

  private set(key: string, value: number, end: number): LockKey {
    const entry = { value, end };
    this.keys.set(key, entry);
    return entry;
  }

  /** Evicts a key, expired or not; false if there was none. */
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
  private readonly witness: Witness;
  private readonly node: LockNode = new LockNode();
  /** Whoever runs the node knows the longest ttl in use: at most this one is what it forgot. */
  private longestTtlUs = 0;
  /** By its monotonic clock. */
  private outOfServiceUntilUs = 0;
  private isReplica = false;

  constructor(options: RedisServerOptions, witness: Witness) {
    this.options = options;
    this.witness = witness;
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
        return this.expire(request, turn);
    }
  }

  private set({ key, value, ttlUs }: Ask<'set'>, turn: Turn): LockNodeReply {
    this.longestTtlUs = Math.max(this.longestTtlUs, ttlUs);
    const nowUs = this.nowUs(turn);
    const entry = this.node.setIfAbsent(key, { value, ttlUs, nowUs });
    if (entry === null) {
      this.witness.denied(turn, key);
      return { kind: 'nil' };
    }
    this.witness.taken(turn, key, this.kept(turn, entry, ttlUs));
    return { kind: 'done' };
  }

  private delete({ key, ifValue }: Ask<'delete'>, turn: Turn): LockNodeReply {
    const entry = this.node.delete(key, { ifValue, nowUs: this.nowUs(turn) });
    this.witness.deleted(turn, key, entry);
    return { kind: entry === null ? 'nil' : 'done' };
  }

  private expire({ key, ifValue, ttlUs }: Ask<'expire'>, turn: Turn): LockNodeReply {
    this.longestTtlUs = Math.max(this.longestTtlUs, ttlUs);
    const entry = this.node.expire(key, { ifValue, ttlUs, nowUs: this.nowUs(turn) });
    const kept = entry === null ? null : this.kept(turn, entry, ttlUs);
    this.witness.prolonged(turn, key, kept);
    return { kind: entry === null ? 'nil' : 'done' };
  }

  private nowUs(turn: Turn): number {
    return this.options.expiry === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  /** A key is there at its very end: the next microsecond is the first without it. */
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
      this.witness.lost(null, boot.atUs);
    }
  }

  /** A replica is sent what was written, and keeps it in memory: its start loses nothing more. */
  snapshot(): () => void {
    const restoreNode = this.node.snapshot();
    const restoreWitness = this.witness.snapshot();
    return () => {
      restoreNode();
      this.isReplica = true;
      restoreWitness();
    };
  }

  evict(key: string, boot: Boot): boolean {
    this.witness.lost(key, boot.atUs);
    return this.node.forget(key);
  }
}
