/**
 * `cjson.encode` and `cjson.decode`, like the Lua CJSON 2.1 of Redis. Numbers are encoded with 14
 * significant digits, an empty table is encoded as `{}`, and errors have the original text.
 * Infinities and NaN are decoded, but not encoded.
 */
import { lauxlib, lua, to_luastring } from 'fengari';
import { formatNumber, LUA_DIGITS, type LuaState, pushText, readNumber } from './lua-values.ts';
import { bytesOf, latin1Of } from './reply.ts';

const MOST_NESTED = 1000;
/** Lists up to this length may have any gaps. Longer lists must be at least half full. */
const SAFE_LENGTH = 10;

export function encode(state: LuaState): number {
  requireOne(state);
  pushText(state, encoded(state, 1));
  return 1;
}

export function decode(state: LuaState): number {
  requireOne(state);
  read(state, latin1Of(lauxlib.luaL_checkstring(state, 1)));
  return 1;
}

function requireOne(state: LuaState): void {
  if (lua.lua_gettop(state) === 1) return;
  lauxlib.luaL_argerror(state, 1, to_luastring('expected 1 argument'));
}

function fail(state: LuaState, problem: string): never {
  return lauxlib.luaL_error(state, to_luastring(problem));
}

/** Encodes the value on top of the stack and leaves it there. */
function encoded(state: LuaState, depth: number): string {
  const kind = lua.lua_type(state, -1);
  if (kind === lua.LUA_TTABLE) return encodedTable(state, depth);
  if (kind === lua.LUA_TSTRING) return quoted(latin1Of(lua.lua_tostring(state, -1)));
  if (kind === lua.LUA_TNUMBER) return encodedNumber(state, -1);
  if (kind === lua.LUA_TBOOLEAN) return String(lua.lua_toboolean(state, -1));
  if (kind === lua.LUA_TNIL || kind === lua.LUA_TLIGHTUSERDATA) return 'null';
  return fail(state, `Cannot serialise ${nameOf(state, kind)}: type not supported`);
}

function nameOf(state: LuaState, kind: number): string {
  return latin1Of(lua.lua_typename(state, kind));
}

function encodedNumber(state: LuaState, index: number): string {
  const value = lua.lua_tonumber(state, index);
  if (Number.isFinite(value)) return formatNumber(value, LUA_DIGITS);
  return fail(state, 'Cannot serialise number: must not be NaN or Inf');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\/]|[^ -~\x80-\xff]/g, (character) => {
    if (character === '/') return '\\/';
    return character === '\x7f' ? '\\u007f' : JSON.stringify(character).slice(1, -1);
  })}"`;
}

function encodedTable(state: LuaState, depth: number): string {
  if (depth > MOST_NESTED || !lua.lua_checkstack(state, 4)) {
    fail(state, `Cannot serialise, excessive nesting (${depth})`);
  }
  const parts: string[] = [];
  const length = lengthOf(state);
  for (let at = 1; at <= length; at += 1) {
    lua.lua_rawgeti(state, -1, at);
    parts.push(encoded(state, depth + 1));
    lua.lua_pop(state, 1);
  }
  if (length > 0) return `[${parts}]`;
  lua.lua_pushnil(state);
  while (lua.lua_next(state, -2) !== 0) {
    parts.push(`${encodedKey(state)}:${encoded(state, depth + 1)}`);
    lua.lua_pop(state, 1);
  }
  return `{${parts}}`;
}

function encodedKey(state: LuaState): string {
  const kind = lua.lua_type(state, -2);
  if (kind === lua.LUA_TSTRING) return quoted(latin1Of(lua.lua_tostring(state, -2)));
  if (kind === lua.LUA_TNUMBER) return `"${encodedNumber(state, -2)}"`;
  const reason = 'table key must be a number or string';
  return fail(state, `Cannot serialise ${nameOf(state, kind)}: ${reason}`);
}

/** Returns the length of the list on top of the stack, or 0 if it is empty or not a list. */
function lengthOf(state: LuaState): number {
  let most = 0;
  let count = 0;
  lua.lua_pushnil(state);
  while (lua.lua_next(state, -2) !== 0) {
    lua.lua_pop(state, 1);
    const isNumber = lua.lua_type(state, -1) === lua.LUA_TNUMBER;
    const key = isNumber ? lua.lua_tonumber(state, -1) : 0;
    if (!(key >= 1 && Number.isInteger(key))) {
      lua.lua_pop(state, 1);
      return 0;
    }
    most = Math.max(most, key);
    count += 1;
  }
  if (most > SAFE_LENGTH && most > count * 2) {
    fail(state, 'Cannot serialise table: excessively sparse array');
  }
  return most;
}

