/**
 * The permissions of a script, by its first line and by the command that runs it. All answers are
 * those of a redis-server 7.0.15.
 */
import { expect, test } from 'vitest';
import { rows } from './commands.ts';
import { RedisNode } from './node.ts';
import type { RedisCommand, RedisReply } from './reply.ts';

/** Returns the reply, and of the place of an error only the line. */
function answer(command: RedisCommand): RedisReply {
  const reply = new RedisNode().handle(command, { wallUs: 0 });
  if (typeof reply !== 'object' || !('error' in reply)) return reply;
  const place = / script: [0-9a-f]{40}, on @user_script:(\d)\.$/;
  return { error: reply.error.replace(place, ' (line $1)') };
}

test.each<[RedisCommand, RedisReply]>([
  [['EVAL', '#!lua name=x\nreturn 1', '0'], { error: 'ERR Unknown lua shebang option: name=x' }],
  [
    ['EVAL', "#!lua flags=no-writes\nreturn redis.call('set','a','1')", '0'],
    { error: 'ERR Write commands are not allowed from read-only scripts. (line 2)' },
  ],
  [['EVAL', "#!lua flags=no-writes\nreturn redis.pcall('get','a')", '0'], { nil: true }],
  [
    [
      'EVAL',
      '#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys\nreturn 1',
      '0',
    ],
    1,
  ],
  [
    ['EVAL', '#!lua flags=nope\nreturn 1', '0'],
    { error: 'ERR Unexpected flag in script shebang: nope' },
  ],
  [['EVAL', '#!lua flags=\nreturn 1', '0'], 1],
  [
    ['EVAL', '#!lua flags=no-writes,\nreturn 1', '0'],
    { error: 'ERR Unexpected flag in script shebang: ' },
  ],
  [
    ['EVAL', '#!lua flags=no-writes flags=nope\nreturn 1', '0'],
    { error: 'ERR Unexpected flag in script shebang: nope' },
  ],
  [
    ['EVAL', '#!lua flags=no-writes x\nreturn 1', '0'],
    { error: 'ERR Unknown lua shebang option: x' },
  ],
  [['EVAL', '#!lua\nreturn 1', '0'], 1],
  [['EVAL', "#!lua\nerror('x')", '0'], { error: 'ERR user_script:2: x (line 2)' }],
  [['EVAL', '#!lua', '0'], { error: 'ERR Invalid script shebang' }],
  [['EVAL', '#!LUA\nreturn 1', '0'], { error: 'ERR Unexpected engine in script shebang: #!LUA' }],
  [['EVAL', '#! lua\nreturn 1', '0'], { error: 'ERR Unexpected engine in script shebang: #!' }],
  [['EVAL', '#!js\nreturn 1', '0'], { error: 'ERR Unexpected engine in script shebang: #!js' }],
  [
    ['SCRIPT', 'LOAD', '#!lua flags=nope\nreturn 1'],
    { error: 'ERR Unexpected flag in script shebang: nope' },
  ],
  [
    ['SCRIPT', 'LOAD', "#!lua flags=no-writes\nreturn redis.call('set','a','1')"],
    '71c6978aa8dbb43cfeb7536150d4b9326e6031a2',
  ],
])('the flags of a first line apply: %j', (command, reply) => {
  expect(answer(command)).toEqual(reply);
});

test.each<[RedisCommand, RedisReply]>([
  [['EVAL_RO', "return redis.call('get','a')", '0'], { nil: true }],
  [
    ['EVAL_RO', "return redis.call('set','a','1')", '0'],
    { error: 'ERR Write commands are not allowed from read-only scripts. (line 1)' },
  ],
  [
    ['eval_ro', "return redis.pcall('del','a')", '0'],
    { error: 'ERR Write commands are not allowed from read-only scripts.' },
  ],
  [
    ['EVAL_RO', "return redis.pcall('publish','a','1')", '0'],
    { error: 'ERR Write commands are not allowed from read-only scripts.' },
  ],
  [
    ['EVAL_RO', "return redis.pcall('incr')", '0'],
    { error: 'ERR Wrong number of args calling Redis command from script' },
  ],
  [
    ['EVAL_RO', "return redis.pcall('nope')", '0'],
    { error: 'ERR Unknown Redis command called from script' },
  ],
  [
    ['EVAL_RO', "return redis.pcall('multi')", '0'],
    { error: 'ERR This Redis command is not allowed from script' },
  ],
  [['EVAL_RO'], { error: "ERR wrong number of arguments for 'eval_ro' command" }],
  [['EVAL_RO', 'x'], { error: "ERR wrong number of arguments for 'eval_ro' command" }],
  [
    ['EVALSHA_RO', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '0'],
    { error: 'NOSCRIPT No matching script. Please use EVAL.' },
  ],
  [
    ['EVAL', "return redis.call('eval_ro','return 1', '0')", '0'],
    { error: 'ERR This Redis command is not allowed from script (line 1)' },
  ],
])('a read-only command runs a script that only reads: %j', (command, reply) => {
  expect(answer(command)).toEqual(reply);
});

/** Commands that COMMAND of a redis-server reports as writing, and PUBLISH. */
const WRITING = [
  'append copy decr decrby del expire expireat flushall flushdb getdel getex getset hdel',
  'hincrby hincrbyfloat hmset hset hsetnx incr incrby incrbyfloat linsert lmove lpop lpush',
  'lpushx lrem lset ltrim move mset msetnx persist pexpire pexpireat psetex rename renamenx',
  'rpop rpoplpush rpush rpushx sadd sdiffstore set setex setnx setrange sinterstore smove',
  'spop srem sunionstore unlink zadd zincrby zpopmax zpopmin zrem zremrangebylex',
  'zremrangebyrank zremrangebyscore publish',
].join(' ');

const callable = rows.flatMap(([name, arity, , ...flags]) =>
  flags.includes('no script') ? [] : [{ name, count: Math.abs(arity) }],
);

test.each(callable)('EVAL_RO refuses exactly the writing commands: $name', ({ name, count }) => {
  const given = [...name.split('|'), ...Array<string>(count).fill('1')].slice(0, count);
  const reply = answer(['EVAL_RO', 'return redis.call(unpack(ARGV))', '0', ...given]);
  const isRefused = JSON.stringify(reply).includes('Write commands are not allowed');
  expect(isRefused).toBe(WRITING.split(' ').includes(name));
});
