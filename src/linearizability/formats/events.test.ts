/** Tests how the events of a log are paired to operations, and which of them are refused. */
import { describe, expect, test } from 'vitest';
import { type OpenHistory, openHistory } from './formats.ts';
import { jepsenLog, jepsenText } from './jepsen-log.ts';
import { edn, jsonl, porcupine } from './map-events.ts';
import type { EventOrder, Format, Malformed } from './record.ts';

function open(
  text: string,
  format: Format = jsonl,
  order: EventOrder = 'file',
): OpenHistory & { wrong: Malformed | null } {
  const opened = openHistory({ format, model: 'register', initial: undefined, order });
  const wrong = opened.reader.push(text) ?? opened.reader.end();
  return { ...opened, wrong };
}

const call = '{"process":"a","type":"invoke","f":"write","value":1}\n';

describe('an event that does not fit its process is refused', () => {
  test.each([
    ['{"type":"ok"}', 'expected a process, found none'],
    ['{"process":[1],"type":"ok"}', 'expected a process, found [1]'],
    ['{"process":"","type":"ok"}', 'expected a process, found ""'],
    ['{"process":":","type":"ok"}', 'expected a process, found :'],
    ['{"process":1}', 'expected a type, found none'],
    ['{"process":1,"type":null}', 'expected a type, found nil'],
    ['{"process":1,"type":"invok"}', 'unknown type "invok"; did you mean "invoke"?'],
    ['{"process":1,"type":"invoke"}', 'expected f, the operation, found none'],
    ['{"process":1,"type":"invoke","f":null}', 'expected f, the operation, found nil'],
    ['{"process":"a","type":"ok","f":[1]}', 'expected f, the operation, found [1]'],
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
  test('at the column where it begins, or where its error is', () => {
    expect(open(`${call}  {"type":"ok"}`).wrong).toMatchObject({ line: 2, column: 3 });
    expect(open(`${call}  {"type":x}`).wrong).toMatchObject({ line: 2, column: 11 });
  });
});

describe('an operation', () => {
  const problemOf = (text: string): unknown => {
    const built = open(text).builder.finish();
    return 'history' in built ? built.history : built.what;
  };
  const written = { name: 'write', key: '', value: 1 };
  test('has the numbers of its events as positions, with other events between them', () => {
    const fault = '{"process":"nemesis","type":"info","f":"pause","anything":1}\n';
    expect(problemOf(`${fault}${call}${fault}{"process":"a","type":"ok"}\n`)).toEqual([
      { client: 'a', call: written, invoke: 2, return: 4, outcome: 'ok' },
    ]);
  });
  test.each(['fail', 'info'])('may end as %s', (type) => {
    expect(problemOf(`${call}{"process":"a","type":"${type}","f":"write"}\n`)).toEqual([
      { client: 'a', call: written, invoke: 1, return: type === 'info' ? null : 2, outcome: type },
    ]);
  });
  test('without a completion is unknown, and may follow a completed one of its process', () => {
    expect(problemOf(`${call}{"process":"a","type":"ok"}\n${call}`)).toEqual([
      { client: 'a', call: written, invoke: 1, return: 2, outcome: 'ok' },
      { client: 'a', call: written, invoke: 3, return: null, outcome: 'info' },
    ]);
  });
});

test('the events of the nemesis are marks with their value, if there is one', () => {
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
      'expected a process, a type and an operation: "3 :invoke :write 4"',
    ],
    [`${logger}3 :invoke :write [1`, 38, '"]" is missing'],
    [`${logger}3 :invoke :write`, 1, 'expected a value at the end of the line'],
    [`${logger}3 :invok :write 4`, 21, 'unknown type "invok"; did you mean "invoke"?'],
  ])('%s is refused in column %d: %s', (line, column, what) => {
    expect(open(`${line}\n`, jepsenLog).wrong).toEqual({ line: 1, column, what });
  });
  test.each([
    'INFO  jepsen.core - 3 :invoke :write',
    'at java.lang.Thread',
    `${logger}Run complete, writing`,
    'INFO jepsen.utility',
  ])('%s is not an event', (line) => {
    expect(open(`${line}\n`, jepsenLog).wrong).toBeNull();
  });
  test('counts as truncated if the file ends within it', () => {
    expect(open('INFO  jepsen.co', jepsenLog).wrong?.what).toBe(
      'the file ends in the middle of this line: it is truncated',
    );
    expect(open(`${logger}3 :inv`, jepsenLog).wrong?.what).toContain('expected a process');
    const line = `${logger}3 :invoke :write 4`;
    expect(open(line, jepsenLog).reader.mayBeTruncated?.()).toBe(true);
    expect(open(`${line}\n`, jepsenLog).reader.mayBeTruncated?.()).toBe(false);
  });
});

