/**
 * Who holds which lock and who stands in line for it: pure state and rules, no clock and no
 * network. A lock is held until it is given back; a client stands in one line at a time, as its
 * program waits for one answer at a time.
 */

/** One acquisition, or the wish for it. `request` names it, the same in every try. */
export interface Ask {
  readonly lock: string;
  readonly client: string;
  readonly request: string;
}

export interface Held extends Ask {
  readonly token: number;
}

/** `client` waits for `lock`, which the next one holds; for the last one, the first. */
export interface Wait {
  readonly client: string;
  readonly lock: string;
}

export interface LockTableState {
  readonly counter: number;
  readonly held: readonly Held[];
  readonly over: readonly string[];
  readonly newest: readonly (readonly [client: string, sinceUs: number])[];
}

export class LockTable {
  private counter = 0;
  private readonly held: Map<string, Held> = new Map();
  private readonly lines: Map<string, Ask[]> = new Map();
  /** Acquisitions that were given back or given up: what still comes for them is too late. */
  private readonly over: Set<string> = new Set();

  /** By client: when it began with the newest thing that it asked for, by its own clock. */
  private readonly newest: Map<string, number> = new Map();

  holder(lock: string): Held | null {
    return this.held.get(lock) ?? null;
  }

  isOver(request: string): boolean {
    return this.over.has(request);
  }

  /**
   * Whether the client asked for nothing since; what it asked for before, and has come late, it
   * does not wait for any more.
   */
  isNewest(client: string, sinceUs: number): boolean {
    const isNewest = sinceUs >= (this.newest.get(client) ?? sinceUs);
    if (isNewest) this.newest.set(client, sinceUs);
    return isNewest;
  }

  /** Gives the lock, with a token above all before it; what its holder had of it is over. */
  give(ask: Ask): Held {
    const before = this.held.get(ask.lock);
    if (before !== undefined && before.request !== ask.request) this.over.add(before.request);
    this.counter += 1;
    const { lock, client, request } = ask;
    const held: Held = { lock, client, request, token: this.counter };
    this.held.set(lock, held);
    return held;
  }

  /** Puts the client at the end of the line; whoever stands there for the same stays there. */
  lineUp(ask: Ask): void {
    const line = this.lines.get(ask.lock) ?? [];
    this.lines.set(ask.lock, line);
    if (!line.some(({ request }) => request === ask.request)) line.push(ask);
  }

  /** Takes the client out of every line, but for the one where it stands for `request`. */
  stepOut(client: string, request: string | null): void {
    for (const [lock, line] of this.lines) {
      this.lines.set(
        lock,
        line.filter((ask) => ask.client !== client || ask.request === request),
      );
    }
  }

  /** Ends an acquisition, held or wished for; whether the client held the lock by it. */
  end({ lock, client, request }: Ask): boolean {
    this.over.add(request);
    const line = this.lines.get(lock);
    if (line !== undefined) {
      this.lines.set(
        lock,
        line.filter((ask) => ask.request !== request),
      );
    }
    const held = this.held.get(lock);
    if (held?.client !== client || held.request !== request) return false;
    this.held.delete(lock);
    return true;
  }

  /** Who is next in line for a lock that nobody holds; it leaves the line. */
  next(lock: string): Ask | null {
    if (this.held.has(lock)) return null;
    return this.lines.get(lock)?.shift() ?? null;
  }

  /**
   * The circle that would close if `client` waited for `lock`: from `client` along the graph of who
   * waits for whom, back to itself; null when nobody on the way waits for it.
   */
  circleOf({ client, lock }: Wait): readonly Wait[] | null {
    const circle: Wait[] = [{ client, lock }];
    const seen = new Set<string>();
    let wanted = lock;
    for (;;) {
      const holder = this.held.get(wanted)?.client;
      if (holder === undefined || seen.has(holder)) return null;
      if (holder === client) return circle;
      seen.add(holder);
      const next = this.wantedBy(holder);
      if (next === null) return null;
      circle.push({ client: holder, lock: next });
      wanted = next;
    }
  }

  private wantedBy(client: string): string | null {
    for (const [lock, line] of this.lines) {
      if (line.some((ask) => ask.client === client)) return lock;
    }
    return null;
  }

  /** Forgets who holds the lock; false where nobody did. */
  forget(lock: string): boolean {
    return this.held.delete(lock);
  }

  /** Forgets who stands in line, as a crash makes it. */
  clearLines(): void {
    this.lines.clear();
  }

  /** What is durable: all but the lines. */
  save(): LockTableState {
    return {
      counter: this.counter,
      held: [...this.held.values()],
      over: [...this.over],
      newest: [...this.newest],
    };
  }

  load(state: LockTableState): void {
    this.counter = state.counter;
    this.held.clear();
    for (const held of state.held) this.held.set(held.lock, held);
    this.over.clear();
    for (const request of state.over) this.over.add(request);
    this.newest.clear();
    for (const [client, sinceUs] of state.newest) this.newest.set(client, sinceUs);
  }
}
