/** What else of `fengari` is used, to read and to catch without running code of a script. */
declare module 'fengari/src/lapi.js' {
  type LuaState = import('./lua-state.ts').LuaState;

  const calls: {
    /** Moves the value on top of the stack down to `index`. */
    lua_insert(state: LuaState, index: number): void;
    /** Puts in place of the key on top of the stack what the table itself holds there. */
    lua_rawget(state: LuaState, index: number): number;
  };
  export default calls;
}
