/**
 * A Redis node as a server of the world. It judges expiry by its wall clock, as Redis does
 * (redis.io, "Distributed Locks with Redis": it "doesn't use monotonic clock for TTL expiry", so a
 * shift of the clock may let two processes hold a lock). Without persistence a restart loses all
 * keys; a replica that takes over has what it was sent in time.
 */
import type { Answer } from '../../core/history/trace.ts';
import type { Boot, Server, Turn } from '../../core/world/server.ts';
import { type Entry, RedisNode } from './node.ts';

/** A command; with `ifValue` a script, which compares and acts in one step. */
export type RedisRequest =
  | {
      readonly kind: 'set';
      readonly key: string;
      readonly value: number;
      readonly ttlUs: number;
    }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'delete'; readonly key: string; readonly ifValue: number | null }
  | {
      readonly kind: 'expire';
      readonly key: string;
      readonly ifValue: number | null;
      readonly ttlUs: number;
    };

export type RedisReply =
  | { readonly kind: 'done' }
  /** Nothing was changed, or nothing is there. */
  | { readonly kind: 'nil' }
  | { readonly kind: 'value'; readonly value: number }
  /** The node is up, but kept out of service. */
  | { readonly kind: 'unavailable' };

/** What the trace says of a reply; `token` is what a granted `set` brings. */
export function describeRedisReply(
  request: RedisRequest,
  token: number,
): (reply: RedisReply) => Answer {
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
  deleted(turn: Turn, key: string, entry: Entry | null): void;
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
  /** Which of the node's clocks judges expiry. */
  readonly expiry: 'wall' | 'monotonic';
  /** Whether it serves again at once after it lost its keys, or only when they would be expired. */
  readonly restart: 'at-once' | 'delayed';
}

type Ask<K extends RedisRequest['kind']> = Extract<RedisRequest, { kind: K }>;

export class RedisServer implements Server<RedisRequest, RedisReply> {
  private readonly options: RedisServerOptions;
  private readonly witness: Witness;
  private readonly node: RedisNode = new RedisNode();
  /** Whoever runs the node knows the longest ttl in use: at most this one is what it forgot. */
  private longestTtlUs = 0;
  /** By its monotonic clock. */
  private outOfServiceUntilUs = 0;
  private isReplica = false;

  constructor(options: RedisServerOptions, witness: Witness) {
    this.options = options;
    this.witness = witness;
  }

  handle(request: RedisRequest, turn: Turn): RedisReply {
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

  private set({ key, value, ttlUs }: Ask<'set'>, turn: Turn): RedisReply {
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

  private delete({ key, ifValue }: Ask<'delete'>, turn: Turn): RedisReply {
    const entry = this.node.delete(key, { ifValue, nowUs: this.nowUs(turn) });
    this.witness.deleted(turn, key, entry);
    return { kind: entry === null ? 'nil' : 'done' };
  }

  private expire({ key, ifValue, ttlUs }: Ask<'expire'>, turn: Turn): RedisReply {
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
  private kept(turn: Turn, { value, endUs }: Entry, ttlUs: number): Kept {
    return { value, ttlUs, untilUs: turn.trueTimeOf(this.options.expiry, endUs + 1) };
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
    const entries = this.node.save();
    const restoreWitness = this.witness.snapshot();
    return () => {
      this.node.load(entries);
      this.isReplica = true;
      restoreWitness();
    };
  }

  evict(key: string, boot: Boot): boolean {
    this.witness.lost(key, boot.atUs);
    return this.node.forget(key);
  }
}
