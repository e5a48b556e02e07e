/**
 * Builds the sandbox in which an interpreter runs scripts. A script sees the globals of Redis' Lua
 * 5.1 and nothing of the machine. One interpreter runs the scripts of all nodes, so a script must
 * not change the globals. The tables that the script sees are empty: they forward reads to the real
 * tables and reject writes.
 */

import { lauxlib, lua, lualib, to_luastring } from 'fengari';
import { decode, encode } from './lua-cjson.ts';
import { type LuaChance, libraryFunctions } from './lua-library.ts';
import type { CountSteps } from './lua-patterns.ts';
import { type LuaFunction, type LuaState, nameInLua, pushText, textAt } from './lua-values.ts';

type Functions = readonly (readonly [name: string, run: LuaFunction])[];

/** The interpreter's libraries that the prelude selects from. None has access to the machine. */
const LIBRARIES: Functions = [
  ['_G', lualib.luaopen_base],
  ['string', lualib.luaopen_string],
  ['table', lualib.luaopen_table],
  ['math', lualib.luaopen_math],
  ['coroutine', lualib.luaopen_coroutine],
];

export interface Sandbox {
  /** Sets a global to a list of texts. */
  give(name: string, texts: readonly string[]): void;
  /** Makes the sandbox the environment of the function on top of the stack. */
  enclose(): void;
}

interface Origin {
  readonly chance: () => LuaChance;
  readonly count: CountSteps;
  /** The functions of the table `redis`. */
  readonly redis: Functions;
}

export function openSandbox(state: LuaState, { chance, count, redis }: Origin): Sandbox {
  for (const [name, open] of LIBRARIES) {
    lauxlib.luaL_requiref(state, nameInLua(name), open, true);
    lua.lua_pop(state, 1);
  }
  const functions: Functions = [
    ...libraryFunctions(state, chance, count),
    ...bitFunctions,
    ['encode', encode],
    ['decode', decode],
    ...redis,
  ];
  runPrelude(state, functions);
  const globals = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);
  const environment = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);
  return {
    give(name, texts) {
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, globals);
      lua.lua_createtable(state, texts.length, 0);
      texts.forEach((text, at) => {
        pushText(state, text);
        lua.lua_rawseti(state, -2, at + 1);
      });
      lua.lua_setfield(state, -2, nameInLua(name));
      lua.lua_pop(state, 1);
    },
    enclose() {
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, environment);
      lua.lua_setupvalue(state, -2, 1);
    },
  };
}

/** Pushes the environment of scripts and then the table that the environment reads from. */
function runPrelude(state: LuaState, functions: Functions): void {
  const text = to_luastring(PRELUDE);
  const name = nameInLua('=sandbox');
  let status = lauxlib.luaL_loadbufferx(state, text, null, name, nameInLua('t'));
  lua.lua_createtable(state, 0, functions.length);
  for (const [word, run] of functions) {
    lua.lua_pushcfunction(state, run);
    lua.lua_setfield(state, -2, nameInLua(word));
  }
  if (status === lua.LUA_OK) status = lua.lua_pcall(state, 1, 2, 0);
  if (status !== lua.LUA_OK) throw new Error(`the sandbox is broken: ${textAt(state, -1)}`);
}

/**
 * A Lua chunk. Its argument is a table of the functions of `openSandbox`. It returns the
 * environment of scripts, and the table that the environment reads from. `KEYS` and `ARGV` are
 * added to the second table.
 */
