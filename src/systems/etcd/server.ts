/**
 * etcd as far as locks use it: keys with the revision at which they were made, leases that keys
 * hang on, and one transaction. One server stands for the cluster, as its clients see it: what it
 * acknowledged a majority has, so that neither a crash nor a change of leader loses anything.
 *
 * - Every change raises the revision of the whole store by one; a lease that ends takes all its
 *   keys along in one change (etcd.io, "Data model"; server/lease/lessor.go, `Revoke`).
 * - The leader alone counts leases down, by its monotonic clock. Whoever becomes leader gives every
 *   lease its whole ttl again (`Promote`), so that a ttl is only the least that a lease lasts.
 * - A ttl has whole seconds, and no fewer than 2 with the usual election timeout of one second
 *   (`minLeaseTTL`).
 *
 * Where it is simpler than etcd: a lease whose time has come ends before whatever is asked next,
 * not when a loop comes by twice a second; and `wait` is one request that is kept, where Go's
 * `waitDeletes` reads the last key before its own and watches that, again and again.
 */
import { assert } from '../../core/kernel/assert.ts';
import { type Boot, LATER, type Server, type Turn } from '../../core/world/server.ts';
import { GrantBook } from '../grant-book.ts';

/** The key of a lock that a session makes: Go calls it `<prefix>/<lease, in hexadecimal>`. */
type OwnKey = { readonly lock: string; readonly lease: number };

export type EtcdRequest =
  | { readonly kind: 'grant-lease'; readonly lease: number; readonly ttlS: number }
  | { readonly kind: 'keep-alive'; readonly lease: number }
  /** If CreateRevision(key) = 0 Then put(key), first(lock) Else get(key), first(lock). */
  | (OwnKey & { readonly kind: 'take' })
  /** Answered once no key of the lock is older than `revision`. */
  | (OwnKey & { readonly kind: 'wait'; readonly revision: number })
  | (OwnKey & { readonly kind: 'get' })
  | (OwnKey & { readonly kind: 'delete' });

export type EtcdReply =
  /** What the lease lasts from now on; 0 where there is none. */
  | { readonly kind: 'lease'; readonly ttlS: number }
  /** When the own key was made, and when the oldest key of the lock was. */
  | { readonly kind: 'place'; readonly revision: number; readonly first: number }
  | { readonly kind: 'alone' }
  | { readonly kind: 'no-lease' }
  | { readonly kind: 'no-key' }
  | { readonly kind: 'deleted'; readonly count: number };

const LEAST_TTL_S = 2;
const US_A_SECOND = 1_000_000;

interface Lease {
  readonly ttlS: number;
  /** By the leader's monotonic clock. */
  readonly endUs: number;
  /** For the observer: whose it is, and when the request left that it was last prolonged by. */
  readonly client: string;
  readonly sentAtUs: number;
}

interface Key extends OwnKey {
  /** `CreateRevision`: its place among the keys of its lock. */
  readonly revision: number;
}

/** What etcd holds, and its rules: no clock and no network. Times are in microseconds. */
export class EtcdState {
  /** That of an empty store. */
  revision = 1;
  private readonly leases: Map<number, Lease> = new Map();
  /** For the observer: what leases were that are over. */
  private readonly ended: Map<number, Lease> = new Map();
  private keys: readonly Key[] = [];

  lease(id: number): Lease | undefined {
    return this.leases.get(id);
  }

  /** As it ended, where it is over. */
  leaseThatWas(id: number): Lease | undefined {
    return this.leases.get(id) ?? this.ended.get(id);
  }

  /** Null where there is one of that number already. */
  grantLease(
    id: number,
    { ttlS: wantedS, client, sentAtUs }: Omit<Lease, 'endUs'>,
    nowUs: number,
  ): Lease | null {
    if (this.leases.has(id)) return null;
    const ttlS = Math.max(LEAST_TTL_S, wantedS);
    return this.set(id, { ttlS, client, sentAtUs, endUs: nowUs + ttlS * US_A_SECOND });
  }

  /** Null where there is none. */
  keepAlive(id: number, sentAtUs: number, nowUs: number): Lease | null {
    const lease = this.leases.get(id);
    if (lease === undefined) return null;
    const { ttlS, client } = lease;
    return this.set(id, { ttlS, client, sentAtUs, endUs: nowUs + ttlS * US_A_SECOND });
  }

