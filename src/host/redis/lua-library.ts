/**
 * The library functions that scripts get in place of the interpreter's own: those that would make
 * an integer of a number, look at addresses, draw by real chance (`math.random` draws as Redis
 * does, by `drand48`, one stream for all scripts of a node), or run past a script's limit of steps.
 *
 * What one call into the library does counts as one step: texts that are repeated have a longest
 * length; a pattern that tries very many ways to match, and texts that double at each `..`, remain.
 */

import { lauxlib, lua } from 'fengari';
import {
  formatNumber,
  LUA_DIGITS,
  type LuaFunction,
  type LuaState,
  nameInLua,
  pushText,
  readNumber,
  rounded,
  textAt,
} from './lua-values.ts';
import { latin1Of } from './reply.ts';

/** They do not depend on the state of any run. */
const plain: readonly (readonly [string, LuaFunction])[] = [
  ['floor', onNumber(Math.floor)],
  ['ceil', onNumber(Math.ceil)],
  ['tonumber', toNumber],
  ['tostring', toText],
];

/** By the names under which the sandbox asks for them; `chance` is that of the present run. */
export function libraryFunctions(
  chance: () => LuaChance,
): readonly (readonly [string, LuaFunction])[] {
  return [
    ...plain,
    ['random', (state) => random(state, chance())],
    ['randomseed', (state) => seed(state, chance())],
  ];
}

function onNumber(run: (value: number) => number): LuaFunction {
  return (state) => {
    lua.lua_pushnumber(state, run(lauxlib.luaL_checknumber(state, 1)));
    return 1;
  };
}

function toText(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  pushText(state, displayed(state, 1));
  return 1;
}

function toNumber(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  const kind = lua.lua_type(state, 1);
  const isPlain =
    lua.lua_type(state, 2) === lua.LUA_TNONE || lua.lua_type(state, 2) === lua.LUA_TNIL;
  const base = isPlain ? 10 : lauxlib.luaL_checknumber(state, 2);
  if (base < 2 || base > 36) {
    return lauxlib.luaL_argerror(state, 2, nameInLua('base out of range'));
  }
  if (kind === lua.LUA_TNUMBER && base === 10) {
    lua.lua_pushvalue(state, 1);
    return 1;
  }
  const isText = kind === lua.LUA_TSTRING || kind === lua.LUA_TNUMBER;
  const text = isText ? textAt(state, 1) : '';
  const value = base === 10 ? readNumber(text) : readInBase(text, base);
  if (value === null) lua.lua_pushnil(state);
  else lua.lua_pushnumber(state, value);
  return 1;
}

function readInBase(text: string, base: number): number | null {
  const digits = text
    .trim()
    .toLowerCase()
    .replace(base === 16 ? /^0x/ : /^(?!)/, '');
  let value = 0;
  for (const digit of digits) {
    const worth = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit);
    if (worth === -1 || worth >= base) return null;
    value = value * base + worth;
  }
  return digits === '' ? null : value;
}

function random(state: LuaState, chance: LuaChance): number {
  const drawn = chance.draw();
  const given = lua.lua_gettop(state);
  if (given === 0) {
    lua.lua_pushnumber(state, drawn);
    return 1;
  }
  const first = Math.trunc(lauxlib.luaL_checknumber(state, 1));
  const [low, high] =
    given === 1 ? [1, first] : [first, Math.trunc(lauxlib.luaL_checknumber(state, 2))];
  if (low > high) {
    return lauxlib.luaL_argerror(state, given === 1 ? 1 : 2, nameInLua('interval is empty'));
  }
  lua.lua_pushnumber(state, Math.floor(drawn * (high - low + 1)) + low);
  return 1;
}

function seed(state: LuaState, chance: LuaChance): number {
  const given = lauxlib.luaL_checknumber(state, 1);
  chance.seed(Number.isFinite(given) ? given : 0);
  return 0;
}

