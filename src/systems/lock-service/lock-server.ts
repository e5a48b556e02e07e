/**
 * The lock service as a server of the world. `published` is the scheme to the letter: it judges
 * expiry by the time that the caller passes and releases by client id. Without it, the baseline:
 * the server's own clock, and a renew or release names its grant.
 */
import type { Answer } from '../../history/trace.ts';
import type { Boot, Server, Turn } from '../../world/server.ts';
import { GrantBook } from '../grant-book.ts';
import { type Grant, LockService } from './lock-service.ts';

export type LockRequest =
  | {
      readonly kind: 'acquire';
      readonly lock: string;
      readonly client: string;
      readonly ttlUs: number;
      readonly nowUs: number;
    }
  | {
      readonly kind: 'renew';
      readonly lock: string;
      readonly client: string;
      readonly token: number;
      readonly ttlUs: number;
      readonly nowUs: number;
    }
  | {
      readonly kind: 'release';
      readonly lock: string;
      readonly client: string;
      readonly token: number;
      readonly nowUs: number;
    };

export type LockReply =
  | { readonly kind: 'granted'; readonly token: number; readonly issuedAtUs: number }
  | { readonly kind: 'renewed'; readonly issuedAtUs: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'denied'; readonly holder: string };

/** What the trace says of a reply. */
export function describeLockReply(reply: LockReply): Answer {
  switch (reply.kind) {
    case 'granted':
      return { kind: 'granted', token: reply.token };
    case 'denied':
      return { kind: 'denied', holder: reply.holder };
    default:
      return { kind: reply.kind };
  }
}

export interface LockServerOptions {
  readonly isPublished: boolean;
  /** Whether the token counter survives a crash. */
  readonly counter: 'durable' | 'volatile';
  /** Which of its clocks judges expiry; the published scheme uses neither. */
  readonly clock: 'monotonic' | 'wall';
  readonly firstToken: number;
}

type Ask<K extends LockRequest['kind']> = Extract<LockRequest, { kind: K }>;

export class LockServer implements Server<LockRequest, LockReply> {
  private readonly options: LockServerOptions;
  private readonly service: LockService;
  private readonly book: GrantBook;

  constructor(name: string, options: LockServerOptions) {
    this.options = options;
    this.service = new LockService(options.firstToken);
    this.book = new GrantBook(name);
  }

  handle(request: LockRequest, turn: Turn): LockReply {
    switch (request.kind) {
      case 'acquire':
        return this.acquire(request, turn);
      case 'renew':
        return this.renew(request, turn);
      case 'release':
        return this.release(request, turn);
    }
  }

  private acquire(request: Ask<'acquire'>, turn: Turn): LockReply {
    const { lock, client, ttlUs } = request;
    const now = this.now(request, turn);
    const answer = this.service.acquire({ lock, client, ttl: ttlUs, now });
    if (answer.kind !== 'granted') {
      const holder = answer.kind === 'denied' ? answer.holder : '';
      this.book.deny(turn, { lock, client, holder });
      return { kind: 'denied', holder };
    }
    const { token } = answer.grant;
    this.book.grant(turn, { lock, client, token, ttlUs, untilUs: this.endOf(answer.grant, turn) });
    return { kind: 'granted', token, issuedAtUs: now };
  }

  private renew(request: Ask<'renew'>, turn: Turn): LockReply {
    const { lock, client, ttlUs } = request;
    const now = this.now(request, turn);
    const held = this.service.current(lock);
    const named = this.options.isPublished ? null : request.token;
    const answer = this.service.renew({ lock, client, token: named, ttl: ttlUs, now });
    const isEffective = answer.kind === 'renewed';
    const token = isEffective ? answer.grant.token : (held?.token ?? 0);
    const untilUs = isEffective ? this.endOf(answer.grant, turn) : null;
    this.book.renew(turn, { lock, client, token, ttlUs, untilUs, isEffective });
    if (isEffective) return { kind: 'renewed', issuedAtUs: now };
    return { kind: 'denied', holder: held?.client ?? '' };
  }

  private release(request: Ask<'release'>, turn: Turn): LockReply {
    const { lock, client } = request;
    const token = this.options.isPublished ? null : request.token;
    const held = this.service.current(lock);
    const answer = this.service.release({ lock, client, token });
    const isEffective = answer.kind === 'released';
    this.book.release(turn, { lock, client, isEffective });
    return isEffective ? { kind: 'released' } : { kind: 'denied', holder: held?.client ?? '' };
  }

  private now(request: LockRequest, turn: Turn): number {
    if (this.options.isPublished) return request.nowUs;
    return this.options.clock === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  /**
   * True time at which a grant ends; of the published scheme, by callers whose clocks are right.
   */
  private endOf(grant: Grant, turn: Turn): number {
    const end = grant.issuedAt + grant.ttl;
    return this.options.isPublished ? end : turn.trueTimeOf(this.options.clock, end);
  }

  restart(_boot: Boot): void {
    if (this.options.counter === 'volatile') this.service.resetCounter();
  }

  snapshot(): () => void {
    const state = this.service.save();
    const restoreBook = this.book.snapshot();
    return () => {
      this.service.load(state);
      restoreBook();
    };
  }

  evict(key: string): boolean {
    return this.service.forget(key);
  }
}
