/**
 * A client of a simulated node with the methods of ioredis and node-redis 3 that lock libraries
 * use. The libraries accept it as a real client. Its commands travel over the simulated network.
 */
import { EventEmitter } from 'node:events';
import type { Draft } from '../../core/kernel/json.ts';
import type { Caller, CallOptions, Outcome, Port } from '../../core/world/port.ts';
import { about, siteOf } from '../async/call-site.ts';
import { type Means, type RedisHost, redisPort, redlockMeaning } from './meaning.ts';
import type { RedisCommand, RedisReply, RedisRequest, RedisValue } from './reply.ts';
import { bytesOf, latin1Of, toValue } from './reply.ts';

/** Options of `RedisClient`. */
export interface RedisClientOptions {
  /**
   * Milliseconds after which a command fails with `Command timed out`. Its outcome is then unknown.
   * By default there is no timeout, as in ioredis.
   */
  readonly commandTimeout?: number;
  /**
   * Number of times that a command is sent while its outcome is unknown. Default 1. ioredis sends a
   * command again after it reconnects, so a command may be executed twice.
   */
  readonly tries?: number;
  /** The effect of scripts on locks, for reports. Default: the effect of npm redlock's scripts. */
  readonly means?: Means;
}

/**
 * Sends commands to a simulated node, with the methods of ioredis and node-redis 3 that lock
 * libraries call. Each command returns a promise, and also accepts a callback as its last argument.
 * The promise rejects with a `ReplyError` for an error reply, and with `Connection is closed.` if
 * the connection is lost.
 */
export class RedisClient {
  private readonly events: EventEmitter = new EventEmitter();
  private readonly connection: Connection;

  /**
   * `caller` makes the calls, such as the client of an asynchronous lock or one of its sections.
   * `host` is the node that `addServer` returned.
   */
  constructor(caller: Caller, host: RedisHost, options: RedisClientOptions = {}) {
    const port = redisPort(host, options.means ?? redlockMeaning);
    this.connection = new Connection({ caller, port, limits: options }, (name, ...args) => {
      // Without a listener, `emit` would throw an `error` event.
      if (this.events.listenerCount(name) > 0) this.events.emit(name, ...args);
    });
  }

  /** `ready`, or `end` after `quit` or `disconnect`. */
  get status(): 'ready' | 'end' {
    return this.connection.isOpen ? 'ready' : 'end';
  }

  /** Sends any command by its name. */
  call(name: string, ...args: readonly RedisArgument[]): Promise<RedisValue> {
    const { words, callback } = readArguments(args);
    const settled = this.connection.send([name, ...words]);
    // The result of a callback is ignored, even if it is a promise that rejects.
    if (callback !== null) {
      settled.then(
        (value) => void callback(null, value),
        (error: Error) => void callback(error),
      );
    }
    return settled;
  }

  /** `set(key, value, 'PX', 30_000, 'NX')` resolves to `OK`, or to null if the key was not set. */
  readonly set: RedisMethod = this.command('set');
  readonly setnx: RedisMethod = this.command('setnx');
  readonly get: RedisMethod = this.command('get');
  readonly del: RedisMethod = this.command('del');
  readonly exists: RedisMethod = this.command('exists');
  readonly expire: RedisMethod = this.command('expire');
  readonly pexpire: RedisMethod = this.command('pexpire');
  readonly ttl: RedisMethod = this.command('ttl');
  readonly pttl: RedisMethod = this.command('pttl');
  readonly incr: RedisMethod = this.command('incr');
  readonly incrby: RedisMethod = this.command('incrby');
  readonly hset: RedisMethod = this.command('hset');
  readonly hget: RedisMethod = this.command('hget');
  readonly hdel: RedisMethod = this.command('hdel');
  readonly hincrby: RedisMethod = this.command('hincrby');
  /** `eval(script, numberOfKeys, ...keysAndArguments)`. */
  readonly eval: RedisMethod = this.command('eval');
  readonly evalsha: RedisMethod = this.command('evalsha');
  /** `script('LOAD', text)` resolves to the SHA-1 of the script. */
  readonly script: RedisMethod = this.command('script');
  readonly ping: RedisMethod = this.command('ping');
  readonly time: RedisMethod = this.command('time');

  private command(name: string): RedisMethod {
    return (...args) => this.call(name, ...args);
  }

  /** Sends no more commands. Pending commands are still answered. */
  quit(...args: readonly RedisArgument[]): Promise<'OK'> {
    this.connection.close();
    readArguments(args).callback?.(null, 'OK');
    return Promise.resolve('OK');
  }

  /** Sends no more commands and rejects the pending ones. */
  disconnect(): void {
    this.connection.break();
  }

