/** Plain data that survives `JSON.stringify`: the values allowed in plans, traces and messages. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * An object under construction, whose optional fields are assigned only if they have a value. On
 * Node 20, this takes 1 % of the time of a spread.
 */
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
