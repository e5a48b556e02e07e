/** Tests what all dialects share: the object of an operation, and whether an `ok` is negative. */
import { describe, expect, test } from 'vitest';
import { type Answers, type Dialect, readSaid } from './dialect.ts';
import type { Fields, RecordedOperation } from './record.ts';

const dialect: Dialect = {
  model: 'mutex',
  words: new Map(),
  keys: ['key', 'lock'],
  begin: () => 'nothing',
  callOf: () => 'nothing',
};
const place = { line: 1, column: 1 };

function operation(
  asked: Fields,
  answered: Fields = {},
  outcome: RecordedOperation['outcome'] = 'ok',
): RecordedOperation {
  const ends = { outcome, invoke: 1, return: 2, invokedAt: place, returnedAt: place };
  return { process: 'a', f: 'do', asked, answered, ...ends };
}

describe('the object of an operation', () => {
  const about = (asked: Fields, answered: Fields, rest: object, name = 'write'): unknown => {
    const said = readSaid(name, operation(asked, answered), { ...dialect, ...rest }, pairs);
    if (typeof said === 'string') return said;
    const { operation: _, name: __, isNo: ___, ...fields } = said;
    return fields;
  };
  const pairs = { readsPairs: true };
  const plain = { key: '', isFromPair: false, isValueIgnored: false };
  const rows: readonly (readonly [Fields, Fields, object])[] = [
    [{ key: 'x', value: 1 }, { value: 2 }, { key: 'x', asked: 1, answered: 2 }],
    [{ lock: 7 }, {}, { key: '7' }],
    [{ key: 'x', lock: 'l' }, {}, { key: 'x' }],
    [{}, { lock: [1] }, { key: '[1]' }],
    [{ key: null, value: 'x' }, {}, { asked: 'x' }],
    [
      { value: ['x', 1] },
      { value: ['x', 2] },
      { key: 'x', asked: 1, answered: 2, isFromPair: true },
    ],
    [{ value: [':k', 1] }, { value: 2 }, { key: ':k', asked: 1, answered: 2, isFromPair: true }],
    [{ value: ['x', 1] }, { value: [2] }, { key: 'x', asked: 1, answered: [2], isFromPair: true }],
    [
      { value: ['x', 1] },
      { value: 'ab' },
      { key: 'x', asked: 1, answered: 'ab', isFromPair: true },
    ],
    [{ value: ['x', 1, 2] }, {}, { asked: ['x', 1, 2] }],
    [{ value: ['x'] }, {}, { asked: ['x'] }],
  ];
  test.each(rows)('of %j and %j is %j', (asked, answered, expectedVerdict) => {
    const none = { asked: undefined, answered: undefined };
    expect(about(asked, answered, {})).toEqual({ ...plain, ...none, ...expectedVerdict });
  });
  test('is not the first element of a pair that is the value of a cas', () => {
    expect(about({ value: [1, 2] }, {}, {}, 'cas')).toMatchObject({ key: '', asked: [1, 2] });
    expect(about({ value: [1, [2]] }, {}, {}, 'cas')).toMatchObject({ key: '' });
    expect(about({ value: [1, 'ab'] }, {}, {}, 'cas')).toMatchObject({ key: '' });
    expect(about({ value: ['x', [1, 2]] }, {}, {}, 'cas')).toMatchObject({
      key: 'x',
      asked: [1, 2],
    });
  });
  test('is not the first element of a pair if keys have a separate field', () => {
    const said = readSaid('write', operation({ value: ['x', 1] }), dialect, { readsPairs: false });
    expect(said).toMatchObject({ key: '', asked: ['x', 1], isFromPair: false });
  });
  const named: readonly (readonly [Fields, object])[] = [
    [{ value: 'x' }, { key: 'x', asked: 'x' }],
    [{ value: 7 }, { asked: 7, isValueIgnored: true }],
    [{ value: null }, { asked: null }],
    [{}, { asked: undefined }],
  ];
  test.each(named)('of %j is %j if values may name objects', (asked, modelName) => {
    const expected = { ...plain, answered: undefined, ...modelName };
    expect(about(asked, {}, { isNamedByValue: true })).toEqual(expected);
  });
});

describe('an ok is negative', () => {
  const answers: Answers = { yes: ['granted'], no: ['denied'], mayBeValue: true };
  const isNo = (answered: Fields, answersIn: Answers = answers, asked: Fields = {}): unknown => {
    const known = { ...dialect, answers: new Map([['write', answersIn]]) };
    const said = readSaid('write', operation(asked, answered), known, { readsPairs: false });
    return typeof said === 'string' ? said : said.isNo;
  };
  const rows: readonly (readonly [Fields, boolean | string])[] = [
    [{}, false],
    [{ answer: 'denied' }, true],
    [{ answer: ':denied' }, true],
    [{ answer: 'granted' }, false],
    [{ answer: ':ok' }, false],
    [{ answer: 'done' }, false],
    [{ answer: true }, false],
    [{ answer: false }, true],
    [{ answer: 'a:denied' }, 'unknown answer "a:denied"; did you mean "denied"?'],
    [{ answer: 'granter' }, 'unknown answer "granter"; did you mean "granted"?'],
    [{ answer: 7 }, 'unknown answer "7"; known: granted, denied'],
    [{ answer: [':denied'] }, 'unknown answer "[:denied]"; did you mean "denied"?'],
    [{ answer: 'granted', ok: false }, true],
    [{ ok: false }, true],
    [{ ok: true }, false],
    [{ ok: 'no' }, 'unknown ok "no"; known: granted, denied'],
    [{ value: false }, true],
    [{ value: 'denied' }, true],
    [{ value: 'granted' }, false],
    [{ value: 'whatever' }, false],
    [{ value: 7 }, false],
    [{ answer: 'denied', ok: 'no' }, 'unknown ok "no"; known: granted, denied'],
  ];
  test.each(rows)('in %j: %j', (answered, expected) => expect(isNo(answered)).toBe(expected));
  test('by its value only if the value is an answer and differs from the call', () => {
    const { mayBeValue: _, ...mute } = answers;
    expect(isNo({ value: 'denied' }, mute)).toBe(false);
    expect(isNo({ value: 'denied' }, answers, { value: 'denied' })).toBe(false);
    expect(isNo({ value: 'denied' }, answers, { value: 'x' })).toBe(true);
  });
  test('only if a negative answer is known', () => {
    const only = { yes: [], no: [] };
    expect(isNo({ answer: false }, only)).toBe('unknown answer "false"');
    expect(isNo({ answer: 'ok' }, only)).toBe(false);
  });
  test.each(['fail', 'info'] as const)('but a %s is neither positive nor negative', (outcome) => {
    const known = { ...dialect, answers: new Map([['write', answers]]) };
    const unclear = operation({}, { answer: 'perhaps' }, outcome);
    expect(readSaid('write', unclear, known, { readsPairs: false })).toMatchObject({ isNo: false });
  });
});
