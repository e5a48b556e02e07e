/**
 * Replaces library functions of the interpreter that would create integers, expose addresses, use
 * real randomness, or exceed a script's step limit. As in Redis, `math.random` draws with
 * `drand48`, from one stream for all scripts of a node.
 *
 * A library call counts as one step, plus the steps of its pattern. `string.rep` limits the length
 * of a text, but concatenation by `..` does not.
 */

import { lauxlib, lua } from 'fengari';
import { adaptFunction, power } from './lua-arithmetic.ts';
import { format } from './lua-format.ts';
import { type CountSteps, patternFunctions } from './lua-patterns.ts';
import {
  formatNumber,
  inOldWords,
  LUA_DIGITS,
  type LuaFunction,
  type LuaState,
  luaError,
  nameInLua,
  pushText,
  textAt,
  wholeAt,
  withOldSyntax,
} from './lua-values.ts';
import { latin1Of } from './reply.ts';

/** Functions that do not depend on the state of a run. */
const plain: readonly (readonly [string, LuaFunction])[] = [
  ['floor', onNumber(Math.floor)],
  ['ceil', onNumber(Math.ceil)],
  ['tonumber', toNumber],
  ['tostring', toText],
  ['format', format],
  ['rep', repeat],
  ['remove', remove],
  ['attempt', protectedCall],
  ['adapt', adapt],
  ['error', raiseValue],
  ['assert', assertValue],
  ['char', char],
  ['unpack', unpack],
  ['old', oldSyntax],
  ['max', extreme((one, other) => one > other)],
  ['min', extreme((one, other) => one < other)],
  ['pow', pow],
  ['isLess', isLess],
  ['getn', (state) => returned(state, lengthOf(state))],
  ['deg', onNumber((value) => value / (Math.PI / 180))],
  ['rad', onNumber((value) => value * (Math.PI / 180))],
  ['cosh', onNumber(Math.cosh)],
  ['sinh', onNumber(Math.sinh)],
  ['tanh', onNumber(Math.tanh)],
  ['log10', onNumber(Math.log10)],
  ['frexp', frexp],
  ['ldexp', ldexp],
  ['modf', modf],
];

/** Returns the functions by name. `chance` returns the random source of the current run. */
export function libraryFunctions(
  state: LuaState,
  chance: () => LuaChance,
  count: CountSteps,
): readonly (readonly [string, LuaFunction])[] {
  return [
    ...plain,
    ...INTEGER_ARGUMENTS.map(([library, name, isInt, ...places]): [string, LuaFunction] => [
      name,
      withWholeNumbers(originalOf(state, library, name), places, isInt),
    ]),
    ...patternFunctions(count),
    ['insert', (state) => insert(state, count)],
    ['random', (state) => random(state, chance())],
    ['randomseed', (state) => seed(state, chance())],
  ];
}

function onNumber(run: (value: number) => number): LuaFunction {
  return (state) => returned(state, run(lauxlib.luaL_checknumber(state, 1)));
}

/** Pushes the values, with nil for null. Returns the number of results. */
function returned(state: LuaState, ...values: readonly (number | null)[]): number {
  for (const value of values) {
    if (value === null) lua.lua_pushnil(state);
    else lua.lua_pushnumber(state, value);
  }
  return values.length;
}

/** Implements `math.max` or `math.min`, which return the first of several equal values. */
function extreme(isBetter: (one: number, other: number) => boolean): LuaFunction {
  return (state) => {
    let best = lauxlib.luaL_checknumber(state, 1);
    for (let at = 2; at <= lua.lua_gettop(state); at += 1) {
      const value = lauxlib.luaL_checknumber(state, at);
      if (isBetter(value, best)) best = value;
    }
    return returned(state, best);
  };
}

function pow(state: LuaState): number {
  const [base, exponent] = [1, 2].map((at) => lauxlib.luaL_checknumber(state, at));
  return returned(state, power(base ?? 0, exponent ?? 0));
}

/** Implements `math.frexp`: returns a fraction of magnitude in [0.5, 1) and an exponent of 2. */
function frexp(state: LuaState): number {
  let [value, exponent] = [lauxlib.luaL_checknumber(state, 1), 0];
  if (value === 0 || !Number.isFinite(value)) return returned(state, value, 0);
  for (; Math.abs(value) >= 1; exponent += 1) value /= 2;
  for (; Math.abs(value) < 0.5; exponent -= 1) value *= 2;
  return returned(state, value, exponent);
}

function ldexp(state: LuaState): number {
  let value = lauxlib.luaL_checknumber(state, 1);
  let exponent = Math.max(-2200, Math.min(2200, wholeAt(state, 2) | 0));
  for (; exponent > 1000; exponent -= 1000) value *= 2 ** 1000;
  for (; exponent < -1000; exponent += 1000) value *= 2 ** -1000;
  return returned(state, value * 2 ** exponent);
}

function modf(state: LuaState): number {
  const value = lauxlib.luaL_checknumber(state, 1);
  return returned(
    state,
    Math.trunc(value),
    Math.abs(value) < Number.POSITIVE_INFINITY ? value % 1 : value && Math.sign(value) * 0,
  );
}

