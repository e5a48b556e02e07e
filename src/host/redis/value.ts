/** What client libraries make of a reply. */
import { isRedisNil, isRedisStatus, type RedisReply } from './reply.ts';

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
