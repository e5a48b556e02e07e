/** The scripts that a node has loaded, and the commands that run them. */
import { readInteger } from './commands/numbers.ts';
import { checkScript, runScript } from './lua-engine.ts';
import { LuaChance } from './lua-library.ts';
import { shaOf } from './meaning.ts';
import type { RedisCommand, RedisError, RedisReply } from './reply.ts';
import { errorOf, NOT_AN_INTEGER, OK } from './reply.ts';
import { keysOf, type Row, type ScriptRunner, Session, type Setting } from './setting.ts';

const NO_SCRIPT = errorOf('NOSCRIPT No matching script. Please use EVAL.');

export class Scripts implements ScriptRunner {
  private readonly mostSteps: number;
  private readonly texts: Map<string, string> = new Map();
  private chance: LuaChance = new LuaChance();

  /** A script that takes more than `mostSteps` steps is ended with an error. */
  constructor(mostSteps: number) {
    this.mostSteps = mostSteps;
  }

  eval([text = '', ...rest]: readonly string[], at: Setting): RedisReply {
    const shape = readShape(rest);
    if ('error' in shape) return shape;
    const sha = this.load(text);
    return typeof sha === 'string' ? this.run({ text, sha }, shape, at) : sha;
  }

  evalSha([shaText = '', ...rest]: readonly string[], at: Setting): RedisReply {
    const sha = shaText.toLowerCase();
    if (sha.length !== 40) return NO_SCRIPT;
    const shape = readShape(rest);
    if ('error' in shape) return shape;
    const text = this.texts.get(sha);
    return text === undefined ? NO_SCRIPT : this.run({ text, sha }, shape, at);
  }

  private run(
    { text, sha }: { readonly text: string; readonly sha: string },
    { keys, args }: Shape,
    at: Setting,
  ): RedisReply {
    const { mostSteps, chance } = this;
    const isReadOnly = at.isReadOnly === true || firstLineOf(text).flags?.includes('no-writes');
    // A script begins in its caller's database, but a SELECT in the script does not affect the
    // caller.
    const session = new Session(at.session.id);
    session.database = at.session.database;
    const inside = settingWith(at, { session, isReadOnly });
    const call = (command: RedisCommand): RedisReply => at.fromScript(command, inside);
    const { noteUnsimulated } = at;
    return at.memory.recorder.during({ text, keys }, keysOf(at), () =>
      runScript({ text, sha, keys, args, mostSteps, chance, call, noteUnsimulated }),
    );
  }

  /** Loads a script. Returns its SHA-1, or an error if the script does not compile. */
  load(text: string): string | RedisError {
    const sha = shaOf(text);
    if (this.texts.has(sha)) return sha;
    const problem = firstLineOf(text).problem ?? checkScript(text);
    if (problem !== null) return errorOf(problem);
    this.texts.set(sha, text);
    return sha;
  }

  has(sha: string): boolean {
    return this.texts.has(sha.toLowerCase());
  }

  clear(): void {
    this.texts.clear();
  }

  /** Forgets all scripts and restarts `math.random`, as a node does when it restarts. */
  restart(): void {
    this.clear();
    this.chance = new LuaChance();
  }
}

function settingWith(at: Setting, override: Pick<Setting, 'session' | 'isReadOnly'>): Setting {
  return {
    memory: at.memory,
    session: override.session,
    scripts: at.scripts,
    nowUs: at.nowUs,
    nowMs: at.nowMs,
    isReadOnly: override.isReadOnly,
    carryOut: at.carryOut,
    fromScript: at.fromScript,
    noteUnsimulated: at.noteUnsimulated,
  };
}

const FLAGS = ['no-writes', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys'];

/** Parses a first line such as `#!lua flags=no-writes`. */
function firstLineOf(text: string): { readonly problem?: string; readonly flags?: string[] } {
  const [line = '', end] = /^#![^\n]*(\n?)/.exec(text) ?? [];
  if (end === undefined) return {};
  if (end === '') return { problem: 'ERR Invalid script shebang' };
  const [engine, ...options] = line.trim().split(/\s+/);
  if (engine !== '#!lua') return { problem: `ERR Unexpected engine in script shebang: ${engine}` };
  const wrong = options.find((option) => !option.startsWith('flags='));
  if (wrong !== undefined) return { problem: `ERR Unknown lua shebang option: ${wrong}` };
  const flags = options.flatMap((option) =>
    option === 'flags=' ? [] : option.slice(6).split(','),
  );
  const unknown = flags.find((flag) => !FLAGS.includes(flag));
  if (unknown === undefined) return { flags };
  return { problem: `ERR Unexpected flag in script shebang: ${unknown}` };
}

interface Shape {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

function readShape([count = '', ...rest]: readonly string[]): Shape | RedisError {
  const keys = readInteger(count);
  if (keys === null) return NOT_AN_INTEGER;
  if (keys > rest.length) return errorOf("ERR Number of keys can't be greater than number of args");
  if (keys < 0) return errorOf("ERR Number of keys can't be negative");
  return { keys: rest.slice(0, Number(keys)), args: rest.slice(Number(keys)) };
}

function flush(words: readonly string[], { scripts }: Setting): RedisReply {
  if (words.length > 0 && !/^a?sync$/i.test(words.join(' '))) {
    return errorOf('ERR SCRIPT FLUSH only support SYNC|ASYNC option');
  }
  scripts.clear();
  return OK;
}

function readOnly(at: Setting): Setting {
  return settingWith(at, { session: at.session, isReadOnly: true });
}

export const scriptRows: readonly Row[] = [
  ['eval', -3, (args, at) => at.scripts.eval(args, at), 'no script'],
  ['evalsha', -3, (args, at) => at.scripts.evalSha(args, at), 'no script'],
  ['eval_ro', -3, (args, at) => at.scripts.eval(args, readOnly(at)), 'no script'],
  ['evalsha_ro', -3, (args, at) => at.scripts.evalSha(args, readOnly(at)), 'no script'],
  ['script|load', 3, ([text = ''], { scripts }) => scripts.load(text), 'no script'],
  [
    'script|exists',
    -3,
    (shas, { scripts }) => shas.map((sha) => (scripts.has(sha) ? 1 : 0)),
    'no script',
  ],
  ['script|flush', -2, flush, 'no script'],
];
