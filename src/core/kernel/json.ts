/** What may stand in a plan, a trace or a message: plain data that survives `JSON.stringify`. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
