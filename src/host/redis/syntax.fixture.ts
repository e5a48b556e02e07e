/**
 * The argument syntax of each command, and commands drawn from it. Most are valid; some have an
 * extra, missing or replaced argument. A word in upper case stands for itself, and a word in lower
 * case for a value drawn from `words`. `[a|b]` is optional, and `a+` occurs once or more. `now` and
 * `nowMs` stand for the clock's time in seconds and in milliseconds (`atTime`).
 */
import fc from 'fast-check';
import { shaOf } from './meaning.ts';
import { bytesOf, type RedisCommand } from './reply.ts';

const keys = ['a', 'b', 'c', 'd', 'e'];
const values = ['', 'v', 'w', '1', '41', '-7', '007', '3.5', bytesOf('ü'), '\xff\0\r\n'];
const big = '9223372036854775807';
const integers = ['1', '5', '-3', '0', '2', '-1', 'x', '1.0', '+1', ' 1', big];
const scores = ['1', '2', '2.5', '-3', '0.1', 'inf', '-inf', '1e3', '1e17', 'nan', 'x', '(1'];
/** A stepped clock often lands exactly on such an expiry or 1 ms after it. */
const ttls = ['1', '1', '2', '3', '5', '1000', '0', '-1', 'x', big];
const scripts = [
  'return 1',
  'return KEYS[1]',
  'return return',
  'return redis.call("get", KEYS[1])',
];

const words: Readonly<Record<string, readonly string[]>> = {
  key: keys,
  value: values,
  field: ['f', 'g', 'h', '1'],
  integer: integers,
  index: ['0', '1', '2', '-1', '-2', '9', '-9', 'x'],
  count: ['0', '1', '2', '-1', '9', 'x'],
  /** A count for random draws: all members, or invalid. */
  all: ['99', 'x'],
  score: scores,
  bound: ['-inf', '+inf', '1', '(1', '2', '(2.5', 'x'],
  text: ['-', '+', '[f', '(f', '[g', 'x', '('],
  float: ['1.5', '-0.25', '0.1', '3', '1e2', 'x', 'inf'],
  ttl: ttls,
  time: ['now-1', 'now+0', 'now+1', '99999999999', '1', '0', '-1', 'x'],
  timeMs: ['nowMs-1', 'nowMs+0', 'nowMs+1', 'nowMs+2', '99999999999999', '1', 'x'],
  pattern: ['*', 'a', '?', '[a-c]', '[^a]', '\\a', 'a*b', '[c-a]', '[', '*?*', '[\\a-c]', '[^-b]'],
  database: ['0', '0', '0', '1', '15', '16', '-1', 'x'],
  /** The `COUNT` of a scan: more keys than any database has, or invalid. */
  many: ['99', '99', '0', '-1', 'x'],
  cursor: ['0', '0', 'x', ''],
  /** Excludes `none`: under this type, Redis finds keys that have just expired. */
  type: ['string', 'hash', 'list', 'set', 'zset'],
  script: scripts,
  sha: [...scripts.map(shaOf), 'abc'],
  keyCount: ['0', '1', '2', '9', '-1', 'x'],
  name: ['ann', 'an n', ''],
};

const END = '[EX ttl|PX ttl|EXAT time|PXAT timeMs|KEEPTTL]';
const SCAN = 'cursor [MATCH pattern] COUNT many';
const ADD = '[NX|XX] [GT|LT] [CH] [INCR] score field [score field]';

