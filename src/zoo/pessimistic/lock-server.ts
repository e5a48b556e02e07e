/**
 * The pessimistic lock as a server: first come, first served. A request that has to wait is
 * answered when its turn comes. Whenever a client starts to wait, the server looks for a cycle of
 * waits.
 *
 * `LockTable` records the holder and the queue of each lock: pure state and rules. A lock is held
 * until it is released. A client is in one queue at a time, since its program waits for one answer
 * at a time.
 */
import {
  type Answer,
  type Boot,
  GrantRecorder,
  LATER,
  type Server,
  type Turn,
} from '../../servers.ts';

/** An acquisition, requested or granted. `request` is its identifier, the same in every try. */
type Ask = { readonly lock: string; readonly client: string; readonly request: string };

/** `sinceUs`: start of the request by the client's monotonic clock. The latest request counts. */
type Acquire = Ask & { readonly kind: 'acquire'; readonly sinceUs: number };

/** A release ends an acquisition, whether granted or still waiting. */
export type PessimisticRequest = Acquire | (Ask & { readonly kind: 'release' });

export type PessimisticReply =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

export function describePessimisticReply(reply: PessimisticReply): Answer {
  return reply;
}

interface PessimisticServerOptions {
  /** Handling of a request that closes a cycle: it waits as well, or is denied. */
  readonly onDeadlock: 'wait' | 'abort';
}

type LockTurn = Turn<PessimisticReply>;

export class PessimisticServer implements Server<PessimisticRequest, PessimisticReply> {
  private readonly name: string;
  private readonly options: PessimisticServerOptions;
  private readonly table: LockTable = new LockTable();
  private readonly recorder: GrantRecorder;
  /** The turns that wait for an answer, by request; several if the request was sent again. */
  private readonly kept: Map<string, LockTurn[]> = new Map();

  constructor(name: string, options: PessimisticServerOptions) {
    this.name = name;
    this.options = options;
    this.recorder = new GrantRecorder(name);
  }

  handle(request: PessimisticRequest, turn: LockTurn): PessimisticReply | typeof LATER {
    return request.kind === 'acquire' ? this.acquire(request, turn) : this.release(request, turn);
  }

  private acquire(asked: Acquire, turn: LockTurn): PessimisticReply | typeof LATER {
    const { lock, client, request, sinceUs } = asked;
    const ask = { lock, client, request };
    const holder = this.table.holder(lock);
    if (holder?.request === request) {
      turn.grant(this.recorder.current(lock));
      return { kind: 'granted', token: holder.token };
    }
    if (this.table.isOver(request) || !this.table.isNewest(client, sinceUs)) {
      return this.deny(ask, turn, holder?.client ?? '');
    }
    // The program has moved on, so it no longer waits in any other queue.
    this.table.stepOut(client, request);
    if (holder === null || holder.client === client) return this.give(ask, [turn], turn.atUs);
    const circle = this.table.circleOf({ client, lock });
    if (circle !== null) {
      turn.observe({ kind: 'deadlock', atUs: turn.atUs, process: this.name, waits: circle });
      if (this.options.onDeadlock === 'abort') {
        this.table.end(ask);
        return this.deny(ask, turn, holder.client);
      }
    }
    this.recorder.deny(turn, { lock, client, holder: holder.client, waits: true });
    this.table.lineUp(ask);
    this.kept.set(request, [...(this.kept.get(request) ?? []), turn]);
    return LATER;
  }

  private deny({ lock, client }: Ask, turn: LockTurn, holder: string): PessimisticReply {
    this.recorder.deny(turn, { lock, client, holder });
    return { kind: 'denied', holder };
  }

  private give(ask: Ask, turns: readonly LockTurn[], atUs: number): PessimisticReply {
    const { lock, client } = ask;
    this.kept.delete(ask.request);
    const { token } = this.table.give(ask);
    const [first, ...others] = turns;
    if (first !== undefined) {
      this.recorder.grant(first, { lock, client, token, ttlUs: 0, untilUs: null }, atUs);
    }
    for (const turn of others) turn.grant(this.recorder.current(lock));
    return { kind: 'granted', token };
  }

