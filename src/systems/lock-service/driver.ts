/** What a client of the lock service sends, and what it makes of the answers. */
import type { Draft } from '../../core/kernel/draft.ts';
import { type Name, under } from '../../core/kernel/name.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { leaseEnd, testLease } from '../lease.ts';
import type { LockDriver } from '../protocol.ts';
import { part, type Section } from '../section-calls.ts';
import { LockClient } from './lock-client.ts';
import { describeLockReply, type LockReply, type LockRequest } from './lock-server.ts';

type AcquireRequest = Extract<LockRequest, { readonly kind: 'acquire' }>;

/** What a client of the lock service may do differently. */
export interface DriverManner {
  /**
   * Its own token; or none in sections with an even number; or the lock's current one, whosesoever
   * that is, fetched before each write as with Redisson's `getToken`.
   */
  readonly attaches: 'own' | 'at-times' | 'current';
  /** Whether it names its place in line when it asks again. */
  readonly waitsInLine: boolean;
}

export class LockServiceDriver implements LockDriver {
  private readonly client: LockClient;
  private readonly server: ServerHost<LockRequest, LockReply>;
  private readonly manner: DriverManner;
  private isForgetful = false;
  /** The place in line that it was told last in this section; 0 for none. */
  private place = 0;
  /** The token that it fetched for the write at hand; null for its own. */
  private fetched: number | null = null;

  constructor(client: string, server: ServerHost<LockRequest, LockReply>, manner: DriverManner) {
    this.client = new LockClient(client);
    this.server = server;
    this.manner = manner;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock } = section;
    const { ttlUs } = plan;
    const sentUs = self.monotonicUs();
    const operation = under(at.name, part('acquire', attempt));
    const nowUs = self.wallUs();
    const ask: Draft<AcquireRequest> = {
      kind: 'acquire',
      lock,
      client: this.client.id,
      ttlUs,
      nowUs,
    };
    if (attempt === 1) this.place = 0;
    if (this.manner.waitsInLine) ask.place = this.place;
    const call = yield* request(self, this.call(at, operation, ask));
    if (call.reply?.kind === 'denied') this.place = call.reply.place ?? 0;
    if (call.reply?.kind !== 'granted') return false;
    const { token, issuedAtUs } = call.reply;
    this.client.remember({ lock, token });
    this.isForgetful = this.manner.attaches === 'at-times' && section.id % 2 === 0;
    this.fetched = null;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    self.enter({ section: at.name, lock, ordinal: call.granted, token, end: at.end });
    return true;
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock } = section;
    const sentUs = self.monotonicUs();
    const ask = {
      kind: 'renew',
      lock,
      client: this.client.id,
      token: this.client.token(lock),
      ttlUs,
      nowUs: self.wallUs(),
    } as const;
    const call = yield* request(self, this.call(at, under(at.name, part('renew', id)), ask));
    if (call.reply?.kind === 'denied') return false;
    if (call.reply?.kind !== 'renewed') return true;
    const { token, issuedAtUs } = call.reply;
    if (token !== undefined) this.client.remember({ lock, token });
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    // A renewal that is confirmed too late has nothing left to count on; the next test will say so.
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { self, section } = at;
    const { lock } = section;
    const ask = {
      kind: 'release',
      lock,
      client: this.client.id,
      token: this.client.token(lock),
      nowUs: self.wallUs(),
    } as const;
    yield* request(self, this.call(at, under(at.name, 'release'), ask));
    this.client.forget(lock);
  }

  token(lock: string): number {
    return this.isForgetful ? 0 : (this.fetched ?? this.client.token(lock));
  }

  *beforeWrite(at: Section, label: string): Program<void> {
    if (this.manner.attaches !== 'current') return;
    const { lock } = at.section;
    const operation = under(at.name, label.replace('write', 'fetch'));
    const call = yield* request(at.self, this.call(at, operation, { kind: 'fetch', lock }));
    this.fetched = call.reply?.kind === 'token' ? call.reply.token : null;
  }

  private call(
    at: Section,
    operation: Name,
    ask: Exclude<LockRequest, { kind: 'check' }>,
  ): CallSetting<LockRequest, LockReply> {
    const token = 'token' in ask ? ask.token : 0;
    return {
      operation,
      call: { verb: ask.kind, lock: ask.lock, token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeLockReply,
    };
  }
}
