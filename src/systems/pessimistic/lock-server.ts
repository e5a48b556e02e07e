/**
 * The pessimistic lock as a server: first come, first served, and a request that has to wait is
 * answered when its turn has come. It looks for circles whenever somebody begins to wait.
 */
import type { Answer } from '../../core/history/trace.ts';
import { type Boot, LATER, type Server, type Turn } from '../../core/world/server.ts';
import { GrantBook } from '../grant-book.ts';
import { type Ask, LockTable } from './lock-table.ts';

export type PessimisticRequest =
  | {
      readonly kind: 'acquire';
      readonly lock: string;
      readonly client: string;
      readonly request: string;
      /** When its client began to ask, by its monotonic clock: a later request supersedes it. */
      readonly sinceUs: number;
    }
  /** Gives the lock back, or up: `request` names the acquisition that is meant. */
  | {
      readonly kind: 'release';
      readonly lock: string;
      readonly client: string;
      readonly request: string;
    };

export type PessimisticReply =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

/** What the trace says of a reply. */
export function describePessimisticReply(reply: PessimisticReply): Answer {
  return reply;
}

export interface PessimisticServerOptions {
  /** What becomes of a request that closes a circle: it waits as well, or it is denied. */
  readonly onDeadlock: 'wait' | 'abort';
}

type Acquire = Extract<PessimisticRequest, { kind: 'acquire' }>;
type LockTurn = Turn<PessimisticReply>;

export class PessimisticServer implements Server<PessimisticRequest, PessimisticReply> {
  private readonly name: string;
  private readonly options: PessimisticServerOptions;
  private readonly table: LockTable = new LockTable();
  private readonly book: GrantBook;
  /** By request: the turns that wait for one answer, more than one where it was sent again. */
  private readonly kept: Map<string, LockTurn[]> = new Map();

  constructor(name: string, options: PessimisticServerOptions) {
    this.name = name;
    this.options = options;
    this.book = new GrantBook(name);
  }

  handle(request: PessimisticRequest, turn: LockTurn): PessimisticReply | typeof LATER {
    return request.kind === 'acquire' ? this.acquire(request, turn) : this.release(request, turn);
  }

  private acquire(asked: Acquire, turn: LockTurn): PessimisticReply | typeof LATER {
    const { lock, client, request, sinceUs } = asked;
    const ask = { lock, client, request };
    const holder = this.table.holder(lock);
    if (holder?.request === request) {
      turn.grant(this.book.current(lock));
      return { kind: 'granted', token: holder.token };
    }
    if (this.table.isOver(request) || !this.table.isNewest(client, sinceUs)) {
      return this.deny(ask, turn, holder?.client ?? '');
    }
    // The program went on and stands nowhere else any more, whatever it stood in line for.
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
    this.book.deny(turn, { lock, client, holder: holder.client, waits: true });
    this.table.lineUp(ask);
    this.kept.set(request, [...(this.kept.get(request) ?? []), turn]);
    return LATER;
  }

  private deny({ lock, client }: Ask, turn: LockTurn, holder: string): PessimisticReply {
    this.book.deny(turn, { lock, client, holder });
    return { kind: 'denied', holder };
  }

  private give(ask: Ask, turns: readonly LockTurn[], atUs: number): PessimisticReply {
    const { lock, client } = ask;
    this.kept.delete(ask.request);
    const { token } = this.table.give(ask);
    const [first, ...others] = turns;
    if (first !== undefined) {
      this.book.grant(first, { lock, client, token, ttlUs: 0, untilUs: null }, atUs);
    }
    for (const turn of others) turn.grant(this.book.current(lock));
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
    // Who gives up a request does not know which grant it brought; the request names it still.
    const under = turn.under === 0 && isEffective ? this.book.current(lock) : turn.under;
    this.book.release(turn, { lock, client, isEffective, under });
    if (!isEffective) return { kind: 'denied', holder: this.table.holder(lock)?.client ?? '' };
    this.handOver(lock, turn.atUs);
    return { kind: 'released' };
  }

  /** Gives a lock that nobody holds any more to the next in line. */
  private handOver(lock: string, atUs: number): void {
    const next = this.table.next(lock);
    if (next === null) return;
    const turns = this.kept.get(next.request) ?? [];
    const reply = this.give(next, turns, atUs);
    for (const turn of turns) turn.answer(reply);
  }

  /** Who holds what is durable; who stood in line has to ask again. */
  restart(_boot: Boot): void {
    this.table.clearLines();
    this.kept.clear();
  }

  snapshot(): () => void {
    const state = this.table.save();
    const restoreBook = this.book.snapshot();
    return () => {
      this.table.load(state);
      restoreBook();
    };
  }

  evict(key: string, { atUs }: Boot): boolean {
    const wasHeld = this.table.forget(key);
    if (wasHeld) this.handOver(key, atUs);
    return wasHeld;
  }
}
