/**
 * Library functions in place of those that would let a script run past its limit of steps. What
 * one call into the library does counts as one step: texts that are repeated have a longest length;
 * a pattern that tries very many ways to match, and texts that double at each `..`, remain.
 */
import fengari from 'fengari';
import type { LuaFunction, LuaState } from './lua-state.ts';
import { nameInLua } from './lua-text.ts';

const { lua, lauxlib } = fengari;

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
