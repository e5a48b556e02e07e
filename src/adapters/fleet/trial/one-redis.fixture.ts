/**
 * A Redis server that all tests of a file or a `describe` share. Without `redis-server`, the tests
 * are skipped.
 */
import { afterAll, beforeAll, type TestAPI } from 'vitest';
import { needs } from '../../../../tools/needs.ts';
import { hasRealRedis } from '../../../host/redis/real-redis.fixture.ts';
import { RedisServer } from './redis.fixture.ts';

export class OneRedis {
  readonly test: TestAPI;
  private readonly password: string | null;
  private started: RedisServer | null = null;

  /** Starts the server before the first test, and ends it after the last. */
  constructor({ password = null }: { readonly password?: string | null } = {}) {
    const isThere = hasRealRedis();
    this.test = needs('redis-server', isThere);
    this.password = password;
    const options = password === null ? [] : ['--requirepass', password];
    beforeAll(async () => {
      if (isThere) this.started = await RedisServer.start(options);
    });
    afterAll(() => this.started?.end());
  }

  get server(): RedisServer {
    if (this.started === null) throw new Error('there is no Redis yet');
    return this.started;
  }

  get port(): number {
    return this.server.port;
  }

  get url(): string {
    const user = this.password === null ? '' : `:${this.password}@`;
    return `redis://${user}127.0.0.1:${this.port}`;
  }
}
