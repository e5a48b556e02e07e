/** The public names of `fencepost/redis`: a simulated Redis for unmodified client libraries. */

export { listen } from './host/network/redis-hosts.ts';
export type { RedisArgument, RedisClientOptions, RedisMethod } from './host/redis/client.ts';
export { RedisClient } from './host/redis/client.ts';
export type { Meaning, Means, RedisHost, ScriptCall } from './host/redis/meaning.ts';
export { redlockMeaning } from './host/redis/meaning.ts';
export { RedisNode, type RedisNodeOptions } from './host/redis/node.ts';
export type {
  RedisCommand,
  RedisError,
  RedisNil,
  RedisReply,
  RedisRequest,
  RedisRich,
  RedisStatus,
} from './host/redis/reply.ts';
export { type RedisValue, ReplyError } from './host/redis/reply.ts';