describe('a line of history.txt', () => {
  const text = '0\t:invoke\t:write\t"a\\tb"\n0\t:info\t:write\t"a\\tb"\t';
  const problemOf = (written: string): unknown => {
    const { builder, wrong } = open(written, jepsenText);
    const built = builder.finish();
    return wrong ?? ('history' in built ? built.history.map(({ outcome }) => outcome) : built);
  };
  test('may end in an error of any text, which may continue on the next lines', () => {
    const error = 'it "failed [because\n\tof: this)\n\n  at a.b(C.java)\n';
    expect(problemOf(`${text}${error}1\t:invoke\t:read\tnil\n`)).toEqual(['info', 'info']);
  });
  test.each([
    [`${text}:timeout\nrest\n1\t:ok\t:read\t1\n`, 4, 'ok of process 1, which has no call open'],
    [`${text}:timeout\n1\t:invok\t:read\tnil\n`, 3, 'unknown type "invok"; did you mean "invoke"?'],
    [text.replace(':info', ':inf'), 2, 'unknown type "inf"; did you mean "info"?'],
    [`${text.split('\n')[0]}\nrest\n`, 2, expect.stringContaining('expected a process, a type')],
    ['0\t:invoke\t:write\t[1\n', 1, '"]" is missing'],
  ])('is refused if it is malformed: %j', (written, line, what) => {
    expect(problemOf(written)).toMatchObject({ line, what });
  });
});

const timed = (process: string, type: string, time: unknown, value = 1): string =>
  `${JSON.stringify({ process, type, f: 'write', value, time })}\n`;