/** `%`, flags, width, precision, and the letter that says what it is. */
const DIRECTIVE = /%([-+ #0]*)(\d*)(?:\.(\d*))?(.)/g;

/** A value as `tostring` writes it. Tables and functions have no addresses that could differ. */
export function displayed(state: LuaState, index: number): string {
  const kind = lua.lua_type(state, index);
  if (kind === lua.LUA_TNUMBER) return formatNumber(lua.lua_tonumber(state, index), LUA_DIGITS);
  if (kind === lua.LUA_TLIGHTUSERDATA) return 'userdata: (nil)'; // cjson.null
  const text = latin1Of(lauxlib.luaL_tolstring(state, index));
  lua.lua_pop(state, 1);
  return kind === lua.LUA_TSTRING ? text : text.replace(/^(\w+: 0x)[0-9a-f]+$/, '$10');
}

/** Formats; every directive but those for numbers and `%s` is left to `original`. */
export function formatWith(original: LuaFunction): LuaFunction {
  return (state) => {
    const template = latin1Of(lauxlib.luaL_checkstring(state, 1));
    let argument = 1;
    const text = template.replace(DIRECTIVE, (directive, ...parts: unknown[]) => {
      const [flags, width, precision, letter] = parts.map((part) => String(part ?? ''));
      if (letter === '%') return '%';
      argument += 1;
      const field = { flags: flags ?? '', width: Number(width ?? 0) };
      const digits = parts[2] === undefined ? null : Number(precision);
      const form = { flags: field.flags, letter: letter ?? '', digits };
      if ('diuxXo'.includes(form.letter)) {
        return placed(integer(lauxlib.luaL_checknumber(state, argument), form), field);
      }
      if ('eEfgG'.includes(form.letter)) {
        return placed(fraction(lauxlib.luaL_checknumber(state, argument), form), field);
      }
      if (letter !== 's') return formattedBy(original, { state, directive, argument });
      lauxlib.luaL_checkany(state, argument);
      const shown = displayed(state, argument);
      const whole = { flags: field.flags.replace('0', ''), width: field.width };
      return placed(['', digits === null ? shown : shown.slice(0, digits)], whole);
    });
    pushText(state, text);
    return 1;
  };
}

function formattedBy(
  original: LuaFunction,
  { state, directive, argument }: { state: LuaState; directive: string; argument: number },
): string {
  lua.lua_pushcfunction(state, original);
  lua.lua_pushstring(state, nameInLua(directive));
  lua.lua_pushvalue(state, argument);
  lua.lua_call(state, 2, 1);
  const text = displayed(state, -1);
  lua.lua_pop(state, 1);
  return text;
}

interface Form {
  readonly flags: string;
  readonly letter: string;
  readonly digits: number | null;
}

function plusOf(flags: string): string {
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

/** The sign and the digits of a number with a fraction. */
function fraction(
  value: number,
  { flags, letter, digits }: Form,
): readonly [sign: string, digits: string] {
  const precision = digits ?? 6;
  const isNegative = value < 0 || Object.is(value, -0);
  const magnitude = Math.abs(value);
  const lower = letter.toLowerCase();
  const text = !Number.isFinite(value)
    ? formatNumber(magnitude, 1)
    : lower === 'g'
      ? formatNumber(magnitude, Math.max(1, precision))
      : lower === 'e'
        ? scientific(magnitude, precision)
        : fixed(magnitude, precision);
  return [isNegative ? '-' : plusOf(flags), letter === lower ? text : text.toUpperCase()];
}

function scientific(value: number, precision: number): string {
  const [mantissa = '', power = ''] = rounded(value, precision + 1).split('e');
  return `${mantissa}e${power.slice(0, 1)}${power.slice(1).padStart(2, '0')}`;
}

/** Where two results are equally near, the even one, as C has it. */
function fixed(value: number, precision: number): string {
  if (value >= 1e21) return `${BigInt(value)}.${'0'.repeat(precision)}`.replace(/\.$/, '');
  const exact = value.toFixed(100);
  const cut = exact.indexOf('.') + 1 + precision;
  const isTie = /^50*$/.test(exact.slice(cut));
  const kept = exact.slice(0, cut).replace(/\.$/, '');
  return isTie && /[02468]$/.test(kept) ? kept : value.toFixed(precision);
}

/** The sign and the digits of an integer. */
function integer(
  value: number,
  { flags, letter, digits }: Form,
): readonly [sign: string, digits: string] {
  const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : -(2n ** 63n);
  const isSigned = letter === 'd' || letter === 'i';
  const shown = isSigned ? BigInt.asIntN(64, whole) : BigInt.asUintN(64, whole);
  const magnitude = shown < 0n ? -shown : shown;
  const base = letter === 'o' ? 8 : letter === 'x' || letter === 'X' ? 16 : 10;
  const text = magnitude.toString(base).padStart(digits ?? 1, '0');
  const prefix = flags.includes('#') && base === 16 ? `0${letter}` : '';
  const sign = isSigned ? (shown < 0n ? '-' : plusOf(flags)) : prefix;
  return [sign, letter === 'X' ? text.toUpperCase() : text];
}

function placed(
  [sign, text]: readonly [string, string],
  { flags, width }: { flags: string; width: number },
): string {
  if (flags.includes('-')) return (sign + text).padEnd(width);
  if (flags.includes('0')) return sign + text.padStart(width - sign.length, '0');
  return (sign + text).padStart(width);
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

  /** In [0, 1), in steps of 2⁻³¹. */
  draw(): number {
    this.current = (this.current * MULTIPLIER + INCREMENT) & BITS_48;
    const most = 0x7fff_ffff;
    return (Number(this.current >> 17n) % most) / most;
  }
}

const ALL_RESULTS = -1;

/** No text that `string.rep` makes is longer. */
const MOST_REPEATED_BYTES = 1024 * 1024;

/**
 * `pcall`. That of the interpreter, in a coroutine, stops counting steps once it caught an error;
 * this one cannot be yielded out of, as in Lua 5.1.
 */
export function protectedCall(state: LuaState): number {
  lauxlib.luaL_checkany(state, 1);
  const status = lua.lua_pcall(state, lua.lua_gettop(state) - 1, ALL_RESULTS, 0);
  const isDone = status === lua.LUA_OK;
  lua.lua_pushboolean(state, isDone);
  lua.lua_insert(state, isDone ? 1 : -2);
  return isDone ? lua.lua_gettop(state) : 2;
}

/** `string.rep`, which refuses what would be too long. */
export function repeatWith(original: LuaFunction): LuaFunction {
  return (state) => {
    const { length } = lauxlib.luaL_checkstring(state, 1);
    const count = lauxlib.luaL_checknumber(state, 2);
    if (count * Math.max(length, 1) > MOST_REPEATED_BYTES) {
      return lauxlib.luaL_error(state, nameInLua('resulting string too large'));
    }
    lua.lua_settop(state, 2);
    return original(state);
  };
}
