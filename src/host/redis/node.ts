/**
 * One Redis node as a server of the world, which speaks Redis' commands and runs real scripts. It
 * judges expiry by its own wall clock, as Redis does; a restart loses what was not persisted, and
 * all scripts; a replica that takes over has the keys that it was sent in time.
 */
import type { Boot, Server, Turn } from '../../core/world/server.ts';
import { callCommand } from './commands.ts';
import { Keyspace } from './keyspace.ts';
import type { RedisCommand, RedisReply } from './reply.ts';
import { Scripts } from './scripts.ts';

export interface RedisNodeOptions {
  /**
   * What a restart finds again: `always` is an append-only file with `appendfsync always`, `none`
   * nothing. `none` if absent.
   */
  readonly persistence?: 'always' | 'none';
  /**
   * A script that takes more steps of the interpreter than this is ended by an error reply, so that
   * an endless one does not hang the run; 1,000,000 if absent.
   */
  readonly mostScriptSteps?: number;
}

const MOST_SCRIPT_STEPS = 1_000_000;

export class RedisNode implements Server<RedisCommand, RedisReply> {
  private readonly isDurable: boolean;
  private readonly keys: Keyspace = new Keyspace();
  private readonly scripts: Scripts;
  private isReplica = false;

  constructor({
    persistence = 'none',
    mostScriptSteps = MOST_SCRIPT_STEPS,
  }: RedisNodeOptions = {}) {
    this.isDurable = persistence === 'always';
    this.scripts = new Scripts(mostScriptSteps);
  }

  handle(command: RedisCommand, { wallUs }: Pick<Turn, 'wallUs'>): RedisReply {
    const { keys } = this;
    const setting = { keys, ...timesOf(wallUs) };
    return this.scripts.handle(command, setting) ?? callCommand(command, setting);
  }

  restart(): void {
    const keepsKeys = this.isReplica || this.isDurable;
    this.isReplica = false;
    if (!keepsKeys) this.keys.clear();
    this.scripts.clear();
  }

  /** Scripts are not sent to replicas, since Redis 7. */
  snapshot(): () => void {
    const restore = this.keys.snapshot();
    return () => {
      restore();
      this.isReplica = true;
    };
  }

  evict(key: string, { wallUs }: Pick<Boot, 'wallUs'>): boolean {
    return this.keys.delete(key, timesOf(wallUs).nowMs);
  }
}

function timesOf(nowUs: number): { readonly nowUs: number; readonly nowMs: number } {
  return { nowUs, nowMs: Math.floor(nowUs / 1000) };
}
