/**
 * The lock service as a simulated server. The published variant follows Kleppmann's book literally
 * (see `lock-service.ts`): it judges expiry by the client's clock and releases by client id. The
 * baseline uses the server's clock, and a renew or release names its grant.
 */
import type { Answer } from '../../core/history/call.ts';
import type { Boot, Server, Turn } from '../../core/world/server.ts';
import { GrantRecorder } from '../grant-recorder.ts';
import { LockLine } from './lock-line.ts';
import { hasExpired, type LockGrant, type LockRules, LockService } from './lock-service.ts';

/** Fields of every client request. `nowUs` is the client's wall-clock time at the request. */
type Asked = { readonly lock: string; readonly client: string; readonly nowUs: number };

export type LockRequest =
  /** `place`: the client's place in the queue, 0 for none; absent if clients do not queue. */
  | (Asked & { readonly kind: 'acquire'; readonly ttlUs: number; readonly place?: number })
  | (Asked & { readonly kind: 'renew'; readonly token: number; readonly ttlUs: number })
  | (Asked & { readonly kind: 'release'; readonly token: number })
  /** A store asks whether this token belongs to a live lease. */
  | (Omit<Asked, 'client'> & { readonly kind: 'check'; readonly token: number })
  /** Asks for the lock's current token, regardless of its holder. */
  | { readonly kind: 'fetch'; readonly lock: string };

export type LockReply =
  | { readonly kind: 'granted'; readonly token: number; readonly issuedAtUs: number }
  /** `token`: the new token, if a renew issues one. */
  | { readonly kind: 'renewed'; readonly issuedAtUs: number; readonly token?: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'current' | 'outdated' }
  | { readonly kind: 'denied'; readonly holder: string; readonly place?: number }
  | { readonly kind: 'token'; readonly token: number };

export function describeLockReply(reply: LockReply): Answer {
  switch (reply.kind) {
    case 'granted':
      return { kind: 'granted', token: reply.token };
    case 'denied':
      return { kind: 'denied', holder: reply.holder };
    case 'token':
      return { kind: 'value', value: reply.token };
    default:
      return { kind: reply.kind };
  }
}

export interface LockServerOptions {
  readonly isPublished: boolean;
  readonly counter: 'durable' | 'volatile';
  /** The server clock that judges expiry. The published variant does not use it. */
  readonly clock: 'monotonic' | 'wall';
  readonly firstToken: number;
  readonly rules: LockRules;
  /** A release ends the grant that it names, or any grant that the client holds. */
  readonly release: 'named' | 'by-client';
  /** Client behavior if the lock is busy: retry, or wait in a queue. */
  readonly waits: 'retry' | 'in-line' | 'in-line-unverified';
}

type Ask<K extends LockRequest['kind']> = Extract<LockRequest, { kind: K }>;

export class LockServer implements Server<LockRequest, LockReply> {
  private readonly options: LockServerOptions;
  private readonly service: LockService | LockLine;
  private readonly recorder: GrantRecorder;

  constructor(name: string, options: LockServerOptions) {
    this.options = options;
    const { firstToken, rules, waits } = options;
    this.service =
      waits === 'retry'
        ? new LockService(firstToken, rules)
        : new LockLine(firstToken, waits === 'in-line');
    this.recorder = new GrantRecorder(name);
  }

  handle(request: LockRequest, turn: Turn): LockReply {
    switch (request.kind) {
      case 'acquire':
        return this.acquire(request, turn);
      case 'renew':
        return this.renew(request, turn);
      case 'release':
        return this.release(request, turn);
      case 'check':
        return { kind: this.isCurrent(request, turn) ? 'current' : 'outdated' };
      case 'fetch':
        return { kind: 'token', token: this.service.current(request.lock)?.token ?? 0 };
    }
  }

  private acquire(request: Ask<'acquire'>, turn: Turn): LockReply {
    const { lock, client, ttlUs, place = 0 } = request;
    const now = this.now(request, turn);
    const ttl = turn.lifetimeUs(ttlUs);
    const answer = this.service.acquire({ lock, client, ttl, now, place });
    if (answer.kind !== 'granted') {
      const denied = answer.kind === 'denied' ? answer : { kind: 'denied' as const, holder: '' };
      this.recorder.deny(turn, { lock, client, holder: denied.holder });
      return denied;
    }
    const { token } = answer.grant;
    const terms = { lock, client, token, ttlUs, untilUs: this.endOf(answer.grant, turn) };
    if ('isAgain' in answer) this.recorder.grantAgain(turn, terms);
    else this.recorder.grant(turn, terms);
    return { kind: 'granted', token, issuedAtUs: this.issuedAt(request, turn) };
  }

  private renew(request: Ask<'renew'>, turn: Turn): LockReply {
    const { lock, client, ttlUs } = request;
    const now = this.now(request, turn);
    const held = this.service.current(lock);
    const named = this.options.isPublished ? null : request.token;
    const ttl = turn.lifetimeUs(ttlUs);
    const answer = this.service.renew({ lock, client, token: named, ttl, now });
    const isEffective = answer.kind === 'renewed';
    const token = isEffective ? answer.grant.token : (held?.token ?? 0);
    const untilUs = isEffective ? this.endOf(answer.grant, turn) : null;
    this.recorder.renew(turn, { lock, client, token, ttlUs, untilUs, isEffective });
    if (!isEffective) return { kind: 'denied', holder: held?.client ?? '' };
    const issuedAtUs = this.issuedAt(request, turn);
    if (this.options.rules.renewRaises) return { kind: 'renewed', issuedAtUs, token };
    return { kind: 'renewed', issuedAtUs };
  }

  private release(request: Ask<'release'>, turn: Turn): LockReply {
    const { lock, client } = request;
    const token = this.options.release === 'by-client' ? null : request.token;
    const held = this.service.current(lock);
    const answer = this.service.release({ lock, client, token });
    const isEffective = answer.kind === 'released';
    this.recorder.release(turn, { lock, client, isEffective });
    return isEffective ? { kind: 'released' } : { kind: 'denied', holder: held?.client ?? '' };
  }

  private isCurrent(request: Ask<'check'>, turn: Turn): boolean {
    const held = this.service.current(request.lock);
    if (held === null || held.token !== request.token) return false;
    return !hasExpired(held, this.now(request, turn));
  }

  private now(request: Exclude<LockRequest, { kind: 'fetch' }>, turn: Turn): number {
    if (this.options.isPublished) return request.nowUs;
    return this.options.clock === 'wall' ? turn.wallUs : turn.monotonicUs;
  }

  /** Returns a wall-clock time, even if the monotonic clock judges expiry. */
  private issuedAt(request: Ask<'acquire' | 'renew'>, turn: Turn): number {
    return this.options.isPublished ? request.nowUs : turn.wallUs;
  }

  /** Returns the true time at which a grant ends. The published variant assumes a correct clock. */
  private endOf(grant: LockGrant, turn: Turn): number {
    const { isPublished, clock } = this.options;
    return turn.trueTimeOf(isPublished ? 'right' : clock, grant.issuedAt + grant.ttl);
  }

  restart(_boot: Boot): void {
    if (this.options.counter === 'volatile') this.service.resetCounter();
  }

  snapshot(): () => void {
    return this.recorder.snapshot(this.service.snapshot());
  }

  evict(key: string): boolean {
    return this.service.forget(key);
  }
}
