/** `string.format` for numbers that are doubles: its integers have 64 bits, not 32. */
import fengari from 'fengari';
import { formatNumber, LUA_DIGITS, rounded } from './lua-numbers.ts';
import type { LuaFunction, LuaState } from './lua-state.ts';
import { nameInLua, pushText } from './lua-text.ts';

const { lua, lauxlib } = fengari;

/** `%`, flags, width, precision, and the letter that says what it is. */
const DIRECTIVE = /%([-+ #0]*)(\d*)(?:\.(\d*))?(.)/g;

/** A value as `tostring` writes it. Tables and functions have no addresses that could differ. */
export function displayed(state: LuaState, index: number): string {
  const kind = lua.lua_type(state, index);
  if (kind === lua.LUA_TNUMBER) return formatNumber(lua.lua_tonumber(state, index), LUA_DIGITS);
  const text = fengari.to_jsstring(lauxlib.luaL_tolstring(state, index), 0, undefined, true);
  lua.lua_pop(state, 1);
  return kind === lua.LUA_TSTRING ? text : text.replace(/^(\w+: 0x)[0-9a-f]+$/, '$10');
}

/** Formats; every directive but those for numbers and `%s` is left to `original`. */
export function formatWith(original: LuaFunction): LuaFunction {
  return (state) => {
    const template = fengari.to_jsstring(lauxlib.luaL_checkstring(state, 1), 0, undefined, true);
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
