/** The public names of `fencepost/redis`: a simulated Redis for unmodified client libraries. */

export { listen } from './host/network/redis-hosts.ts';
export type { Argument, Callback, Given } from './host/redis/client.ts';
export { RedisClient, type RedisClientOptions } from './host/redis/client.ts';
export type { Meaning, Means, RedisHost, ScriptCall } from './host/redis/meaning.ts';
export { redlockMeaning } from './host/redis/meaning.ts';
export { RedisNode, type RedisNodeOptions } from './host/redis/node.ts';
export type {
  PushRequest,
  RedisCommand,
  RedisError,
  RedisNil,
  RedisPush,
  RedisReply,
  RedisRequest,
  RedisRich,
  RedisStatus,
  SessionCommand,
} from './host/redis/reply.ts';
export { type RedisValue, ReplyError } from './host/redis/reply.ts';