  private set(id: number, lease: Lease): Lease {
    this.leases.set(id, lease);
    return lease;
  }

  /** A leader begins: every lease lasts its whole ttl again. What they would have lasted. */
  promote(atUs: number, nowUs: number): readonly (readonly [id: number, endUs: number])[] {
    const before = [...this.leases].map(([id, { endUs }]) => [id, endUs] as const);
    for (const [id] of before) this.keepAlive(id, atUs, nowUs);
    return before;
  }

  /** The lease ends, and its keys go with it in one change. */
  revoke(id: number): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.ended.set(id, lease);
    this.remove(({ lease }) => lease === id);
  }

  /** Ends the leases whose time has come, the earliest first. */
  expire(nowUs: number): void {
    const over = [...this.leases].filter(([, { endUs }]) => endUs <= nowUs);
    over.sort(([, a], [, b]) => a.endUs - b.endUs);
    for (const [id] of over) this.revoke(id);
  }

  key(own: OwnKey): Key | undefined {
    return this.keys.find(({ lock, lease }) => lock === own.lock && lease === own.lease);
  }

  /** All keys of a lock, the oldest first. */
  keysOf(lock: string): readonly Key[] {
    return this.keys.filter((key) => key.lock === lock);
  }

  keysOn(lease: number): readonly Key[] {
    return this.keys.filter((key) => key.lease === lease);
  }

  /** The own key, made where it was not there; null where its lease is not. */
  take({ lock, lease }: OwnKey): Key | null {
    if (!this.leases.has(lease)) return null;
    const known = this.key({ lock, lease });
    if (known !== undefined) return known;
    this.revision += 1;
    const key = { lock, lease, revision: this.revision };
    this.keys = [...this.keys, key];
    return key;
  }

  /** How many went: 0 or 1. */
  delete(own: OwnKey): number {
    return this.remove(({ lock, lease }) => lock === own.lock && lease === own.lease);
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

/** What a scenario chooses of the server, and what its observer is to know of its clients. */
export interface EtcdServing {
  /** What becomes of the list of leases that a leader counted down when it was replaced. */
  readonly oldLeader: 'steps-down' | 'revokes';
  /** Which answer tells a client that waited that the lock is its own. */
  readonly tells: 'wait' | 'recheck';
  /** The fencing token of whoever has this key. */
  readonly tokenOf: (key: { readonly lease: number; readonly revision: number }) => number;
}

type EtcdTurn = Turn<EtcdReply>;
type Ask<K extends EtcdRequest['kind']> = Extract<EtcdRequest, { kind: K }>;

interface Waiting {
  readonly request: Ask<'wait'>;
  readonly turn: EtcdTurn;
}

export class EtcdServer implements Server<EtcdRequest, EtcdReply> {
  private readonly serving: EtcdServing;
  private readonly state: EtcdState = new EtcdState();
  private readonly book: GrantBook;
  /** For the observer: the grant that each key stands for, once its client was told of it. */
  private readonly given: Map<number, number> = new Map();
  private waiting: readonly Waiting[] = [];
  /** What a leader that was replaced has not noticed yet: the ends that it counted to. */
  private overdue: readonly (readonly [id: number, endUs: number])[] = [];
  private isReplaced = false;
  /** What the observer has not been told yet of them. */
  private readonly revoked: string[] = [];

  constructor(name: string, serving: EtcdServing) {
    this.serving = serving;
    this.book = new GrantBook(name);
  }

  handle(request: EtcdRequest, turn: EtcdTurn): EtcdReply | typeof LATER {
    this.expire(turn.monotonicUs);
    for (const text of this.revoked.splice(0)) this.book.explain(turn, text);
    const reply = this.act(request, turn);
    this.tellThoseWhoWait(turn.atUs);
    return reply;
  }

  /** `If version(key) > 0`: whether the key of that token is still there. */
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
        const lease = state.grantLease(request.lease, asked, monotonicUs);
        return { kind: 'lease', ttlS: lease?.ttlS ?? 0 };
      }
      case 'keep-alive': {
        const lease = state.keepAlive(request.lease, turn.sentAtUs, turn.monotonicUs);
        this.noteRenewals(request.lease, turn, turn.message);
        return { kind: 'lease', ttlS: lease?.ttlS ?? 0 };
      }
      case 'take':
        return this.take(request, turn);
      case 'wait':
        this.waiting = [...this.waiting, { request, turn }];
        return LATER;
      case 'get':
        return this.get(request, turn);
      case 'delete':
        return this.delete(request, turn);
    }
  }

  private take(request: Ask<'take'>, turn: EtcdTurn): EtcdReply {
    const key = this.state.take(request);
    if (key === null) return { kind: 'no-lease' };
    const [first = key] = this.state.keysOf(request.lock);
    if (first === key) this.give(key, turn, turn.atUs);
    else {
      const { lock } = request;
      const holder = this.state.lease(first.lease)?.client ?? '';
      this.book.deny(turn, { lock, client: turn.client, holder, waits: true });
    }
    return { kind: 'place', revision: key.revision, first: first.revision };
  }

  private get(request: Ask<'get'>, turn: EtcdTurn): EtcdReply {
    const key = this.state.key(request);
    if (key === undefined) return { kind: 'no-key' };
    const [first = key] = this.state.keysOf(request.lock);
    if (first === key) this.give(key, turn, turn.atUs);
    return { kind: 'place', revision: key.revision, first: first.revision };
  }

  private delete(request: Ask<'delete'>, turn: EtcdTurn): EtcdReply {
    const key = this.state.key(request);
    const under = key === undefined ? undefined : this.given.get(key.revision);
    const count = this.state.delete(request);
    const { lock } = request;
    const isEffective = under !== undefined && under === this.book.current(lock);
    // Who leaves the line gives no lock back.
    if (isEffective || turn.under !== 0) {
      this.book.release(turn, { lock, client: turn.client, isEffective });
    }
    return { kind: 'deleted', count };
  }

  private tellThoseWhoWait(atUs: number): void {
    const { waiting } = this;
    this.waiting = waiting.filter(({ request }) => this.state.hasOlder(request));
    for (const { request, turn } of waiting) {
      if (this.state.hasOlder(request)) continue;
      // By the wait alone nobody learns whether its own key is still there.
      const key = this.state.key(request) ?? request;
      if (this.serving.tells === 'wait') this.give(key, turn, atUs);
      turn.answer({ kind: 'alone' });
    }
  }

  /** For the observer: the client learns by this turn that it has the lock. */
  private give(key: Key, turn: EtcdTurn, atUs: number): void {
    const known = this.given.get(key.revision);
    if (known !== undefined) {
      turn.grant(known);
      return;
    }
    this.book.grant(turn, this.lentTo(key, turn, turn), atUs);
    this.given.set(key.revision, this.book.current(key.lock));
  }

  /** The terms of the lock that a key stands for; where its lease is over, as they were. */
  private lentTo(key: Key, boot: Boot, { client }: { readonly client: string }) {
    const { lock } = key;
    const lease = this.state.leaseThatWas(key.lease);
    assert(lease !== undefined, 'a key hangs on a lease');
    const { ttlS, endUs, sentAtUs } = lease;
    const untilUs = boot.trueTimeOf('monotonic', endUs);
    const token = this.serving.tokenOf(key);
    return { lock, client, token, ttlUs: ttlS * US_A_SECOND, untilUs, sentAtUs };
  }

  /** For the observer: all locks that hang on a lease last as long as it now does. */
  private noteRenewals(lease: number, boot: Boot, message: string): void {
    for (const key of this.state.keysOn(lease)) {
      const ordinal = this.given.get(key.revision);
      const client = this.state.lease(lease)?.client ?? '';
      if (ordinal === undefined) continue;
      this.book.prolong(boot, this.lentTo(key, boot, { client }), { ordinal, message });
    }
  }

  /** Kept requests are gone with their connections. */
  restart(boot: Boot): void {
    this.waiting = [];
    const before = this.state.promote(boot.atUs, boot.monotonicUs);
    if (this.isReplaced && this.serving.oldLeader === 'revokes') this.overdue = before;
    this.isReplaced = false;
    for (const [lease] of before) this.noteRenewals(lease, boot, '');
  }

  /** A new leader knows all that was acknowledged, however far behind it was. */
  snapshot(): () => void {
    return () => {
      this.isReplaced = true;
    };
  }
}
