/** The scripts that one node knows, and the commands EVAL, EVALSHA and SCRIPT. */
import type { Setting } from './command.ts';
import { callFromScript, wrongCount } from './commands.ts';
import { readInteger } from './integers.ts';
import { LuaChance } from './lua-chance.ts';
import { checkScript, runScript } from './lua-engine.ts';
import {
  errorOf,
  NOT_AN_INTEGER,
  OK,
  type RedisCommand,
  type RedisError,
  type RedisReply,
} from './reply.ts';
import { shaOf } from './sha.ts';

const NO_SCRIPT = errorOf('NOSCRIPT No matching script. Please use EVAL.');

export class Scripts {
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
    return typeof sha === 'string' ? this.run({ text, sha, ...shape }, setting) : sha;
  }

  private evalSha([given = '', ...rest]: readonly string[], setting: Setting): RedisReply {
    const sha = given.toLowerCase();
    if (sha.length !== 40) return NO_SCRIPT;
    const shape = readShape(rest);
    if ('error' in shape) return shape;
    const text = this.texts.get(sha);
    return text === undefined ? NO_SCRIPT : this.run({ text, sha, ...shape }, setting);
  }

  private run(script: Shape & { text: string; sha: string }, setting: Setting): RedisReply {
    const { mostSteps, chance } = this;
    const call = (command: RedisCommand): RedisReply => callFromScript(command, setting);
    return runScript({ ...script, mostSteps, chance, call });
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