  private release({ lock, client, request }: Ask, turn: LockTurn): PessimisticReply {
    const wasWaiting = this.kept.delete(request);
    const isEffective = this.table.end({ lock, client, request });
    if (wasWaiting && !isEffective) {
      const text = `${client} waits for ${lock} no more`;
      turn.observe({ kind: 'log', atUs: turn.atUs, process: this.name, topic: 'line', text });
      return { kind: 'released' };
    }
    // A client that cancels a request does not know its grant, so use the lock's current grant.
    const under = turn.under === 0 && isEffective ? this.recorder.current(lock) : turn.under;
    this.recorder.release(turn, { lock, client, isEffective, under });
    if (!isEffective) return { kind: 'denied', holder: this.table.holder(lock)?.client ?? '' };
    this.handOver(lock, turn.atUs);
    return { kind: 'released' };
  }

  private handOver(lock: string, atUs: number): void {
    const next = this.table.next(lock);
    if (next === null) return;
    const turns = this.kept.get(next.request) ?? [];
    const reply = this.give(next, turns, atUs);
    for (const turn of turns) turn.answer(reply);
  }

  /** The holders are durable; waiting clients must send their requests again. */
  restart(_boot: Boot): void {
    this.table.clearLines();
    this.kept.clear();
  }

  snapshot(): () => void {
    return this.recorder.snapshot(this.table.snapshot());
  }

  evict(key: string, { atUs }: Boot): boolean {
    const wasHeld = this.table.forget(key);
    if (wasHeld) this.handOver(key, atUs);
    return wasHeld;
  }
}

type Held = Ask & { readonly token: number };

/**
 * One wait of a cycle: the client of the next wait holds `lock`. The first wait follows the last.
 */
interface Wait {
  readonly client: string;
  readonly lock: string;
}

class LockTable {
  private counter = 0;
  private held: Map<string, Held> = new Map();
  private readonly lines: Map<string, Ask[]> = new Map();
  /** Released or canceled acquisitions. Late messages for these are denied. */
  private over: Set<string> = new Set();

  /** Start of each client's latest request, by its own clock. */
  private newest: Map<string, number> = new Map();

  holder(lock: string): Held | null {
    return this.held.get(lock) ?? null;
  }

  isOver(request: string): boolean {
    return this.over.has(request);
  }

  /** Records a client's request. Returns false if the client has made a later request. */
  isNewest(client: string, sinceUs: number): boolean {
    const isNewest = sinceUs >= (this.newest.get(client) ?? sinceUs);
    if (isNewest) this.newest.set(client, sinceUs);
    return isNewest;
  }

  /** Grants the lock with a higher token, and ends an earlier acquisition by the same client. */
  give(ask: Ask): Held {
    const before = this.held.get(ask.lock);
    if (before !== undefined && before.request !== ask.request) this.over.add(before.request);
    this.counter += 1;
    const { lock, client, request } = ask;
    const held: Held = { lock, client, request, token: this.counter };
    this.held.set(lock, held);
    return held;
  }

  lineUp(ask: Ask): void {
    const line = this.lines.get(ask.lock) ?? [];
    if (!line.some(({ request }) => request === ask.request)) line.push(ask);
    this.lines.set(ask.lock, line);
  }

  /** Removes the client from every queue, except its entry for `request`. */
  stepOut(client: string, request: string | null): void {
    for (const [lock, line] of this.lines) {
      const left = line.filter((ask) => ask.client !== client || ask.request === request);
      this.lines.set(lock, left);
    }
  }

  /** Ends an acquisition, granted or waiting. Returns true if it held the lock. */
  end({ lock, client, request }: Ask): boolean {
    this.over.add(request);
    const left = this.lines.get(lock)?.filter((ask) => ask.request !== request);
    if (left !== undefined) this.lines.set(lock, left);
    const held = this.held.get(lock);
    if (held?.client !== client || held.request !== request) return false;
    this.held.delete(lock);
    return true;
  }

  /** Removes and returns the next client in the queue of a free lock, or null if there is none. */
  next(lock: string): Ask | null {
    if (this.held.has(lock)) return null;
    return this.lines.get(lock)?.shift() ?? null;
  }

  /**
   * Returns the cycle that would close if `client` waited for `lock`, or null if there is none. The
   * cycle starts with `client` and follows the wait-for graph.
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

  /** Forgets the holder of a lock. Returns false if there was none. */
  forget(lock: string): boolean {
    return this.held.delete(lock);
  }

  clearLines(): void {
    this.lines.clear();
  }

  /** Returns a function that restores the present durable state: everything but the queues. */
  snapshot(): () => void {
    const { counter } = this;
    const [held, over, newest] = [new Map(this.held), new Set(this.over), new Map(this.newest)];
    return () => {
      this.counter = counter;
      this.held = new Map(held);
      this.over = new Set(over);
      this.newest = new Map(newest);
    };
  }
}
