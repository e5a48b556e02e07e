/**
 * Runs scripts in a real Lua interpreter. Each thread has one interpreter, which caches compiled
 * scripts.
 *
 * The interpreter is `fengari` (Lua 5.3 in JavaScript), not `wasmoon` (Lua 5.4 in WebAssembly).
 * With the compiled scripts of npm redlock on Node 20, `fengari` takes 7.3 µs per run and 9 ms to
 * start; `wasmoon` takes 8.3 µs and 17 ms. There are three reasons against `wasmoon`. It seeds its
 * tables from time and addresses, so that the order of `pairs` differs between processes. It is
 * loaded asynchronously. Its 64-bit integers and its output `5.0` for floats cannot be changed from
 * outside; `lua-values.ts` replaces the integers of `fengari`.
 *
 * One difference from Lua 5.1 remains: the text of some compile errors.
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
  /** Source of `math.random`. */
  readonly chance: LuaChance;
  readonly call: (command: RedisCommand) => RedisReply;
  /** Records the use of a part of Redis' Lua that the sandbox lacks, such as `cmsgpack`. */
  readonly noteUnsimulated: (name: string) => void;
  /** Maximum number of interpreter steps. A longer script is ended within about 100 more steps. */
  readonly mostSteps: number;
}

/** Names that exist in Redis but not in the sandbox. */
const UNSIMULATED: ReadonlySet<string> = new Set(
  'cmsgpack struct redis.acl_check_cmd redis.debug redis.set_repl redis.REPL_ALL \
redis.REPL_AOF redis.REPL_NONE redis.REPL_REPLICA redis.REPL_SLAVE cjson.decode_invalid_numbers \
cjson.decode_max_depth cjson.encode_invalid_numbers cjson.encode_keep_buffer cjson.encode_max_depth \
cjson.encode_number_precision cjson.encode_sparse_array cjson.new'.split(' '),
);

/** Steps are counted in batches of this size. */
const BUNDLE = 100;
/** Maximum number of cached scripts. Without a limit, texts that contain values would pile up. */
const MOST_KEPT = 500;
/** Status after JavaScript code threw, for example because an array could not be allocated. */
const THROWN = -1;
/** Number of pattern steps that take about as long as one interpreter step. */
const STEPS_OF_PATTERN = 5;
/** Maximum length of a pattern in an error message. */
const MOST_SHOWN = 60;
const CHUNK = nameInLua('@user_script');

/** Number of call levels above the failing function that are searched for a line of the script. */
const MOST_LEVELS = 8;

class LuaEngine {
  private readonly state: LuaState = lauxlib.luaL_newstate();
  private readonly sandbox: Sandbox;
  /** References to compiled scripts by their text. */
  private readonly compiled: Map<string, number> = new Map();
  private current: ScriptRun | null = null;
  private steps = 0;
  /** The error that ended the script, or null if the script was not ended. */
  private ended: string | null = null;
  /** The protocol version that the script requested. */
  private version: RespVersion = 2;
  /** An error thrown by a command. The script must not catch it. The engine is not used again. */
  private defect: { readonly error: unknown } | null = null;
  /** True if the engine must not be used again. */
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
      return errorOf('ERR script ended: out of memory');
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

  /** Pushes a script as a function. Returns the compile error, or null if there is none. */
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
      this.current?.noteUnsimulated(`a script whose pattern "${shown}" takes too many steps`);
    }
    this.ended ??= `ERR script ended after ${mostSteps} steps${where}`;
    this.end(state);
    raise(state, this.ended);
  }

  /** Makes every further step fail, so that a `pcall` in the script cannot keep it running. */
  private end(state: LuaState): void {
    this.isSpent = true;
    this.steps = Number.POSITIVE_INFINITY;
    lua.lua_sethook(state, this.count, lua.LUA_MASKCOUNT, 1);
  }

  private miss(name: string): number {
    if (UNSIMULATED.has(name)) this.current?.noteUnsimulated(name);
    return 0;
  }

  /** Implements `redis.call`, which raises error replies, and `redis.pcall`, which returns them. */
  private command(state: LuaState, isRaising: boolean): number {
    const command = commandAt(state);
    const reply = 'error' in command ? command : this.answer(state, command);
    if (isRaising && isRedisError(reply)) return raise(state, reply.error);
    pushReply(state, reply, this.version);
    if (reply !== command && isRedisError(reply)) {
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

  private answer(state: LuaState, command: RedisCommand): RedisReply {
    try {
      return this.current?.call(command) ?? NIL;
    } catch (error) {
      this.defect ??= { error };
      this.end(state);
      throw error;
    }
  }
}

function commandAt(state: LuaState): RedisCommand | RedisError {
  const count = lua.lua_gettop(state);
  if (count === 0) {
    return errorOf('ERR Please specify at least one argument for this redis lib call');
  }
  const words: string[] = [];
  for (let at = 1; at <= count; at += 1) {
    const argument = argumentAt(state, at);
    if (argument === null) {
      return errorOf('ERR Lua redis lib command arguments must be strings or integers');
    }
    words.push(argument);
  }
  return words;
}

/** Converts an error to a new table with the line of the script that raised the error. */
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

/** Implements `redis.log` without its output. */
function log(state: LuaState): number {
  const level = lua.lua_tonumber(state, 1);
  if (lua.lua_gettop(state) < 2) raise(state, 'ERR redis.log() requires two arguments or more.');
  if (!lua.lua_isnumber(state, 1)) {
    raise(state, 'ERR First argument must be a number (log level).');
  }
  return level >= 0 && level <= 3 ? 0 : raise(state, 'ERR Invalid debug level.');
}

let engine: LuaEngine | null = null;

/** Runs a script and returns its reply. An error of the script is an error reply. */
export function runScript(run: ScriptRun): RedisReply {
  return withEngine((shared) => shared.run(run));
}

/** Returns the compile error of a script, or null if it compiles. */
export function checkScript(text: string): string | null {
  return withEngine((shared) => shared.check(text));
}

/** Runs `use` with the thread's interpreter, which is discarded if it is spent or `use` throws. */
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