/** Matches white space and one token. The token is empty at the end, and if it is invalid. */
const TOKEN =
  /[ \t\n\r]*([{}[\]:,]|"([^"\\\0]*(?:\\[\s\S][^"\\\0]*)*)("?)|true|false|null|[+-]?(?:0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)(?:[pP][+-]?\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN](?:\(\w*\))?)|[+-](?:\.\d+(?:[eE][-+]?\d+)?)?|)/y;
const ESCAPE = /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u(?!d[89a-f])[\da-f]{4}|[\s\S])/gi;

/** First characters of tokens, in the order of `KINDS`. */
const FIRST = '{}[]:,"tfn';
const OBJECT = 'T_OBJ_BEGIN';
const LIST = 'T_ARR_BEGIN';
const STRING = 'T_STRING';
const KINDS: readonly string[] = [
  OBJECT,
  'T_OBJ_END',
  LIST,
  'T_ARR_END',
  'T_COLON',
  'T_COMMA',
  STRING,
  'T_BOOLEAN',
  'T_BOOLEAN',
  'T_NULL',
];

/** `kind` is the error if the token is invalid. */
type Token = readonly [kind: string, content: string, at: number];

function tokensOf(text: string): () => Token {
  let end = 0;
  return () => {
    TOKEN.lastIndex = end;
    const [matched = '', token = '', inside = '', quote] = TOKEN.exec(text) ?? [];
    end += matched.length;
    const at = end - token.length;
    if (token === '') return [end < text.length ? 'invalid token' : 'T_END', '', at];
    if (token === '-' || token === '+') return ['invalid number', '', at];
    if (quote === '') return ['unexpected end of string', '', end];
    if (quote === undefined) {
      const kind = /^nan/i.test(token) ? undefined : KINDS[FIRST.indexOf(token.charAt(0))];
      return [kind ?? 'T_NUMBER', token, at];
    }
    let flaw: Token | null = null;
    const content = inside.replace(ESCAPE, (part, offset: number) => {
      try {
        return bytesOf(String(JSON.parse(`"${part}"`)));
      } catch {
        const escapeKind = part === '\\u' ? 'unicode escape' : 'escape';
        flaw ??= [`invalid ${escapeKind} code`, '', at + 1 + offset];
        return '';
      }
    });
    return flaw ?? [STRING, content, at];
  };
}

/** Parses a text and leaves its value on the stack. */
function read(state: LuaState, text: string): void {
  const next = tokensOf(text);
  let [kind, content, at] = next();
  const go = (): void => {
    [kind, content, at] = next();
  };
  const refuse = (expected: string): never =>
    fail(state, `Expected ${expected} but found ${kind} at character ${at + 1}`);
  const pass = (needed: string, expected: string): void => {
    if (kind !== needed) refuse(expected);
    go();
  };
  const readTable = (end: string, depth: number): void => {
    if (depth > MOST_NESTED || !lua.lua_checkstack(state, 4)) {
      fail(state, `Found too many nested data structures (${depth}) at character ${at + 1}`);
    }
    const isList = kind === LIST;
    lua.lua_createtable(state, 0, 0);
    go();
    for (let index = 1; index > 1 || kind !== end; index += 1) {
      if (isList) lua.lua_pushnumber(state, index);
      else {
        pushText(state, content);
        pass(STRING, 'object key string');
        pass('T_COLON', 'colon');
      }
      readValue(depth + 1);
      lua.lua_rawset(state, -3);
      if (kind === end) break;
      pass('T_COMMA', `comma or ${isList ? 'array' : 'object'} end`);
    }
  };
  const readValue = (depth: number): void => {
    if (kind === STRING) pushText(state, content);
    else if (kind === 'T_NUMBER') lua.lua_pushnumber(state, Number(readNumber(content)));
    else if (kind === 'T_BOOLEAN') lua.lua_pushboolean(state, content === 'true');
    else if (kind === 'T_NULL') lua.lua_pushlightuserdata(state, null);
    else if (kind === OBJECT || kind === LIST) readTable(kind.replace('BEGIN', 'END'), depth);
    else refuse('value');
    go();
  };
  readValue(1);
  if (kind !== 'T_END') refuse('the end');
}
