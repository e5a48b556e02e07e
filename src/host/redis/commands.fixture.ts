/** Random commands and scripts, like those that locks use, including invalid ones. */
import fc from 'fast-check';
import { shaOf } from './meaning.ts';
import { bytesOf, type RedisCommand } from './reply.ts';

/** Scripts whose replies do not depend on the machine. They take two keys and two arguments. */
export const scripts: readonly string[] = [
  'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end',
  'if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", 500000) then return 1 end return 0',
  'return redis.call("set", KEYS[1], ARGV[1], "NX", "GET")',
  'for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[i]) end return #KEYS',
  'local n = redis.call("incr", KEYS[1]) redis.call("set", KEYS[2], n * 1.5) return n',
  'return redis.pcall("incrby", KEYS[1], ARGV[1])',
  'local r = redis.pcall("incr", KEYS[1]) if type(r) == "table" then return {"failed", r.err} end return r',
  'return {redis.call("get", KEYS[1]), redis.call("ping"), 3.99, -3.99, true, false, "x", nil, 1}',
  'return {1, {2, {KEYS[1]}}, redis.call("exists", KEYS[1], KEYS[2])}',
  'return tostring(tonumber(ARGV[1]) or "none") .. ":" .. 3.0 .. ":" .. 10 / 4 .. ":" .. 2 ^ 53',
  'local t = redis.call("time") return {type(t), #t, tonumber(t[1]) * 1000 > 1600000000000}',
  'return redis.call("set", KEYS[1], 1704067200123456 + 0.0)',
  'return redis.call("set", KEYS[1], 0.1 + 0.2)',
  'return redis.call("set", KEYS[1], -1e15 / 7)',
  'return {0.1 .. "", 1e14 .. "", 1e15 .. "", 123456789012345 .. "", -1.5e-7 .. "", 1e100 .. ""}',
  'return {tostring(12345678901234.5), tostring(1/0), tostring(-1/0), tostring(100 * 1.1)}',
  'return string.format("%d|%5.2f|%s|%05d|%x|%g|%q|%-5s|%+d|%e", 1704067200123, 1.005, "a", -42, 255, 0.1, "q", "l", 7, 12.5)',
  'return {math.floor(-3.5), math.ceil(3.2), math.max(1, 2.5), 7 % 3, -7 % 3, 2 ^ 10, math.abs(-4)}',
  'return {tonumber("0x10"), tonumber("  12  "), tonumber("1e3"), tonumber("ff", 16), tonumber("x")}',
  'return {string.rep("ab", 3), ("x"):upper(), #ARGV[1], string.sub(ARGV[2], 1, 2), string.find("abc", "b")}',
  'local t = {3, 1, 2} table.sort(t) table.insert(t, 9) return {t[1], t[2], #t, table.concat(t, ",")}',
  'local t = {} for i = 1, 3 do t[#t + 1] = i .. "" end return {unpack(t)}',
  'local s = 0 for i = 10, 1, -3 do s = s + i end return s',
  'return {math.random() .. "", math.random(10), math.random(5, 9)}',
  'return redis.call(unpack({"incrby", KEYS[1], 5}))',
  'return redis.call("hset", KEYS[1], ARGV[1], "1")',
  'return redis.error_reply("MINE went wrong")',
  'return redis.error_reply("BAD")',
  'return redis.status_reply("FINE")',
  'return {ok = "fine"}',
  'return {err = "MY err"}',
  'return redis.sha1hex(ARGV[1])',
  'error("boom")',
  'error({err = "MY error"})',
  'local ok, e = pcall(error, "x") return {tostring(ok), e}',
  'local ok, e = pcall(redis.call, "incr") return {tostring(ok), type(e), e}',
  'local x = KEYS[1]\nlocal y = 1\nreturn redis.call("hincrby", x, "f", "no")',
  'return nothing',
  'global = 1',
  'string.extra = 1',
  'return redis.call("nope", KEYS[1])',
  'return redis.pcall("nope")',
  'return redis.call("get")',
  'return redis.call()',
  'return redis.call("get", {})',
  'return redis.call("eval", "return 1", 0)',
  'return loadstring("return 1 + 1")()',
  'return cjson.encode({KEYS, ARGV[1], tonumber(ARGV[2]) or cjson.null, {}, {a = 0.1}})',
  'return cjson.decode(ARGV[1])',
  'return {bit.tohex(bit.bxor(tonumber(ARGV[1]) or 5, 2 ^ 31)), bit.band(ARGV[2], 6)}',
  'redis.log(redis.LOG_NOTICE, ARGV[1]) return redis.setresp(2)',
  'return redis.log(ARGV[1])',
  'return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}',
  'local f = function(...) return select("#", ...) end return f(1, nil, 3)',
  'return type(redis.call("get", KEYS[1])) .. type(redis.call("set", KEYS[1], 1))',
  'return redis.call("pexpire", KEYS[1], tonumber(ARGV[1]) or 0)',
  'redis.call("set", KEYS[1], "v", "PX", 1) return {redis.call("get", KEYS[1]), redis.call("pttl", KEYS[1])}',
  'return tostring(nil) .. tostring(true) .. _VERSION',
];

