/** How the events of a log are paired to operations, and which of them are refused. */
import { describe, expect, test } from 'vitest';
import { type OpenHistory, openHistory } from './formats.ts';
import { jepsenLog } from './jepsen-log.ts';
import { edn, jsonl, porcupine } from './map-events.ts';
import type { Format, Malformed } from './record.ts';

function open(text: string, format: Format = jsonl): OpenHistory & { wrong: Malformed | null } {
  const opened = openHistory({ format, model: 'register', initial: undefined });
  const wrong = opened.reader.push(text) ?? opened.reader.end();
  return { ...opened, wrong };
}

const call = '{"process":"a","type":"invoke","f":"write","value":1}\n';

describe('what is no event of its process is refused', () => {
  test.each([
    ['{"type":"ok"}', 'expected a process, and there is none'],
    ['{"process":[1],"type":"ok"}', 'expected a process, found [1]'],
    ['{"process":"","type":"ok"}', 'expected a process, found ""'],
    ['{"process":":","type":"ok"}', 'expected a process, found :'],
    ['{"process":1}', 'expected a type, and there is none'],
    ['{"process":1,"type":null}', 'expected a type, found nil'],
    ['{"process":1,"type":"invok"}', 'unknown type "invok"; did you mean "invoke"?'],
    ['{"process":1,"type":"invoke"}', 'expected f, what is called, and there is none'],
    ['{"process":1,"type":"invoke","f":null}', 'expected f, what is called, found nil'],
    ['{"process":"a","type":"ok","f":[1]}', 'expected f, what is called, found [1]'],
    ['{"process":"b","type":"ok"}', 'ok of process b, which has no call open'],
    ['{"process":"a","type":"ok","f":"read"}', 'ok of read, but process a called write in line 1'],
    [
      '{"process":"a","type":"invoke","f":"read"}',
      'process a calls read while its write of line 1 is open',
    ],
    ['{"process":"a","type":"ok","fo":1}', 'unknown field "fo"; did you mean "f"?'],
  ])('%s', (line, what) => {
    expect(open(`${call}${line}\n`).wrong).toMatchObject({ line: 2, column: 1, what });
  });
  test('at the column where it begins, or goes wrong', () => {
    expect(open(`${call}  {"type":"ok"}`).wrong).toMatchObject({ line: 2, column: 3 });
    expect(open(`${call}  {"type":x}`).wrong).toMatchObject({ line: 2, column: 11 });
  });
});

describe('an operation', () => {
  const told = (text: string): unknown => {
    const built = open(text).builder.finish();
    return 'history' in built ? built.history : built.what;
  };
  const written = { name: 'write', key: '', value: 1 };
  test('has the numbers of its events as positions, whoever is between them', () => {
    const fault = '{"process":"nemesis","type":"info","f":"pause","anything":1}\n';
    expect(told(`${fault}${call}${fault}{"process":"a","type":"ok"}\n`)).toEqual([
      { client: 'a', call: written, invoke: 2, return: 4, outcome: 'ok' },
    ]);
  });
  test.each(['fail', 'info'])('may end as %s', (type) => {
    expect(told(`${call}{"process":"a","type":"${type}","f":"write"}\n`)).toEqual([
      { client: 'a', call: written, invoke: 1, return: type === 'info' ? null : 2, outcome: type },
    ]);
  });
  test('that nothing ends is unknown, and follows one of its process that ended', () => {
    expect(told(`${call}{"process":"a","type":"ok"}\n${call}`)).toEqual([
      { client: 'a', call: written, invoke: 1, return: 2, outcome: 'ok' },
      { client: 'a', call: written, invoke: 3, return: null, outcome: 'info' },
    ]);
  });
});

test('what the nemesis does is marked with its value, if it has one', () => {
  const mark = (fields: string): string => `{"process":"nemesis","type":"info",${fields}}\n`;
  const text = `${call}${mark('"f":"pause"')}${mark('"f":"cut","value":"a b"')}`;
  expect(open(`${text}${mark('"f":"cut","value":[1]')}`).reader.marks).toEqual([
    { text: 'pause', position: 2, line: 2 },
    { text: 'cut a b', position: 3, line: 3 },
    { text: 'cut [1]', position: 4, line: 4 },
  ]);
});

describe('a line of a Jepsen log', () => {
  const logger = 'INFO  jepsen.util - ';
  test.each([
    [
      `${logger}3 :invoke write`,
      21,
      'expected a process, a type and what is called: "3 :invoke :write 4"',
    ],
    [`${logger}3 :invoke :write [1`, 38, '"]" is missing'],
    [`${logger}3 :invoke :write`, 1, 'expected a value at the end of the line'],
    [`${logger}3 :invok :write 4`, 21, 'unknown type "invok"; did you mean "invoke"?'],
  ])('%s is refused in its column %d: %s', (line, column, what) => {
    expect(open(`${line}\n`, jepsenLog).wrong).toEqual({ line: 1, column, what });
  });
  test.each([
    'INFO  jepsen.core - 3 :invoke :write',
    'at java.lang.Thread',
    `${logger}Run complete, writing`,
    'INFO jepsen.utility',
  ])('%s is no event', (line) => {
    expect(open(`${line}\n`, jepsenLog).wrong).toBeNull();
  });
  test('is taken for cut where the file ends in the middle of it', () => {
    expect(open('INFO  jepsen.co', jepsenLog).wrong?.what).toBe(
      'the file ends in the middle of this line; it was cut',
    );
    expect(open(`${logger}3 :inv`, jepsenLog).wrong?.what).toContain('expected a process');
    const line = `${logger}3 :invoke :write 4`;
    expect(open(line, jepsenLog).reader.mayBeCut?.()).toBe(true);
    expect(open(`${line}\n`, jepsenLog).reader.mayBeCut?.()).toBe(false);
  });
});

describe('a map of events', () => {
  test('has a key in a file of Porcupine', () => {
    const text = '{:process 1, :type :invoke, :f :write, :key "x", :value 1}\n';
    expect(open(text, porcupine).wrong).toBeNull();
    expect(open(`${text}{:process 1, :type :ok}`, porcupine).wrong).toEqual({
      line: 2,
      column: 1,
      what: 'expected a :key, as every record of this format has',
    });
  });
  test.each([
    ['[{:a 1 :a 2}]', 1, 2, 'the key :a stands twice in this map'],
    ['[{:a 1\n  :b 12ab}]', 2, 6, 'unexpected "12ab"'],
    ['[{:a 1\n\n :b \\a :c ##x}]', 3, 11, 'unknown ##x'],
    ['[{:a 1 :b 12ab}]', 1, 11, 'unexpected "12ab"'],
  ])('%s is refused where it goes wrong', (text, line, column, what) => {
    expect(open(text, edn).wrong).toEqual({ line, column, what });
  });
});