/** The arguments of the drawn commands, by name. */
export const syntax: Readonly<Record<string, string>> = {
  set: `key value ${END} [NX|XX] [GET]`,
  get: 'key',
  setnx: 'key value',
  setex: 'key ttl value',
  psetex: 'key ttl value',
  getset: 'key value',
  getdel: 'key',
  getex: 'key [EX ttl|PX ttl|EXAT time|PXAT timeMs|PERSIST]',
  mget: 'key+',
  mset: 'key value [key value]',
  msetnx: 'key value [key value]',
  incr: 'key',
  incrby: 'key integer',
  decr: 'key',
  decrby: 'key integer',
  incrbyfloat: 'key float',
  append: 'key value',
  strlen: 'key',
  getrange: 'key index index',
  substr: 'key index index',
  setrange: 'key count value',
  expire: 'key ttl [NX|XX] [GT|LT]',
  pexpire: 'key ttl [NX|XX] [GT|LT]',
  expireat: 'key time [NX|XX] [GT|LT]',
  pexpireat: 'key timeMs [NX|XX] [GT|LT]',
  ttl: 'key',
  pttl: 'key',
  expiretime: 'key',
  pexpiretime: 'key',
  persist: 'key',
  del: 'key+',
  unlink: 'key+',
  exists: 'key+',
  touch: 'key+',
  type: 'key',
  rename: 'key key',
  renamenx: 'key key',
  copy: 'key key [DB database] [REPLACE]',
  move: 'key database',
  keys: 'pattern',
  scan: `${SCAN} [TYPE type]`,
  dbsize: '',
  flushdb: '[ASYNC|SYNC|NOW]',
  flushall: '[ASYNC|SYNC]',
  select: 'database',
  hset: 'key field value [field value]',
  hmset: 'key field value [field value]',
  hsetnx: 'key field value',
  hget: 'key field',
  hmget: 'key field+',
  hgetall: 'key',
  hkeys: 'key',
  hvals: 'key',
  hexists: 'key field',
  hlen: 'key',
  hstrlen: 'key field',
  hdel: 'key field+',
  hincrby: 'key field integer',
  hincrbyfloat: 'key field float',
  hscan: `key ${SCAN}`,
  lpush: 'key value+',
  rpush: 'key value+',
  lpushx: 'key value+',
  rpushx: 'key value+',
  lpop: 'key [count]',
  rpop: 'key [count]',
  llen: 'key',
  lrange: 'key index index',
  lindex: 'key index',
  lset: 'key index value',
  lrem: 'key index value',
  ltrim: 'key index index',
  linsert: 'key [BEFORE|AFTER] value value',
  rpoplpush: 'key key',
  lmove: 'key key [LEFT|RIGHT] [LEFT|RIGHT]',
  sadd: 'key field+',
  srem: 'key field+',
  smembers: 'key',
  sismember: 'key field',
  smismember: 'key field+',
  scard: 'key',
  smove: 'key key field',
  spop: 'key all',
  srandmember: 'key all',
  sinter: 'key+',
  sunion: 'key+',
  sdiff: 'key+',
  sinterstore: 'key key+',
  sunionstore: 'key key+',
  sdiffstore: 'key key+',
  sscan: `key ${SCAN}`,
  zadd: `key ${ADD}`,
  zincrby: 'key score field',
  zrem: 'key field+',
  zcard: 'key',
  zscore: 'key field',
  zmscore: 'key field+',
  zrank: 'key field',
  zrevrank: 'key field',
  zcount: 'key bound bound',
  zlexcount: 'key text text',
  zrange:
    'key [index index|bound bound|text text] [BYSCORE|BYLEX] [REV] [LIMIT index index] [WITHSCORES]',
  zrevrange: 'key index index [WITHSCORES]',
  zrangebyscore: 'key bound bound [WITHSCORES] [LIMIT index index]',
  zrevrangebyscore: 'key bound bound [WITHSCORES] [LIMIT index index]',
  zrangebylex: 'key text text [LIMIT index index]',
  zrevrangebylex: 'key text text [LIMIT index index]',
  zremrangebyrank: 'key index index',
  zremrangebyscore: 'key bound bound',
  zremrangebylex: 'key text text',
  zpopmin: 'key [count]',
  zpopmax: 'key [count]',
  zscan: `key ${SCAN}`,
  eval: 'script keyCount key+',
  evalsha: 'sha keyCount key+',
  eval_ro: 'script keyCount key+',
  evalsha_ro: 'sha keyCount key+',
  'script|load': 'script',
  'script|exists': 'sha+',
  'script|flush': '[ASYNC|NOW]',
  multi: '',
  exec: '',
  discard: '',
  watch: 'key+',
  unwatch: '',
  publish: 'field value',
  'pubsub|channels': '[pattern]',
  'pubsub|numsub': 'field+',
  'pubsub|numpat': '',
  ping: '[value]',
  echo: 'value',
  auth: 'value',
  time: '',
  reset: '',
  'client|setname': 'name',
  'client|getname': '',
};

