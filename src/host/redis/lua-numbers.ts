/**
 * Numbers as Redis' Lua 5.1 knows them: doubles, all of them, written as C's `%.14g` writes them.
 * The interpreter at hand is a Lua 5.3 with integers of 32 bits, in which `1704067200 * 1000` wraps
 * around and `10 / 2` reads `5.0`: its two conversions between numbers and text are replaced, while
 * a script of ours is read or run and at no other time.
 */
import objects from 'fengari/src/lobject.js';
import strings from 'fengari/src/lstring.js';

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
    const value = readNumber(latin1(bytes.subarray(0, length)));
    if (value === null) return 0;
    cell.setfltvalue(value);
    return length + 1;
  };
  objects.luaO_tostring = (state, cell) => {
    if (!areDoubles || typeof cell.value !== 'number') return luaO_tostring(state, cell);
    const text = formatNumber(cell.value, LUA_DIGITS);
    cell.setsvalue(
      strings.luaS_bless(
        state,
        Uint8Array.from(text, (one) => one.charCodeAt(0)),
      ),
    );
  };
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 400));
}
