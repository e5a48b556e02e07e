/** Libraries of scripts beside Lua itself. All answers are those of a redis-server 7.0.15. */
import { expect, test } from 'vitest';
import { RedisNode } from './node.ts';
import type { RedisReply } from './reply.ts';

/** Returns the reply, and an error without its place. */
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
])('cjson.encode replies as in Redis: %s', (text, reply) => {
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
])('cjson.decode replies as in Redis: %s', (text, reply) => {
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
])('the bit library replies as in Redis: %s', (text, reply) => {
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
])('the redis library replies as in Redis: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

test('redis.REDIS_VERSION equals the version in INFO', () => {
  const version = evaluate('return redis.REDIS_VERSION');
  const info = evaluate('return redis.call("info")');
  expect(info).toContain(`redis_version:${String(version)}\r\n`);
});

test.each<[string, RedisReply]>([
  ['return {double = 1.5}', { double: '1.5' }],
  ['return {map = {a = 1}}', { mapping: ['a', 1] }],
  ['return {set = {a = true}}', { set: ['a'] }],
  ['return {big_number = "123"}', { bigNumber: '123' }],
  ['return {verbatim_string = {format = "txt", string = "x"}}', { verbatim: 'x', format: 'txt' }],
  ['redis.setresp(3) return false', { boolean: false }],
  ['redis.setresp(3) return tostring(redis.call("get", "none"))', 'nil'],
  ['redis.call("zadd", "z", 1.5, "a") return redis.call("zscore", "z", "a")', '1.5'],
  [
    'redis.call("zadd", "z", 1.5, "a") redis.setresp(3) return redis.call("zscore", "z", "a").double * 2',
    3,
  ],
  ['redis.call("hset", "h", "f", 1) redis.setresp(3) return redis.call("hgetall", "h").map.f', '1'],
  ['redis.setresp(3)', { nil: true }],
  ['return redis.setresp(4)', { error: 'ERR RESP version must be 2 or 3.' }],
])('a script may use the types of version 3: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
  expect(evaluate('return redis.call("get", "none")')).toEqual({ nil: true });
});

test.each<[string, RedisReply]>([
  ['5.3 % 0.1', '0.1'],
  ['-7 % 3', '2'],
  ['1e15 % 7.3', '0.125'],
  ['1 % (1/0)', '-nan'],
  ['"10" % 4', '2'],
  ['#"abc" % 2', '1'],
  ['2^53 + 1', '9.007199254741e+15'],
  ['2^0.5', '1.4142135623731'],
  ['1e14 .. "x"', '1e+14x'],
  ['1e308 * 10', 'inf'],
  ['bit.bnot(2^63)', '-1'],
  ['bit.tobit(2^53 + 2^32)', '-2147483648'],
  ['tonumber("0x1p4")', '16'],
  ['tonumber("-ff", 16)', '1.844674407371e+19'],
  ['tonumber("1e1", 16)', '481'],
  [
    String.raw`string.format("%5.1f|%05d|%x|%.3d|%q", 2.25, -42, -1, 5, "a\n\0")`,
    '  2.2|-0042|ffffffffffffffff|005|"a\\\n\\000"',
  ],
  ['string.format("%d", 2^63)', '-9223372036854775808'],
  ['string.format("%s", ("x"):rep(3, ","))', 'xxx'],
  ['string.char(256)', "user_script:1: bad argument #1 to 'char' (invalid value)"],
  [
    'string.format("%s", nil)',
    "user_script:1: bad argument #2 to 'format' (string expected, got nil)",
  ],
  ['nosuch.x', "user_script:1: Script attempted to access nonexistent global variable 'nosuch'"],
  ['KEYS.x.y', "user_script:1: attempt to index field 'x' (a nil value)"],
  [String.raw`"\x41\z"`, 'x41z'],
  ['table.concat({1, 2, 3}, ",", 2.9)', '2,3'],
  [
    'table.concat({1, {}})',
    "user_script:1: invalid value (table) at index 2 in table for 'concat'",
  ],
  [
    'cjson.encode(cjson.decode("[nan]"))',
    'user_script:1: Cannot serialise number: must not be NaN or Inf',
  ],
  ['cjson.decode("[+1, -inf]")[2]', '-inf'],
  ['loadstring("return 1 % (1/0)")()', '-nan'],
  ['loadstring("return 1 // 2")', 'nil'],
])('an expression has the value that it has in Lua 5.1: %s', (text, value) => {
  const reply = evaluate(`return tostring(select(2, pcall(function() return ${text} end)))`);
  expect(reply).toBe(value);
});

test('table.sort sorts as in Lua 5.1, even with equal items or an inconsistent order', () => {
  const sort = (order: string): RedisReply =>
    evaluate(`local t = {"b1", "a1", "b2", "a2", "c1", "a3"}
      local ok, e = pcall(table.sort, t, function(x, y) return ${order} end)
      return ok and table.concat(t, " ") or e`);
  expect(sort('x:sub(1, 1) < y:sub(1, 1)')).toBe('a3 a1 a2 b2 b1 c1');
  expect(sort('true')).toBe('invalid order function for sorting');
});
