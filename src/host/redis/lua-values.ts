/**
 * Converts values between Redis and its scripts by the rules of redis.io, "Lua API": nil is false,
 * a returned number is truncated, and a list ends at its first nil. Results of scripts are read
 * without metamethods, which would run outside all limits. Texts are bytes in Lua and byte strings
 * here (`reply.ts`). Scripts see version 2 replies unless they request version 3.
 *
 * Numbers are as in Redis' Lua 5.1: always doubles, formatted like C's `%.14g`. The interpreter is
 * a Lua 5.3 with 32-bit integers, in which `1704067200 * 1000` overflows and `10 / 2` prints `5.0`.
 * Its handling of numbers and its error texts are therefore replaced while a script is compiled or
 * run.
 */

import { lauxlib, lua, to_luastring } from 'fengari';
import objects from 'fengari/src/lobject.js';
import { luaS_bless } from 'fengari/src/lstring.js';
import {
  errorOf,
  isList,
  isRedisError,
  isRedisNil,
  isRedisStatus,
  latin1Of,
  NIL,
  plainReply,
  type RedisReply,
  rawOf,
} from './reply.ts';
import { inPairs, type RespVersion } from './resp.ts';

/** A state of the interpreter, with its stack of Lua values. */
export interface LuaState {
  readonly kind: 'lua_State';
}

/** A function that Lua calls. Takes its arguments from the stack. Returns the number of results. */
export type LuaFunction = (state: LuaState) => number;

/** Lists nested more deeply than this are treated as endless. */
const MOST_NESTED = 100;

/** Pushes the result of `redis.call` in the form of this protocol version. */
export function pushReply(state: LuaState, original: RedisReply, version: RespVersion): void {
  const reply = version === 2 ? plainReply(original) : original;
  if (typeof reply === 'string') pushText(state, reply);
  else if (typeof reply === 'number') lua.lua_pushnumber(state, reply);
  else if ('boolean' in reply) lua.lua_pushboolean(state, reply.boolean);
  else if (isRedisNil(reply) && version === 3) lua.lua_pushnil(state);
  else if (isRedisNil(reply)) lua.lua_pushboolean(state, false);
  else if ('integer' in reply) lua.lua_pushnumber(state, Number(reply.integer));
  else if (isRedisStatus(reply)) pushMapping(state, ['ok', reply.status]);
  else if (isRedisError(reply)) pushMapping(state, ['err', reply.error]);
  else if ('double' in reply) {
    const value = Number(reply.double.replace('inf', 'Infinity'));
    lua.lua_createtable(state, 0, 1);
    lua.lua_pushnumber(state, value);
    lua.lua_setfield(state, -2, nameInLua('double'));
  } else if ('set' in reply) {
    pushTable(
      state,
      'set',
      reply.set.flatMap((member) => [member, { boolean: true }]),
    );
  } else if ('mapping' in reply) pushTable(state, 'map', reply.mapping);
  else if ('verbatim' in reply) {
    pushTable(state, 'verbatim_string', ['format', 'txt', 'string', reply.verbatim]);
  } else {
    const items = 'pairs' in reply ? inPairs(reply.pairs) : isList(reply) ? reply : [];
    lua.lua_createtable(state, items.length, 0);
    items.forEach((item, at) => {
      pushReply(state, item, version);
      lua.lua_rawseti(state, -2, at + 1);
    });
  }
}

/** Pushes a table whose field `name` is a table of these keys and values. */
function pushTable(state: LuaState, name: string, keysAndValues: readonly RedisReply[]): void {
  lua.lua_createtable(state, 0, 1);
  pushMapping(state, keysAndValues);
  lua.lua_setfield(state, -2, nameInLua(name));
}

function pushMapping(state: LuaState, keysAndValues: readonly RedisReply[]): void {
  lua.lua_createtable(state, 0, keysAndValues.length / 2);
  keysAndValues.forEach((item, at) => {
    pushReply(state, item, 3);
    if (at % 2 === 1) lua.lua_rawset(state, -3);
  });
}

/** Returns the reply for the value on top of the stack. */
export function readReply(state: LuaState, version: RespVersion, depth = 0): RedisReply {
  switch (lua.lua_type(state, -1)) {
    case lua.LUA_TSTRING:
      return textAt(state, -1);
    case lua.LUA_TNUMBER: {
      // Values outside the 64-bit range become the minimum, as in C on most machines.
      const value = lua.lua_tonumber(state, -1);
      const integral = Math.abs(value) < 2 ** 63 ? Math.trunc(value) + 0 : -(2 ** 63);
      return Number.isSafeInteger(integral) ? integral : { integer: String(BigInt(integral)) };
    }
    case lua.LUA_TBOOLEAN: {
      const boolean = lua.lua_toboolean(state, -1);
      if (version === 3) return { boolean };
      return boolean ? 1 : NIL;
    }
    case lua.LUA_TTABLE:
      if (depth >= MOST_NESTED || !lua.lua_checkstack(state, 4)) {
        return errorOf('ERR reached lua stack limit');
      }
      return richReply(state, version, depth) ?? readItems(state, version, depth);
    default:
      return NIL;
  }
}