/** Implements `error`, which adds the position in the script to strings and to numbers. */
function raiseValue(state: LuaState): number {
  const level = wholeAt(state, 2, 1) | 0;
  lua.lua_settop(state, 1);
  if (!lua.lua_isstring(state, 1) || level <= 0) return lua.lua_error(state);
  lauxlib.luaL_where(state, level);
  pushText(state, textAt(state, -1) + textAt(state, 1));
  return lua.lua_error(state);
}

function assertValue(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  if (lua.lua_toboolean(state, 1)) return lua.lua_gettop(state);
  const isNone = lua.lua_type(state, 2) <= lua.LUA_TNIL;
  const problem = isNone ? 'assertion failed!' : latin1Of(lauxlib.luaL_checkstring(state, 2));
  return luaError(state, problem);
}

function char(state: LuaState): number {
  let text = '';
  for (let at = 1; at <= lua.lua_gettop(state); at += 1) {
    const code = wholeAt(state, at) | 0;
    if (code < 0 || code > 0xff) lauxlib.luaL_argerror(state, at, nameInLua('invalid value'));
    text += String.fromCharCode(code);
  }
  return pushText(state, text);
}

/** Adapts a compiled function to Lua 5.1, or converts a compile error to the text of Lua 5.1. */
function adapt(state: LuaState): number {
  if (lua.lua_type(state, 1) === lua.LUA_TFUNCTION) {
    adaptFunction(state, 1);
    return 1;
  }
  pushText(state, inOldWords(textAt(state, 2)));
  lua.lua_replace(state, 2);
  return 2;
}

function oldSyntax(state: LuaState): number {
  return pushText(state, withOldSyntax(textAt(state, 1)));
}

function unpack(state: LuaState): number {
  const length = lengthOf(state);
  const first = wholeAt(state, 2, 1) | 0;
  const count = Math.max(0, (wholeAt(state, 3, length) | 0) - first + 1);
  if (count >= MOST_RESULTS || !lua.lua_checkstack(state, count)) {
    return luaError(state, 'too many results to unpack');
  }
  for (let at = first; at < first + count; at += 1) lua.lua_rawgeti(state, 1, at);
  return count;
}

/** Maximum number of stack values of a function in Lua 5.1. */
const MOST_RESULTS = 8000;

/** The interpreter's code for the comparison `<`. */
const LESS_THAN = 1;

/** Compares for `table.sort`, whose errors have no position. */
function isLess(state: LuaState): number {
  lua.lua_pushboolean(state, lua.lua_compare(state, 1, 2, LESS_THAN) !== 0);
  return 1;
}

function toText(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  return pushText(state, displayed(state, 1));
}

function toNumber(state: LuaState): number {
  const base = wholeAt(state, 2, 10);
  if (base === 10) {
    lauxlib.luaL_checkany(state, 1);
    return returned(state, lua.lua_isnumber(state, 1) ? lua.lua_tonumber(state, 1) : null);
  }
  const [text = ''] = latin1Of(lauxlib.luaL_checkstring(state, 1)).split('\0', 1);
  if (base < 2 || base > 36) {
    return lauxlib.luaL_argerror(state, 2, nameInLua('base out of range'));
  }
  return returned(state, readInBase(text, base));
}

const MOST_UNSIGNED = 2n ** 64n - 1n;

/** Reads an integer as C's `strtoul` does: saturates at the maximum, and wraps negative numbers. */
function readInBase(text: string, base: number): number | null {
  const [, sign, digits = ''] = /^[ \t-\r]*([+-]?)([\da-z]+)[ \t-\r]*$/i.exec(text) ?? [];
  let value = 0n;
  for (const digit of digits.toLowerCase().replace(base === 16 ? /^0x(?=.)/ : /^(?!)/, '')) {
    const worth = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit);
    if (worth >= base) return null;
    value = value * BigInt(base) + BigInt(worth);
  }
  if (digits === '') return null;
  if (value > MOST_UNSIGNED) return Number(MOST_UNSIGNED);
  return Number(sign === '-' ? BigInt.asUintN(64, -value) : value);
}

function random(state: LuaState, chance: LuaChance): number {
  const drawn = chance.draw();
  const arity = lua.lua_gettop(state);
  if (arity === 0) return returned(state, drawn);
  const first = Math.trunc(lauxlib.luaL_checknumber(state, 1));
  const [low, high] =
    arity === 1 ? [1, first] : [first, Math.trunc(lauxlib.luaL_checknumber(state, 2))];
  if (low > high) {
    return lauxlib.luaL_argerror(state, arity === 1 ? 1 : 2, nameInLua('interval is empty'));
  }
  return returned(state, Math.floor(drawn * (high - low + 1)) + low);
}

function seed(state: LuaState, chance: LuaChance): number {
  const value = lauxlib.luaL_checknumber(state, 1);
  chance.seed(Number.isFinite(value) ? value : 0);
  return 0;
}

