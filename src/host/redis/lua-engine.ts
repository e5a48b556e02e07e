/**
 * Runs scripts in a real Lua, one interpreter for the whole thread, which keeps what it compiled.
 *
 * It is `fengari` (Lua 5.3 in JavaScript), not `wasmoon` (Lua 5.4 in WebAssembly). For the scripts
 * of npm redlock, compiled before, on Node 20: 7.3 µs a run against 8.3 µs (20 µs with the sandbox
 * and the node), 9 ms to start against 17 ms, no growth in 200,000 runs of either. What decides:
 * wasmoon seeds its tables by time and addresses, so that `pairs` goes through one table in another
 * order in each process; it is ready only later, by a promise; and its numbers are 64-bit integers
 * or print as `5.0`, which cannot be replaced from outside. Integers of fengari, 32 bits, can be:
 * see `lua-values.ts`.
 *
 * What remains of 5.3: some of its words for texts that do not compile.
 */
import { lauxlib, lua } from 'fengari';
import { adaptFunction } from './lua-arithmetic.ts';
import { displayed, LuaChance } from './lua-library.ts';
import type { CountSteps } from './lua-patterns.ts';
import { openSandbox, type Sandbox } from './lua-sandbox.ts';
import {
  argumentAt,
  fieldOf,
  inOldWords,
  type LuaState,
  nameInLua,
  pushReply,
  pushText,
  raise,
  readReply,
  setField,
  textAt,
  wholeAt,
  withDoubles,
  withOldSyntax,
} from './lua-values.ts';
import { shaOf } from './meaning.ts';
import {
  errorOf,
  isRedisError,
  NIL,
  type RedisCommand,
  type RedisError,
  type RedisReply,
  rawOf,
  repeated,
} from './reply.ts';
import type { RespVersion } from './resp.ts';

export interface ScriptRun {
  readonly text: string;
  readonly sha: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** What `math.random` draws from. */
  readonly chance: LuaChance;
  /** Carries out a command of the script. */
  readonly call: (command: RedisCommand) => RedisReply;
  /** Counts something of Redis' Lua that the sandbox does not have, such as `cmsgpack`. */
  readonly noteUnsimulated: (what: string) => void;
  /** A script that takes more steps of the interpreter is ended, about a hundred later at most. */
  readonly mostSteps: number;
}

/** Names that a script finds in Redis and not in the sandbox. */
const UNSIMULATED: ReadonlySet<string> = new Set(
  'cmsgpack struct redis.acl_check_cmd redis.debug redis.set_repl redis.REPL_ALL \
redis.REPL_AOF redis.REPL_NONE redis.REPL_REPLICA redis.REPL_SLAVE cjson.decode_invalid_numbers \
cjson.decode_max_depth cjson.encode_invalid_numbers cjson.encode_keep_buffer cjson.encode_max_depth \
cjson.encode_number_precision cjson.encode_sparse_array cjson.new'.split(' '),
);

/** Steps are counted in bundles. */
const BUNDLE = 100;
/** More scripts than this are not kept compiled: a text that holds a value is new each time. */
const MOST_KEPT = 500;
/** How the interpreter says that JavaScript threw, as it does where an array cannot be made. */
const THROWN = -1;
/** So many steps of a pattern count as one of the interpreter, which takes about as long. */
const STEPS_OF_PATTERN = 5;
/** How much of a pattern an error shows. */
const MOST_SHOWN = 60;
const CHUNK = nameInLua('@user_script');

/** In which function above the one that failed a line of the script is looked for. */
const MOST_LEVELS = 8;

class LuaEngine {
  private readonly state: LuaState = lauxlib.luaL_newstate();
  private readonly sandbox: Sandbox;
  /** References to compiled scripts, by their texts. */
  private readonly compiled: Map<string, number> = new Map();
  private current: ScriptRun | null = null;
  private steps = 0;
  /** Why the script was ended. */
  private ended: string | null = null;
  /** Which version of the protocol the script asked for. */
  private version: RespVersion = 2;
  /** What a command threw: no error of the script, and none that it may catch; ends the engine. */
  private defect: { readonly error: unknown } | null = null;
  /** It is not to be used again. */
  isSpent = false;