  /** Events: `connect` and `ready` once, `error` per lost command, `close` and `end` once. */
  on(event: string, listener: (...args: readonly unknown[]) => void): this {
    this.events.on(event, listener);
    return this;
  }

  once(event: string, listener: (...args: readonly unknown[]) => void): this {
    this.events.once(event, listener);
    return this;
  }

  off(event: string, listener: (...args: readonly unknown[]) => void): this {
    this.events.off(event, listener);
    return this;
  }

  removeListener(event: string, listener: (...args: readonly unknown[]) => void): this {
    return this.off(event, listener);
  }
}

interface Setting {
  readonly caller: Caller;
  readonly port: Port<RedisRequest, RedisReply>;
  readonly limits: Pick<RedisClientOptions, 'commandTimeout' | 'tries'>;
}

type EmitEvent = (event: string, ...args: readonly unknown[]) => void;

/** A process counts its time in microseconds and reads it in milliseconds. */
const ROUNDING_MS = 0.0005;

class Connection {
  private readonly setting: Setting;
  private readonly emit: EmitEvent;
  private readonly pending: Set<(error: Error) => void> = new Set();
  isOpen = true;

  constructor(setting: Setting, emit: EmitEvent) {
    this.setting = setting;
    this.emit = emit;
    queueMicrotask(() => {
      emit('connect');
      emit('ready');
    });
  }

  /** Rejects with a `ReplyError`, or with ioredis's error if no reply arrives. */
  send(command: RedisCommand): Promise<RedisValue> {
    if (!this.isOpen) return Promise.reject(closed());
    const { caller, port, limits } = this.setting;
    const sentMs = performance.now();
    const site = siteOf(this.send);
    const options: Draft<CallOptions> = { site };
    if (limits.commandTimeout !== undefined) options.timeoutMs = limits.commandTimeout;
    if (limits.tries !== undefined) options.tries = limits.tries;
    const label = (command[0] ?? '').toLowerCase();
    const outcome = caller.call(port, { label, request: command }, options);
    return new Promise((resolve, reject) => {
      this.pending.add(reject);
      const settle = (ended: Outcome<RedisReply>): void => {
        this.pending.delete(reject);
        const value = ended.kind === 'answered' ? toValue(ended.reply) : this.lost(ended, sentMs);
        if (value instanceof Error) reject(about(value, { site, call: label.toUpperCase() }));
        else resolve(value);
      };
      outcome.then(settle, reject);
    });
  }

  private lost({ kind }: Outcome<RedisReply>, sentMs: number): Error {
    const { commandTimeout = Number.POSITIVE_INFINITY } = this.setting.limits;
    const isLate = performance.now() - sentMs >= commandTimeout - ROUNDING_MS;
    if (kind === 'unknown' && isLate) return new Error('Command timed out');
    const error = closed();
    this.emit('error', error);
    return error;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    queueMicrotask(() => {
      this.emit('close');
      this.emit('end');
    });
  }

  break(): void {
    this.close();
    const error = closed();
    for (const reject of this.pending) reject(error);
    this.pending.clear();
  }
}

function closed(): Error {
  return new Error('Connection is closed.');
}

/**
 * An argument of a command: text, a number, bytes, or a list of arguments. The last argument may be
 * a callback, whose `error` is null if the command succeeded.
 */
export type RedisArgument =
  | string
  | number
  | Uint8Array
  | readonly RedisArgument[]
  | ((error: Error | null, value?: unknown) => void);

/** Sends the command that the method is named after. */
export type RedisMethod = (...args: readonly RedisArgument[]) => Promise<RedisValue>;

interface Arguments {
  readonly words: readonly string[];
  readonly callback: Extract<RedisArgument, (...args: never[]) => void> | null;
}

/** Flattens lists and finds the callback. Throws a `TypeError` for any other type of argument. */
function readArguments(args: readonly RedisArgument[]): Arguments {
  const last = args.at(-1);
  const callback = typeof last === 'function' ? last : null;
  return { words: wordsOf(callback === null ? args : args.slice(0, -1)), callback };
}

function wordsOf(args: readonly RedisArgument[]): readonly string[] {
  return args.flatMap((argument) => (isList(argument) ? wordsOf(argument) : [wordOf(argument)]));
}

function isList(argument: RedisArgument): argument is readonly RedisArgument[] {
  return Array.isArray(argument);
}

/** Values may come from plain JavaScript. `undefined` becomes an empty string, as in ioredis. */
function wordOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return bytesOf(String(value));
  if (value instanceof Uint8Array) return latin1Of(value);
  throw new TypeError(`a Redis command cannot take an argument of type ${typeof value}`);
}
