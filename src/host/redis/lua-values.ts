/**
 * Values between Redis and its scripts, by the rules of redis.io, "Lua API": nil is false, a
 * number that a script returns loses its fraction, a list ends at its first nil. What a script
 * returns is read without its metatables, whose functions would run outside of all limits. Texts
 * are bytes to Lua, and byte strings here (`reply.ts`). Scripts see replies as version 2 has them.
 *
 * Numbers are as Redis' Lua 5.1 knows them: doubles, all of them, written as C's `%.14g` writes
 * them. The interpreter at hand is a Lua 5.3 with integers of 32 bits, in which `1704067200 * 1000`
 * wraps around and `10 / 2` reads `5.0`: its two conversions between numbers and text are replaced,
 * while a script of ours is read or run and at no other time.
 */

import { lua, to_luastring } from 'fengari';
import objects from 'fengari/src/lobject.js';
import { luaS_bless } from 'fengari/src/lstring.js';
import {
  errorOf,
  isRedisError,
  isRedisNil,
  isRedisStatus,
  latin1Of,
  NIL,
  plainReply,
  type RedisReply,
  rawOf,
} from './reply.ts';

/** A stack of Lua values, with the interpreter behind it. */
export interface LuaState {
  readonly kind: 'lua_State';
}

/** A function that Lua may call: it takes its arguments from the stack and says what it returns. */
export type LuaFunction = (state: LuaState) => number;

/** A list within a list, and so on, that is deeper than this is taken for endless. */
const MOST_NESTED = 100;

/** What `redis.call` gives a script. */
export function pushReply(state: LuaState, given: RedisReply): void {
  const reply = plainReply(given);
  if (isRedisNil(reply)) lua.lua_pushboolean(state, false);
  else if (typeof reply === 'string') pushText(state, reply);
  else if (typeof reply === 'number') lua.lua_pushnumber(state, reply);
  else if (isRedisStatus(reply) || isRedisError(reply)) {
    lua.lua_createtable(state, 0, 1);
    if (isRedisStatus(reply)) setField(state, 'ok', reply.status);
    else setField(state, 'err', reply.error);
  } else {
    lua.lua_createtable(state, reply.length, 0);
    reply.forEach((item, at) => {
      pushReply(state, item);
      lua.lua_rawseti(state, -2, at + 1);
    });
  }
}

/** What a script answers with the value on top of its stack. */
export function readReply(state: LuaState, depth = 0): RedisReply {
  switch (lua.lua_type(state, -1)) {
    case lua.LUA_TSTRING:
      return textAt(state, -1);
    case lua.LUA_TNUMBER: {
      // What does not fit into 64 bits is what C makes of it on most machines: the least number.
      const value = lua.lua_tonumber(state, -1);
      const whole = Math.abs(value) < 2 ** 63 ? Math.trunc(value) + 0 : -(2 ** 63);
      return Number.isSafeInteger(whole) ? whole : { integer: String(BigInt(whole)) };
    }
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(state, -1) ? 1 : NIL;
    case lua.LUA_TTABLE:
      return readTable(state, depth);
    default:
      return NIL;
  }
}

function readTable(state: LuaState, depth: number): RedisReply {
  if (depth >= MOST_NESTED || !lua.lua_checkstack(state, 4)) {
    return errorOf('ERR reached lua stack limit');
  }
  const error = fieldOf(state, 'err');
  if (error !== null) return errorOf(oneLine(error));
  const status = fieldOf(state, 'ok');
  if (status !== null) return { status: oneLine(status) };
  const items: RedisReply[] = [];
  for (let at = 1; lua.lua_rawgeti(state, -1, at) !== lua.LUA_TNIL; at += 1) {
    items.push(readReply(state, depth + 1));
    lua.lua_pop(state, 1);
  }
  lua.lua_pop(state, 1);
  return items;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}

/** A name or text that is used again and again: its bytes are kept. */
export function nameInLua(text: string): Uint8Array {
  return to_luastring(text, true);
}

export function pushText(state: LuaState, text: string): void {
  lua.lua_pushlstring(state, rawOf(text), text.length);
}

/** The text at `index`, which has to be one, or a number, which becomes one. */
export function textAt(state: LuaState, index: number): string {
  return latin1Of(lua.lua_tostring(state, index));
}

