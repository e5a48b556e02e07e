/** Scripts have the syntax of Lua 5.1. All answers are those of a redis-server 7.0.15. */
import { expect, test } from 'vitest';
import { RedisNode } from './node.ts';
import type { RedisCommand, RedisReply } from './reply.ts';

test.each<[RedisCommand, RedisReply]>([
  [
    ['EVAL', 'return 7 // 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '/'",
    },
  ],
  [
    ['EVAL', 'local x = 7 // 2 return x', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '/'",
    },
  ],
  [
    ['EVAL', 'return 1 & 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: '<eof>' expected near '&'",
    },
  ],
  [
    ['EVAL', 'local x = 1 & 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '&'",
    },
  ],
  [
    ['EVAL', 'return 1 | 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: '<eof>' expected near '|'",
    },
  ],
  [
    ['EVAL', 'local x = 1 << 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '<'",
    },
  ],
  [
    ['EVAL', 'return 1 >> 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '>'",
    },
  ],
  [
    ['EVAL', 'return 1 ~ 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: '<eof>' expected near '~'",
    },
  ],
  [
    ['EVAL', 'return ~2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '~'",
    },
  ],
  [
    ['EVAL', 'goto x', '0'],
    { error: "ERR Error compiling script (new function): user_script:1: '=' expected near 'x'" },
  ],
  [
    ['EVAL', '::x::', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near ':'",
    },
  ],
  [['EVAL', 'local x = 1 ~= 2 return x', '0'], 1],
  [['EVAL', 'return "a // b & c" .. [[ // ]] -- // x', '0'], 'a // b & c // '],
  [
    ['EVAL', "return [=[ ]] // ]=] .. '\\'//' .. \"'//\" .. '\\\\' .. \"~\" --[[ // ]]", '0'],
    " ]] // '//'//\\~",
  ],
  [['EVAL', '--[[ // ]] return 1', '0'], 1],
  [['EVAL', '--[==[ ]] // ]==] return 1', '0'], 1],
  [
    ['EVAL', 'x = 1 //', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '/'",
    },
  ],
  [
    ['EVAL', 'return 1\n// 2', '0'],
    {
      error: "ERR Error compiling script (new function): user_script:2: unexpected symbol near '/'",
    },
  ],
  [
    ['SCRIPT', 'LOAD', 'return 7 // 2'],
    {
      error: "ERR Error compiling script (new function): user_script:1: unexpected symbol near '/'",
    },
  ],
])('the reply equals that of Redis: %j', (command, reply) => {
  expect(new RedisNode().handle(command, { wallUs: 0 })).toEqual(reply);
});
