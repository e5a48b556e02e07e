/** Tests how a file becomes a history, what is counted meanwhile, and which files are refused. */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import { openHistory, readHistory } from './formats.ts';
import { edn, jsonl } from './map-events.ts';

function events(f: string, value: Json, answer: Json = value): string {
  const [asked, answered] = [value, answer].map((one) => JSON.stringify(one));
  return `{"process":1,"type":"invoke","f":"${f}","value":${asked}}
{"process":1,"type":"ok","value":${answered}}
`;
}

describe('a file is refused', () => {
  const write = events('write', 1);
  test.each([
    ['', { format: 'jsonl' }, 1, 'there are no operations in this file'],
    ['', { format: 'jsonl', model: 'register' }, 1, 'there are no operations in this file'],
    [
      `${write}${events('wite', 1)}`,
      { model: 'register' },
      3,
      'unknown operation "wite" of the model register; did you mean "write"?',
    ],
    [
      `${write}${events('dance', 1)}`,
      {},
      1,
      'no model has all of the operations write, dance; choose one with --model',
    ],
    [
      ['a', 'b', 'c', 'a', 'd', 'e', 'f'].map((f) => events(f, 1)).join(''),
      {},
      1,
      'no model has all of the operations a, b, c, d, e; choose one with --model',
    ],
    [
      `${write.repeat(1_000)}${events('wite', 1)}`,
      {},
      2_001,
      'unknown operation "wite" of the model register, detected from the first operations ' +
        '(use --model for another); did you mean "write"?',
    ],
    [write, { model: 'counter', initial: 'a' }, 1, expect.stringMatching(/^--init for counter: /)],
    [write, { model: 'mutex' }, 1, expect.stringMatching(/^unknown operation "write"/)],
  ])('%#', (text, options, line, what) => {
    expect(readHistory(text, options)).toEqual({ kind: 'malformed', line, column: 1, what });
  });
});

describe('no model is inferred', () => {
  const write = events('write', 1);
  test.each([
    [events('write', { a: 1 }), 1, 'the value of this write is a map'],
    [`${write}${events('read', null, { a: 1 })}`, 4, 'the value of this read is a map'],
    [`${write.repeat(1_000)}${events('write', {})}`, 2_001, 'the value of this write is a map'],
  ])('from a value that is a map, %#', (text, line, what) => {
    const hint = 'choose one with --model (register compares complete values)';
    const problem = {
      kind: 'malformed',
      line,
      column: 1,
      what: `${what}, so no model can be detected; ${hint}`,
    };
    expect(readHistory(text)).toEqual(problem);
    expect(readHistory(text, { model: 'register' })).toMatchObject({ kind: 'history' });
  });
  test('except if only a fault or the answer to a failed call has one', () => {
    const fault = '{"process":"nemesis","type":"info","f":"kill","value":{"n1":1}}\n';
    const failed = write.replace('"ok","value":1', '"fail","value":{"why":1}');
    expect(readHistory(`${fault}${failed}`)).toMatchObject({ model: { name: 'register' } });
  });
});

test('a model is inferred from a thousand operations, and must know all later ones', () => {
  const text = `${events('write', 1).repeat(1_000)}${events('cas', [1, 2])}`;
  expect(readHistory(text)).toMatchObject({ kind: 'malformed', line: 2_001 });
  const late = `${events('write', 1).repeat(999)}${events('cas', [1, 2])}`;
  expect(readHistory(late)).toMatchObject({ kind: 'history', model: { name: 'cas-register' } });
});

test('a builder counts its operations, before and after the model is chosen', () => {
  for (const model of [null, 'register']) {
    const { reader, builder } = openHistory({ format: jsonl, model, initial: undefined });
    reader.push(events('write', 1).repeat(3));
    expect(builder.size).toBe(3);
    reader.push(events('write', 1).repeat(1_000));
    expect(builder.size).toBe(1_003);
    expect(builder.finish()).toMatchObject({ isDetected: model === null });
  }
});

describe('an ambiguity that was resolved is counted', () => {
  const event = (type: string, f: string, value: string): string => {
    return `{:process 1, :type :${type}, :f :${f}, :value ${value}}\n`;
  };
  const both = (f: string, value: string, answer = value): string => {
    return `${event('invoke', f, value)}${event('ok', f, answer)}`;
  };
  test('for keys taken from pairs', () => {
    const text = `${both('write', '[:x 1]')}${both('write', '[:y 1]')}${both('write', '1')}`;
    expect(readHistory(text)).toMatchObject({ keyedByPair: 2, hiddenReads: 0, ignoredValues: 0 });
  });
  test('for reads of nil from a register that does not begin with nil', () => {
    const text = `${both('write', '1')}${both('read', 'nil')}${both('read', 'nil', '1')}`;
    const options = { format: edn.name, model: 'register' };
    const shown = readHistory(text, options);
    expect(shown).toMatchObject({ hiddenReads: 0 });
    const hidden = readHistory(text, { ...options, initial: 0 });
    if (hidden.kind !== 'history') expect.fail(hidden.what);
    expect(hidden.hiddenReads).toBe(1);
    expect(hidden.history.map(({ outcome }) => outcome)).toEqual(['ok', 'fail', 'ok']);
    expect([hidden.invokeLines, hidden.returnLines]).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    const unheard = `${both('write', '1')}${event('invoke', 'read', 'nil')}`;
    expect(readHistory(unheard, { ...options, initial: 0 })).toMatchObject({
      hiddenReads: 0,
      returnLines: [2, 0],
      history: [{ outcome: 'ok' }, { outcome: 'info' }],
    });
  });
  test('but not for a read of nil if nil is ever written', () => {
    const options = { format: edn.name, model: 'cas-register', initial: 0 };
    for (const [f, value] of [
      ['write', 'nil'],
      ['cas', '[0 nil]'],
    ] as const) {
      const text = `${both('read', 'nil')}${both(f, value)}`;
      expect(readHistory(text, options)).toMatchObject({
        hiddenReads: 0,
        history: [{ outcome: 'ok' }, { outcome: 'ok' }],
      });
    }
  });
  test('and not for a read in another model', () => {
    const read = event('invoke', 'read', 'nil, :token 3') + event('ok', 'read', 'nil, :version 0');
    for (const model of ['versioned-register', 'fenced-register', 'fenced-register-with-reads']) {
      expect(readHistory(read, { format: edn.name, model, initial: 1 })).toMatchObject({
        hiddenReads: 0,
        history: [{ call: { value: null }, outcome: 'ok' }],
      });
    }
  });
  test('for values that are not answers', () => {
    const text = `${both('acquire', '7')}${both('release', 'nil')}`;
    expect(readHistory(text, { model: 'mutex' })).toMatchObject({ ignoredValues: 1 });
  });
});

test('more different calls than the cache holds are all read', () => {
  const text = Array.from({ length: 17_000 }, (_, value) => events('write', value)).join('');
  const read = readHistory(`${text}${events('write', 3)}`, { model: 'register' });
  if (read.kind !== 'history') expect.fail(read.what);
  const values = read.history.map(({ call }) => ('value' in call ? call['value'] : null));
  expect(values).toEqual([...Array.from({ length: 17_000 }, (_, value) => value), 3]);
});

test('equal calls of a history share one object', () => {
  const read = readHistory(`${events('write', 1)}${events('write', 2)}${events('write', 1)}`);
  if (read.kind !== 'history') throw new Error(read.what);
  const [first, second, third] = read.history.map(({ call }) => call);
  expect(third).toBe(first);
  expect(second).not.toEqual(first);
});
