/** The public names of `fencepost/redis`: a simulated Redis for unmodified client libraries. */
export type { Argument, Callback, Given } from './redis/arguments.ts';
export { RedisClient, type RedisClientOptions } from './redis/client.ts';
export {
  type Meaning,
  type Means,
  type RedisHost,
  redlockMeaning,
  type ScriptCall,
} from './redis/meaning.ts';
export { RedisNode, type RedisNodeOptions } from './redis/node.ts';
export type {
  RedisCommand,
  RedisError,
  RedisNil,
  RedisReply,
  RedisStatus,
} from './redis/reply.ts';
export { type RedisValue, ReplyError } from './redis/value.ts';
