/** Text between JavaScript and Lua: UTF-8, whose broken bytes are read as U+FFFD. */
import fengari from 'fengari';
import { COMMAND_DIGITS, formatNumber } from './lua-numbers.ts';
import type { LuaState } from './lua-state.ts';

const { lua } = fengari;

/** A name or text that is used again and again: its bytes are kept. */
export function nameInLua(text: string): Uint8Array {
  return fengari.to_luastring(text, true);
}

export function pushText(state: LuaState, text: string): void {
  lua.lua_pushstring(state, fengari.to_luastring(text));
}

/** The text at `index`, which has to be one, or a number, which becomes one. */
export function textAt(state: LuaState, index: number): string {
  return fengari.to_jsstring(lua.lua_tostring(state, index), 0, undefined, true);
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
