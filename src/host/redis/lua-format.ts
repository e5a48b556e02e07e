/** `string.format` for scripts: the directives of Lua 5.1, with the output of C. */
import { lauxlib, lua } from 'fengari';
import {
  formatNumber,
  type LuaState,
  luaError,
  nameInLua,
  pushText,
  rounded,
} from './lua-values.ts';
import { latin1Of } from './reply.ts';

/** Matches `%`, flags, width, precision, and the conversion letter. */
const DIRECTIVE = /%(?:(%)|([-+ #0]*)(\d{0,2})(?:\.(\d{0,2}))?([\s\S]?))/g;

/** Implements `string.format` with the directives of Lua 5.1. */
export function format(state: LuaState): number {
  const template = latin1Of(lauxlib.luaL_checkstring(state, 1));
  let argument = 1;
  return pushText(
    state,
    template.replace(DIRECTIVE, (_, percent?: string, ...parts: (string | undefined)[]) => {
      if (percent !== undefined) return percent;
      argument += 1;
      return formatted(state, argument, parts);
    }),
  );
}

/**
 * As in C, a text ends at its first NUL. Exceptions are `%q`, and `%s` without precision for a text
 * of 100 or more characters.
 */
function formatted(
  state: LuaState,
  at: number,
  [flags = '', width, precision, letter = '']: readonly (string | undefined)[],
): string {
  if (at > lua.lua_gettop(state)) lauxlib.luaL_argerror(state, at, nameInLua('no value'));
  if (flags.length > MOST_FLAGS) luaError(state, 'invalid format (repeated flags)');
  if (/\d/.test(letter)) luaError(state, 'invalid format (width or precision too long)');
  const digits = precision === undefined ? null : Number(precision);
  const form = { flags, letter, digits, width: Number(width) };
  if (letter === 'q') {
    const escaped = latin1Of(lauxlib.luaL_checkstring(state, at))
      .replace(/["\\\n]/g, '\\$&')
      .replaceAll('\r', '\\r')
      .replaceAll('\0', '\\000');
    return `"${escaped}"`;
  }
  if (letter === 's') {
    const text = latin1Of(lauxlib.luaL_checkstring(state, at));
    if (digits === null && text.length >= 100) return text;
    return padded(form, text.replace(/\0[\s\S]*/, '').slice(0, digits ?? text.length));
  }
  if (letter === '' || !'cdiuoxXeEfgG'.includes(letter)) {
    return luaError(state, `invalid option '%${letter}' to 'format'`);
  }
  const value = lauxlib.luaL_checknumber(state, at);
  if (letter === 'c') {
    const code = Math.abs(value) < 2 ** 31 ? value & 0xff : 0;
    return padded(form, String.fromCharCode(code)).replace(/\0[\s\S]*/, '');
  }
  const isInteger = 'diuxXo'.includes(letter);
  const isPadded = isInteger ? digits === null : Number.isFinite(value);
  return placed(isInteger ? integer(value, form) : fraction(value, form), form, isPadded);
}

/** The five flags, each at most once. */
const MOST_FLAGS = 5;

function padded(form: Form, text: string): string {
  return placed(['', text], form, false);
}

interface Form {
  readonly flags: string;
  readonly letter: string;
  readonly digits: number | null;
  readonly width: number;
}

function plusOf(flags: string): string {
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

function fraction(
  value: number,
  { flags, letter, digits }: Form,
): readonly [sign: string, digits: string] {
  const precision = digits ?? 6;
  const isNegative = value < 0 || Object.is(value, -0);
  const magnitude = Math.abs(value);
  const lower = letter.toLowerCase();
  const keepsZeros = flags.includes('#');
  const shortest = formatNumber(magnitude, Math.max(1, precision), keepsZeros).replace(
    '-',
    (sign) => (Number.isNaN(value) ? '' : sign),
  );
  let text = shortest;
  if (Number.isFinite(value) && lower !== 'g') {
    text = lower === 'e' ? scientific(magnitude, precision) : fixed(magnitude, precision);
    if (keepsZeros && precision === 0) text = text.replace(/(?=e|$)/, '.');
  }
  const sign = isNegative || Number.isNaN(value) ? '-' : plusOf(flags);
  return [sign, letter === lower ? text : text.toUpperCase()];
}

function scientific(value: number, precision: number): string {
  const [mantissa = '', power = ''] = rounded(value, precision + 1).split('e');
  return `${mantissa}e${power.slice(0, 1)}${power.slice(1).padStart(2, '0')}`;
}

/** Rounds ties to even, as C does. */
function fixed(value: number, precision: number): string {
  if (value >= 1e21) return `${BigInt(value)}.${'0'.repeat(precision)}`.replace(/\.$/, '');
  const exact = value.toFixed(100);
  const end = exact.indexOf('.') + 1 + precision;
  const isTie = /^50*$/.test(exact.slice(end));
  const kept = exact.slice(0, end).replace(/\.$/, '');
  return isTie && /[02468]$/.test(kept) ? kept : value.toFixed(precision);
}

/** Returns the sign and digits of a 64-bit integer, or what C prints for a value out of range. */
function integer(
  value: number,
  { flags, letter, digits }: Form,
): readonly [sign: string, digits: string] {
  const isSigned = letter === 'd' || letter === 'i';
  const isInRange = value >= -(2 ** 63) && value < (isSigned ? 2 ** 63 : 2 ** 64);
  const beyond = !isSigned && value > 0 ? 0n : LEAST;
  const integer = isInRange ? BigInt(Math.trunc(value)) : beyond;
  const shown = isSigned ? integer : BigInt.asUintN(64, integer);
  const magnitude = shown < 0n ? -shown : shown;
  const base = letter === 'o' ? 8 : letter === 'x' || letter === 'X' ? 16 : 10;
  const text = magnitude === 0n && digits === 0 ? '' : magnitude.toString(base);
  const full = text.padStart(digits ?? 1, '0');
  const isAlternate = flags.includes('#') && magnitude !== 0n;
  const prefix = isAlternate && base === 16 ? `0${letter}` : '';
  const sign = isSigned ? (shown < 0n ? '-' : plusOf(flags)) : prefix;
  if (base === 8 && flags.includes('#') && !full.startsWith('0')) return [sign, `0${full}`];
  return [sign, letter === 'X' ? full.toUpperCase() : full];
}

const LEAST = -(2n ** 63n);

function placed(
  [sign, text]: readonly [string, string],
  { flags, width }: Form,
  isPadded: boolean,
): string {
  if (flags.includes('-')) return (sign + text).padEnd(width);
  if (flags.includes('0') && isPadded) return sign + text.padStart(width - sign.length, '0');
  return (sign + text).padStart(width);
}
