/**
 * A lock service with a queue, as in etcd's mutex. Each client that requests a lock gets an entry
 * with a lease, which its further requests extend. The first entry holds the lock. A request by the
 * holder also repeats its grant (etcd's acquire puts a key only if its session has none). A client
 * whose entry expired has lost its place. Without verification, such a client only checks for
 * entries ahead of its former place. It then takes the lock without holding it (etcd 3.4.3).
 */

import type { AcquireAsk, LockAnswer, LockGrant, ReleaseAsk, RenewAsk } from './lock-service.ts';
import { hasExpired } from './lock-service.ts';

/** A place in the queue. `isHeld` is true once the client knows that it has the lock. */
interface Entry extends LockGrant {
  readonly isHeld: boolean;
}

/**
 * A denied acquire returns a `place` in the queue, which the client's next acquire names. With
 * `isAgain`, the request extended a grant that the client already held.
 */
type LineAnswer =
  | LockAnswer
  | { kind: 'denied'; holder: string; place: number }
  | { kind: 'granted'; grant: LockGrant; isAgain: true };

export class LockLine {
  private readonly firstToken: number;
  /** True if a client whose entry expired loses its place. */
  private readonly verifies: boolean;
  private counter = 0;
  /** The entries of all locks, in token order. */
  private entries: readonly Entry[] = [];

  constructor(firstToken: number, verifies: boolean) {
    this.firstToken = firstToken;
    this.verifies = verifies;
  }

  /** `place` is from the last reply; 0 at first. The entry's lease starts again at `now`. */
  acquire(ask: AcquireAsk & { readonly place: number }): LineAnswer {
    const { lock, client, ttl, now } = ask;
    this.entries = this.entries.filter((entry) => !hasExpired(entry, now));
    const existing = this.entries.find((entry) => isOf(ask, entry));
    if (existing?.isHeld === true)
      return { kind: 'granted', grant: this.prolong(existing, ask), isAgain: true };
    const token = existing?.token ?? (this.verifies ? 0 : ask.place);
    const isLapsed = existing === undefined && token > 0;
    const ahead = this.entries.find(
      (entry) =>
        entry.lock === lock && entry.client !== client && (token === 0 || entry.token < token),
    );
    const isHeld = ahead === undefined;
    // The client's entry is gone, so its grant ends at once.
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

  /** Like `renew` of `LockService`; denied unless the client holds the lock. */
  renew(ask: RenewAsk): LockAnswer {
    const held = this.heldBy(ask);
    if (held === null || hasExpired(held, ask.now)) return this.denial(ask.lock);
    return { kind: 'renewed', grant: this.replace(held, ask) };
  }

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

  /** Returns the grant of the holder, expired or not, or null if there is none. */
  current(lock: string): LockGrant | null {
    return this.entries.find((entry) => entry.lock === lock && entry.isHeld) ?? null;
  }

  /** Drops the entire queue of a lock. Returns false if it was empty. */
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
