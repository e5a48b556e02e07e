/** Explanations to the letter, of reasons made by hand and of those that are found. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { explainHistory, explainInWords, type Reasons } from './explain.ts';
import { type CallData, type History, illegal, type Model, type Operation } from './model.ts';
import { type RegisterCall, register } from './models/register.ts';

const key = 'x';
const write = (value: number): RegisterCall => ({ name: 'write', key, value });
const read = (value: number): RegisterCall => ({ name: 'read', key, value });

function operation<Call>(
  client: string,
  call: Call,
  invoke: number,
  end: number | null,
): Operation<Call> {
  const outcome = end === null ? 'info' : 'ok';
  return { client, call, invoke, return: end, outcome };
}

/** 5 is bad: a read of 9, called at 10. */
const history: History<RegisterCall> = [
  operation('a', write(1), 0, 1),
  operation('b', write(2), 2, 11),
  operation('c', write(9), 3, null),
  operation('d', write(9), 4, 10),
  operation('e', read(1), 5, 6),
  operation('f', read(9), 10, 20),
];

const core = { areOthersFree: true, from: null, isMinimal: true };

function words(
  possible: Reasons<Json>['possible'],
  required: readonly number[] = [5],
  optional: readonly number[] = [],
): string {
  const reasons = { at: 5, prefix: [], possible, core: { ...core, required, optional } };
  return explainInWords<Json, CallData>(history, register(), reasons);
}

describe('a sentence', () => {
  const needs = '`read=9` by f needs the value 9';
  it('says that no order allows it where no state is known', () => {
    expect(words([])).toBe(`${needs}, which no order allows.`);
  });
  it.each([
    [[], 'at first it is 1'],
    [[0], 'after `write(1)` by a, which returned before it began, it is 1'],
    [[4, 0], 'after `write(1)` by a, which returned before it began, it is 1'],
    [[1], 'after `write(2)` by b, which overlapped it, it is 1'],
    [[3], 'after `write(9)` by d, which overlapped it, it is 1'],
    [[2], 'after `write(9)` by c, which was never answered, it is 1'],
  ])('says of the order %j: %s', (order, case_) => {
    expect(words([{ state: 1, order }])).toBe(`${needs}, but ${case_}.`);
  });
  it('says who shows that what overlapped it came before', () => {
    expect(words([{ state: 2, order: [1], witness: 4 }])).toBe(
      `${needs}, but after \`write(2)\` by b, which overlapped it but must come before it, ` +
        'as `read=1` by e shows, it is 2.',
    );
  });
  it('tells three states, and counts the others', () => {
    const states = [1, 2, 3, 4, 5].map((state) => ({ state, order: [] }));
    const three = `${needs}, but at first it is 1, or at first it is 2, or at first it is 3`;
    expect(words(states.slice(0, 3))).toBe(`${three}.`);
    expect(words(states.slice(0, 4))).toBe(`${three}, nor is it in the other possible state.`);
    expect(words(states)).toBe(`${three}, nor is it in 2 other possible states.`);
  });
  const at = [{ state: 1, order: [] }];
  it.each([
    [[5], [], ''],
    [[0, 1, 4, 5], [], ''],
    [[2, 5], [], ' `write(9)` by c might help, but in no order of the core does it.'],
    [
      [5, 2],
      [3],
      ' `write(9)` by c and `write(9)` by d might help, but in no order of the core do they.',
    ],
    [
      [2, 3],
      [2, 1],
      ' `write(9)` by c, `write(9)` by d and `write(9)` by c might help, ' +
        'but in no order of the core do they.',
    ],
    [[2, 3], [2, 3], ''],
    [[77], [], ''],
  ])('says what of the core %j and %j might help: %s', (required, optional, remedy) => {
    expect(words(at, required, optional)).toBe(`${needs}, but at first it is 1.${remedy}`);
  });
  it('says so where there is no such operation', () => {
    const reasons = {
      at: 99,
      prefix: [],
      possible: [],
      core: { ...core, required: [], optional: [] },
    };
    expect(explainInWords(history, register(), reasons)).toBe('There is no such operation.');
  });
  it('does without the words of a model that has none', () => {
    const flag: Model<boolean, CallData & { readonly up?: boolean }> = {
      name: 'flag',
      init: false,
      step: (isUp, { name, up }) => (name === 'raise' ? [true] : up === isUp ? [isUp] : illegal),
    };
    const bad = [
      operation('a', { name: 'raise' }, 0, 1),
      operation('b', { name: 'look', up: false }, 2, 3),
    ];
    const verdict = checkHistory(bad, flag);
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    expect(explainInWords(bad, flag, explainHistory(bad, flag, verdict))).toBe(
      '`{"name":"look","up":false}` by b needs another state, but after `{"name":"raise"}` by a, ' +
        'which returned before it began, the state is true.',
    );
  });
});

describe('the reasons of a history of several objects', () => {
  const on = (object: string, call: RegisterCall): RegisterCall => ({ ...call, key: object });
  const both: History<RegisterCall> = [
    operation('a', on('y', write(7)), 0, 1),
    operation('a', on('x', write(1)), 2, 3),
    operation('b', on('y', read(7)), 2, 4),
    operation('b', on('x', write(2)), 5, 12),
    operation('c', on('x', read(2)), 6, 7),
    operation('d', on('x', read(1)), 8, 10),
    operation('a', on('y', write(8)), 20, 21),
  ];
  it('have indices of the whole, and a witness', () => {
    const verdict = checkHistory(both, register());
    expect(verdict).toMatchObject({ kind: 'invalid', part: 'x', at: 5 });
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    const reasons = explainHistory(both, register(), verdict);
    expect(reasons).toEqual({
      at: 5,
      prefix: [1, 3, 4],
      possible: [{ state: 2, order: [1, 3], witness: 4 }],
      core: { required: [4, 5], optional: [], areOthersFree: true, from: 6, isMinimal: true },
    });
  });
});

describe('the states that the bad operation may have found', () => {
  const bad = operation('f', read(9), 5, 6);
  const seen = operation('e', read(2), 3, 4);
  const first = operation('a', write(1), 0, 1);
  const rows: readonly (readonly [string, History<RegisterCall>, Reasons<Json>['possible']])[] = [
    ['nothing before it', [bad], [{ state: null, order: [] }]],
    [
      'an overlapping write, which may come later',
      [first, operation('b', write(2), 2, 9), bad],
      [
        { state: 1, order: [0] },
        { state: 2, order: [0, 1] },
      ],
    ],
    [
      'an overlapping write before any return',
      [operation('b', write(2), 2, 9), bad],
      [
        { state: null, order: [] },
        { state: 2, order: [0] },
      ],
    ],
    [
      'an unanswered write that somebody saw',
      [first, operation('b', write(2), 2, null), seen, bad],
      [{ state: 2, order: [0, 1], witness: 2 }],
    ],
    [
      'a write that returns where it is called, and that somebody saw',
      [first, operation('b', write(2), 2, 5), seen, bad],
      [{ state: 2, order: [0, 1], witness: 2 }],
    ],
    [
      'a write that was over',
      [first, operation('b', write(2), 2, 3), bad],
      [{ state: 2, order: [0, 1] }],
    ],
    [
      'a write that failed beside one that was over',
      [first, { ...operation('b', write(2), 2, 3), outcome: 'fail' }, bad],
      [{ state: 1, order: [0] }],
    ],
  ];
  it.each(rows)('with %s', (_, whole, possible) => {
    const verdict = checkHistory(whole, register());
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    expect(explainHistory(whole, register(), verdict).possible).toStrictEqual(possible);
  });
});