const PRELUDE: string = `
local given = ...
local real = { string = string, table = table, math = math, coroutine = coroutine }
local plain = { type = type, pcall = given.attempt, rawset = rawset }
function plain.load(text, ...)
  if plain.type(text) == 'string' then text = given.old(text) end
  return given.adapt(load(text, ...))
end
local getmetatable, setmetatable, error, select = getmetatable, setmetatable, error, select
local guarded = {}

local function refuse()
  error('Attempt to modify a readonly table', 2)
end

local function pick(from, names)
  local picked = {}
  for name in names:gmatch('%S+') do picked[name] = from[name] end
  return picked
end

local function guard(behind)
  local shown = setmetatable({}, { __index = behind, __newindex = refuse, __metatable = false })
  guarded[shown] = true
  return shown
end

local open = pick(_G, 'getmetatable ipairs next pairs rawequal rawget type')
open.tonumber = given.tonumber
open.tostring = given.tostring
open.assert, open.error = given.assert, given.error
open.select, open.unpack = given.select, given.unpack
open._VERSION = 'Lua 5.1'
function open.collectgarbage() return 0 end

function open.setmetatable(target, meta)
  if guarded[target] then error('Attempt to modify a readonly table', 0) end
  return setmetatable(target, meta)
end

function open.rawset(target, key, value)
  if guarded[target] then error('Attempt to modify a readonly table', 0) end
  return plain.rawset(target, key, value)
end

local function settle(...)
  local isDone, problem = ...
  if isDone or plain.type(problem) ~= 'table' then return ... end
  local text = problem.err
  if plain.type(text) == 'string' or plain.type(text) == 'number' then return false, text end
  return false, problem, text
end

function open.pcall(...)
  return settle(plain.pcall(...))
end

local function handle(handler, isDone, ...)
  if isDone then return true, ... end
  return false, select(2, plain.pcall(handler, ...))
end

function open.xpcall(run, handler, ...)
  return handle(handler, plain.pcall(run, ...))
end

local strings = pick(given, 'byte char find format gmatch gsub match rep sub')
strings.len, strings.lower = real.string.len, real.string.lower
strings.reverse, strings.upper = real.string.reverse, real.string.upper
strings.gfind = strings.gmatch
open.string = guard(strings)
getmetatable('').__index = open.string
getmetatable('').__metatable = false

-- As in ltablib.c, with its order of comparisons.
local function sort(list, isBefore, low, high)
  while low < high do
    if isBefore(list[high], list[low]) then list[low], list[high] = list[high], list[low] end
    if high - low == 1 then return true end
    local middle = given.floor((low + high) / 2)
    if isBefore(list[middle], list[low]) then
      list[middle], list[low] = list[low], list[middle]
    elseif isBefore(list[high], list[middle]) then
      list[middle], list[high] = list[high], list[middle]
    end
    if high - low == 2 then return true end
    local pivot = list[middle]
    list[middle], list[high - 1] = list[high - 1], pivot
    local left, right = low, high - 1
    while true do
      left = left + 1
      while isBefore(list[left], pivot) do
        if left > high then return false end
        left = left + 1
      end
      right = right - 1
      while isBefore(pivot, list[right]) do
        if right < low then return false end
        right = right - 1
      end
      if right < left then break end
      list[left], list[right] = list[right], list[left]
    end
    list[high - 1], list[left] = list[left], list[high - 1]
    if left - low < high - left then
      if not sort(list, isBefore, low, left - 1) then return false end
      low = left + 1
    else
      if not sort(list, isBefore, left + 1, high) then return false end
      high = left - 1
    end
  end
  return true
end

local tables = pick(given, 'concat insert remove')
function tables.sort(list, isBefore)
  if not sort(list, isBefore or given.isLess, 1, given.getn(list)) then
    error('invalid order function for sorting', 2)
  end
end
tables.getn = given.getn
function tables.maxn(list)
  local most = 0
  for key in next, list do
    if plain.type(key) == 'number' and key > most then most = key end
  end
  return most
end
open.table = guard(tables)

local maths = pick(real.math, 'abs acos asin atan cos exp fmod huge log pi sin sqrt tan')
for name in ('cosh deg frexp ldexp log10 max min modf pow rad sinh tanh'):gmatch('%S+') do
  maths[name] = given[name]
end
function maths.log(value) return real.math.log(value) end
function maths.atan(value) return real.math.atan(value) end
maths.floor, maths.ceil = given.floor, given.ceil
maths.random, maths.randomseed = given.random, given.randomseed
maths.mod = maths.fmod
function maths.atan2(y, x) return real.math.atan(y, x) end
open.math = guard(maths)
open.coroutine = guard(pick(real.coroutine, 'create resume running status wrap yield'))

open.bit = guard(pick(given, 'arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex'))
local cjson = pick(given, 'encode decode')
cjson.null = given.decode('null')
open.cjson = guard(cjson)

local redis = pick(given, 'call pcall sha1hex log setresp')
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = '7.0.15', 0x7000f
redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING = 0, 1, 2, 3
function redis.breakpoint() return false end
function redis.error_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or plain.type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  text = strings.gsub(text, '%z.*', '')
  text = strings.gsub(text, '^%-', '')
  if not strings.find(text, ' ', 1, true) then text = 'ERR ' .. text end
  return { err = text }
end
function redis.status_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or plain.type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  return { ok = text }
end
function redis.replicate_commands() return true end
open.redis = guard(redis)

for name, library in next, { redis = redis, cjson = cjson } do
  setmetatable(library, { __index = function(_, word) given.missing(name .. '.' .. given.tostring(word)) end })
end

local shown = guard(open)
open._G = shown
setmetatable(open, { __index = function(_, name)
  given.missing(name)
  error("Script attempted to access nonexistent global variable '" .. given.tostring(name) .. "'", 2)
end })

function open.loadstring(text, name) return plain.load(text, name or text, 't', shown) end
function open.load(source, name) return plain.load(source, name or '=(load)', 't', shown) end

return shown, open
`;

