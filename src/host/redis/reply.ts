/**
 * Commands and replies as they cross the simulated network: what Redis' protocol says, as plain
 * data. A bulk string is a string, an integer a number.
 */

/** A command with its arguments, e.g. `['SET', 'db', 'f3a1', 'NX', 'PX', '30000']`. */
export type RedisCommand = readonly string[];

export type RedisReply =
  | string
  | number
  | RedisNil
  | RedisStatus
  | RedisError
  | readonly RedisReply[];

/** Nothing; not `null`, which on this network is no reply. */
export type RedisNil = { readonly nil: true };

/** A simple string, e.g. `OK`. */
export type RedisStatus = { readonly status: string };

/** E.g. `ERR syntax error`. */
export type RedisError = { readonly error: string };

export const NIL: RedisNil = { nil: true };
export const OK: RedisStatus = { status: 'OK' };

export function errorOf(error: string): RedisError {
  return { error };
}

export function isRedisError(reply: RedisReply): reply is RedisError {
  return typeof reply === 'object' && 'error' in reply;
}

export function isRedisStatus(reply: RedisReply): reply is RedisStatus {
  return typeof reply === 'object' && 'status' in reply;
}

export function isRedisNil(reply: RedisReply): reply is RedisNil {
  return typeof reply === 'object' && 'nil' in reply;
}

/** The errors that several commands give, as Redis words them. */
export const NOT_AN_INTEGER: RedisError = errorOf('ERR value is not an integer or out of range');
export const SYNTAX_ERROR: RedisError = errorOf('ERR syntax error');
export const WRONG_TYPE: RedisError = errorOf(
  'WRONGTYPE Operation against a key holding the wrong kind of value',
);

/** Nil is null, a status its text, and an error within a list an `Error`. */
export type RedisValue = string | number | null | Error | readonly RedisValue[];

/** An error reply, whose first word tells its kind: `NOSCRIPT No matching script. …`. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

export function toValue(reply: RedisReply): RedisValue {
  if (typeof reply !== 'object') return reply;
  if (isRedisNil(reply)) return null;
  if (isRedisStatus(reply)) return reply.status;
  if ('error' in reply) return new ReplyError(reply.error);
  return reply.map((item) => toValue(item));
}
