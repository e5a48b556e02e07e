/**
 * etcd as far as locks use it: keys with the revision of their creation, leases to which keys are
 * bound, and one transaction. One server represents the cluster: neither a crash nor a change of
 * leader loses acknowledged changes.
 * - Every change raises the revision of the store by one. A lease that ends removes all its keys in
 *   one change (etcd.io, "Data model"; server/lease/lessor.go, `Revoke`).
 * - Only the leader counts leases down, by its monotonic clock. A new leader restarts every lease
 *   with its full ttl (`Promote`), so a lease may last longer than its ttl.
 * - A ttl is in whole seconds, at least 2 with the usual election timeout of one second
 *   (`minLeaseTTL`).
 *
 * Simpler than etcd: an expired lease ends before the next request is handled. (In etcd, a loop
 * checks leases twice a second.) `wait` is one request that is kept open; Go's `waitDeletes`
 * repeatedly reads and watches the last key before its own.
 */
import { type Boot, LATER, OrderedKeyRecorder, type Server, type Turn } from '../../servers.ts';

/** The key of a lock that a session creates. Go names it `<prefix>/<lease, in hexadecimal>`. */
type LeasedKey = { readonly lock: string; readonly lease: number };

export type EtcdRequest =
  | { readonly kind: 'grant-lease'; readonly lease: number; readonly ttlS: number }
  | { readonly kind: 'keep-alive'; readonly lease: number }
  /** If CreateRevision(key) = 0 Then put(key), first(lock) Else get(key), first(lock). */
  | (LeasedKey & { readonly kind: 'take' })
  /** Answered once no key of the lock is older than `revision`. */
  | (LeasedKey & { readonly kind: 'wait'; readonly revision: number })
  | (LeasedKey & { readonly kind: 'get' })
  | (LeasedKey & { readonly kind: 'delete' });

export type EtcdReply =
  /** The remaining ttl of the lease, or 0 if the lease does not exist. */
  | { readonly kind: 'lease'; readonly ttlS: number }
  /** The revisions at which the client's own key and the oldest key of the lock were created. */
  | { readonly kind: 'place'; readonly revision: number; readonly first: number }
  | { readonly kind: 'alone' }
  | { readonly kind: 'no-lease' }
  | { readonly kind: 'no-key' }
  | { readonly kind: 'deleted'; readonly count: number };

const LEAST_TTL_S = 2;
export const US_A_SECOND = 1_000_000;

interface Lease {
  readonly ttlS: number;
  /** End of the lease, by the leader's monotonic clock. */
  readonly endUs: number;
  /** For the observer: the owner, and when the last extension was sent. */
  readonly client: string;
  readonly sentAtUs: number;
}

interface Key extends LeasedKey {
  /** `CreateRevision`: orders the keys of a lock. */
  readonly revision: number;
}

/** The state and rules of etcd, without a clock or a network. Times are in microseconds. */
export class EtcdState {
  /** The revision of an empty store. */
  revision = 1;
  private readonly leases: Map<number, Lease> = new Map();
  /** For the observer: the last state of ended leases. */
  private readonly ended: Map<number, Lease> = new Map();
  private keys: readonly Key[] = [];

  lease(id: number): Lease | undefined {
    return this.leases.get(id);
  }

  /** Returns a lease, or the last state of an ended lease. */
  leaseThatWas(id: number): Lease | undefined {
    return this.leases.get(id) ?? this.ended.get(id);
  }

  /** Returns the ttl in seconds, or 0 if the id is taken. */
  grantLease(id: number, asked: Omit<Lease, 'endUs'>, nowUs: number): number {
    if (this.leases.has(id)) return 0;
    const { client, sentAtUs } = asked;
    return this.set(id, { ttlS: Math.max(LEAST_TTL_S, asked.ttlS), client, sentAtUs }, nowUs);
  }

  /** Returns the renewed ttl in seconds, or 0 if there is no such lease. */
  keepAlive(id: number, sentAtUs: number, nowUs: number): number {
    const lease = this.leases.get(id);
    if (lease === undefined) return 0;
    return this.set(id, { ttlS: lease.ttlS, client: lease.client, sentAtUs }, nowUs);
  }