/** Formats a value as `tostring` does, but with 0 for addresses, which differ between runs. */
export function displayed(state: LuaState, index: number): string {
  const kind = lua.lua_type(state, index);
  if (kind === lua.LUA_TNUMBER) return formatNumber(lua.lua_tonumber(state, index), LUA_DIGITS);
  if (kind === lua.LUA_TLIGHTUSERDATA) return 'userdata: (nil)'; // cjson.null
  const text = latin1Of(lauxlib.luaL_tolstring(state, index));
  lua.lua_pop(state, 1);
  return kind === lua.LUA_TSTRING ? text : text.replace(/^(\w+: 0x)[0-9a-f]+$/, '$10');
}

const MULTIPLIER = 0x5deece66dn;
const INCREMENT = 0xbn;
const BITS_48 = (1n << 48n) - 1n;
const LOW_WORD = 0x330en;
const START = 0x1234_abcd_330en;

export class LuaChance {
  private current: bigint = START;

  seed(seed: number): void {
    this.current = (BigInt.asUintN(32, BigInt(Math.trunc(seed))) << 16n) | LOW_WORD;
  }

  /** Returns a number in [0, 1), in steps of 2⁻³¹. */
  draw(): number {
    this.current = (this.current * MULTIPLIER + INCREMENT) & BITS_48;
    const most = 0x7fff_ffff;
    return (Number(this.current >> 17n) % most) / most;
  }
}

const ALL_RESULTS = -1;

const MOST_REPEATED_BYTES = 1024 * 1024;

/**
 * Implements `pcall`. After catching an error in a coroutine, the interpreter's own `pcall` no
 * longer counts the coroutine's steps. As in Lua 5.1, a coroutine cannot yield across this `pcall`.
 */
function protectedCall(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  const status = lua.lua_pcall(state, lua.lua_gettop(state) - 1, ALL_RESULTS, 0);
  const isDone = status === lua.LUA_OK;
  lua.lua_checkstack(state, 1);
  lua.lua_pushboolean(state, isDone);
  lua.lua_insert(state, isDone ? 1 : -2);
  return isDone ? lua.lua_gettop(state) : 2;
}

function repeat(state: LuaState): number {
  const text = latin1Of(lauxlib.luaL_checkstring(state, 1));
  const count = Math.max(0, wholeAt(state, 2) | 0);
  if (count * Math.max(text.length, 1) > MOST_REPEATED_BYTES) {
    return luaError(state, 'resulting string too large');
  }
  return pushText(state, text.repeat(count));
}

/**
 * Wraps an interpreter function to truncate numeric arguments at `places`, as Lua 5.1 does. Numbers
 * out of range wrap around like a C `int` if `isInt`; otherwise they saturate.
 */
function withWholeNumbers(
  original: LuaFunction,
  places: readonly number[],
  isInt: boolean,
): LuaFunction {
  return (state) => {
    for (const at of places) {
      if (!lua.lua_isnumber(state, at)) continue;
      const value = wholeAt(state, at);
      lua.lua_pushnumber(state, isInt ? value | 0 : Math.max(-MOST_INT, Math.min(MOST_INT, value)));
      lua.lua_replace(state, at);
    }
    return original(state);
  };
}

const MOST_INT = 1e9;

/** Functions with integer arguments, and the positions of these arguments. */
const INTEGER_ARGUMENTS: readonly (readonly [
  library: string,
  name: string,
  isInt: boolean,
  ...number[],
])[] = [
  ['string', 'sub', false, 2, 3],
  ['string', 'byte', false, 2, 3],
  ['table', 'concat', true, 3, 4],
  ['_G', 'select', true, 1],
];

function originalOf(state: LuaState, library: string, name: string): LuaFunction {
  lua.lua_getglobal(state, nameInLua(library));
  lua.lua_getfield(state, -1, nameInLua(name));
  const original = lua.lua_tocfunction(state, -1);
  lua.lua_pop(state, 2);
  if (original === null) throw new Error(`the interpreter has no ${library}.${name}`);
  return original;
}

function lengthOf(state: LuaState): number {
  lauxlib.luaL_checktype(state, 1, lua.LUA_TTABLE);
  return lua.lua_rawlen(state, 1);
}

/** Counts one pattern step per item moved. */
function insert(state: LuaState, count: CountSteps): number {
  const next = lengthOf(state) + 1;
  const arity = lua.lua_gettop(state);
  if (arity !== 2 && arity !== 3) luaError(state, "wrong number of arguments to 'insert'");
  const place = arity === 3 ? wholeAt(state, 2) | 0 : next;
  count(state, Math.max(0, next - place), 'table.insert');
  for (let at = Math.max(next, place); at > place; at -= 1) {
    lua.lua_rawgeti(state, 1, at - 1);
    lua.lua_rawseti(state, 1, at);
  }
  lua.lua_rawseti(state, 1, place);
  return 0;
}

function remove(state: LuaState): number {
  const length = lengthOf(state);
  const place = wholeAt(state, 2, length) | 0;
  if (place < 1 || place > length) return 0;
  lua.lua_rawgeti(state, 1, place);
  for (let at = place; at <= length; at += 1) {
    lua.lua_rawgeti(state, 1, at + 1);
    lua.lua_rawseti(state, 1, at);
  }
  return 1;
}