/** An argument of a command; null where the value at `index` is no text and no number. */
export function argumentAt(state: LuaState, index: number): string | null {
  const kind = lua.lua_type(state, index);
  if (kind === lua.LUA_TNUMBER) return formatNumber(lua.lua_tonumber(state, index), COMMAND_DIGITS);
  return kind === lua.LUA_TSTRING ? textAt(state, index) : null;
}

/** The text that the table on top of the stack itself holds in a field; null for none. */
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

/** Raises the value `{err = problem}` with the place in the script that is at hand. */
export function raise(state: LuaState, problem: string): never {
  lua.lua_createtable(state, 0, 2);
  setField(state, 'err', problem);
  return lua.lua_error(state);
}

/** How many digits Lua writes of a number, and how many a command is given. */
export const LUA_DIGITS = 14;
export const COMMAND_DIGITS = 17;

/** Up to here a double holds each integer. */
const MOST_EXACT = 2 ** 53;

/** Writes a number as C's `%.<digits>g` does. */
export function formatNumber(value: number, digits: number): string {
  if (Number.isNaN(value)) return '-nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  if (Number.isInteger(value) && Math.abs(value) < Math.min(10 ** digits, MOST_EXACT)) {
    return String(value);
  }
  const [mantissa = '', power = ''] = rounded(value, digits).split('e');
  const exponent = Number(power);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const all = mantissa.replace(/[-.]/g, '');
  if (exponent < -4 || exponent >= digits) {
    const written = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${point(all, 1)}e${exponent < 0 ? '-' : '+'}${written}`;
  }
  return (
    sign + (exponent < 0 ? point(`${'0'.repeat(-exponent)}${all}`, 1) : point(all, exponent + 1))
  );
}

/**
 * In exponential form, as JavaScript writes it. Where two results are equally near, the even one,
 * as C has it.
 */
export function rounded(value: number, digits: number): string {
  const [mantissa = '', power = ''] = value.toExponential(100).split('e');
  const cut = digits + (value < 0 ? 2 : 1);
  const kept = mantissa.slice(0, cut).replace(/\.$/, '');
  const isTie = /^50*$/.test(mantissa.slice(cut).replace('.', ''));
  return isTie && /[02468]$/.test(kept) ? `${kept}e${power}` : value.toExponential(digits - 1);
}

/** With a point behind `whole` digits, and without the zeros at the end. */
function point(digits: string, whole: number): string {
  const part = digits.slice(whole).replace(/0+$/, '');
  return part === '' ? digits.slice(0, whole) : `${digits.slice(0, whole)}.${part}`;
}

const NUMERAL = /^[+-]?(?:0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i;

/** Reads a number as Lua 5.1 does; null where the text is none. */
export function readNumber(text: string): number | null {
  const trimmed = text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
  if (!NUMERAL.test(trimmed)) return null;
  const isNegative = trimmed.startsWith('-');
  const value = Number(trimmed.replace(/^[+-]/, ''));
  return isNegative ? -value : value;
}

let areDoubles = false;
let isPatched = false;

/** Runs `what`, in which all numbers that scripts read and write are doubles. */
export function withDoubles<T>(what: () => T): T {
  patch();
  const before = areDoubles;
  areDoubles = true;
  try {
    return what();
  } finally {
    areDoubles = before;
  }
}

function patch(): void {
  if (isPatched) return;
  isPatched = true;
  const { luaO_str2num, luaO_tostring } = objects;
  objects.luaO_str2num = (bytes, cell) => {
    if (!areDoubles) return luaO_str2num(bytes, cell);
    const end = bytes.indexOf(0);
    const length = end === -1 ? bytes.length : end;
    const value = readNumber(String.fromCharCode(...bytes.subarray(0, Math.min(length, 400))));
    if (value === null) return 0;
    cell.setfltvalue(value);
    return length + 1;
  };
  objects.luaO_tostring = (state, cell) => {
    if (!areDoubles || typeof cell.value !== 'number') return luaO_tostring(state, cell);
    const text = formatNumber(cell.value, LUA_DIGITS);
    cell.setsvalue(
      luaS_bless(
        state,
        Uint8Array.from(text, (one) => one.charCodeAt(0)),
      ),
    );
  };
}
