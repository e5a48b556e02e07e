/** `bit` of scripts, as Lua BitOp has it: numbers are rounded, and taken as 32 bits with a sign. */
import { lauxlib, lua } from 'fengari';
import { type LuaFunction, type LuaState, pushText } from './lua-values.ts';

/** Added and taken away again, it rounds to the nearest integer, of two to the even one. */
const ROUNDS = 1.5 * 2 ** 52;

function bitsAt(state: LuaState, index: number): number {
  return (lauxlib.luaL_checknumber(state, index) + ROUNDS - ROUNDS) | 0;
}

type Operation = (bits: number, other: number) => number;

/** How many operands each takes; 0 is any number. */
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

export const bitFunctions: readonly (readonly [string, LuaFunction])[] = [
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

/** Below 0 digits, in capitals. */
function toHex(state: LuaState): number {
  const bits = bitsAt(state, 1);
  const digits = lua.lua_gettop(state) > 1 ? bitsAt(state, 2) : 8;
  const text = (bits >>> 0).toString(16).padStart(8, '0');
  const cut = text.slice(8 - Math.min(8, Math.abs(digits)));
  pushText(state, digits < 0 ? cut.toUpperCase() : cut);
  return 1;
}
