/** What scripts find beside Lua itself. All answers are those of a redis-server 7.0.15. */
import { expect, test } from 'vitest';
import { RedisNode } from './node.ts';
import type { RedisReply } from './reply.ts';

/** The answer, of an error without its place. */
function evaluate(text: string): RedisReply {
  const reply = new RedisNode().handle(['EVAL', text, '0'], { wallUs: 0 });
  if (typeof reply !== 'object' || !('error' in reply)) return reply;
  return { error: reply.error.replace(/ script: [0-9a-f]{40}, on @user_script:1\.$/, '') };
}

test.each<[string, RedisReply]>([
  [
    'return cjson.encode({1,2,{a=1},{}, "x", true, false, cjson.null})',
    '[1,2,{"a":1},{},"x",true,false,null]',
  ],
  ['return cjson.encode({})', '{}'],
  ['return cjson.encode({[1]=1,[3]=3})', '[1,null,3]'],
  [
    'return cjson.encode({[1]=1,[11]=3})',
    { error: 'ERR user_script:1: Cannot serialise table: excessively sparse array' },
  ],
  ['return cjson.encode({[1]=1,[10]=3})', '[1,null,null,null,null,null,null,null,null,3]'],
  ['return cjson.encode({[1.5]=1})', '{"1.5":1}'],
  ['return cjson.encode({[0]=1})', '{"0":1}'],
  ['return cjson.encode({[-1]="a"})', '{"-1":"a"}'],
  [
    'return cjson.encode(1.5) .. cjson.encode(0.1) .. cjson.encode(12345678901234567)',
    '1.50.11.2345678901235e+16',
  ],
  [
    'return cjson.encode(123456789012345) .. cjson.encode(-0) .. cjson.encode("a")',
    '1.2345678901234e+14-0"a"',
  ],
  [
    'return cjson.encode(0/0)',
    { error: 'ERR user_script:1: Cannot serialise number: must not be NaN or Inf' },
  ],
  [
    'return cjson.encode({[1/0]=1})',
    { error: 'ERR user_script:1: Cannot serialise number: must not be NaN or Inf' },
  ],
  ['return cjson.encode(nil)', 'null'],
  [
    'return cjson.encode()',
    { error: "ERR user_script:1: bad argument #1 to 'encode' (expected 1 argument)" },
  ],
  [
    'return cjson.encode(1,2)',
    { error: "ERR user_script:1: bad argument #1 to 'encode' (expected 1 argument)" },
  ],
  [
    'return cjson.encode({type})',
    { error: 'ERR user_script:1: Cannot serialise function: type not supported' },
  ],
  [
    'return cjson.encode({[true]=1})',
    { error: 'ERR user_script:1: Cannot serialise boolean: table key must be a number or string' },
  ],
  [
    String.raw`return cjson.encode("a/\"\\\b\f\n\r\t\1\127\200")`,
    '"a\\/\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u007f\u00c8"',
  ],
  [
    'local t = {} t.t = t return cjson.encode(t)',
    { error: 'ERR user_script:1: Cannot serialise, excessive nesting (1001)' },
  ],
  ['local t = {} for i=1,999 do t = {t} end return #cjson.encode(t)', 2000],
  [
    'local t = {} for i=1,1000 do t = {t} end return #cjson.encode(t)',
    { error: 'ERR user_script:1: Cannot serialise, excessive nesting (1001)' },
  ],
  ['cjson.encode = 1', { error: 'ERR user_script:1: Attempt to modify a readonly table' }],
])('cjson.encode: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

test.each<[string, RedisReply]>([
  ['return cjson.decode(\'{"a":[1,2,{"b":null}]}\').a[2]', 2],
  ["return tostring(cjson.decode('null') == cjson.null) .. type(cjson.null)", 'trueuserdata'],
  ['return tostring(cjson.null)', 'userdata: (nil)'],
  ['return {cjson.null, 1}', [{ nil: true }, 1]],
  ["return tostring(cjson.decode('[null]')[1] == cjson.null)", 'true'],
  [
    "return cjson.decode('[1,2')",
    { error: 'ERR user_script:1: Expected comma or array end but found T_END at character 5' },
  ],
  [
    "return cjson.decode('')",
    { error: 'ERR user_script:1: Expected value but found T_END at character 1' },
  ],
  [
    'return cjson.decode(\'{"a":}\')',
    { error: 'ERR user_script:1: Expected value but found T_OBJ_END at character 6' },
  ],
  [
    'return cjson.decode(\'{"a" 1}\')',
    { error: 'ERR user_script:1: Expected colon but found T_NUMBER at character 6' },
  ],
  [
    "return cjson.decode('{a:1}')",
    {
      error: 'ERR user_script:1: Expected object key string but found invalid token at character 2',
    },
  ],
  [
    "return cjson.decode('[1] x')",
    { error: 'ERR user_script:1: Expected the end but found invalid token at character 5' },
  ],
  [
    "return cjson.decode('[1] 2')",
    { error: 'ERR user_script:1: Expected the end but found T_NUMBER at character 5' },
  ],
  [
    "return cjson.decode('hello')",
    { error: 'ERR user_script:1: Expected value but found invalid token at character 1' },
  ],
  ["return cjson.decode('[01]')", [1]],
  ["return cjson.decode('0x10') + cjson.decode('-0x10') + cjson.decode(' 1. ')", 1],
  [
    String.raw`return cjson.decode('"\\u00e9\\n\\ud83d\\ude00\\/\\"\\\\"')`,
    '\u00c3\u00a9\n\u00f0\u009f\u0098\u0080/"\\',
  ],
  [
    String.raw`return cjson.decode('"\\x"')`,
    { error: 'ERR user_script:1: Expected value but found invalid escape code at character 2' },
  ],
  [
    String.raw`return cjson.decode('"a\\ud83d"')`,
    {
      error:
        'ERR user_script:1: Expected value but found invalid unicode escape code at character 3',
    },
  ],
  [
    "return cjson.decode('[\"abc')",
    {
      error: 'ERR user_script:1: Expected value but found unexpected end of string at character 6',
    },
  ],
  [String.raw`return cjson.decode('"a\nb"')`, 'a\nb'],
  ['return cjson.decode(1)', 1],
  [
    'return cjson.decode()',
    { error: "ERR user_script:1: bad argument #1 to 'decode' (expected 1 argument)" },
  ],
  [
    'return cjson.decode({})',
    { error: "ERR user_script:1: bad argument #1 to 'decode' (string expected, got table)" },
  ],
  [
    "return cjson.decode('[1,2,]')",
    { error: 'ERR user_script:1: Expected value but found T_ARR_END at character 6' },
  ],
  [
    "return cjson.decode('[1 2]')",
    { error: 'ERR user_script:1: Expected comma or array end but found T_NUMBER at character 4' },
  ],
  [
    'return cjson.decode(\'{"a":1,}\')',
    { error: 'ERR user_script:1: Expected object key string but found T_OBJ_END at character 8' },
  ],
  [
    'return cjson.decode(\'{"a":1 "b"}\')',
    { error: 'ERR user_script:1: Expected comma or object end but found T_STRING at character 8' },
  ],
  ["return cjson.decode(' [ 1 , 2 ] ')", [1, 2]],
  ['return cjson.decode(\'[true, false, "x", 3.7]\')', [1, { nil: true }, 'x', 3]],
  [
    "return cjson.decode(string.rep('[', 1001)..string.rep(']',1001))",
    { error: 'ERR user_script:1: Found too many nested data structures (1001) at character 1001' },
  ],
  ["return #cjson.decode(string.rep('[', 1000)..string.rep(']',1000))", 1],
  ["return cjson.encode(cjson.decode('[[],{}]'))", '[{},{}]'],
  [
    String.raw`return cjson.encode(cjson.decode('{"x":[1.0,1e3,-0,1.25,"\\u0000"]}'))`,
    '{"x":[1,1000,-0,1.25,"\\u0000"]}',
  ],
  [
    "return select(2, pcall(cjson.decode, '{'))",
    'Expected object key string but found T_END at character 2',
  ],
])('cjson.decode: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

test.each<[string, RedisReply]>([
  [
    'return bit.band()',
    { error: "ERR user_script:1: bad argument #1 to 'band' (number expected, got no value)" },
  ],
  [
    'return bit.tobit("x")',
    { error: "ERR user_script:1: bad argument #1 to 'tobit' (number expected, got string)" },
  ],
  [
    'return bit.lshift(1)',
    { error: "ERR user_script:1: bad argument #2 to 'lshift' (number expected, got no value)" },
  ],
  ['bit.band = 1', { error: 'ERR user_script:1: Attempt to modify a readonly table' }],
  [
    'return {bit.tobit(0xffffffff), bit.bnot(5), bit.band(31, 15, 7), bit.bor(1,2), bit.bxor(5,1)}',
    [-1, -6, 7, 3, 4],
  ],
  [
    'return {bit.lshift(1,31), bit.rshift(-1,28), bit.arshift(-256,4), bit.bswap(0x12345678)}',
    [-2147483648, 15, -16, 2018915346],
  ],
  [
    'return {bit.rol(0x12345678,12), bit.ror(0x12345678,12), bit.rol(1, 32), bit.ror(1, 0)}',
    [1164411171, 1736516421, 1, 1],
  ],
  [
    'return {bit.tohex(255), bit.tohex(-1,4), bit.tohex(43981,-6), bit.tohex(1,0), bit.tohex(1,9)}',
    ['000000ff', 'ffff', '00ABCD', '', '00000001'],
  ],
  [
    'return {bit.tobit(1.5), bit.tobit(2.5), bit.tobit(-1.5), bit.tobit(2^31), bit.tobit(-2^40+3)}',
    [2, 2, -2, -2147483648, 3],
  ],
  [
    'return {bit.lshift(1,33), bit.rshift(1,-1), bit.rshift(-1, 0), bit.band("7", 3), bit.band(7)}',
    [2, 0, -1, 3, 7],
  ],
])('bit: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

test.each<[string, RedisReply]>([
  ['return redis.log(redis.LOG_NOTICE, "hi", 1)', { nil: true }],
  ['return redis.log(1)', { error: 'ERR redis.log() requires two arguments or more.' }],
  ['return redis.log("x","y")', { error: 'ERR First argument must be a number (log level).' }],
  ['return redis.log(7,"y")', { error: 'ERR Invalid debug level.' }],
  ['return redis.setresp(2)', { nil: true }],
  ['return redis.setresp(4)', { error: 'ERR RESP version must be 2 or 3.' }],
  ['return redis.setresp()', { error: 'ERR redis.setresp() requires one argument.' }],
  ['return tostring(redis.breakpoint())', 'false'],
  [
    'return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}',
    [0, 1, 2, 3],
  ],
  ['return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}', ['7.0.15', 458767]],
])('redis: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

test('the version is that of INFO', () => {
  const version = evaluate('return redis.REDIS_VERSION');
  const info = evaluate('return redis.call("info")');
  expect(info).toContain(`redis_version:${String(version)}\r\n`);
});

test('replies of version 3 are refused in words, where Redis has them', () => {
  const error = 'ERR fencepost gives scripts replies of version 2 only';
  expect(evaluate('return redis.setresp(3)')).toEqual({ error });
});
