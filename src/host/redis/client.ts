/**
 * A client of a simulated node, with the methods of ioredis and of node-redis 3 that lock libraries
 * use: they take it for the real one. Its commands travel over the simulated network.
 */
import { EventEmitter } from 'node:events';
import type { Caller } from '../../core/world/port.ts';
import { type Given, readArguments } from './arguments.ts';
import { Connection } from './connection.ts';
import { type Means, type RedisHost, redisPort, redlockMeaning } from './meaning.ts';
import type { RedisValue } from './value.ts';

export interface RedisClientOptions {
  /**
   * After how many milliseconds a command is given up, with `Command timed out`; it may have been
   * carried out, or be so yet. It waits for ever if absent, as in ioredis.
   */
  readonly commandTimeout?: number;
  /**
   * How often a command is sent while nobody knows how it ended; 1 if absent. ioredis sends it anew
   * when it has connected again, so that one command may be carried out twice.
   */
  readonly tries?: number;
  /** What scripts mean for locks, for reports; if absent, those of npm redlock are known. */
  readonly means?: Means;
}

type Listener = (...given: readonly unknown[]) => void;

/**
 * Each command may be given a callback as its last argument, beside the promise that it returns. An
 * error reply rejects with a `ReplyError`, a lost connection with `Connection is closed.`
 */
export class RedisClient {
  private readonly events: EventEmitter = new EventEmitter();
  private readonly connection: Connection;

  /**
   * `caller` is whoever calls, such as the client of an asynchronous lock, or a section of it;
   * `host` the node, as `addServer` returns it.
   */
  constructor(caller: Caller, host: RedisHost, options: RedisClientOptions = {}) {
    const { means = redlockMeaning, ...limits } = options;
    const port = redisPort(host, means);
    this.connection = new Connection({ caller, port, ...limits }, (name, ...given) => {
      // Without a listener, an `error` would be thrown.
      if (this.events.listenerCount(name) > 0) this.events.emit(name, ...given);
    });
  }

  /** `ready`, and `end` after `quit` or `disconnect`. */
  get status(): 'ready' | 'end' {
    return this.connection.isOpen ? 'ready' : 'end';
  }

  /** Sends any command by its name. */
  call(name: string, ...given: readonly Given[]): Promise<RedisValue> {
    const { texts, callback } = readArguments(given);
    const settled = this.connection.send([name, ...texts]);
    // What a callback returns is nobody's: a promise of its own may be rejected.
    if (callback !== null) {
      settled.then(
        (value) => void callback(null, value),
        (error: Error) => void callback(error),
      );
    }
    return settled;
  }

  /** `set(key, value, 'PX', 30_000, 'NX')`: `OK`, or null where it was not set. */
  set(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('set', ...given);
  }

  setnx(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('setnx', ...given);
  }

  get(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('get', ...given);
  }

  del(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('del', ...given);
  }

  exists(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('exists', ...given);
  }

  expire(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('expire', ...given);
  }

  pexpire(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('pexpire', ...given);
  }

  ttl(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('ttl', ...given);
  }

  pttl(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('pttl', ...given);
  }

  incr(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('incr', ...given);
  }

  incrby(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('incrby', ...given);
  }

  hset(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('hset', ...given);
  }

  hget(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('hget', ...given);
  }

  hdel(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('hdel', ...given);
  }

  hincrby(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('hincrby', ...given);
  }

  /** `eval(script, numberOfKeys, ...keysAndArguments)`. */
  eval(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('eval', ...given);
  }

  evalsha(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('evalsha', ...given);
  }

  /** `script('LOAD', text)`: its SHA-1. */
  script(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('script', ...given);
  }

  ping(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('ping', ...given);
  }

  time(...given: readonly Given[]): Promise<RedisValue> {
    return this.call('time', ...given);
  }

  /** Sends nothing more; what is under way is still answered. */
  quit(...given: readonly Given[]): Promise<'OK'> {
    this.connection.close();
    readArguments(given).callback?.(null, 'OK');
    return Promise.resolve('OK');
  }

  /** Rejects what is under way too. */
  disconnect(): void {
    this.connection.break();
  }

  /** Events: `connect` and `ready` once, `error` for each lost command, `close` and `end` once. */
  on(event: string, listener: Listener): this {
    this.events.on(event, listener);
    return this;
  }

  once(event: string, listener: Listener): this {
    this.events.once(event, listener);
    return this;
  }

  off(event: string, listener: Listener): this {
    this.events.off(event, listener);
    return this;
  }

  removeListener(event: string, listener: Listener): this {
    return this.off(event, listener);
  }
}
