/**
 * The lock on a single Redis instance as a client takes it (redis.io, "Distributed Locks with
 * Redis", "Correct Implementation with a Single Instance"): `SET lock random NX PX ttl`, given back
 * by a script that deletes the key only while it holds that value. The other ways to give it back,
 * or to prolong it, are what that page warns of.
 */
import { type Name, under } from '../../core/kernel/name.ts';
import type { CallSetting } from '../../core/world/calls.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { leaseEnd, testLease } from '../lease.ts';
import type { LockDriver } from '../protocol.ts';
import { part, type Section } from '../section-calls.ts';
import { randomValue } from './random-value.ts';
import { describeRedisReply, type RedisReply, type RedisRequest } from './server.ts';

export interface RedisDriverOptions {
  readonly release: 'compare-and-delete' | 'get-then-delete' | 'delete';
  readonly renew: 'compare' | 'any';
  /** Whether the random value is attached to accesses, as if it were a fencing token. */
  readonly token: 'none' | 'value';
}

type Verb = 'acquire' | 'renew' | 'release';

export class RedisDriver implements LockDriver {
  private readonly options: RedisDriverOptions;
  private readonly server: ServerHost<RedisRequest, RedisReply>;
  private readonly values: Map<string, number> = new Map();

  constructor(options: RedisDriverOptions, server: ServerHost<RedisRequest, RedisReply>) {
    this.options = options;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock: key } = section;
    const { ttlUs } = plan;
    const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('acquire', attempt));
    const value = randomValue(operation);
    const ask = { kind: 'set', key, value, ttlUs } as const;
    const call = yield* request(self, this.call(at, { verb: 'acquire', operation, ask, value }));
    if (call.reply?.kind !== 'done') return false;
    this.values.set(key, value);
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    const token = this.token(key);
    self.enter({ section: at.name, lock: key, ordinal: call.granted, token, end: at.end });
    return true;
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock: key } = section;
    const value = this.values.get(key) ?? 0;
    const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
    const operation = under(at.name, part('renew', id));
    const ifValue = this.options.renew === 'compare' ? value : null;
    const ask = { kind: 'expire', key, ifValue, ttlUs } as const;
    const call = yield* request(self, this.call(at, { verb: 'renew', operation, ask, value }));
    if (call.reply === null) return true;
    if (call.reply.kind !== 'done') return false;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs });
    // A renewal that is confirmed too late has nothing left to count on; the next test will say so.
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { self, section } = at;
    const { lock: key } = section;
    const value = this.values.get(key) ?? 0;
    this.values.delete(key);
    const { release } = this.options;
    const verb = 'release';
    if (release === 'get-then-delete') {
      const operation = under(at.name, 'release-get');
      const ask = { kind: 'get', key } as const;
      const call = yield* request(self, this.call(at, { verb, value, operation, ask }));
      if (call.reply?.kind !== 'value' || call.reply.value !== value) return;
    }
    const operation = under(at.name, 'release');
    const ifValue = release === 'compare-and-delete' ? value : null;
    const ask = { kind: 'delete', key, ifValue } as const;
    yield* request(self, this.call(at, { verb, value, operation, ask }));
  }

  token(lock: string): number {
    return this.options.token === 'value' ? (this.values.get(lock) ?? 0) : 0;
  }

  private call(
    at: Section,
    sent: { verb: Verb; operation: Name; ask: RedisRequest; value: number },
  ): CallSetting<RedisRequest, RedisReply> {
    const { verb, operation, ask } = sent;
    const token = this.options.token === 'value' ? sent.value : 0;
    return {
      operation,
      call: { verb, lock: ask.key, token: verb === 'acquire' ? 0 : token },
      target: this.server,
      request: ask,
      timeoutUs: at.plan.lockTimeoutUs,
      // A second SET NX would be denied because of the first, and might be handled after its DEL.
      tries: ask.kind === 'set' ? 1 : at.plan.tries,
      describe: describeRedisReply(ask, token),
    };
  }
}
