/**
 * The lock service with fencing tokens of Kleppmann's *Designing Data-Intensive Applications*
 * (chapters 8 and 9): pure state and rules, no clock and no network, usable without the simulator.
 * Times are whatever unit the caller counts in, as integers; fencepost uses microseconds. A denial
 * is a value; an argument that cannot be meant, such as a ttl of NaN, throws (see `mistakes.ts`).
 */
import { assert } from '../../core/kernel/assert.ts';
import { mix } from '../../core/kernel/chance.ts';
import { argument } from '../argument.ts';

/**
 * A grant of a `LockService`, in its unit of time. It has expired when `now >= issuedAt + ttl`:
 * issued at 0 with ttl 10, at 10.
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

/** Returns whether a grant is over at `now`: from `issuedAt + ttl` on. */
export function hasExpired(grant: LockGrant, now: number): boolean {
  return now >= grant.issuedAt + grant.ttl;
}

/** What a `LockService` answers. A denial is an answer, never thrown; `holder` is '' for none. */
export type LockAnswer =
  | { readonly kind: 'granted'; readonly grant: LockGrant }
  | { readonly kind: 'renewed'; readonly grant: LockGrant }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

export type LockRules = Required<NonNullable<ConstructorParameters<typeof LockService>[1]>>;

const SERVES: readonly LockRules['serves'][] = ['all', 'nobody', 'one'];

const BOOK: LockRules = { numbering: 'exact', renewRaises: false, lockDelay: 0, serves: 'all' };

/**
 * A lock service with fencing tokens, without a clock and a network. Times are integers in whatever
 * unit the caller counts in. A denial is an answer; an argument that cannot be meant throws a
 * `TypeError` or a `RangeError`.
 */
export class LockService {
  private counter = 0;
  private readonly firstToken: number;
  private readonly rules: LockRules;
  private readonly grants: Map<string, LockGrant> = new Map();
  /** By lock, where only one is served. */
  private readonly favourites: Map<string, string> = new Map();

  /** `firstToken` is the token of the first grant; `rules` are what it does differently. */
  constructor(
    firstToken: number = 1,
    rules: {
      /**
       * `double`: a 64-bit counter whose tokens pass through a double on their way; `32-bit`: a
       * signed counter of 32 bits, which wraps; `random`: opaque ids, each different.
       */
      readonly numbering?: 'exact' | 'double' | '32-bit' | 'random';
      /** Whether a renew gives a new token, instead of keeping the grant's. */
      readonly renewRaises?: boolean;
      /** How long after the end of a lease that was not released the lock is not granted. */
      readonly lockDelay?: number;
      /** Which clients are ever granted a lock; `one`: the first that asks for it. */
      readonly serves?: 'all' | 'nobody' | 'one';
    } = {},
  ) {
    argument.whole('firstToken', firstToken, 1);
    this.firstToken = firstToken;
    argument.object('rules', rules);
    this.rules = { ...BOOK, ...rules };
    const { numbering, renewRaises, lockDelay, serves } = this.rules;
    argument.word('serves', serves, SERVES);
    argument.word('numbering', numbering, NUMBERINGS);
    argument.flag('renewRaises', renewRaises);
    argument.whole('lockDelay', lockDelay, 0);
  }

  /**
   * Grants `lock`, unless an unexpired grant of *another* client holds it. The holder itself is
   * given a new, higher token.
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

  /** Prolongs a grant from `now` on; its token stays. Only the unexpired holder may. */
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

  /** Ends the grant with this token, or if that is null whichever the client holds. */
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

  /** The grant that was given last for `lock`, expired or not; null after its release. */
  current(lock: string): LockGrant | null {
    argument.name('lock', lock);
    return this.grants.get(lock) ?? null;
  }

  /** Drops the entry of one lock, as a cache may; false where there was none. */
  forget(lock: string): boolean {
    argument.name('lock', lock);
    return this.grants.delete(lock);
  }

  /** Begins to count from the first token again. */
  resetCounter(): void {
    this.counter = 0;
  }

  /** A copy of its state, as a function that brings it back. */
  snapshot(): () => void {
    const state = this.save();
    return () => this.load(state);
  }

  /** Returns its state as plain data: how many tokens were given, and its grants. */
  save(): { readonly counter: number; readonly grants: readonly LockGrant[] } {
    return { counter: this.counter, grants: [...this.grants.values()] };
  }

  /** Takes over a state that `save` returned. Throws for any other. */
  load(state: ReturnType<LockService['save']>): void {
    requireState(state);
    this.counter = state.counter;
    this.grants.clear();
    for (const grant of state.grants) this.grants.set(grant.lock, grant);
  }
}

function requireState(state: ReturnType<LockService['save']>): void {
  argument.object('state', state);
  argument.whole('counter', state.counter, 0);
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

/** A ttl lasts; what a clock says may be anything, also before its epoch. */
function requireTimes({ ttl, now }: Pick<AcquireAsk, 'ttl' | 'now'>): void {
  argument.whole('ttl', ttl, 1);
  argument.safe('now', now);
}

export type Numbering = LockRules['numbering'];

const NUMBERINGS: readonly Numbering[] = ['exact', 'double', '32-bit', 'random'];

/** The token that follows `before` others, where the `first` is the very first. */
export function tokenOf(
  numbering: Numbering,
  { first, before }: { readonly first: number; readonly before: number },
): number {
  switch (numbering) {
    case 'exact': {
      const token = first + before;
      assert(Number.isSafeInteger(token), 'a token is a safe integer; begin with a lower one');
      return token;
    }
    case 'double':
      return Number(BigInt(first) + BigInt(before));
    case '32-bit':
      return (first + before) | 0;
    case 'random':
      // One to one for 32 bits, and above 0.
      return mix(first + before) + 1;
  }
}

/** Whether this client may ever have the lock; where one may, it is the first that asks. */
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