  constructor() {
    const { state } = this;
    this.sandbox = withDoubles(() =>
      openSandbox(state, {
        chance: () => this.current?.chance ?? new LuaChance(),
        count: this.countPattern,
        redis: [
          ['call', (at) => this.command(at, true)],
          ['pcall', (at) => this.command(at, false)],
          ['sha1hex', sha1hex],
          ['log', log],
          ['setresp', (at) => this.setVersion(at)],
          ['missing', (at) => this.miss(argumentAt(at, 1) ?? '')],
        ],
      }),
    );
  }

  /** Why a script cannot be compiled; null where it can. */
  check(text: string): string | null {
    const problem = withDoubles(() => this.pushScript(text));
    lua.lua_settop(this.state, 0);
    return problem;
  }

  run(run: ScriptRun): RedisReply {
    this.current = run;
    this.steps = 0;
    this.ended = null;
    this.version = 2;
    const reply = withDoubles(() => this.protect(run));
    lua.lua_settop(this.state, 0);
    this.current = null;
    if (this.defect !== null) throw this.defect.error;
    return reply;
  }

  private protect(run: ScriptRun): RedisReply {
    const { state, sandbox } = this;
    lua.lua_pushcfunction(state, placeError);
    const problem = this.pushScript(run.text);
    if (problem !== null) return errorOf(problem);
    sandbox.give('KEYS', run.keys);
    sandbox.give('ARGV', run.args);
    lua.lua_sethook(state, this.count, lua.LUA_MASKCOUNT, BUNDLE);
    const status = lua.lua_pcall(state, 0, 1, 1);
    if (status === lua.LUA_OK) return readReply(state, this.version);
    if (status === THROWN) {
      this.isSpent = true;
      return errorOf('ERR script ended: it wants more memory than there is');
    }
    if (lua.lua_type(state, -1) !== lua.LUA_TTABLE) {
      this.isSpent = true;
      return errorOf(`ERR ${displayed(state, -1)}`);
    }
    const error = fieldOf(state, 'err') ?? 'ERR unknown error';
    const line = fieldOf(state, 'line');
    const place = line === null ? '' : ` script: ${run.sha}, on @user_script:${line}.`;
    return errorOf(repeated(error.replace(/[\r\n]+$/, '')) + place);
  }

  /** Pushes a script as a function; or says why there is none. */
  private pushScript(text: string): string | null {
    const { state } = this;
    const kept = this.compiled.get(text);
    if (kept !== undefined) {
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, kept);
      return null;
    }
    const bytes = rawOf(withOldSyntax(text));
    const status = lauxlib.luaL_loadbufferx(state, bytes, null, CHUNK, nameInLua('t'));
    if (status !== lua.LUA_OK) {
      const problem = inOldWords(textAt(state, -1));
      return `ERR Error compiling script (new function): ${problem}`;
    }
    adaptFunction(state, -1);
    this.sandbox.enclose();
    lua.lua_pushvalue(state, -1);
    this.compiled.set(text, lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX));
    if (this.compiled.size >= MOST_KEPT) this.isSpent = true;
    return null;
  }

  private readonly count = (state: LuaState): void => this.spend(state, BUNDLE);

  private readonly countPattern: CountSteps = (state, steps, pattern) =>
    this.spend(state, steps / STEPS_OF_PATTERN, pattern);

  private spend(state: LuaState, steps: number, pattern?: string): void {
    this.steps += steps;
    const { mostSteps } = this.current ?? { mostSteps: Number.POSITIVE_INFINITY };
    if (this.steps <= mostSteps) return;
    const shown = repeated(pattern ?? '').slice(0, MOST_SHOWN);
    const where = pattern === undefined ? '' : `, in the pattern "${shown}"`;
    if (pattern !== undefined && this.ended === null) {
      this.current?.noteUnsimulated(`the endless pattern "${shown}" of a script`);
    }
    this.ended ??= `ERR script ended after ${mostSteps} steps${where}`;
    this.end(state);
    raise(state, this.ended);
  }

  /** From here on each step fails, so that no `pcall` of the script goes on for long. */
  private end(state: LuaState): void {
    this.isSpent = true;
    this.steps = Number.POSITIVE_INFINITY;
    lua.lua_sethook(state, this.count, lua.LUA_MASKCOUNT, 1);
  }

  private miss(name: string): number {
    if (UNSIMULATED.has(name)) this.current?.noteUnsimulated(name);
    return 0;
  }

  /** `redis.call`, which raises an error, and `redis.pcall`, which returns it. */
  private command(state: LuaState, isRaising: boolean): number {
    const given = commandAt(state);
    const reply = 'error' in given ? given : this.answer(state, given);
    if (isRaising && isRedisError(reply)) return raise(state, reply.error);
    pushReply(state, reply, this.version);
    if (reply !== given && isRedisError(reply)) {
      lua.lua_pushboolean(state, true);
      lua.lua_setfield(state, -2, nameInLua('ignore_error_stats_update'));
    }
    return 1;
  }

  private setVersion(state: LuaState): number {
    if (lua.lua_gettop(state) !== 1) raise(state, 'ERR redis.setresp() requires one argument.');
    const version = wholeAt(state, -1);
    if (version !== 2 && version !== 3) raise(state, 'ERR RESP version must be 2 or 3.');
    this.version = version === 3 ? 3 : 2;
    return 0;
  }

  private answer(state: LuaState, given: RedisCommand): RedisReply {
    try {
      return this.current?.call(given) ?? NIL;
    } catch (error) {
      this.defect ??= { error };
      this.end(state);
      throw error;
    }
  }
}

