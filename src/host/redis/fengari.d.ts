/** Types for the part of `fengari` that runs scripts. The package itself has no types. */
declare module 'fengari' {
  type LuaState = import('./lua-values.ts').LuaState;
  type LuaFunction = import('./lua-values.ts').LuaFunction;

  interface Lua {
    readonly LUA_REGISTRYINDEX: number;
    readonly LUA_MASKCOUNT: number;
    readonly LUA_OK: number;
    readonly LUA_TNONE: number;
    readonly LUA_TNIL: number;
    readonly LUA_TBOOLEAN: number;
    readonly LUA_TFUNCTION: number;
    readonly LUA_TLIGHTUSERDATA: number;
    readonly LUA_TNUMBER: number;
    readonly LUA_TSTRING: number;
    readonly LUA_TTABLE: number;
    lua_checkstack(state: LuaState, extra: number): boolean;
    lua_createtable(state: LuaState, items: number, fields: number): void;
    lua_error(state: LuaState): never;
    lua_getfield(state: LuaState, index: number, name: Uint8Array): number;
    lua_gettop(state: LuaState): number;
    lua_gettable(state: LuaState, index: number): number;
    /** Returns true for a number, or for a string that can be converted to a number. */
    lua_isnumber(state: LuaState, index: number): boolean;
    lua_isstring(state: LuaState, index: number): boolean;
    /** Moves the value on top of the stack down to `index`. */
    lua_insert(state: LuaState, index: number): void;
    /**
     * Replaces the key on top of the stack with the next key and its value. Returns 0 at the end.
     */
    lua_next(state: LuaState, index: number): number;
    lua_pcall(state: LuaState, argumentCount: number, returned: number, handler: number): number;
    lua_call(state: LuaState, argumentCount: number, returned: number): void;
    lua_pop(state: LuaState, count: number): void;
    lua_pushboolean(state: LuaState, value: boolean): void;
    lua_pushcfunction(state: LuaState, run: LuaFunction): void;
    lua_pushlightuserdata(state: LuaState, value: null): void;
    lua_pushnil(state: LuaState): void;
    lua_pushnumber(state: LuaState, value: number): void;
    lua_pushlstring(state: LuaState, text: Uint8Array, length: number): void;
    lua_pushstring(state: LuaState, text: Uint8Array): void;
    lua_pushvalue(state: LuaState, index: number): void;
    /** Replaces the key on top of the stack with its value in the table, without metamethods. */
    lua_rawget(state: LuaState, index: number): number;
    lua_rawgeti(state: LuaState, index: number, item: number): number;
    /** Returns the length of the value at `index`, without metamethods. */
    lua_rawlen(state: LuaState, index: number): number;
    /** Moves the value on top of the stack to `index`. */
    lua_replace(state: LuaState, index: number): void;
    lua_rawset(state: LuaState, index: number): void;
    lua_rawseti(state: LuaState, index: number, item: number): void;
    lua_setfield(state: LuaState, index: number, name: Uint8Array): void;
    lua_sethook(state: LuaState, hook: HookFunction, mask: number, count: number): void;
    lua_settop(state: LuaState, top: number): void;
    lua_setupvalue(state: LuaState, index: number, upvalue: number): Uint8Array | null;
    lua_getglobal(state: LuaState, name: Uint8Array): number;
    lua_tocfunction(state: LuaState, index: number): LuaFunction | null;
    lua_toboolean(state: LuaState, index: number): boolean;
    /** Returns the object behind a compiled function. */
    lua_topointer(state: LuaState, index: number): CompiledFunction;
    lua_tonumber(state: LuaState, index: number): number;
    lua_tostring(state: LuaState, index: number): Uint8Array;
    /** Compares the values at `index` and `other`. Returns 0 if the comparison is false. */
    lua_compare(state: LuaState, index: number, other: number, how: number): number;
    lua_type(state: LuaState, index: number): number;
    lua_typename(state: LuaState, kind: number): Uint8Array;
  }

  type HookFunction = (state: LuaState) => void;

  interface CompiledFunction {
    readonly p: import('./lua-arithmetic.ts').Prototype;
  }

  interface Auxiliary {
    luaL_argerror(state: LuaState, argument: number, problem: Uint8Array): never;
    luaL_checkany(state: LuaState, argument: number): void;
    luaL_checknumber(state: LuaState, argument: number): number;
    luaL_checkstring(state: LuaState, argument: number): Uint8Array;
    luaL_checktype(state: LuaState, argument: number, kind: number): void;
    luaL_error(state: LuaState, problem: Uint8Array): never;
    luaL_loadbufferx(
      state: LuaState,
      text: Uint8Array,
      size: number | null,
      name: Uint8Array,
      mode: Uint8Array,
    ): number;
    luaL_newstate(): LuaState;
    luaL_ref(state: LuaState, table: number): number;
    luaL_requiref(state: LuaState, name: Uint8Array, open: LuaFunction, isGlobal: boolean): void;
    luaL_tolstring(state: LuaState, index: number): Uint8Array;
    luaL_where(state: LuaState, level: number): void;
  }

  interface Library {
    readonly luaopen_base: LuaFunction;
    readonly luaopen_coroutine: LuaFunction;
    readonly luaopen_math: LuaFunction;
    readonly luaopen_string: LuaFunction;
    readonly luaopen_table: LuaFunction;
  }

  export const lua: Lua;
  export const lauxlib: Auxiliary;
  export const lualib: Library;
  export function to_luastring(text: string, isKept?: boolean): Uint8Array;
}

declare module 'fengari/src/lobject.js' {
  type LuaState = import('./lua-values.ts').LuaState;

  /** A value cell of the interpreter, reduced to what numbers need. */
  interface LuaCell {
    readonly value: unknown;
    setfltvalue(value: number): void;
    setsvalue(text: object): void;
  }

  const objects: {
    TValue: {
      new (kind: number, value: unknown): object;
      readonly prototype: { ttisinteger(): boolean; ttisfloat(): boolean; ttnov(): number };
    };
    /** Computes an operation on constants. */
    luaO_arith: (
      state: LuaState,
      operation: number,
      one: LuaCell,
      other: LuaCell,
      to: LuaCell,
    ) => void;
    /** Pushes a formatted message, such as an error, and returns it. */
    luaO_pushvfstring: (state: LuaState, format: Uint8Array, args: unknown[]) => Uint8Array;
    luaO_pushfstring: (state: LuaState, format: Uint8Array, ...args: unknown[]) => Uint8Array;
    /** Reads a number. Returns the number of bytes read plus one, or 0. */
    luaO_str2num: (text: Uint8Array, cell: LuaCell) => number;
    /** Converts a number to text in place. */
    luaO_tostring: (state: LuaState, cell: LuaCell) => void;
  };
  export default objects;
}

declare module 'fengari/src/lstring.js' {
  export function luaS_bless(state: import('./lua-values.ts').LuaState, text: Uint8Array): object;
}

declare module 'fengari/src/lopcodes.js' {
  interface Instruction {
    readonly opcode: number;
    readonly A: number;
    readonly B: number;
    readonly C: number;
    sBx: number;
  }
  type Name =
    `OP_${'MOD' | 'POW' | 'LOADK' | 'MOVE' | 'CALL' | 'JMP' | 'FORPREP' | 'FORLOOP' | 'TFORLOOP'}`;
  export function CREATE_ABC(opcode: number, a: number, b: number, c: number): Instruction;
  export function CREATE_ABx(opcode: number, a: number, bx: number): Instruction;
  export const OpCodesI: Readonly<Record<Name, number>>;
}
