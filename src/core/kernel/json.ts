/** Plain data that survives `JSON.stringify`: the values allowed in plans, traces and messages. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * An object under construction: assigning optional fields only if they have a value costs 1 % of
 * what a spread costs on Node 20.
 */
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
