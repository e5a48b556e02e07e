/**
 * Commands and replies as plain data on the simulated network. They are independent of the protocol
 * version; `resp.ts` encodes both versions. Texts are *byte strings*, in which each character is
 * one byte (`bytesOf`, `textOf`), so any binary value fits.
 */

/** A command with its arguments, such as `['SET', 'db', 'f3a1', 'NX', 'PX', '30000']`. */
export type RedisCommand = readonly string[];

/** A request to a node over the simulated network. */
export type RedisRequest =
  | RedisCommand
  /**
   * A command of the connection named `session`. The node keeps a transaction, a database and
   * subscriptions for each connection. Each connection of a program has a different name.
   */
  | { readonly session: string; readonly command: RedisCommand }
  /**
   * Waits for messages that the node pushes to the connection. Answered as soon as there is a
   * message, or without messages if the connection has no subscription.
   */
  | { readonly session: string; readonly awaits: 'push' }
  /** Reports that the connection is closed. The node forgets it. */
  | { readonly session: string; readonly closes: true };

export type SessionCommand = Extract<RedisRequest, { readonly command: RedisCommand }>;
export type PushRequest = Extract<RedisRequest, { readonly awaits: 'push' }>;

/** A node's reply. Bulk strings are strings, integers are numbers, and arrays are lists. */
export type RedisReply =
  | string
  | number
  | RedisNil
  | RedisStatus
  | RedisError
  | RedisRich
  | readonly RedisReply[];

/** No value. (`null` is not a reply on this network.) Version 2 has a separate null list. */
export type RedisNil = { readonly nil: true; readonly isList?: true };

/** A status reply, such as `OK`. */
export type RedisStatus = { readonly status: string };

/** An error reply, such as `ERR syntax error`. */
export type RedisError = { readonly error: string };

/** A reply type of protocol version 3. Version 2 sends it as text, a number or a list. */
export type RedisRich =
  /** A number as Redis formats it: `1.5`, `inf`. */
  | { readonly double: string }
  /** An integer that a number cannot represent exactly. */
  | { readonly integer: string }
  /** Alternating keys and values, in both versions. */
  | { readonly mapping: readonly RedisReply[] }
  | { readonly set: readonly RedisReply[] }
  /** Alternating names and values. Version 3 sends each pair as a list of two. */
  | { readonly pairs: readonly RedisReply[] }
  | { readonly verbatim: string; readonly format?: string }
  /** Digits, as a script wrote them. */
  | { readonly bigNumber: string }
  | { readonly boolean: boolean }
  /** Pushed messages, or the several replies of one command. Each is sent separately. */
  | { readonly pushes: readonly (readonly RedisReply[])[] };

/** A message such as `['message', 'channel', 'text']`. */
export type RedisPush = readonly RedisReply[];

export const NIL: RedisNil = { nil: true };
export const NIL_LIST: RedisNil = { nil: true, isList: true };
export const OK: RedisStatus = { status: 'OK' };

export function errorOf(error: string): RedisError {
  return { error };
}

/** Returns a word as error messages quote it: up to its first NUL, without line breaks. */
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

/** Errors that several commands return, with the text of Redis. */
export const NOT_AN_INTEGER: RedisError = errorOf('ERR value is not an integer or out of range');
export const NOT_A_FLOAT: RedisError = errorOf('ERR value is not a valid float');
export const SYNTAX_ERROR: RedisError = errorOf('ERR syntax error');
export const WRONG_TYPE: RedisError = errorOf(
  'WRONGTYPE Operation against a key holding the wrong kind of value',
);

/** Returns the reply in the types of protocol version 2. */
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

/** A reply as `RedisClient` returns it. Nil is null, and a status is its text. */
export type RedisValue = string | number | null | Error | readonly RedisValue[];

/** An error reply. Its first word is the kind: `NOSCRIPT No matching script. …`. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** Converts a reply to the client's value. Byte strings are decoded as text. */
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

/** Encodes a text in UTF-8, as a byte string. */
export function bytesOf(text: string): string {
  return isAscii(text) ? text : latin1Of(encoder.encode(text));
}

/** Decodes a byte string as UTF-8. Invalid bytes become U+FFFD. */
export function textOf(bytes: string): string {
  return isAscii(bytes) ? bytes : decoder.decode(rawOf(bytes));
}

/** Converts bytes to a byte string. */
export function latin1Of(raw: Uint8Array): string {
  let bytes = '';
  for (const byte of raw) bytes += String.fromCharCode(byte);
  return bytes;
}

/** Converts a byte string to bytes. */
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
