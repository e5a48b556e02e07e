/**
 * The lock service with fencing tokens from Kleppmann's *Designing Data-Intensive Applications*
 * (chapters 8 and 9): pure state and rules, usable without the simulator.
 */
import { assert } from '../../core/kernel/assert.ts';
import { mix } from '../../core/kernel/chance.ts';
import { argument } from '../argument.ts';

/**
 * A grant of a `LockService`, expired when `now >= issuedAt + ttl`. For example, a grant issued at
 * 0 with ttl 10 expires at 10.
 */
export interface LockGrant {
  readonly token: number;
  readonly lock: string;
  readonly client: string;
  readonly issuedAt: number;
  readonly ttl: number;
}

export type AcquireAsk = Parameters<LockService['acquire']>[0];
export type ReleaseAsk = Parameters<LockService['release']>[0];
export type RenewAsk = Parameters<LockService['renew']>[0];

/** Returns whether a grant has expired at `now`. */
export function hasExpired(grant: LockGrant, now: number): boolean {
  return now >= grant.issuedAt + grant.ttl;
}

/** A reply of a `LockService`. The `holder` of a denial is '' if there is none. */
export type LockAnswer =
  | { readonly kind: 'granted'; readonly grant: LockGrant }
  | { readonly kind: 'renewed'; readonly grant: LockGrant }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

export type LockRules = Required<NonNullable<ConstructorParameters<typeof LockService>[1]>>;

const SERVES: readonly LockRules['serves'][] = ['all', 'nobody', 'one'];

const FENCED_RULES: LockRules = {
  numbering: 'exact',
  renewRaises: false,
  lockDelay: 0,
  serves: 'all',
};

/**
 * A lock service with fencing tokens, without a clock or a network. Times are integers in any unit.
 * A denial is a reply; an invalid argument throws a `TypeError` or a `RangeError`.
 */
export class LockService {
  private counter = 0;
  private readonly firstToken: number;
  private readonly rules: LockRules;
  private readonly grants: Map<string, LockGrant> = new Map();
  /** The only client served, per lock, if `serves` is `one`. */
  private readonly favourites: Map<string, string> = new Map();

  /** `firstToken` is the token of the first grant; `rules` lists the differences from the book. */
  constructor(
    firstToken: number = 1,
    rules: {
      /**
       * `double`: 64-bit, rounded to a double; `32-bit`: signed, wraps; `random`: unique opaque
       * ids.
       */
      readonly numbering?: 'exact' | 'double' | '32-bit' | 'random';
      /** True if a renew issues a new token. */
      readonly renewRaises?: boolean;
      /** Minimum time between the expiry of an unreleased lease and the next grant. */
      readonly lockDelay?: number;
      /** The clients that may get a lock; `one`: only the first to request it. */
      readonly serves?: 'all' | 'nobody' | 'one';
    } = {},
  ) {
    argument.integerFrom('firstToken', firstToken, 1);
    this.firstToken = firstToken;
    argument.object('rules', rules);
    this.rules = { ...FENCED_RULES, ...rules };
    const { numbering, renewRaises, lockDelay, serves } = this.rules;
    argument.word('serves', serves, SERVES);
    argument.word('numbering', numbering, NUMBERINGS);
    argument.flag('renewRaises', renewRaises);
    argument.integerFrom('lockDelay', lockDelay, 0);
  }

  /**
   * Grants `lock`, unless *another* client holds an unexpired grant. The holder itself gets a new
   * token.
   */
  acquire(ask: Pick<LockGrant, 'lock' | 'client' | 'ttl'> & { readonly now: number }): LockAnswer {
    requireAsked(ask);
    requireTimes(ask);
    const { lock, client, ttl, now } = ask;
    const held = this.grants.get(lock);
    if (held !== undefined && !this.isFreeFor(client, held, now)) {
      return { kind: 'denied', holder: held.client };
    }
    if (!serves(this.rules.serves, this.favourites, ask)) return { kind: 'denied', holder: '' };
    const grant: LockGrant = { token: this.nextToken(), lock, client, issuedAt: now, ttl };
    this.grants.set(lock, grant);
    return { kind: 'granted', grant };
  }

  private isFreeFor(client: string, held: LockGrant, now: number): boolean {
    if (!hasExpired(held, now)) return held.client === client;
    return now >= held.issuedAt + held.ttl + this.rules.lockDelay;
  }

  private nextToken(): number {
    const { firstToken, counter } = this;
    this.counter += 1;
    return tokenOf(this.rules.numbering, { first: firstToken, before: counter });
  }

