/**
 * The library functions that scripts get in place of the interpreter's own: those that would make
 * an integer of a number, look at addresses, or draw by real chance.
 */
import fengari from 'fengari';
import type { LuaChance } from './lua-chance.ts';
import { displayed } from './lua-format.ts';
import { readNumber } from './lua-numbers.ts';
import type { LuaFunction, LuaState } from './lua-state.ts';
import { nameInLua, pushText, textAt } from './lua-text.ts';

const { lua, lauxlib } = fengari;

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