describe('times that contradict the order of the file', () => {
  const disorderOf = (...lines: readonly string[]): unknown => {
    const { reader, wrong } = open(lines.join(''));
    return wrong ?? reader.disorder?.();
  };
  const fault = '{"process":"nemesis","type":"info","f":"kill","time":0}\n';
  test('are counted, and the first one is located', () => {
    const early = timed('a', 'ok', 5);
    const place = { line: 3, column: 1, afterLine: 2 };
    const begin = [timed('a', 'invoke', 7), timed('b', 'invoke', 9)];
    expect(disorderOf(...begin, early)).toEqual({ ...place, count: 1 });
    expect(disorderOf(...begin, early, timed('b', 'ok', 8.5))).toEqual({ ...place, count: 2 });
    expect(disorderOf(...begin, timed('a', 'ok', 9), fault)).toBeNull();
  });
  test.each([
    ['none', undefined, undefined],
    ['only one', 7, undefined],
    ['equal ones', 7, 7],
    ['texts that are not numbers', '2026-01-02', '2026-01-01'],
    ['negative ones', -2, -1.5],
  ])('are not reported for %s', (_, first, second) => {
    expect(disorderOf(timed('a', 'invoke', first), timed('a', 'ok', second))).toBeNull();
  });
  test('are compared to the last digit', () => {
    const digits = (time: string): string => timed('a', 'invoke', 0).replace('0}', `${time}}`);
    const text = `${digits('1700000000000000001')}${digits('1700000000000000000')}`;
    const ok = text.replace(/"invoke"(?=[^"]*"f"[^\n]*\n$)/, '"ok"');
    expect(disorderOf(ok)).toMatchObject({ line: 2, count: 1 });
  });
});

describe('in time order', () => {
  const spans = (...lines: readonly string[]): unknown => {
    const { builder, wrong } = open(lines.join(''), jsonl, 'time');
    const built = builder.finish();
    if (wrong !== null || 'what' in built) return wrong ?? built;
    return built.history.map(({ client, invoke, return: end }) => [client, invoke, end]);
  };
  test('events are paired and have their times as positions, even equal ones', () => {
    const lines = [timed('b', 'ok', 7), timed('a', 'ok', 5), timed('b', 'invoke', 5)];
    expect(spans(...lines, timed('a', 'invoke', -1))).toEqual([
      ['a', -1, 5],
      ['b', 5, 7],
    ]);
  });
  test('nanoseconds since 1970 count from the first event', () => {
    const lines = [
      timed('a', 'ok', '1700000000000000002'),
      timed('a', 'invoke', '1700000000000000001'),
    ];
    expect(spans(...lines)).toEqual([['a', -1, 0]]);
  });
  test.each([
    [undefined, 'none'],
    [null, 'nil'],
    ['soon', '"soon"'],
  ])('an event with the time %j is refused', (time, found) => {
    const what = `expected a time within 2^53 of the first, found ${found}`;
    expect(spans(timed('a', 'invoke', 5), timed('a', 'ok', time))).toEqual({
      line: 2,
      column: 1,
      what,
    });
  });
  test('but a fault without a time has the time of the event above it', () => {
    const fault = '{"process":"nemesis","type":"info","f":"kill"}\n';
    const lines = [timed('a', 'invoke', 5), fault, timed('a', 'ok', 6)];
    expect(open(lines.join(''), jsonl, 'time').reader.marks).toMatchObject([{ position: 5 }]);
    expect(open(`${fault}${lines[0]}`, jsonl, 'time').reader.marks).toMatchObject([
      { position: 0 },
    ]);
  });
});

describe('a transaction', () => {
  const elle = (model: string): string => `elle-cli --model ${model}, github.com/ligurio/elle-cli`;
  test.each([
    ['{:type :invoke, :f :txn, :value [[:append 3 1] [:r 4 nil]], :process 0}', 'list-append'],
    ['{:index 0 :type :invoke :value [[:append 253 1] [:append 253 3]]}', 'list-append'],
    ['{:type :invoke, :f :txn, :value [[:w :x 2]], :process 0}', 'rw-register'],
    ['{:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}', 'rw-register'],
    ['{:type :invoke, :f :txn, :value [[:send 1 2]], :process 0}', '<model>'],
    ['{:type :invoke, :f :txn, :value [], :process 0}', '<model>'],
  ])('%s is recognized, with the tool that checks it', (text, model) => {
    const { wrong } = open(`[${text}]`, edn);
    expect(wrong).toMatchObject({ line: 1, column: 2 });
    expect(wrong?.what).toMatch(/^fencepost does not check transactions.*; use Elle/);
    expect(wrong?.what).toContain(elle(model));
  });
  test('of JSON is recognized, too', () => {
    const text = '{"type":"invoke","f":"txn","value":[["append",3,1]],"process":0}\n';
    expect(open(text).wrong?.what).toContain("Elle's list-append");
  });
  test.each(['[[1 2 3]]', '[["r"]]', '[:r 1 nil]', '[[:r 1 nil] 5]', '"txn"'])(
    'is not the value %s of a register',
    (value) => {
      const text = `{:process 1, :type :invoke, :f :write, :value ${value}}`;
      expect(open(`[${text}]`, edn).wrong).toBeNull();
    },
  );
});

describe('a map of events', () => {
  test('must have a key in a file of Porcupine', () => {
    const text = '{:process 1, :type :invoke, :f :write, :key "x", :value 1}\n';
    expect(open(text, porcupine).wrong).toBeNull();
    const ok = '{:process 1, :type :ok}\n';
    const fault = '{:process :nemesis, :type :info, :f :kill}\n';
    expect(open(`${text}${fault}${ok}`, porcupine).wrong).toBeNull();
    expect(open(`${text}${ok}${text.replace(':key "x", ', '')}`, porcupine).wrong).toEqual({
      line: 3,
      column: 1,
      what: 'expected a :key, which every call in this format must have',
    });
  });
  test.each([
    ['[{:a 1 :a 2}]', 1, 2, 'duplicate key :a in this map'],
    ['[{:a 1\n  :b 12ab}]', 2, 6, 'unexpected "12ab"'],
    ['[{:a 1\n\n :b \\a :c ##x}]', 3, 11, 'unknown ##x'],
    ['[{:a 1 :b 12ab}]', 1, 11, 'unexpected "12ab"'],
  ])('%s is refused at the position of the error', (text, line, column, what) => {
    expect(open(text, edn).wrong).toEqual({ line, column, what });
  });
});
