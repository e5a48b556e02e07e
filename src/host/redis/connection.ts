/** The commands of one client that are under way, and how each of them ends. */
import type { Caller, Outcome, Port } from '../../core/world/port.ts';
import type { RedisCommand, RedisReply } from './reply.ts';
import { type RedisValue, toValue } from './value.ts';

interface Setting {
  readonly caller: Caller;
  readonly port: Port<RedisCommand, RedisReply>;
  readonly commandTimeout?: number;
  readonly tries?: number;
}

/** Is told what happens, as listeners of a client are. */
type Tell = (event: string, ...given: readonly unknown[]) => void;

/** A process counts its time in microseconds, and reads it in milliseconds. */
const ROUNDING_MS = 0.0005;

export class Connection {
  private readonly setting: Setting;
  private readonly tell: Tell;
  /** What rejects each command that is under way. */
  private readonly pending: Set<(error: Error) => void> = new Set();
  isOpen = true;

  constructor(setting: Setting, tell: Tell) {
    this.setting = setting;
    this.tell = tell;
    queueMicrotask(() => {
      tell('connect');
      tell('ready');
    });
  }

  /** Rejects with a `ReplyError`, or as ioredis does where no reply comes. */
  send(command: RedisCommand): Promise<RedisValue> {
    if (!this.isOpen) return Promise.reject(closed());
    const { caller, port, commandTimeout, tries } = this.setting;
    const sentMs = performance.now();
    const outcome = caller.call(
      port,
      { label: (command[0] ?? '').toLowerCase(), request: command },
      {
        ...(commandTimeout === undefined ? {} : { timeoutMs: commandTimeout }),
        ...(tries === undefined ? {} : { tries }),
      },
    );
    return new Promise((resolve, reject) => {
      this.pending.add(reject);
      const settle = (ended: Outcome<RedisReply>): void => {
        this.pending.delete(reject);
        const value = ended.kind === 'answered' ? toValue(ended.reply) : this.lost(ended, sentMs);
        if (value instanceof Error) reject(value);
        else resolve(value);
      };
      outcome.then(settle, reject);
    });
  }

  /** Why no reply came. */
  private lost({ kind }: Outcome<RedisReply>, sentMs: number): Error {
    const { commandTimeout = Number.POSITIVE_INFINITY } = this.setting;
    const isLate = performance.now() - sentMs >= commandTimeout - ROUNDING_MS;
    if (kind === 'unknown' && isLate) return new Error('Command timed out');
    const error = closed();
    this.tell('error', error);
    return error;
  }

  /** Nothing is sent from here on. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    queueMicrotask(() => {
      this.tell('close');
      this.tell('end');
    });
  }

  /** The same, and what is under way gets no reply. */
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
