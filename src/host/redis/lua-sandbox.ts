/** Builds the sandbox of `lua-prelude.ts` in an interpreter, and puts scripts into it. */
import fengari from 'fengari';
import type { LuaChance } from './lua-chance.ts';
import { formatWith } from './lua-format.ts';
import { libraryFunctions } from './lua-library.ts';
import { protectedCall, repeatWith } from './lua-limits.ts';
import { PRELUDE } from './lua-prelude.ts';
import type { LuaFunction, LuaState } from './lua-state.ts';
import { nameInLua, pushText, textAt } from './lua-text.ts';

const { lua, lauxlib, lualib } = fengari;

type Functions = readonly (readonly [name: string, run: LuaFunction])[];

/** What of the interpreter's own library the prelude picks from: nothing that touches a machine. */
const LIBRARIES: Functions = [
  ['_G', lualib.luaopen_base],
  ['string', lualib.luaopen_string],
  ['table', lualib.luaopen_table],
  ['math', lualib.luaopen_math],
  ['coroutine', lualib.luaopen_coroutine],
];

export interface Sandbox {
  /** Sets a global to a list of texts. */
  give(name: string, texts: readonly string[]): void;
  /** Makes the sandbox the world of the function on top of the stack. */
  enclose(): void;
}

/** `redis` are the functions of that table; `chance` is what `math.random` draws from. */
export function openSandbox(state: LuaState, chance: () => LuaChance, redis: Functions): Sandbox {
  for (const [name, open] of LIBRARIES) {
    lauxlib.luaL_requiref(state, nameInLua(name), open, true);
    lua.lua_pop(state, 1);
  }
  const given: Functions = [
    ...libraryFunctions(chance),
    ['format', formatWith(originalOf(state, 'format'))],
    ['rep', repeatWith(originalOf(state, 'rep'))],
    ['attempt', protectedCall],
    ...redis,
  ];
  runPrelude(state, given);
  const globals = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);
  const environment = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);
  return {
    give(name, texts) {
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, globals);
      lua.lua_createtable(state, texts.length, 0);
      texts.forEach((text, at) => {
        pushText(state, text);
        lua.lua_rawseti(state, -2, at + 1);
      });
      lua.lua_setfield(state, -2, nameInLua(name));
      lua.lua_pop(state, 1);
    },
    enclose() {
      lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, environment);
      lua.lua_setupvalue(state, -2, 1);
    },
  };
}

/** The interpreter's own function of that name in `string`. */
function originalOf(state: LuaState, name: string): LuaFunction {
  lua.lua_getglobal(state, nameInLua('string'));
  lua.lua_getfield(state, -1, nameInLua(name));
  const original = lua.lua_tocfunction(state, -1);
  lua.lua_pop(state, 2);
  if (original === null) throw new Error(`the interpreter has no string.${name}`);
  return original;
}

/** Leaves the environment of scripts on the stack, and the table behind it on top. */
function runPrelude(state: LuaState, given: Functions): void {
  const text = fengari.to_luastring(PRELUDE);
  const name = nameInLua('=sandbox');
  let status = lauxlib.luaL_loadbufferx(state, text, null, name, nameInLua('t'));
  lua.lua_createtable(state, 0, given.length);
  for (const [word, run] of given) {
    lua.lua_pushcfunction(state, run);
    lua.lua_setfield(state, -2, nameInLua(word));
  }
  if (status === lua.LUA_OK) status = lua.lua_pcall(state, 1, 2, 0);
  if (status !== lua.LUA_OK) throw new Error(`the sandbox is broken: ${textAt(state, -1)}`);
}