/** The command that a script gives, or why it is none. */
function commandAt(state: LuaState): RedisCommand | RedisError {
  const count = lua.lua_gettop(state);
  if (count === 0) {
    return errorOf('ERR Please specify at least one argument for this redis lib call');
  }
  const given: string[] = [];
  for (let at = 1; at <= count; at += 1) {
    const argument = argumentAt(state, at);
    if (argument === null) {
      return errorOf('ERR Lua redis lib command arguments must be strings or integers');
    }
    given.push(argument);
  }
  return given;
}

/** Makes a table of an error, with the line of the script at which it was raised: a new one. */
function placeError(state: LuaState): number {
  lua.lua_settop(state, 1);
  const isTable = lua.lua_type(state, 1) === lua.LUA_TTABLE;
  const problem = isTable ? fieldOf(state, 'err') : `ERR ${displayed(state, 1)}`;
  lua.lua_createtable(state, 0, 2);
  if (problem !== null) setField(state, 'err', problem);
  const line = lineAtFault(state);
  if (line !== null) setField(state, 'line', line);
  return 1;
}

function lineAtFault(state: LuaState): string | null {
  for (let level = 1; level <= MOST_LEVELS; level += 1) {
    lauxlib.luaL_where(state, level);
    const [, line] = /^user_script:(\d+): $/.exec(textAt(state, -1)) ?? [];
    lua.lua_pop(state, 1);
    if (line !== undefined) return line;
  }
  return null;
}

function sha1hex(state: LuaState): number {
  if (lua.lua_gettop(state) !== 1) return raise(state, 'ERR wrong number of arguments');
  return pushText(state, shaOf(lua.lua_isstring(state, 1) ? textAt(state, 1) : ''));
}

/** What it logs is nowhere to be read. */
function log(state: LuaState): number {
  const level = lua.lua_tonumber(state, 1);
  if (lua.lua_gettop(state) < 2) raise(state, 'ERR redis.log() requires two arguments or more.');
  if (!lua.lua_isnumber(state, 1)) {
    raise(state, 'ERR First argument must be a number (log level).');
  }
  return level >= 0 && level <= 3 ? 0 : raise(state, 'ERR Invalid debug level.');
}

let engine: LuaEngine | null = null;

/** Runs a script; what goes wrong in it is an error reply. */
export function runScript(run: ScriptRun): RedisReply {
  return withEngine((shared) => shared.run(run));
}

/** Why a script cannot be compiled; null where it can. */
export function checkScript(text: string): string | null {
  return withEngine((shared) => shared.check(text));
}

/** An interpreter in which something was cut short, or that threw, is replaced. */
function withEngine<T>(use: (shared: LuaEngine) => T): T {
  const shared = engine ?? new LuaEngine();
  engine = shared;
  try {
    return use(shared);
  } catch (error) {
    shared.isSpent = true;
    throw error;
  } finally {
    if (shared.isSpent) engine = null;
  }
}
