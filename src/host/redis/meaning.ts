/**
 * Determines the effect of a command on a lock, for the trace. The lock is the command's key. For a
 * script, a `Means` function determines the effect and the lock. `redlockMeaning` knows the scripts
 * of npm redlock.
 */
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Answer } from '../../core/history/call.ts';
import type { ServerHost } from '../../core/world/calls.ts';
import type { Port } from '../../core/world/port.ts';
import type { RedisCommand, RedisReply, RedisRequest } from './reply.ts';
import { isRedisError, isRedisNil, isRedisStatus, rawOf, textOf } from './reply.ts';

/** A `RedisNode` as clients call it over the simulated network. Returned by `addServer`. */
export type RedisHost = ServerHost<RedisRequest, RedisReply>;

/** One call of a Lua script by EVAL or EVALSHA. */
export interface ScriptCall {
  /** SHA-1 of the script's text, as in EVALSHA. */
  readonly sha: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** The effect of a command or a script on a lock. */
export interface Meaning {
  readonly verb: 'acquire' | 'renew' | 'release';
  readonly lock: string;
  /** Returns true if a reply that is not an error reports success. */
  readonly isDone: (reply: RedisReply) => boolean;
}

/** Returns the effect of a script's call on a lock, or null if the script has no such effect. */
export type Means = (call: ScriptCall) => Meaning | null;

/** The scripts of npm redlock 5.0.0-beta.2, then of 4.2.0, by SHA-1. */
const REDLOCK_SCRIPTS: ReadonlyMap<string, Meaning['verb']> = new Map([
  ['96da70f7716f27d278a5218544df37fd8b0a5e4c', 'acquire'],
  ['aed6f382e410db8ba7926d4e5e9aab410bf2a78a', 'renew'],
  ['e4612211c9f8f51c257e26e056b0a654b3187242', 'release'],
  ['e5a322e2634ef59a516e8ea150cb085afafee684', 'acquire'],
  ['ce46f80993d5dac20dd066eb301a4e37994bdbed', 'renew'],
  ['0f0f23b9048b36752b5be114f357ba083449f908', 'release'],
]);

/** Returns the effect of a script of npm redlock, or undefined for any other script. */
export function scriptVerb(sha: string): Meaning['verb'] | undefined {
  return REDLOCK_SCRIPTS.get(sha);
}

/** Returns the effect of npm redlock's scripts. Several resources form one lock, `a+b`. */
export const redlockMeaning: Means = ({ sha, keys }) => {
  const verb = scriptVerb(sha);
  if (verb === undefined) return null;
  return { verb, lock: keys.join('+'), isDone: (reply) => reply === keys.length };
};

/** Returns the node as a port that describes each call for the trace. `means` describes scripts. */
export function redisPort(host: RedisHost, means: Means): Port<RedisRequest, RedisReply> {
  return {
    host,
    describeRequest: (request) => {
      const command = commandOf(request);
      const meaning = meaningOf(command, means);
      if (meaning === null) return { verb: 'fetch', lock: textOf(keyOf(command)), token: 0 };
      return { verb: meaning.verb, lock: meaning.lock, token: 0 };
    },
    describeReply: (reply, request) => answerOf(reply, meaningOf(commandOf(request), means)),
  };
}

/** Returns the command of a request, or an empty one if the request contains no command. */
function commandOf(request: RedisRequest): RedisCommand {
  if ('command' in request) return request.command;
  return 'session' in request ? [] : request;
}

/** Returns the key of a command, or the first key of a script. */
function keyOf([name = '', key = '', count = '0', first = '']: RedisCommand): string {
  if (!/^eval(sha)?(_ro)?$/i.test(name)) return key;
  return Number(count) > 0 ? first : '';
}

function meaningOf([name = '', key = '', ...rest]: RedisCommand, means: Means): Meaning | null {
  const lock = textOf(key);
  switch (name.toLowerCase()) {
    case 'set':
      return meaningOfSet(lock, rest);
    case 'setnx':
      return { verb: 'acquire', lock, isDone: isPositive };
    case 'expire':
    case 'pexpire':
      return { verb: 'renew', lock, isDone: isPositive };
    case 'del':
    case 'hdel':
      return { verb: 'release', lock, isDone: isPositive };
    case 'eval':
      return means(scriptCall(shaOf(key), rest));
    case 'evalsha':
      return means(scriptCall(key.toLowerCase(), rest));
    default:
      return null;
  }
}

/**
 * `SET key value NX PX ttl` acquires, and `XX` instead of `NX` renews. Any other SET only writes.
 * With `GET` the reply is the previous value, so nil means that `NX` succeeded or `XX` failed.
 */
function meaningOfSet(lock: string, [, ...options]: readonly string[]): Meaning | null {
  const words = new Set(options.map((word) => word.toUpperCase()));
  const returnsFormer = words.has('GET');
  if (words.has('NX')) {
    return { verb: 'acquire', lock, isDone: returnsFormer ? isRedisNil : isRedisStatus };
  }
  if (words.has('XX')) {
    const isDone = returnsFormer ? (reply: RedisReply) => !isRedisNil(reply) : isRedisStatus;
    return { verb: 'renew', lock, isDone };
  }
  return null;
}

function isPositive(reply: RedisReply): boolean {
  return typeof reply === 'number' && reply > 0;
}

function scriptCall(sha: string, [count = '0', ...rest]: readonly string[]): ScriptCall {
  const keys = Number(count);
  const texts = rest.map(textOf);
  return { sha, keys: texts.slice(0, keys), args: texts.slice(keys) };
}

function answerOf(reply: RedisReply, meaning: Meaning | null): Answer | null {
  // A node that does not know the script has not looked at the lock.
  if (isRedisError(reply) && reply.error.startsWith('NOSCRIPT ')) return null;
  if (isRedisError(reply)) return { kind: 'denied', holder: '' };
  if (meaning === null) {
    // The numeric result of a lookup.
    if (typeof reply === 'number') return { kind: 'value', value: reply };
    if (isRedisNil(reply)) return { kind: 'denied', holder: '' };
    const isInteger = typeof reply === 'string' && /^-?\d{1,15}$/.test(reply);
    return isInteger ? { kind: 'value', value: Number(reply) } : { kind: 'accepted' };
  }
  if (!meaning.isDone(reply)) return { kind: 'denied', holder: '' };
  switch (meaning.verb) {
    case 'acquire':
      return { kind: 'granted', token: 0 };
    case 'renew':
      return { kind: 'renewed' };
    case 'release':
      return { kind: 'released' };
  }
}

/** Returns the SHA-1 of a script's bytes, which identifies the script. */
export function shaOf(bytes: string): string {
  return bytesToHex(sha1(rawOf(bytes)));
}
