/** Explanations to the letter, of reasons made by hand and of those that are found. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import type { Core } from './core.ts';
import { explainHistory, type Reasons } from './explain.ts';
import { type CallData, type History, illegal, type Model, type Operation } from './model.ts';
import { type RegisterCall, register } from './models/register.ts';
import { explainInWords } from './sentence.ts';

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

/** The sentence of a core of these, `b` for bad. */
function words(
  core: Partial<Core> & Pick<Core, 'required'>,
  told: History<RegisterCall> = history,
): string {
  const whole = { optional: [], areOthersFree: true, from: 0, isMinimal: true, ...core };
  return explainInWords<Json, CallData>(told, register(), { at: 5, core: whole });
}

const needs = '`read=9` by f needs the value 9';

describe('a sentence', () => {
  it('says that no order allows it where nothing else was found', () => {
    expect(words({ required: [5], isMinimal: false })).toBe(`${needs}, which no order allows.`);
  });
  it('names the one that came before, and the values that nobody else sets', () => {
    const others = history.filter(({ call }) => call.name === 'read' || call.value !== 9);
    const reasons = { optional: [], areOthersFree: true, isMinimal: true, required: [1, 3], at: 3 };
    const tell = (from: number | null): string =>
      explainInWords<Json, CallData>(
        others.map((one, index) => (index === 1 ? { ...one, return: 4 } : one)),
        register(),
        { at: 3, core: { ...reasons, from } },
      );
    expect(tell(2)).toBe(
      `${needs}, but \`write(2)\` by b came before it, and nothing else called or open in ` +
        'positions 2–20 sets 9.',
    );
    expect(tell(null)).toBe(
      `${needs}, but at first it is nothing, \`write(2)\` by b came before it, and nothing else ` +
        'called up to position 20 sets 9.',
    );
  });
  it('names all others of the core, and which of them may not have happened', () => {
    expect(words({ required: [1, 5], optional: [2, 3] })).toBe(
      `${needs}, which no order of it with \`write(2)\` by b, perhaps \`write(9)\` by c and ` +
        'perhaps `write(9)` by d allows, as nothing else called or open in positions 0–20 brings ' +
        'that about.',
    );
    expect(words({ required: [1, 5], from: null })).toBe(
      `${needs}, which no order of it with \`write(2)\` by b allows, as at first it is nothing ` +
        'and nothing else called up to position 20 brings that about.',
    );
  });
  it('says how often others may have happened, where that matters', () => {
    expect(words({ required: [4, 5], areOthersFree: false })).toBe(
      `${needs}, but \`read=1\` by e came before it, and nothing else called or open in ` +
        'positions 0–20, each at most once, brings that about.',
    );
  });
  it('counts the operations of a large core', () => {
    const many = Array.from({ length: 13 }, (_, at) => operation(`m${at}`, write(1), 0, 30));
    const required = [5, ...many.map((_, at) => history.length + at)];
    const all = [...history, ...many];
    expect(words({ required }, all)).toContain('with the 13 other operations of the core allows');
    expect(words({ required: required.slice(0, -1) }, all)).toContain('`write(1)` by m11 allows');
  });
  it('names a span as it is asked to', () => {
    const core = { required: [4, 5], optional: [], areOthersFree: true, from: 5, isMinimal: true };
    const span = (from: number | null, to: number): string => `from ${from} to ${to}`;
    expect(explainInWords<Json, CallData>(history, register(), { at: 5, core }, span)).toContain(
      'called or open from 5 to 20 ',
    );
  });
  it('says so where there is no such operation', () => {
    const core = { required: [], optional: [], areOthersFree: true, from: null, isMinimal: true };
    expect(explainInWords(history, register(), { at: 99, core })).toBe(
      'There is no such operation.',
    );
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
      '`{"name":"look","up":false}` by b needs another state, but `{"name":"raise"}` by a came ' +
        'before it, and nothing else called or open in positions 0–3 brings that about.',
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
