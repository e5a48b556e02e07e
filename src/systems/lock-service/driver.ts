/** What a client of the lock service sends, and what it makes of the answers. */
import { type Name, under } from '../../kernel/name.ts';
import type { CallSetting } from '../../world/call.ts';
import { type Program, request } from '../../world/program.ts';
import type { ServerHost } from '../../world/server.ts';
import { leaseEnd, testLease } from '../lease.ts';
import type { LockDriver } from '../protocol.ts';
import { part, type Section } from '../section-calls.ts';
import { LockClient } from './lock-client.ts';
import { describeLockReply, type LockReply, type LockRequest } from './lock-server.ts';

export class LockServiceDriver implements LockDriver {
  private readonly client: LockClient;
  private readonly server: ServerHost<LockRequest, LockReply>;

  constructor(client: string, server: ServerHost<LockRequest, LockReply>) {
    this.client = new LockClient(client);
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock } = section;
    const { ttlUs } = plan;
    const sentUs = self.monotonicUs();
    const operation = under(at.name, part('acquire', attempt));
    const ask = {
      kind: 'acquire',
      lock,
      client: this.client.id,
      ttlUs,
      nowUs: self.wallUs(),
    } as const;
    const call = yield* request(self, this.call(at, operation, ask));
    if (call.reply?.kind !== 'granted') return false;
    const { token, issuedAtUs } = call.reply;
    this.client.remember({ lock, token });
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
      token: this.token(lock),
      ttlUs,
      nowUs: self.wallUs(),
    } as const;
    const call = yield* request(self, this.call(at, under(at.name, part('renew', id)), ask));
    if (call.reply?.kind === 'denied') return false;
    if (call.reply?.kind !== 'renewed') return true;
    at.end = leaseEnd(at, { sentUs, issuedAtUs: call.reply.issuedAtUs, ttlUs });
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
      token: this.token(lock),
      nowUs: self.wallUs(),
    } as const;
    yield* request(self, this.call(at, under(at.name, 'release'), ask));
    this.client.forget(lock);
  }

  token(lock: string): number {
    return this.client.token(lock);
  }

  private call(
    at: Section,
    operation: Name,
    ask: LockRequest,
  ): CallSetting<LockRequest, LockReply> {
    const token = ask.kind === 'acquire' ? 0 : ask.token;
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
