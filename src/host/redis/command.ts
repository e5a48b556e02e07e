/** What a command of a node is: how many arguments it takes, and what it does. */
import type { Keyspace } from './keyspace.ts';
import type { RedisReply } from './reply.ts';

/** What a command may touch, and the time at which it does. */
export interface Setting {
  readonly keys: Keyspace;
  /** By the node's wall clock, microseconds since 1970; the same all through a script. */
  readonly nowUs: number;
  readonly nowMs: number;
}

export interface Command {
  /** How many arguments it takes, its name not counted. */
  readonly least: number;
  readonly most: number;
  /** `given` are its arguments, without its name. */
  readonly run: (given: readonly string[], setting: Setting) => RedisReply;
}

/** Commands by their names in lower case. */
export type Commands = readonly (readonly [name: string, command: Command])[];

/** A key with as many further arguments as `rest` says. */
export function onKey(
  rest: number | readonly [least: number, most: number],
  run: (key: string, rest: readonly string[], setting: Setting) => RedisReply,
): Command {
  const [least, most] = typeof rest === 'number' ? [rest, rest] : rest;
  return {
    least: least + 1,
    most: most + 1,
    run: ([key = '', ...others], setting) => run(key, others, setting),
  };
}