/* `bit` for scripts, as in Lua BitOp: numbers are rounded and treated as signed 32-bit integers. */

/**
 * Adding this number to a double rounds the double to the nearest integer, ties to even. The low
 * bits of the sum are the integer's low 32 bits, except for very large numbers.
 */
const ROUNDS = 1.5 * 2 ** 52;

function bitsAt(state: LuaState, index: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, lauxlib.luaL_checknumber(state, index) + ROUNDS);
  return view.getInt32(4);
}

type Operation = (bits: number, other: number) => number;

/** The operations with their number of operands; 0 means any number. */
const OPERATIONS: readonly (readonly [name: string, operands: number, run: Operation])[] = [
  ['tobit', 1, (bits) => bits],
  ['bnot', 1, (bits) => ~bits],
  ['bswap', 1, (bits) => new DataView(Int32Array.of(bits).buffer).getInt32(0)],
  ['band', 0, (bits, other) => bits & other],
  ['bor', 0, (bits, other) => bits | other],
  ['bxor', 0, (bits, other) => bits ^ other],
  ['lshift', 2, (bits, by) => bits << by],
  ['rshift', 2, (bits, by) => bits >>> by],
  ['arshift', 2, (bits, by) => bits >> by],
  ['rol', 2, (bits, by) => (bits << by) | (bits >>> -by)],
  ['ror', 2, (bits, by) => (bits >>> by) | (bits << -by)],
];

const bitFunctions: readonly (readonly [string, LuaFunction])[] = [
  ...OPERATIONS.map(([name, operands, run]): [string, LuaFunction] => [
    name,
    (state) => {
      let bits = bitsAt(state, 1);
      if (operands === 1) bits = run(bits, 0);
      const last = operands || lua.lua_gettop(state);
      for (let at = 2; at <= last; at += 1) bits = run(bits, bitsAt(state, at));
      lua.lua_pushnumber(state, bits | 0);
      return 1;
    },
  ]),
  ['tohex', toHex],
];

/** A negative number of digits selects upper case. */
function toHex(state: LuaState): number {
  const bits = bitsAt(state, 1);
  const digits = lua.lua_gettop(state) > 1 ? bitsAt(state, 2) : 8;
  const text = (bits >>> 0).toString(16).padStart(8, '0');
  const hex = text.slice(8 - Math.min(8, Math.abs(digits)));
  return pushText(state, digits < 0 ? hex.toUpperCase() : hex);
}
