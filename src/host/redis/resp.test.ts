/** The bytes on the socket of a driver, in both versions of the protocol. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RedisReply } from './reply.ts';
import { CommandDecoder, encodePush, encodeReply } from './resp.ts';

test.each<[RedisReply, string, string]>([
  ['a\0', '$2\r\na\0\r\n', '$2\r\na\0\r\n'],
  [7, ':7\r\n', ':7\r\n'],
  [{ integer: '9007199254740993' }, ':9007199254740993\r\n', ':9007199254740993\r\n'],
  [{ nil: true }, '$-1\r\n', '_\r\n'],
  [{ nil: true, isList: true }, '*-1\r\n', '_\r\n'],
  [{ status: 'OK' }, '+OK\r\n', '+OK\r\n'],
  [{ error: 'ERR no' }, '-ERR no\r\n', '-ERR no\r\n'],
  [{ double: '1.5' }, '$3\r\n1.5\r\n', ',1.5\r\n'],
  [{ mapping: ['f', 1] }, '*2\r\n$1\r\nf\r\n:1\r\n', '%1\r\n$1\r\nf\r\n:1\r\n'],
  [{ set: [1] }, '*1\r\n:1\r\n', '~1\r\n:1\r\n'],
  [{ pairs: [1, 2] }, '*2\r\n:1\r\n:2\r\n', '*1\r\n*2\r\n:1\r\n:2\r\n'],
  [{ verbatim: 'ab' }, '$2\r\nab\r\n', '=6\r\ntxt:ab\r\n'],
  [{ pushes: [[1], [2]] }, '*1\r\n:1\r\n*1\r\n:2\r\n', '>1\r\n:1\r\n>1\r\n:2\r\n'],
])('%j is written as %j and as %j', (reply, second, third) => {
  expect([encodeReply(reply, 2), encodeReply(reply, 3)]).toEqual([second, third]);
});

test('a message of a channel is a list, or a push in version 3', () => {
  expect([encodePush([1], 2), encodePush([1], 3)]).toEqual(['*1\r\n:1\r\n', '>1\r\n:1\r\n']);
});

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const word = fc.string({ unit: byte, maxLength: 6 });
const commands = fc.array(fc.array(word, { minLength: 1, maxLength: 4 }), { maxLength: 4 });

test('commands are decoded however their bytes are split', () => {
  const law = fc.property(commands, fc.array(fc.nat(80)), (sent, cuts) => {
    const bytes = sent.map((one) => encodeReply(one, 2)).join('');
    const places = [0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length];
    places.sort((one, other) => one - other);
    const decoder = new CommandDecoder();
    const found = places.flatMap((place, at) => decoder.push(bytes.slice(places[at - 1], place)));
    expect(found).toEqual(sent);
  });
  fc.assert(law);
});

/** As a real Redis 7 parses them. */
test.each([
  ['GET  a\r\n\r\nPING\r\n', [['GET', 'a'], ['PING']]],
  ['  ACQ db 20\n\nPING  \n', [['ACQ', 'db', '20'], ['PING']]],
  [
    'SET a "b c"\r\nSET "" \'\'\n',
    [
      ['SET', 'a', 'b c'],
      ['SET', '', ''],
    ],
  ],
  [
    'SET a "b\\x41\\n\\"\\\\"\nPING\ta\n',
    [
      ['SET', 'a', 'bA\n"\\'],
      ['PING', 'a'],
    ],
  ],
  ["SET a 'it\\'s \\n'\n", [['SET', 'a', "it's \\n"]]],
])('an inline command, %j, is decoded, too', (typed, commands) => {
  expect(new CommandDecoder().push(typed)).toEqual(commands);
  const decoder = new CommandDecoder();
  expect([...typed].flatMap((byte) => decoder.push(byte))).toEqual(commands);
});

test('invalid input is refused', () => {
  expect(() => new CommandDecoder().push('*1\r\n:7\r\n')).toThrow('not a Redis command: :7');
  for (const open of ['SET a "b\n', "it's\n", 'SET "a"b\n']) {
    expect(() => new CommandDecoder().push(open)).toThrow('unbalanced quotes');
  }
});
