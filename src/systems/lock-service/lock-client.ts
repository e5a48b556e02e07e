/** A client of the lock service. It remembers tokens, so that callers need not pass them around. */
import { argument } from '../argument.ts';
import type { StoreReply } from '../store/request.ts';
import { Store } from '../store/store.ts';
import { type LockAnswer, type LockGrant, LockService } from './lock-service.ts';

/**
 * A client of a `LockService`, without a clock or a network. It takes locks and attaches their
 * tokens to writes and reads. Times are in the unit of its lock service.
 */
export class LockClient {
  readonly id: string;
  private readonly service: LockService | null;
  private readonly tokens: Map<string, number> = new Map();
  /** Number of accesses sent under the current token of each lock. */
  private readonly sent: Map<string, number> = new Map();

  /** Without a service, the client only remembers tokens, for use with a remote service. */
  constructor(id: string, service: LockService | null = null) {
    argument.name('id', id);
    if (service !== null) argument.made('service', service, LockService);
    this.id = id;
    this.service = service;
  }

  /** Requests a lock for `ttl` from `now` on, and remembers the token of a grant. */
  acquire(ask: { lock: string; ttl: number; now: number }): LockAnswer {
    argument.object('ask', ask);
    const { lock, ttl, now } = ask;
    return this.heed(this.servedBy().acquire({ lock, client: this.id, ttl, now }));
  }

  /** Extends the client's grant. Denied if the client remembers no token. */
  renew(ask: { lock: string; ttl: number; now: number }): LockAnswer {
    argument.object('ask', ask);
    const { lock, ttl, now } = ask;
    const token = this.token(lock);
    return this.heed(this.servedBy().renew({ lock, client: this.id, token, ttl, now }));
  }

  /** Releases the client's grant. The token is forgotten in any case. */
  release(lock: string): LockAnswer {
    const answer = this.servedBy().release({ lock, client: this.id, token: this.token(lock) });
    this.forget(lock);
    return answer;
  }

  /**
   * Writes under a lock, with the remembered token. The resource defaults to the lock's name.
   * Returns `no-token` and sends nothing if there is no remembered token. The client does not test
   * its lease: only the store can know whether another client has had the lock since.
   */
  write(
    store: Store,
    place: { readonly lock: string; readonly resource?: string; readonly key: string },
    value: number,
  ): StoreReply | { readonly kind: 'no-token'; readonly lock: string } {
    argument.finite('value', value);
    return this.access({ store, place }, (access) => store.write(access, value));
  }

  /** Reads under a lock, as `write` does. */
  read(store: Store, place: Parameters<LockClient['write']>[1]): ReturnType<LockClient['write']> {
    return this.access({ store, place }, (access) => store.read(access));
  }

  /** Announces the token to a store that requires this before the first access. */
  open(store: Store, place: Parameters<LockClient['write']>[1]): ReturnType<LockClient['write']> {
    return this.access({ store, place }, (access) => store.open(access));
  }

  /** Remembers the token of a grant. A later grant of the same lock replaces it. */
  remember(grant: Pick<LockGrant, 'lock' | 'token'>): void {
    argument.object('grant', grant);
    const { lock, token } = grant;
    argument.name('lock', lock);
    argument.integer('token', token);
    if (this.tokens.get(lock) !== token) this.sent.delete(lock);
    this.tokens.set(lock, token);
  }

  /** Forgets the token of a lock, after its release. */
  forget(lock: string): void {
    argument.name('lock', lock);
    this.tokens.delete(lock);
    this.sent.delete(lock);
  }

  /** Returns the remembered token of `lock`, or 0 if there is none. */
  token(lock: string): number {
    argument.name('lock', lock);
    return this.tokens.get(lock) ?? 0;
  }

  private heed(answer: LockAnswer): LockAnswer {
    if (answer.kind === 'granted' || answer.kind === 'renewed') this.remember(answer.grant);
    return answer;
  }

  private access(
    { store, place }: { readonly store: Store; readonly place: Parameters<LockClient['write']>[1] },
    send: (access: Parameters<Store['write']>[0]) => StoreReply,
  ): ReturnType<LockClient['write']> {
    argument.made('store', store, Store);
    argument.object('place', place);
    const { lock, resource = lock, key } = place;
    for (const [name, value] of Object.entries({ lock, resource, key })) argument.name(name, value);
    const token = this.tokens.get(lock);
    if (token === undefined) return { kind: 'no-token', lock };
    const sequence = (this.sent.get(lock) ?? 0) + 1;
    const answer = send({ resource, key, token, sequence });
    this.sent.set(lock, sequence);
    return answer;
  }

  private servedBy(): LockService {
    if (this.service !== null) return this.service;
    throw new TypeError(`the client ${this.id} has no lock service`);
  }
}