  private set(id: number, { ttlS, client, sentAtUs }: Omit<Lease, 'endUs'>, nowUs: number): number {
    this.leases.set(id, { ttlS, client, sentAtUs, endUs: nowUs + ttlS * US_A_SECOND });
    return ttlS;
  }

  /** Gives every lease its full ttl again, as a new leader does. Returns the previous ends. */
  promote(atUs: number, nowUs: number): readonly (readonly [id: number, endUs: number])[] {
    const before = [...this.leases].map(([id, { endUs }]) => [id, endUs] as const);
    for (const [id] of before) this.keepAlive(id, atUs, nowUs);
    return before;
  }

  /** Ends a lease and removes its keys in one change. */
  revoke(id: number): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.ended.set(id, lease);
    this.remove(({ lease }) => lease === id);
  }

  /** Ends the expired leases, earliest first. */
  expire(nowUs: number): void {
    const over = [...this.leases].filter(([, { endUs }]) => endUs <= nowUs);
    over.sort(([, a], [, b]) => a.endUs - b.endUs);
    for (const [id] of over) this.revoke(id);
  }

  key(wanted: LeasedKey): Key | undefined {
    return this.keys.find(({ lock, lease }) => lock === wanted.lock && lease === wanted.lease);
  }

  /** Returns all keys of a lock, oldest first. */
  keysOf(lock: string): readonly Key[] {
    return this.keys.filter((key) => key.lock === lock);
  }

  keysOn(lease: number): readonly Key[] {
    return this.keys.filter((key) => key.lease === lease);
  }

  /** Returns the client's own key, created if necessary; null if its lease does not exist. */
  take({ lock, lease }: LeasedKey): Key | null {
    if (!this.leases.has(lease)) return null;
    const known = this.key({ lock, lease });
    if (known !== undefined) return known;
    this.revision += 1;
    const key = { lock, lease, revision: this.revision };
    this.keys = [...this.keys, key];
    return key;
  }

  /** Returns the number of keys deleted: 0 or 1. */
  delete(wanted: LeasedKey): number {
    return this.remove(({ lock, lease }) => lock === wanted.lock && lease === wanted.lease);
  }

  private remove(isMeant: (key: Key) => boolean): number {
    const left = this.keys.filter((key) => !isMeant(key));
    const count = this.keys.length - left.length;
    if (count > 0) this.revision += 1;
    this.keys = left;
    return count;
  }

  hasOlder({ lock, revision }: { readonly lock: string; readonly revision: number }): boolean {
    return this.keys.some((key) => key.lock === lock && key.revision < revision);
  }
}

/** Server options, and client settings for the observer. */
interface EtcdServing {
  /** Behavior of a replaced leader. */
  readonly oldLeader: 'steps-down' | 'revokes';
  /** The answer from which a client that waited learns of its grant. */
  readonly notifies: 'wait' | 'recheck';
  /** Returns the fencing token of the holder of this key. */
  readonly tokenOf: (key: { readonly lease: number; readonly revision: number }) => number;
}

type EtcdTurn = Turn<EtcdReply>;
type Ask<K extends EtcdRequest['kind']> = Extract<EtcdRequest, { kind: K }>;

export class EtcdServer implements Server<EtcdRequest, EtcdReply> {
  private readonly serving: EtcdServing;
  private readonly state: EtcdState = new EtcdState();
  private readonly recorder: OrderedKeyRecorder<Key>;
  private waiting: readonly { readonly request: Ask<'wait'>; readonly turn: EtcdTurn }[] = [];
  /** Ends of leases, as counted by a leader that has not noticed its replacement. */
  private overdue: readonly (readonly [id: number, endUs: number])[] = [];
  private isReplaced = false;
  /** Log lines, not yet recorded, about leases that such a leader revoked. */
  private readonly revoked: string[] = [];

  constructor(name: string, serving: EtcdServing) {
    this.serving = serving;
    this.recorder = new OrderedKeyRecorder(name, {
      numberOf: ({ revision }) => revision,
      termsOf: (key, boot) => this.termsOf(key, boot),
    });
  }

  handle(request: EtcdRequest, turn: EtcdTurn): EtcdReply | typeof LATER {
    this.expire(turn.monotonicUs);
    for (const text of this.revoked.splice(0)) this.recorder.explain(turn, text);
    const reply = this.act(request, turn);
    this.notifyWaiters(turn.atUs);
    return reply;
  }

