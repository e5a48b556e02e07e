/**
 * Commands and replies as they cross the simulated network, as plain data: what Redis' protocol
 * says, in neither of its versions (`resp.ts` writes both). Texts in them are *byte strings*, in
 * which each character is one byte (`bytesOf`, `textOf`), so that no value is too binary for them.
 */

/** A command with its arguments, e.g. `['SET', 'db', 'f3a1', 'NX', 'PX', '30000']`. */
export type RedisCommand = readonly string[];

/** What a node is asked over the simulated network. */
export type RedisRequest =
  | RedisCommand
  /**
   * A command of one connection, for which the node keeps a transaction, a database and
   * subscriptions. Another connection of the same program has another name.
   */
  | { readonly session: string; readonly command: RedisCommand }
  /**
   * Asks for what the node sends that connection unasked: answered once there is something, and
   * with nothing once it has no subscription.
   */
  | { readonly session: string; readonly awaits: 'push' }
  /** The connection is over: the node forgets it. */
  | { readonly session: string; readonly closes: true };

export type SessionCommand = Extract<RedisRequest, { readonly command: RedisCommand }>;
export type PushRequest = Extract<RedisRequest, { readonly awaits: 'push' }>;

/** What a node answers: a bulk string is a string, an integer a number, a list a list. */
export type RedisReply =
  | string
  | number
  | RedisNil
  | RedisStatus
  | RedisError
  | RedisRich
  | readonly RedisReply[];

/** No value. (`null` is no reply on this network.) Version 2 distinguishes a list that is none. */
export type RedisNil = { readonly nil: true; readonly isList?: true };

/** A status reply, which is a simple string, such as `OK`. */
export type RedisStatus = { readonly status: string };

/** An error reply, such as `ERR syntax error`. */
export type RedisError = { readonly error: string };

/**
 * A reply that only version 3 of the protocol has a form for: in version 2 it is text or a list.
 */
export type RedisRich =
  /** As Redis writes it: `1.5`, `inf`. */
  | { readonly double: string }
  /** An integer that a number does not hold exactly. */
  | { readonly integer: string }
  /** Keys and values in turn, in either version. */
  | { readonly mapping: readonly RedisReply[] }
  | { readonly set: readonly RedisReply[] }
  /** Names and values in turn; version 3 makes a list of two of each pair. */
  | { readonly pairs: readonly RedisReply[] }
  | { readonly verbatim: string; readonly format?: string }
  /** Digits, as a script wrote them. */
  | { readonly bigNumber: string }
  | { readonly boolean: boolean }
  /** What comes unasked, and the replies of a command that has several: each by itself. */
  | { readonly pushes: readonly (readonly RedisReply[])[] };

/** E.g. `['message', 'channel', 'text']`. */
export type RedisPush = readonly RedisReply[];

export const NIL: RedisNil = { nil: true };
export const NIL_LIST: RedisNil = { nil: true, isList: true };
export const OK: RedisStatus = { status: 'OK' };

export function errorOf(error: string): RedisError {
  return { error };
}

/** A word as an error repeats it: a line of C, up to its first NUL. */
export function repeated(word: string): string {
  return word.replace(/\0[\s\S]*$/, '').replace(/[\r\n]/g, ' ');
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
export const NOT_A_FLOAT: RedisError = errorOf('ERR value is not a valid float');
export const SYNTAX_ERROR: RedisError = errorOf('ERR syntax error');
export const WRONG_TYPE: RedisError = errorOf(
  'WRONGTYPE Operation against a key holding the wrong kind of value',
);

/** The same reply in the forms that version 2 has. */
export function plainReply(reply: RedisReply): Exclude<RedisReply, RedisRich> {
  if (typeof reply !== 'object') return reply;
  if ('double' in reply) return reply.double;
  if ('integer' in reply) return Number(reply.integer);
  if ('verbatim' in reply) return reply.verbatim;
  if ('bigNumber' in reply) return reply.bigNumber;
  if ('boolean' in reply) return reply.boolean ? 1 : 0;
  if ('mapping' in reply) return reply.mapping.map(plainReply);
  if ('set' in reply) return reply.set.map(plainReply);
  if ('pairs' in reply) return reply.pairs.map(plainReply);
  if ('pushes' in reply) return reply.pushes.map((push) => push.map(plainReply));
  return isList(reply) ? reply.map(plainReply) : reply;
}

export function isList(reply: RedisReply): reply is readonly RedisReply[] {
  return Array.isArray(reply);
}

/** A reply as `RedisClient` returns it: nil is null, a status its text, an error an `Error`. */
export type RedisValue = string | number | null | Error | readonly RedisValue[];

/** An error reply, whose first word tells its kind: `NOSCRIPT No matching script. …`. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** What a client makes of it, which reads every byte string as text. */
export function toValue(reply: RedisReply): RedisValue {
  const plain = plainReply(reply);
  if (typeof plain === 'number') return plain;
  if (typeof plain === 'string') return textOf(plain);
  if (isRedisNil(plain)) return null;
  if (isRedisStatus(plain)) return textOf(plain.status);
  if ('error' in plain) return new ReplyError(textOf(plain.error));
  return plain.map((item) => toValue(item));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A text as the byte string of its UTF-8. */
export function bytesOf(text: string): string {
  return isAscii(text) ? text : latin1Of(encoder.encode(text));
}

/** A byte string read as UTF-8; what is none of it is U+FFFD. */
export function textOf(bytes: string): string {
  return isAscii(bytes) ? bytes : decoder.decode(rawOf(bytes));
}

/** Bytes as a byte string. */
export function latin1Of(raw: Uint8Array): string {
  let bytes = '';
  for (const byte of raw) bytes += String.fromCharCode(byte);
  return bytes;
}

/** A byte string as bytes. */
export function rawOf(bytes: string): Uint8Array {
  const raw = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) raw[at] = bytes.charCodeAt(at);
  return raw;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}
