/**
 * Values between Redis and its scripts, by the rules of redis.io, "Lua API": nil is false, a
 * number that a script returns loses its fraction, a list ends at its first nil. What a script
 * returns is read without its metatables, whose functions would run outside of all limits.
 */
import fengari from 'fengari';
import type { LuaState } from './lua-state.ts';
import { fieldOf, pushText, setField, textAt } from './lua-text.ts';
import { errorOf, isRedisError, isRedisNil, isRedisStatus, NIL, type RedisReply } from './reply.ts';

const { lua } = fengari;

/** A list within a list, and so on, that is deeper than this is taken for endless. */
const MOST_NESTED = 100;

/** What `redis.call` gives a script. */
export function pushReply(state: LuaState, reply: RedisReply): void {
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
    case lua.LUA_TNUMBER:
      return truncated(lua.lua_tonumber(state, -1));
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(state, -1) ? 1 : NIL;
    case lua.LUA_TTABLE:
      return readTable(state, depth);
    default:
      return NIL;
  }
}

/** What does not fit into 64 bits is what C makes of it on most machines: the least number. */
function truncated(value: number): number {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) + 0 : -(2 ** 63);
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
