/** Patterns of scripts. All answers are those of a redis-server 7.0.15. */
import { describe, expect, test } from 'vitest';
import { RedisNode } from './node.ts';
import type { RedisReply } from './reply.ts';

/** Returns the reply, and an error without its place. */
function evaluate(text: string, node = new RedisNode()): RedisReply {
  const reply = node.handle(['EVAL', text, '0'], { wallUs: 0 });
  if (typeof reply !== 'object' || !('error' in reply)) return reply;
  return { error: reply.error.replace(/ script: [0-9a-f]{40}, on @user_script:1\.$/, '') };
}

test.each<[string, RedisReply]>([
  ['return {string.gsub("abc", "b*", "x")}', ['xaxxcx', 4]],
  ['return {string.gsub("hello world", "(%w+)", "<%1>")}', ['<hello> <world>', 2]],
  ['return {string.gsub("abc", "%w", "%0%0", 2)}', ['aabbc', 2]],
  ['return {string.gsub("abc", "", "-")}', ['-a-b-c-', 4]],
  ['return string.gsub("a", ".", "%")', '\0'],
  ['return {string.find("abc", "", 10)}', [4, 3]],
  ['return {string.find("a.b", ".", 2, true)}', [2, 2]],
  ['return {string.find("abc", "b", -1.5)}', []],
  ['return {string.match("key = value", "^(%w+)%s*=%s*(%w+)$")}', ['key', 'value']],
  ['return string.match("f(a(b)c)d", "%b()")', '(a(b)c)'],
  ['return string.gsub("THE (quick) fox", "%f[%a]%a+", "w")', 'w (w) w'],
  ['return string.match("abcabc", "(abc)%1")', 'abc'],
  ['return string.match("g", "%g")', 'g'],
  ['return {string.match("abc", "()b()")}', [2, 3]],
  ['return {string.find("a\\0b", "%z")}', [2, 2]],
  ['return string.match("abc", "a\\0c")', 'a'],
  ['local t = {} for a in ("^a^a"):gmatch("^a") do t[#t + 1] = a end return t', ['^a', '^a']],
  ['return string.sub("hello", 1.5, -1.5)', 'hello'],
  [
    'return string.match("a", "[")',
    { error: "ERR user_script:1: malformed pattern (missing ']')" },
  ],
  [
    'return string.find("a", "%")',
    { error: "ERR user_script:1: malformed pattern (ends with '%')" },
  ],
  ['return string.find("a", "%1")', { error: 'ERR user_script:1: invalid capture index' }],
  ['return string.find("a", "(a")', { error: 'ERR user_script:1: unfinished capture' }],
  ['return string.match("a", ")")', { error: 'ERR user_script:1: invalid pattern capture' }],
  ['return string.find("a", "%b")', { error: 'ERR user_script:1: unbalanced pattern' }],
  ['return ("a"):gsub(".", {})', 'a'],
  [
    'return ("a"):gsub(".", function() return {} end)',
    { error: 'ERR user_script:1: invalid replacement value (a table)' },
  ],
])('the reply equals that of Redis: %s', (text, reply) => {
  expect(evaluate(text)).toEqual(reply);
});

describe('a pattern that would match forever', () => {
  const A = 'local a = ("a"):rep(200)';

  test.each([
    [`${A} return a:find(("a*"):rep(20) .. "b")`, `${'a*'.repeat(20)}b`],
    [`${A} return pcall(string.match, a, ("a-"):rep(20) .. "b")`, `${'a-'.repeat(20)}b`],
    [`${A} return (a:gsub(("a?"):rep(20) .. ("b"), ""))`, `${'a?'.repeat(20)}b`],
    [`${A} for _ in a:gmatch((".*"):rep(10) .. "b") do end`, `${'.*'.repeat(10)}b`],
    ['return ("a"):rep(9000):match(("a?"):rep(9000))', 'a?'.repeat(30)],
    ['return (("a"):rep(1e6)):find(("a"):rep(5e5) .. "b", 1, true)', 'a'.repeat(60)],
    [`${A} while true do pcall(string.match, a, ("a*"):rep(20) .. "b") end`, `${'a*'.repeat(20)}b`],
  ])('ends its script with an error that names it: %s', (text, pattern) => {
    const node = new RedisNode({ mostScriptSteps: 50_000 });
    const before = performance.now();
    expect(evaluate(text, node)).toEqual({
      error: `ERR script ended after 50000 steps, in the pattern "${pattern}"`,
    });
    expect(performance.now() - before).toBeLessThan(5000);
    expect(evaluate('return 1', node)).toBe(1);
  });

  test('ends at the same step in every run', () => {
    const node = new RedisNode({ mostScriptSteps: 5000 });
    const text = `${A} redis.call("set", "n", 0)
      while true do redis.call("incr", "n") a:find(("a*"):rep(3) .. "b") end`;
    const counts = [1, 2, 3].map(() => {
      evaluate(text, node);
      return evaluate('return redis.call("get", "n")', node);
    });
    expect(new Set(counts).size).toBe(1);
  });

  test('is not one that only scans a long text', () => {
    expect(evaluate('return #(("a"):rep(300000) .. "b"):match("^.-b")')).toBe(300_001);
    expect(evaluate('return select(2, ("a b "):rep(50000):gsub("%s", ""))')).toBe(100_000);
  });
});