const key = fc.constantFrom('a', 'b', 'c', 'd');
const value = fc.constantFrom(
  '',
  'v',
  'w',
  '1',
  '41',
  '-7',
  '007',
  '3.5',
  bytesOf('ü'),
  '9223372036854775807',
);
const count = fc.constantFrom('1', '5', '-3', '0', 'x', '1.0', '+1', ' 1', '9223372036854775807');
const near = fc.constantFrom('1', '2', '3', '5', '1000');
const ttl = fc.oneof(near, near, fc.constantFrom('0', '-1', 'x', '9223372036854775807'));

function cased(word: string): fc.Arbitrary<string> {
  return fc.constantFrom(word, word.toUpperCase());
}

function of(
  ...parts: readonly fc.Arbitrary<string | readonly string[]>[]
): fc.Arbitrary<RedisCommand> {
  return fc.tuple(...parts).map((chosen) => chosen.flat());
}

function is(word: string): fc.Arbitrary<string> {
  return fc.constant(word);
}

const end = fc.oneof(
  fc.tuple(fc.constantFrom('PX', 'EX', 'px'), ttl),
  fc.tuple(
    fc.constantFrom('PXAT', 'EXAT'),
    fc.constantFrom('nowMs+0', 'now+0', 'nowMs-1', '0', '-1'),
  ),
  fc.constant(['KEEPTTL']),
);
const word = fc.constantFrom(['NX'], ['XX'], ['GET'], ['nx'], ['KEEPTTL'], ['wrong'], ['PX']);
const setOptions = fc
  .array(fc.oneof(end, word), { maxLength: 3 })
  .map((parts): readonly string[] => parts.flat());
const condition = fc.constantFrom([], [], ['NX'], ['XX'], ['GT'], ['LT'], ['NX', 'XX'], ['no']);
const text = fc.constantFrom(...scripts);
const given = fc.tuple(fc.constantFrom('2', '2', '2', '2', '9', '-1', 'x'), key, key, value, value);

/** One command, valid or not. */
export const command: fc.Arbitrary<RedisCommand> = fc.oneof(
  { weight: 4, arbitrary: of(cased('set'), key, value, setOptions) },
  { weight: 2, arbitrary: of(cased('get'), key) },
  of(is('del'), fc.array(key, { maxLength: 3 })),
  of(is('exists'), fc.array(key, { maxLength: 3 })),
  of(is('setnx'), key, value),
  { weight: 2, arbitrary: of(fc.constantFrom('expire', 'pexpire'), key, near, condition) },
  of(fc.constantFrom('expire', 'pexpire'), key, ttl),
  { weight: 2, arbitrary: of(fc.constantFrom('ttl', 'pttl', 'persist'), key) },
  of(fc.constantFrom('incr', 'decr'), key),
  of(fc.constantFrom('incrby', 'decrby'), key, count),
  of(is('hset'), key, fc.constantFrom('f', 'g'), value),
  of(fc.constantFrom('hget', 'hexists', 'hdel'), key, fc.constantFrom('f', 'g')),
  of(is('hincrby'), key, fc.constantFrom('f', 'g'), count),
  of(fc.constantFrom('hlen', 'hgetall', 'hget', 'ping', 'get'), fc.array(key, { maxLength: 2 })),
  of(is('nope'), fc.array(value, { maxLength: 2 })),
  { weight: 5, arbitrary: of(cased('eval'), text, given) },
  { weight: 3, arbitrary: of(cased('evalsha'), text.map(shaOf), given) },
  of(is('evalsha'), is('abc'), given),
  of(is('script'), is('load'), text),
  of(is('script'), is('exists'), text.map(shaOf), text.map(shaOf)),
  of(is('script'), fc.constantFrom(['flush'], ['flush', 'no'], ['wrong'], [], ['load'])),
);