/** Commands drawn by the property test of connections, and commands with random results. */
export const undrawn: ReadonlySet<string> = new Set([
  'subscribe',
  'psubscribe',
  'unsubscribe',
  'punsubscribe',
  'quit',
  'hello',
  'randomkey',
  'client|id',
  'info',
  'wait',
]);

function wordsOf(text: string): fc.Arbitrary<readonly string[]> {
  const parts = text.match(/\[[^\]]*\]|\S+/g) ?? [];
  return fc.tuple(...parts.map(partOf)).map((found) => found.flat());
}

function partOf(part: string): fc.Arbitrary<readonly string[]> {
  if (part.startsWith('[')) {
    const choices = part.slice(1, -1).split('|');
    return fc.oneof(fc.constant([]), ...choices.map(wordsOf));
  }
  if (part.endsWith('+')) {
    return fc.array(wordOf(part.slice(0, -1)), { minLength: 1, maxLength: 3 });
  }
  return wordOf(part).map((word) => [word]);
}

function wordOf(part: string): fc.Arbitrary<string> {
  const drawn = words[part];
  return drawn === undefined
    ? fc.constantFrom(part, part.toLowerCase())
    : fc.constantFrom(...drawn);
}

const any = fc.constantFrom(...Object.values(words).flat(), 'NX', 'GET', 'LIMIT');
const flaw = fc.tuple(
  fc.constantFrom('none', 'none', 'none', 'more', 'less', 'other'),
  fc.nat(),
  any,
);

/** Draws a command from one row of `syntax`, sometimes with a flaw. */
function commandOf([name, given]: readonly [string, string]): fc.Arbitrary<RedisCommand> {
  const word = name.split('|').map((one) => fc.constantFrom(one, one.toUpperCase()));
  return fc
    .tuple(fc.tuple(...word), wordsOf(given), flaw)
    .map(([called, rest, [kind, at, wrong]]) => {
      if (kind === 'more' && name !== 'pubsub|channels') return [...called, ...rest, wrong];
      if (CAREFUL.test(name)) return [...called, ...rest];
      if (kind === 'less') return [...called, ...rest.slice(0, -1)];
      if (kind !== 'other' || rest.length === 0) return [...called, ...rest];
      return [...called, ...rest.with(at % rest.length, wrong)];
    });
}

/**
 * Commands whose arguments are never removed or replaced. Otherwise, they would draw at random,
 * stop halfway, or fail with a different error text than Redis.
 */
const CAREFUL = /^spop|srand|^scan|^eval(_ro)?$|^script\|load/;

/** Returns the command with its times filled in. */
export function atTime(command: RedisCommand, nowMs: number): RedisCommand {
  return command.map((word) =>
    word.replace(/^now(Ms)?([+-]\d)$/, (_, isMs: string | undefined, by) =>
      String((isMs === undefined ? Math.floor(nowMs / 1000) : nowMs) + Number(by)),
    ),
  );
}

/** Commands that set an expiry or show its effect. */
const ENDING =
  /^([gp]?set(ex|nx)?|getex|p?(expire(at|time)?|ttl)|persist|get|exists|del|watch|multi|exec|incr|append|rename|copy|hset|keys|msetnx)$/;

/** Draws any command. At least half of the commands set an expiry or show its effect. */
export const anyCommand: fc.Arbitrary<RedisCommand> = fc.oneof(
  fc.oneof(...Object.entries(syntax).map(commandOf)),
  fc.oneof(
    ...Object.entries(syntax)
      .filter(([name]) => ENDING.test(name))
      .map(commandOf),
  ),
);
