/** Scripts: the conversion of values, the environment of a script, and its limits. */
import { describe, expect, test } from 'vitest';
import { runScript } from './lua-engine.ts';
import { LuaChance } from './lua-library.ts';
import { shaOf } from './meaning.ts';
import { RedisNode } from './node.ts';
import { bytesOf, type RedisReply } from './reply.ts';

function evaluate(text: string, node: RedisNode = new RedisNode()): RedisReply {
  return node.handle(['EVAL', text, '2', 'a', 'b', 'x', '7'], { wallUs: 0 });
}

/** Returns the error of a script, without its place. */
function errorOf(text: string, node?: RedisNode): string {
  const reply = evaluate(text, node);
  if (typeof reply !== 'object' || !('error' in reply)) expect.fail(JSON.stringify(reply));
  return reply.error.replace(/ script: [0-9a-f]{40}, on @user_script:1\.$/, '');
}

test.each<[string, RedisReply]>([
  ['return 3.99', 3],
  ['return -3.99', -3],
  ['return true', 1],
  ['return false', { nil: true }],
  ['return nil', { nil: true }],
  ['return {1, {2, "x"}, true}', [1, [2, 'x'], 1]],
  ['return {1, nil, 3}', [1]],
  ['return {ok = "FINE"}', { status: 'FINE' }],
  ['return {err = "MY error"}', { error: 'MY error' }],
  ['return redis.status_reply("FINE")', { status: 'FINE' }],
  ['return redis.error_reply("MY error")', { error: 'MY error' }],
  ['return redis.error_reply("BAD")', { error: 'ERR BAD' }],
  ['return redis.call("get", "none") == false', 1],
  ['return redis.call("set", "k", "v").ok', 'OK'],
  [
    'return redis.pcall("incr", "k", "v").err',
    'ERR Wrong number of args calling Redis command from script',
  ],
  ['return type(redis.call("incr", "n"))', 'number'],
  ['return redis.sha1hex("a")', '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8'],
  [bytesOf('return "ü" .. #"ü"'), bytesOf('ü2')],
  ['return "\\0\\255" .. #"\\0\\255"', '\0\xff2'],
])('%s replies %j', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

describe('a number', () => {
  test.each<[string, RedisReply]>([
    ['return tostring(3.0)', '3'],
    ['return 10 / 2 .. ""', '5'],
    ['return 1704067200 * 1000 .. ""', '1704067200000'],
    ['return 2147483647 + 1 .. ""', '2147483648'],
    ['return tonumber("1704067200") * 1000 .. ""', '1704067200000'],
    ['return math.floor(1704067200.5) * 1000 .. ""', '1704067200000'],
    ['return 0xffffffff .. ""', '4294967295'],
    ['return 1704067200123456 .. ""', '1.7040672001235e+15'],
    ['return 0.1 + 0.2 .. ""', '0.3'],
    ['return string.format("%d %x", 1704067200123, 255)', '1704067200123 ff'],
    ['redis.call("set", "k", 1704067200123456) return redis.call("get", "k")', '1704067200123456'],
    ['redis.call("set", "k", 0.1) return redis.call("get", "k")', '0.10000000000000001'],
    ['local t = {} for i = 1, 3 do t[i] = i end return #t .. t[3]', '33'],
  ])('is a double, and prints as in Lua 5.1: %s', (text, reply) => {
    expect(evaluate(text)).toEqual(reply);
  });
});

describe('a script', () => {
  test.each(['io', 'os', 'require', 'dofile', 'loadfile', 'debug', 'package', 'print', 'utf8'])(
    'has no %s',
    (name) => {
      expect(errorOf(`return ${name}`)).toBe(
        `ERR user_script:1: Script attempted to access nonexistent global variable '${name}'`,
      );
    },
  );

  test.each([
    'leaked = 1',
    '_G.leaked = 1',
    'rawset(_G, "leaked", 1)',
    'string.leaked = 1',
    'redis.call = 1',
    'setmetatable(_G, {})',
    'setmetatable(string, {})',
    'getmetatable("").__index.leaked = 1',
    'loadstring("leaked = 1")()',
  ])('cannot leave any state behind by %s', (text) => {
    const node = new RedisNode();
    expect(errorOf(text, node)).toMatch(/readonly table|metatable|index a boolean/);
    expect(errorOf('return leaked', node)).toMatch('nonexistent global');
    expect(evaluate('return {type(string.leaked), redis.call("ping").ok}', node)).toEqual([
      'nil',
      'PONG',
    ]);
  });

  test('gets an error with its own line, and may catch it', () => {
    const reply = evaluate('local x = 1\nreturn redis.call("incrby", "k", "no")');
    expect(reply).toEqual({
      error: expect.stringMatching(
        /^ERR value is not an integer or out of range script: [0-9a-f]{40}, on @user_script:2\.$/,
      ),
    });
    expect(errorOf('error("boom")')).toBe('ERR user_script:1: boom');
    expect(errorOf('error({err = "MY error"})')).toBe('MY error');
    expect(evaluate('local ok, e = pcall(redis.call, "nope") return e')).toBe(
      'ERR Unknown Redis command called from script',
    );
  });

  test.each([
    'while true do end',
    'while true do pcall(function() while true do end end) end',
    'while true do pcall(coroutine.wrap(function() while true do end end)) end',
    'local function f() return f() end return f()',
    'repeat pcall(error) until false',
    'xpcall(error, function() while true do end end)',
    'xpcall(function() while true do end end, function() while true do end end)',
    'while true do xpcall(error, error) end',
    'coroutine.wrap(function() pcall(error) while true do end end)()',
    'coroutine.wrap(function() xpcall(error, type) while true do end end)()',
  ])('that never ends is stopped with an error: %s', (text) => {
    const node = new RedisNode({ mostScriptSteps: 20_000 });
    expect(errorOf(text, node)).toBe('ERR script ended after 20000 steps');
    expect(evaluate('return 1', node)).toBe(1);
  });

  test.each<[string, RedisReply]>([
    ['return {pcall(function(...) return ... end, 1, "x", 3)}', [1, 1, 'x', 3]],
    ['return {select("#", pcall(type, nil, nil)), pcall(type, 1)}', [2, 1, 'number']],
    ['return select(2, pcall(error, {err = "MY error"}))', 'MY error'],
    ['return {xpcall(function(x) return x, 2 end, error, "a")}', [1, 'a', 2]],
    [
      'return select(2, xpcall(function() error("no", 0) end, function(e) return e .. "!" end))',
      'no!',
    ],
    ['return select("#", xpcall(error, function() error("again") end))', 2],
    ['local w = coroutine.wrap(function() pcall(error) coroutine.yield(7) end) return w()', 7],
    ['return pcall() == nil', { error: expect.stringMatching(/bad argument #1 to 'pcall'/) }],
  ])('may catch errors: %s', (text, reply) => {
    expect(evaluate(text)).toEqual(reply);
  });

  test.each([
    ['error(5)', 'ERR user_script:1: 5'],
    ['error(0.5)', 'ERR user_script:1: 0.5'],
    ['error(function() end)', 'ERR function: 0x0'],
    ['error(coroutine.create(type))', 'ERR thread: 0x0'],
    ['error(true)', 'ERR true'],
    ['error({})', 'ERR unknown error'],
    ['error(setmetatable({}, {__index = function() error("x") end}))', 'ERR unknown error'],
    ['error(setmetatable({err = "MY"}, {__newindex = function() error("x") end}))', 'MY'],
  ])('that fails gives the same error whatever ran before: %s', (text, problem) => {
    expect(errorOf(text)).toBe(problem);
  });

  test.each<[string, RedisReply]>([
    ['return setmetatable({}, {__index = function() error("x") end})', []],
    ['return setmetatable({7}, {__index = function() return 8 end})', [7]],
    ['return {setmetatable({}, {__index = {err = "MY error"}})}', [[]]],
  ])('replies with the fields of its tables, not with those of metatables: %s', (text, reply) => {
    expect(evaluate(text)).toEqual(reply);
    expect(evaluate('return 1')).toBe(1);
  });

  test.each(['string.rep("x", 1024 * 1024 + 1)', '("xy"):rep(1e9)', 'string.rep("", 1e9)'])(
    'cannot repeat a string without limit: %s',
    (text) => {
      expect(errorOf(text)).toBe('ERR user_script:1: resulting string too large');
      expect(evaluate('return #string.rep("x", 1024 * 1024)')).toBe(1024 * 1024);
    },
  );

  test('that is stopped ends at the same command in every run', () => {
    const node = new RedisNode({ mostScriptSteps: 5000 });
    const count = (): RedisReply => {
      evaluate('redis.call("set", "n", 0) while true do redis.call("incr", "n") end', node);
      return evaluate('return redis.call("get", "n")', node);
    };
    const first = count();
    evaluate('for i = 1, 33 do end', node);
    expect(count()).toBe(first);
    expect(Number(first)).toBeGreaterThan(100);
  });

  test('iterates over a table in insertion order', () => {
    const text = 'local s = "" for k in pairs({z = 1, y = 2, x = 3}) do s = s .. k end return s';
    expect(evaluate(text)).toBe('zyx');
  });

  test('sees no addresses, and draws the random numbers of its node', () => {
    expect(evaluate('return tostring({}) == tostring({})')).toBe(1);
    const drawn = 'return {math.random() .. "", math.random(10), math.random(5, 9)}';
    expect(evaluate(drawn)).toEqual(evaluate(drawn));
    expect(evaluate(drawn)).toEqual(['0.39646477363839', 9, 6]);
  });

  test('stays compiled in a cache of limited size', () => {
    const node = new RedisNode();
    for (let at = 0; at < 1200; at += 1) expect(evaluate(`return ${at}`, node)).toBe(at);
    expect(evaluate('return 7', node)).toBe(7);
  });
});

describe('an exception of a command', () => {
  const run = (text: string, call: () => RedisReply): RedisReply =>
    runScript({
      text,
      sha: shaOf(text),
      keys: [],
      args: [],
      chance: new LuaChance(),
      call,
      noteUnsimulated: () => {},
      mostSteps: 1000,
    });
  const fail = (): never => {
    throw new Error('out of order');
  };

  test.each([
    'return redis.call("get", "a")',
    'pcall(redis.call, "get", "a") return 1',
    'while true do pcall(redis.call, "get", "a") end',
  ])('is thrown by the run of its own script only: %s', (text) => {
    expect(() => run(text, fail)).toThrow('out of order');
    expect(run('return redis.call("get", "a")', () => 'fine')).toBe('fine');
  });
});