  /**
   * Extends a grant from `now` on. Denied unless the client holds an unexpired grant with this
   * token; null matches any token.
   */
  renew(
    ask: Parameters<LockService['acquire']>[0] & { readonly token: number | null },
  ): LockAnswer {
    requireAsked(ask);
    requireTimes(ask);
    const held = this.heldBy(ask);
    if (held === null || hasExpired(held, ask.now)) return this.denial(ask.lock);
    const token = this.rules.renewRaises ? this.nextToken() : held.token;
    const { lock, client } = held;
    const grant: LockGrant = { token, lock, client, issuedAt: ask.now, ttl: ask.ttl };
    this.grants.set(lock, grant);
    return { kind: 'renewed', grant };
  }

  /** Ends the client's grant with this token; null matches any token. */
  release(ask: Pick<LockGrant, 'lock' | 'client'> & { readonly token: number | null }): LockAnswer {
    requireAsked(ask);
    if (this.heldBy(ask) === null) return this.denial(ask.lock);
    this.grants.delete(ask.lock);
    return { kind: 'released' };
  }

  private heldBy(ask: ReleaseAsk): LockGrant | null {
    if (ask.token !== null) argument.integer('token', ask.token);
    const held = this.grants.get(ask.lock);
    if (held === undefined || held.client !== ask.client) return null;
    return ask.token === null || ask.token === held.token ? held : null;
  }

  private denial(lock: string): LockAnswer {
    return { kind: 'denied', holder: this.grants.get(lock)?.client ?? '' };
  }

  /** Returns the latest grant of `lock`, expired or not, or null if there is none. */
  current(lock: string): LockGrant | null {
    argument.name('lock', lock);
    return this.grants.get(lock) ?? null;
  }

  /** Drops the entry of one lock, as a cache may. Returns false if there was none. */
  forget(lock: string): boolean {
    argument.name('lock', lock);
    return this.grants.delete(lock);
  }

  /** Starts counting from the first token again. */
  resetCounter(): void {
    this.counter = 0;
  }

  /** Returns a function that restores the present state. */
  snapshot(): () => void {
    const state = this.save();
    return () => this.load(state);
  }

  /** Returns the state as plain data: the number of tokens issued, and the grants. */
  save(): { readonly counter: number; readonly grants: readonly LockGrant[] } {
    return { counter: this.counter, grants: [...this.grants.values()] };
  }

  /** Restores a state that `save` returned. Throws if `state` is invalid. */
  load(state: ReturnType<LockService['save']>): void {
    requireState(state);
    this.counter = state.counter;
    this.grants.clear();
    for (const grant of state.grants) this.grants.set(grant.lock, grant);
  }
}

function requireState(state: ReturnType<LockService['save']>): void {
  argument.object('state', state);
  argument.integerFrom('counter', state.counter, 0);
  argument.list('grants', state.grants);
  for (const grant of state.grants) {
    requireAsked(grant);
    argument.integer('token', grant.token);
    requireTimes({ ttl: grant.ttl, now: grant.issuedAt });
  }
}

function requireAsked(ask: Pick<LockGrant, 'lock' | 'client'>): void {
  argument.object('ask', ask);
  const { lock, client } = ask;
  argument.name('lock', lock);
  argument.name('client', client);
}

/** A ttl is positive. A time may be negative, since a clock may be set before its epoch. */
function requireTimes({ ttl, now }: Pick<AcquireAsk, 'ttl' | 'now'>): void {
  argument.integerFrom('ttl', ttl, 1);
  argument.safe('now', now);
}

export type Numbering = LockRules['numbering'];

const NUMBERINGS: readonly Numbering[] = ['exact', 'double', '32-bit', 'random'];

/** Returns the token issued after `before` earlier tokens; `first` is the first token of all. */
export function tokenOf(
  numbering: Numbering,
  { first, before }: { readonly first: number; readonly before: number },
): number {
  switch (numbering) {
    case 'exact': {
      const token = first + before;
      assert(
        Number.isSafeInteger(token),
        'the token is no longer a safe integer; use a lower firstToken',
      );
      return token;
    }
    case 'double':
      return Number(BigInt(first) + BigInt(before));
    case '32-bit':
      return (first + before) | 0;
    case 'random':
      // A bijection on 32 bits, so ids are unique; + 1 keeps them above 0.
      return mix(first + before) + 1;
  }
}

function serves(
  whom: LockRules['serves'],
  favourites: Map<string, string>,
  { lock, client }: AcquireAsk,
): boolean {
  if (whom !== 'one') return whom === 'all';
  const favourite = favourites.get(lock) ?? client;
  favourites.set(lock, favourite);
  return favourite === client;
}