function readItems(state: LuaState, version: RespVersion, depth: number): RedisReply {
  const items: RedisReply[] = [];
  for (let at = 1; lua.lua_rawgeti(state, -1, at) !== lua.LUA_TNIL; at += 1) {
    items.push(readReply(state, version, depth + 1));
    lua.lua_pop(state, 1);
  }
  lua.lua_pop(state, 1);
  return items;
}

/** Returns the typed reply that the table on top of the stack requests, or null if it is a list. */
function richReply(state: LuaState, version: RespVersion, depth: number): RedisReply | null {
  const error = fieldOf(state, 'err');
  if (error !== null) return errorOf(oneLine(error));
  const status = fieldOf(state, 'ok');
  if (status !== null) return { status: oneLine(status) };
  const within = (name: string, kind: number, read: () => RedisReply | null): RedisReply | null => {
    lua.lua_pushstring(state, nameInLua(name));
    const found = lua.lua_rawget(state, -2) === kind ? read() : null;
    lua.lua_pop(state, 1);
    return found;
  };
  const mapping = (): RedisReply[] => readMapping(state, version, depth + 1);
  return (
    within('double', lua.LUA_TNUMBER, () => ({
      double: formatNumber(lua.lua_tonumber(state, -1), COMMAND_DIGITS),
    })) ??
    within('map', lua.LUA_TTABLE, () => ({ mapping: mapping() })) ??
    within('set', lua.LUA_TTABLE, () => ({ set: mapping().filter((_, at) => at % 2 === 0) })) ??
    within('big_number', lua.LUA_TSTRING, () => ({ bigNumber: oneLine(textAt(state, -1)) })) ??
    within('verbatim_string', lua.LUA_TTABLE, () => {
      const [format, verbatim] = [fieldOf(state, 'format'), fieldOf(state, 'string')];
      return format === null || verbatim === null ? null : { verbatim, format };
    })
  );
}

/** Returns alternating keys and values of the table on top of the stack. */
function readMapping(state: LuaState, version: RespVersion, depth: number): RedisReply[] {
  const all: RedisReply[] = [];
  lua.lua_pushnil(state);
  while (lua.lua_next(state, -2) !== 0) {
    const value = readReply(state, version, depth);
    lua.lua_pop(state, 1);
    lua.lua_pushvalue(state, -1);
    all.push(readReply(state, version, depth), value);
    lua.lua_pop(state, 1);
  }
  return all;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}

/** Encodes a text that is used repeatedly. The bytes are cached. */
export function nameInLua(text: string): Uint8Array {
  return to_luastring(text, true);
}

/** Pushes a text. Returns 1, the number of results. */
export function pushText(state: LuaState, text: string): number {
  lua.lua_pushlstring(state, rawOf(text), text.length);
  return 1;
}

/** Returns the string at `index`. A number there is converted to a string in place. */
export function textAt(state: LuaState, index: number): string {
  return latin1Of(lua.lua_tostring(state, index));
}

/**
 * Reads an argument and casts it as C casts a double to a 64-bit integer. The number is truncated,
 * or replaced with the minimum if out of range. Use `| 0` for 32 bits. `absent` replaces nil or a
 * missing argument.
 */
export function wholeAt(state: LuaState, index: number, absent?: number): number {
  if (absent !== undefined && lua.lua_type(state, index) <= lua.LUA_TNIL) return absent;
  const value = Math.trunc(lauxlib.luaL_checknumber(state, index));
  return Math.abs(value) < 2 ** 63 ? value : -(2 ** 63);
}

/** Raises an error with the current position in the script. */
export function luaError(state: LuaState, problem: string): never {
  lauxlib.luaL_where(state, 1);
  pushText(state, textAt(state, -1) + problem);
  return lua.lua_error(state);
}

/** Returns an argument of a command, or null if the value is neither a string nor a number. */
export function argumentAt(state: LuaState, index: number): string | null {
  const kind = lua.lua_type(state, index);
  if (kind === lua.LUA_TNUMBER) return formatNumber(lua.lua_tonumber(state, index), COMMAND_DIGITS);
  return kind === lua.LUA_TSTRING ? textAt(state, index) : null;
}

