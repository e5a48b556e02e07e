/** What may stand in a plan, a trace or a message: plain data that survives `JSON.stringify`. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * An object that is still being made: an optional field is assigned where there is something to
 * say, which costs a hundredth of what a spread costs on Node 20.
 */
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