  /** `If version(key) > 0`: returns true if the key with this token still exists. */
  hasKey(asked: { readonly lock: string; readonly token: number }, nowUs: number): boolean {
    this.expire(nowUs);
    const { tokenOf } = this.serving;
    return this.state.keysOf(asked.lock).some((key) => tokenOf(key) === asked.token);
  }

  private expire(nowUs: number): void {
    this.state.expire(nowUs);
    for (const [id, endUs] of this.overdue) {
      if (endUs > nowUs) continue;
      const client = this.state.lease(id)?.client;
      if (client !== undefined) {
        this.revoked.push(`the leader that was replaced revokes the lease of ${client}`);
      }
      this.state.revoke(id);
    }
    this.overdue = this.overdue.filter(([, endUs]) => endUs > nowUs);
  }

  private act(request: EtcdRequest, turn: EtcdTurn): EtcdReply | typeof LATER {
    const { state } = this;
    switch (request.kind) {
      case 'grant-lease': {
        const { client, sentAtUs, monotonicUs } = turn;
        const asked = { ttlS: request.ttlS, client, sentAtUs };
        const fromUs = monotonicUs + turn.lifetimeUs(0);
        return { kind: 'lease', ttlS: state.grantLease(request.lease, asked, fromUs) };
      }
      case 'keep-alive': {
        const fromUs = turn.monotonicUs + turn.lifetimeUs(0);
        const ttlS = state.keepAlive(request.lease, turn.sentAtUs, fromUs);
        this.recorder.prolongAll(turn, state.keysOn(request.lease), turn.message);
        return { kind: 'lease', ttlS };
      }
      case 'take': {
        const key = state.take(request);
        return key === null ? { kind: 'no-lease' } : this.place(key, turn);
      }
      case 'wait':
        this.waiting = [...this.waiting, { request, turn }];
        return LATER;
      case 'get': {
        const key = state.key(request);
        return key === undefined ? { kind: 'no-key' } : this.place(key, turn);
      }
      case 'delete': {
        const key = state.key(request) ?? null;
        const count = state.delete(request);
        this.recorder.giveBack(turn, request.lock, key);
        return { kind: 'deleted', count };
      }
    }
  }

  private place(key: Key, turn: EtcdTurn): EtcdReply {
    const [first = key] = this.state.keysOf(key.lock);
    if (first === key) this.recorder.give(turn, key);
    else this.recorder.wait(turn, key, this.state.lease(first.lease)?.client ?? '');
    return { kind: 'place', revision: key.revision, first: first.revision };
  }

  private notifyWaiters(atUs: number): void {
    const { waiting } = this;
    this.waiting = waiting.filter(({ request }) => this.state.hasOlder(request));
    for (const { request, turn } of waiting) {
      if (this.state.hasOlder(request)) continue;
      // A wait alone does not show whether the client's own key still exists.
      const key = this.state.key(request) ?? request;
      if (this.serving.notifies === 'wait') this.recorder.give(turn, key, atUs);
      turn.answer({ kind: 'alone' });
    }
  }

  /** Returns the terms of a key's grant, or the last terms if its lease has ended. */
  private termsOf(key: Key, boot: Boot) {
    const lease = this.state.leaseThatWas(key.lease);
    if (lease === undefined) throw new Error('a key must be bound to a lease');
    const { ttlS, endUs, client, sentAtUs } = lease;
    const untilUs = boot.trueTimeOf('monotonic', endUs);
    const token = this.serving.tokenOf(key);
    return { lock: key.lock, client, token, ttlUs: ttlS * US_A_SECOND, untilUs, sentAtUs };
  }

  /** Waiting requests are lost with their connections. */
  restart(boot: Boot): void {
    this.waiting = [];
    const before = this.state.promote(boot.atUs, boot.monotonicUs);
    if (this.isReplaced && this.serving.oldLeader === 'revokes') this.overdue = before;
    this.isReplaced = false;
    for (const [lease] of before) this.recorder.prolongAll(boot, this.state.keysOn(lease), '');
  }

  /** A new leader has all acknowledged changes. */
  snapshot(): () => void {
    return () => {
      this.isReplaced = true;
    };
  }
}