/** Returns a text field of the table on the stack, or null. Does not use metamethods. */
export function fieldOf(state: LuaState, name: string): string | null {
  lua.lua_pushstring(state, nameInLua(name));
  const isText = lua.lua_rawget(state, -2) === lua.LUA_TSTRING;
  const text = isText ? textAt(state, -1) : null;
  lua.lua_pop(state, 1);
  return text;
}

/** Sets a field of the table on top of the stack. */
export function setField(state: LuaState, name: string, text: string): void {
  pushText(state, text);
  lua.lua_setfield(state, -2, nameInLua(name));
}

/** Raises the value `{err = problem}`. */
export function raise(state: LuaState, problem: string): never {
  lua.lua_createtable(state, 0, 2);
  setField(state, 'err', problem);
  return lua.lua_error(state);
}

/** Significant digits of a number as text in Lua, and as an argument of a command. */
export const LUA_DIGITS = 14;
export const COMMAND_DIGITS = 17;

/** A double represents every integer up to this number exactly. */
const MOST_EXACT = 2 ** 53;

/** Formats a number like C's `%.<digits>g`, or `%#.<digits>g` if `keepsZeros`. */
export function formatNumber(value: number, digits: number, keepsZeros = false): string {
  if (Number.isNaN(value)) return '-nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  if (
    !keepsZeros &&
    Number.isInteger(value) &&
    Math.abs(value) < Math.min(10 ** digits, MOST_EXACT)
  ) {
    return String(value);
  }
  const [mantissa = '', power = ''] = rounded(value, digits).split('e');
  const exponent = Number(power);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const all = mantissa.replace(/[-.]/g, '');
  const point = keepsZeros ? withPoint : withoutZeros;
  if (exponent < -4 || exponent >= digits) {
    const written = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${point(all, 1)}e${exponent < 0 ? '-' : '+'}${written}`;
  }
  return (
    sign + (exponent < 0 ? point(`${'0'.repeat(-exponent)}${all}`, 1) : point(all, exponent + 1))
  );
}

/** Returns a number in JavaScript's exponential form. Rounds ties to even, as C does. */
export function rounded(value: number, digits: number): string {
  const [mantissa = '', power = ''] = value.toExponential(100).split('e');
  const end = digits + (value < 0 ? 2 : 1);
  const kept = mantissa.slice(0, end).replace(/\.$/, '');
  const isTie = /^50*$/.test(mantissa.slice(end).replace('.', ''));
  return isTie && /[02468]$/.test(kept) ? `${kept}e${power}` : value.toExponential(digits - 1);
}

/** Inserts a decimal point after `integral` digits. */
function withPoint(digits: string, integral: number): string {
  return `${digits.slice(0, integral)}.${digits.slice(integral)}`;
}

function withoutZeros(digits: string, integral: number): string {
  return withPoint(digits, integral).replace(/\.?0*$/, '');
}

const NUMERAL =
  /^[ \t-\r]*([+-]?)(?:((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|0x(?=\.?[\da-f])([\da-f]*)\.?([\da-f]*)(?:p([+-]?\d+))?|(inf(?:inity)?)|nan(?:\(\w*\))?)[ \t-\r]*$/i;

/** Reads a number as Lua 5.1 does with C's `strtod`. Returns null if the text is not a number. */
export function readNumber(text: string): number | null {
  const [all, sign, decimal, high = '', low = '', exponent = '0', infinite] =
    NUMERAL.exec(text) ?? [];
  if (all === undefined) return null;
  let value = infinite === undefined ? Number.NaN : Number.POSITIVE_INFINITY;
  if (decimal !== undefined) value = Number(decimal);
  else if (high + low !== '') {
    value = Number(`0x${high}${low}`) * 2 ** Math.max(-3000, Number(exponent) - 4 * low.length);
  }
  return sign === '-' ? -value : value;
}

let areDoubles = false;
let isPatched = false;

/** Runs `code` while the interpreter treats all numbers as doubles. */
export function withDoubles<T>(code: () => T): T {
  patch();
  const before = areDoubles;
  areDoubles = true;
  try {
    return code();
  } finally {
    areDoubles = before;
  }
}

function patch(): void {
  if (isPatched) return;
  isPatched = true;
  const { luaO_str2num, luaO_tostring, luaO_arith, luaO_pushvfstring } = objects;
  const { prototype } = objects.TValue;
  const { ttisinteger, ttisfloat } = prototype;
  prototype.ttisinteger = function (): boolean {
    return !areDoubles && ttisinteger.call(this);
  };
  prototype.ttisfloat = function (): boolean {
    return areDoubles ? this.ttnov() === lua.LUA_TNUMBER : ttisfloat.call(this);
  };
  objects.luaO_str2num = (bytes, cell) => {
    if (!areDoubles) return luaO_str2num(bytes, cell);
    const end = bytes.indexOf(0);
    const length = end === -1 ? bytes.length : end;
    const value = readNumber(String.fromCharCode(...bytes.subarray(0, Math.min(length, 400))));
    if (value === null) return 0;
    cell.setfltvalue(value);
    return bytes.length + 1;
  };
  objects.luaO_tostring = (state, cell) => {
    if (!areDoubles || typeof cell.value !== 'number') return luaO_tostring(state, cell);
    const text = formatNumber(cell.value, LUA_DIGITS);
    cell.setsvalue(luaS_bless(state, rawOf(text)));
  };
  // A NaN result prevents constant folding; `lua-arithmetic.ts` computes the value at run time.
  objects.luaO_arith = (state, operation, one, other, to) =>
    areDoubles && (operation === MOD || operation === POW)
      ? to.setfltvalue(Number.NaN)
      : luaO_arith(state, operation, one, other, to);
  objects.luaO_pushvfstring = (state, format, formatArgs) => {
    const [worded, args] = areDoubles ? asOld(latin1Of(format), formatArgs) : [format, formatArgs];
    const before = areDoubles;
    areDoubles = false;
    try {
      return luaO_pushvfstring(state, worded, args);
    } finally {
      areDoubles = before;
    }
  };
  objects.luaO_pushfstring = (state, format, ...args) =>
    objects.luaO_pushvfstring(state, format, args);
}

/** The interpreter's codes for two operations. */
const MOD = 3;
const POW = 4;

/** Converts an interpreter error to the text of Lua 5.1. Returns the format and its arguments. */
function asOld(format: string, args: unknown[]): readonly [Uint8Array, unknown[]] {
  const [operation, kind, variable] = args;
  if (format === 'attempt to %s a %s value%s' && variable instanceof Uint8Array) {
    const [, sort, name] = /^ \((\w+) '(.*)'\)$/s.exec(latin1Of(variable)) ?? [];
    if (sort === undefined || sort === 'constant') return [rawOf(format), [operation, kind, '']];
    const named = [operation, sort, nameInLua(String(name)), kind];
    return [rawOf("attempt to %s %s '%s' (a %s value)"), named];
  }
  return [rawOf(OLD_WORDS.get(format) ?? format), args];
}

const OLD_WORDS: ReadonlyMap<string, string> = new Map([
  [
    "invalid value (at index %d) in table for 'concat'",
    "invalid value (%s) at index %d in table for 'concat'",
  ],
]);

/* The syntax of Lua 5.1: newer syntax must not compile. */

/** Last characters of the operators and labels that are new in Lua 5.2 or later. */
const NEWER = '/<>&|~:';
/** No token begins with a byte of this value or above, and UTF-8 has no such bytes. */
const NO_TOKEN = 0xf5;
const LEXEME =
  /^#!.*|(?:--)?\[(=*)\[[\s\S]*?\]\1\]|--.*|(["'])(?:\\[\s\S]|(?!\2)[^\\\n])*\2?|(\/\/|<<|>>|::|~(?!=)|[&|]|\bgoto(?=\s+\w))|[a-zA-Z_]\w*|\.?\d[\d.]*(?:[eE][+-]?)?\w*/g;
/** Matches an escape. Captures the letter if the letter stands for itself in Lua 5.1. */
const PLAIN_ESCAPE = /\\(?:([c-eg-mo-qswx-zA-Zu])|[\s\S])/g;

/** Removes a `#!` line, and prevents syntax that Lua 5.1 lacks from compiling in Lua 5.3. */
export function withOldSyntax(text: string): string {
  return text.replace(LEXEME, (lexeme: string, ...found: (string | undefined)[]) => {
    const [, quote, newer, at] = found;
    if (quote !== undefined) return lexeme.replace(PLAIN_ESCAPE, (all, letter) => letter ?? all);
    if (/^\.?\d/.test(lexeme)) {
      return /[.+-]/.test(text.charAt(Number(at) + lexeme.length)) ? `${lexeme} ` : lexeme;
    }
    if (newer === undefined) return lexeme.startsWith('#!') ? '' : lexeme;
    if (newer === 'goto') return '_goto';
    const code = NO_TOKEN + NEWER.indexOf(newer.slice(-1));
    return newer.slice(0, -1) + String.fromCharCode(code);
  });
}

/** Converts a compile error to the text of Lua 5.1. */
export function inOldWords(problem: string): string {
  return problem
    .replaceAll(/(?<!')<eof>/g, "'<eof>'")
    .replace(/ \(starting at line \d+\)/, '')
    .replace(/syntax error(?= near '[^=,])/, "'=' expected")
    .replace(/<\\(\d+)>(?='$)/, (_, code) => NEWER.charAt(Number(code) - NO_TOKEN));
}
