/**
 * One Redis node as a server of the world, which speaks Redis' commands and runs real scripts. It
 * judges expiry by its own wall clock, as Redis does; a restart loses what was not persisted, and
 * all scripts; a replica that takes over has the keys that it was sent in time.
 *
 * The door's front: go on with `commands.ts` (what a node can do), `lua-engine.ts` (how it runs
 * EVAL), `client.ts` (what libraries call) and `meaning.ts` (what a command means for a lock).
 */
import type { Boot, Server, Turn } from '../../core/world/server.ts';
import { Keyspace } from '../../systems/redis/keyspace.ts';
import type { RedisData, Setting } from './commands.ts';
import { callCommand, callFromScript, readInteger, wrongCount } from './commands.ts';
import { checkScript, runScript } from './lua-engine.ts';
import { LuaChance } from './lua-library.ts';
import { shaOf } from './meaning.ts';
import type { RedisCommand, RedisError, RedisReply } from './reply.ts';
import { errorOf, NOT_AN_INTEGER, OK } from './reply.ts';

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
  private readonly keys: Keyspace<RedisData> = new Keyspace('dropped');
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
    const setting = { keys: this.keys, nowUs: wallUs, nowMs: msOf(wallUs) };
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
    return this.keys.delete(key, msOf(wallUs));
  }
}

function msOf(us: number): number {
  return Math.floor(us / 1000);
}

const NO_SCRIPT = errorOf('NOSCRIPT No matching script. Please use EVAL.');

class Scripts {
  private readonly mostSteps: number;
  private readonly texts: Map<string, string> = new Map();
  private chance: LuaChance = new LuaChance();

  /** A script that takes more steps than this is ended by an error. */
  constructor(mostSteps: number) {
    this.mostSteps = mostSteps;
  }

  /** Carries out one of its commands; undefined where it is another. */
  handle([name = '', ...given]: RedisCommand, setting: Setting): RedisReply | undefined {
    switch (name.toLowerCase()) {
      case 'eval':
        return given.length < 2 ? wrongCount('eval') : this.eval(given, setting);
      case 'evalsha':
        return given.length < 2 ? wrongCount('evalsha') : this.evalSha(given, setting);
      case 'script':
        return given.length < 1 ? wrongCount('script') : this.manage(given);
      default:
        return undefined;
    }
  }

  private eval([text = '', ...rest]: readonly string[], setting: Setting): RedisReply {
    const shape = readShape(rest);
    if ('error' in shape) return shape;
    const sha = this.load(text);
    return typeof sha === 'string' ? this.run({ text, sha }, shape, setting) : sha;
  }

  private evalSha([given = '', ...rest]: readonly string[], setting: Setting): RedisReply {
    const sha = given.toLowerCase();
    if (sha.length !== 40) return NO_SCRIPT;
    const shape = readShape(rest);
    if ('error' in shape) return shape;
    const text = this.texts.get(sha);
    return text === undefined ? NO_SCRIPT : this.run({ text, sha }, shape, setting);
  }

  private run(
    { text, sha }: { readonly text: string; readonly sha: string },
    { keys, args }: Shape,
    setting: Setting,
  ): RedisReply {
    const { mostSteps, chance } = this;
    const call = (command: RedisCommand): RedisReply => callFromScript(command, setting);
    return runScript({ text, sha, keys, args, mostSteps, chance, call });
  }

  /** Keeps a script; its name, or why it cannot be compiled. */
  private load(text: string): string | RedisError {
    const sha = shaOf(text);
    if (this.texts.has(sha)) return sha;
    const problem = checkScript(text);
    if (problem !== null) return errorOf(problem);
    this.texts.set(sha, text);
    return sha;
  }

  private manage([name = '', ...given]: readonly string[]): RedisReply {
    switch (name.toLowerCase()) {
      case 'load':
        return given.length === 1 ? this.load(given[0] ?? '') : wrongCount('script|load');
      case 'exists':
        if (given.length === 0) return wrongCount('script|exists');
        return given.map((sha) => (this.texts.has(sha.toLowerCase()) ? 1 : 0));
      case 'flush':
        if (given.length > 1 || !/^(a?sync)?$/i.test(given[0] ?? '')) {
          return errorOf('ERR SCRIPT FLUSH only support SYNC|ASYNC option');
        }
        this.texts.clear();
        return OK;
      default:
        return errorOf(`ERR unknown subcommand '${name}'. Try SCRIPT HELP.`);
    }
  }

  /** Forgets all of them, as a node does when it starts again. */
  clear(): void {
    this.texts.clear();
    this.chance = new LuaChance();
  }
}

interface Shape {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** How many of a script's arguments are keys. */
function readShape([count = '', ...rest]: readonly string[]): Shape | RedisError {
  const keys = readInteger(count);
  if (keys === null) return NOT_AN_INTEGER;
  if (keys > rest.length) return errorOf("ERR Number of keys can't be greater than number of args");
  if (keys < 0) return errorOf("ERR Number of keys can't be negative");
  return { keys: rest.slice(0, Number(keys)), args: rest.slice(Number(keys)) };
}
