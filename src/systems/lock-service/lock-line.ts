/**
 * A lock service where who asks gets a place in line, as in etcd's mutex: an entry with a lease of
 * its own, which each further request prolongs, that of the holder as well: it is told of its grant
 * again (etcd's acquire puts a key only where its session has none). The first in line holds the
 * lock. A client whose entry expired while it waited has lost its place; one that only looks
 * whether nobody is ahead of the place that it once had takes the lock without holding it (etcd
 * 3.4.3).
 */

import type { AcquireAsk, LockAnswer, LockGrant, ReleaseAsk, RenewAsk } from './lock-service.ts';
import { hasExpired } from './lock-service.ts';

/** A place in line is a grant from the moment that its client was told so. */
interface Entry extends LockGrant {
  readonly isHeld: boolean;
}

/**
 * A denied acquire has a `place` in line; the next one names it. A grant that its holder asked for
 * once more `isAgain` the one that it has, prolonged.
 */
type LineAnswer =
  | LockAnswer
  | { kind: 'denied'; holder: string; place: number }
  | { kind: 'granted'; grant: LockGrant; isAgain: true };

export class LockLine {
  private readonly firstToken: number;
  /** Whether who comes to the front is asked for its entry. */
  private readonly verifies: boolean;
  private counter = 0;
  /** In the order of their tokens, of all locks. */
  private entries: readonly Entry[] = [];

  constructor(firstToken: number, verifies: boolean) {
    this.firstToken = firstToken;
    this.verifies = verifies;
  }

  /** `place` is the one that the client was told, 0 at first. Its lease counts from `now` again. */
  acquire(ask: AcquireAsk & { readonly place: number }): LineAnswer {
    const { lock, client, ttl, now } = ask;
    this.entries = this.entries.filter((entry) => !hasExpired(entry, now));
    const own = this.entries.find((entry) => isOf(ask, entry));
    if (own?.isHeld === true)
      return { kind: 'granted', grant: this.prolong(own, ask), isAgain: true };
    const token = own?.token ?? (this.verifies ? 0 : ask.place);
    const isLapsed = own === undefined && token > 0;
    const ahead = this.entries.find(
      (entry) =>
        entry.lock === lock && entry.client !== client && (token === 0 || entry.token < token),
    );
    const isHeld = ahead === undefined;
    // A grant of an entry that is no more ends at once.
    if (isLapsed && isHeld) {
      return { kind: 'granted', grant: { token, lock, client, issuedAt: now, ttl: 0 } };
    }
    if (isLapsed) return { kind: 'denied', holder: ahead?.client ?? '', place: token };
    const place = token || this.nextToken();
    const entry: Entry = { token: place, lock, client, issuedAt: now, ttl, isHeld };
    const others = this.entries.filter((other) => !isOf(ask, other));
    this.entries = [...others, entry].sort((a, b) => a.token - b.token);
    if (isHeld) return { kind: 'granted', grant: entry };
    return { kind: 'denied', holder: ahead.client, place };
  }

  private prolong(held: Entry, { now, ttl }: { now: number; ttl: number }): Entry {
    if (now + ttl <= held.issuedAt + held.ttl) return held;
    return this.replace(held, { now, ttl });
  }

  private nextToken(): number {
    this.counter += 1;
    return this.firstToken + this.counter - 1;
  }

  /** As that of `LockService`; only who holds the lock may. */
  renew(ask: RenewAsk): LockAnswer {
    const held = this.heldBy(ask);
    if (held === null || hasExpired(held, ask.now)) return this.denial(ask.lock);
    return { kind: 'renewed', grant: this.replace(held, ask) };
  }

  /** The same entry in the same place, with a lease from `now` on. */
  private replace(held: Entry, { now, ttl }: { now: number; ttl: number }): Entry {
    const { token, lock, client, isHeld } = held;
    const renewed: Entry = { token, lock, client, issuedAt: now, ttl, isHeld };
    this.entries = this.entries.map((entry) => (entry === held ? renewed : entry));
    return renewed;
  }

  release(ask: ReleaseAsk): LockAnswer {
    const held = this.heldBy(ask);
    if (held === null) return this.denial(ask.lock);
    this.entries = this.entries.filter((entry) => entry !== held);
    return { kind: 'released' };
  }

  private heldBy(ask: ReleaseAsk): Entry | null {
    const held = this.entries.find((entry) => isOf(ask, entry) && entry.isHeld);
    return held !== undefined && (ask.token === null || ask.token === held.token) ? held : null;
  }

  private denial(lock: string): LockAnswer {
    return { kind: 'denied', holder: this.current(lock)?.client ?? '' };
  }

  /** Who holds the lock, or held it last. */
  current(lock: string): LockGrant | null {
    return this.entries.find((entry) => entry.lock === lock && entry.isHeld) ?? null;
  }

  /** Drops the whole line of a lock. */
  forget(lock: string): boolean {
    const others = this.entries.filter((entry) => entry.lock !== lock);
    const hadAny = others.length < this.entries.length;
    this.entries = others;
    return hadAny;
  }

  resetCounter(): void {
    this.counter = 0;
  }

  snapshot(): () => void {
    const { counter, entries } = this;
    return () => {
      this.counter = counter;
      this.entries = entries;
    };
  }
}

function isOf(ask: { lock: string; client: string }, entry: Entry): boolean {
  return entry.lock === ask.lock && entry.client === ask.client;
}
