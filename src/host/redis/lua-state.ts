/** What is passed around of the Lua interpreter, whose package has no types of its own. */

/** A stack of Lua values, with the interpreter behind it. */
export interface LuaState {
  readonly kind: 'lua_State';
}

/** A function that Lua may call: it takes its arguments from the stack and says what it returns. */
export type LuaFunction = (state: LuaState) => number;
