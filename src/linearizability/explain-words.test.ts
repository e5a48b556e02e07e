/** Tests the exact words of explanations, for handwritten reasons and for found ones. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import type { Core } from './core.ts';
import { explainHistory, type Reasons } from './explain.ts';
import { type CallData, type History, illegal, type Model, type Operation } from './model.ts';
import {
  type CasRegisterCall,
  casRegister,
  type RegisterCall,
  register,
  type Value,
} from './models/register.ts';
import { by, read, write } from './operations.fixture.ts';
import { explainInWords } from './sentence.ts';

const key = 'x';

/** Operation 5 is bad: a read of 9, called at 10. */
const history: History<RegisterCall> = [
  by('a', write(1), 0, 1),
  by('b', write(2), 2, 11),
  by('c', write(9), 3, null),
  by('d', write(9), 4, 10),
  by('e', read(1), 5, 6),
  by('f', read(9), 10, 20),
];

/** Returns the sentence for a core; operation 5 is the bad one. */
function words(
  core: Partial<Core> & Pick<Core, 'required'>,
  recorded: History<RegisterCall> = history,
): string {
  const fullCore = { optional: [], areOthersFree: true, from: 0, isMinimal: true, ...core };
  return explainInWords<Json, CallData>(recorded, register(), { at: 5, core: fullCore });
}

const needs = '`read=9` by f needs the value 9';

describe('a sentence', () => {
  it('reports that no order allows the operation if no cause was found', () => {
    expect(words({ required: [5], isMinimal: false })).toBe(`${needs}, which no order allows.`);
  });
  it('names the operation that came before, and the value that no other operation sets', () => {
    const others = history.filter(({ call }) => call.name === 'read' || call.value !== 9);
    const reasons = { optional: [], areOthersFree: true, isMinimal: true, required: [1, 3], at: 3 };
    const wordsFrom = (from: number | null): string =>
      explainInWords<Json, CallData>(
        others.map((one, index) => (index === 1 ? { ...one, return: 4 } : one)),
        register(),
        { at: 3, core: { ...reasons, from } },
      );
    expect(wordsFrom(2)).toBe(
      `${needs}, but \`write(2)\` by b came before it, and nothing else called or open in ` +
        'positions 2–20 sets 9.',
    );
    expect(wordsFrom(null)).toBe(
      `${needs}, but at first it is nothing, \`write(2)\` by b came before it, and nothing else ` +
        'called up to position 20 sets 9.',
    );
  });
  it('names all operations of the core, and marks those that may not have happened', () => {
    expect(words({ required: [1, 5], optional: [2, 3] })).toBe(
      `${needs}, but no order of it and \`write(2)\` by b, perhaps \`write(9)\` by c and ` +
        'perhaps `write(9)` by d allows this, because nothing else called or open in positions 0–20 leads ' +
        'to that.',
    );
    expect(words({ required: [1, 5], from: null })).toBe(
      `${needs}, but no order of it and \`write(2)\` by b allows this, because at first it is nothing ` +
        'and nothing else called up to position 20 leads to that.',
    );
  });
  it('reports that other operations happen at most once if that matters', () => {
    expect(words({ required: [4, 5], areOthersFree: false })).toBe(
      `${needs}, but \`read=1\` by e came before it, and no combination of the other ` +
        'calls made or open in positions 0–20 leads to that.',
    );
  });
  it('counts the operations of a large core', () => {
    const many = Array.from({ length: 13 }, (_, at) => by(`m${at}`, write(1), 0, 30));
    const required = [5, ...many.map((_, at) => history.length + at)];
    const all = [...history, ...many];
    expect(words({ required }, all)).toContain(
      'and the 13 other operations of the core allows this',
    );
    expect(words({ required: required.slice(0, -1) }, all)).toContain('`write(1)` by m11 allows');
    const [optional, rest] = [required.slice(-4), required.slice(0, -4)];
    expect(words({ required: rest, optional }, all)).toContain('and the 13 other operations of ');
  });
  it('names a span in the given way', () => {
    const core = { required: [4, 5], optional: [], areOthersFree: true, from: 5, isMinimal: true };
    const span = (from: number | null, to: number): string => `from ${from} to ${to}`;
    expect(explainInWords<Json, CallData>(history, register(), { at: 5, core }, span)).toContain(
      'called or open from 5 to 20 ',
    );
  });
  it('reports if there is no such operation', () => {
    const core = { required: [], optional: [], areOthersFree: true, from: null, isMinimal: true };
    expect(explainInWords(history, register(), { at: 99, core })).toBe(
      'There is no such operation.',
    );
  });
  it('uses the JSON of the calls if the model has no words for them', () => {
    const flag: Model<boolean, CallData & { readonly up?: boolean }> = {
      name: 'flag',
      init: false,
      step: (isUp, { name, up }) => (name === 'raise' ? [true] : up === isUp ? [isUp] : illegal),
    };
    const bad = [by('a', { name: 'raise' }, 0, 1), by('b', { name: 'look', up: false }, 2, 3)];
    const verdict = checkHistory(bad, flag);
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    expect(explainInWords(bad, flag, explainHistory(bad, flag, verdict))).toBe(
      '`{"name":"look","up":false}` by b needs another state, but `{"name":"raise"}` by a came ' +
        'before it, and nothing else called or open in positions 0–3 leads to that.',
    );
  });
});

describe('the operation named as earlier', () => {
  const bad = by('f', read(9), 10, 20);
  const wordsOf = (before: Operation<RegisterCall>, core: Partial<Core>): string => {
    const fullCore = { required: [1], optional: [], areOthersFree: true, from: 0, isMinimal: true };
    const reasons = { at: 1, core: { ...fullCore, ...core } };
    return explainInWords<Json, CallData>([before, bad], register(), reasons);
  };
  it('is one that certainly returned before the bad one was called', () => {
    const at = (end: number): string => wordsOf(by('b', write(2), 0, end), { required: [0, 1] });
    expect(at(9)).toContain(', but `write(2)` by b came before it, and ');
    expect(at(10)).toContain(', but no order of it and `write(2)` by b allows this, because ');
    expect(wordsOf(by('b', write(2), 0, 9), { optional: [0] })).toContain(
      ', but no order of it and perhaps `write(2)` by b allows this, because ',
    );
    expect(words({ required: [4, 5], optional: [2] })).toContain(
      ', but no order of it and `read=1` by e and perhaps `write(9)` by c allows this, because ',
    );
  });
  it('is absent if the bad operation is impossible after any state', () => {
    expect(wordsOf(by('b', write(2), 0, 9), { from: 10 })).toBe(
      `${needs}, but at first it is nothing, and nothing else called up to position 20 sets 9.`,
    );
  });
});

describe('the premise about other operations', () => {
  const cas = (expected: number, answer: 'matched' | 'missed' | 'unknown'): CasRegisterCall => {
    return { name: 'cas', key, expected, value: 9, answer };
  };
  interface Case {
    readonly others?: History<CasRegisterCall>;
    /** The core, with the bad operation last: w(2) from 10 to 11 and r=9 from 12 to 20. */
    readonly core?: History<CasRegisterCall>;
    readonly optional?: readonly number[];
    readonly from?: number | null;
    readonly model?: Model<Value, CasRegisterCall>;
  }
  const overwritten = by('b', write(2), 10, 11);
  const bad = by('f', read(9), 12, 20);

  /** Returns the statement about other operations, after "nothing else called". */
  const premise = ({
    others = [],
    core = [overwritten, bad],
    optional = [],
    from = 10,
    model = casRegister(),
  }: Case): string => {
    const required = core.flatMap((_, index) => (optional.includes(index) ? [] : [index]));
    const reasons = { required, optional, areOthersFree: true, from, isMinimal: true };
    const sentence = explainInWords<Value, CasRegisterCall>(
      [...core, ...others],
      model,
      { at: core.length - 1, core: reasons },
      () => '…',
    );
    return sentence.slice(sentence.indexOf('… ') + 2);
  };
  const beside = (
    call: CasRegisterCall,
    invoke: number,
    end: number | null,
  ): Operation<CasRegisterCall> => by('o', call, invoke, end);

  it.each([
    ['returned before the core begins', 'sets 9.', beside(write(9), 0, 9)],
    ['returned where the core begins', 'leads to that.', beside(write(9), 0, 10)],
    ['never returned', 'leads to that.', beside(write(9), 0, null)],
    ['was called where the bad operation returned', 'leads to that.', beside(write(9), 20, 30)],
    ['was called after that', 'sets 9.', beside(write(9), 21, 30)],
    ['is unknown', 'leads to that.', { ...beside(write(9), 0, 9), outcome: 'info' } as const],
    ['failed', 'sets 9.', { ...beside(write(9), 13, 14), outcome: 'fail' } as const],
    ['is of another object', 'sets 9.', beside({ ...write(9), key: 'y' }, 13, 14)],
    ['changes nothing', 'sets 9.', beside(read(9), 13, 14)],
    ['sets another value', 'sets 9.', beside(write(3), 13, 14)],
  ])('for one that %s states that nothing else %s', (_, expected, other) => {
    expect(premise({ others: [other] })).toBe(expected);
  });
  it('ignores the operations of the core', () => {
    const core = [by('a', write(9), 0, 1), by('b', write(2), 2, 4), bad];
    expect(premise({ core })).toBe('sets 9.');
  });
  it('names the needed value, and other values of the core only if they matter', () => {
    const reads = [overwritten, by('c', read(3), 11, 12), by('f', read(9), 13, 20)];
    expect(premise({ core: reads })).toBe('sets 9.');
    const core = [
      by('a', write(9), 0, null),
      by('b', read(9), 10, 11),
      by('c', read(3), 12, 13),
      by('f', read(9), 14, 20),
    ];
    expect(premise({ core, optional: [0] })).toBe('sets 9 or 3.');
  });
  it('assumes any initial value, unless it covers the history from its start', () => {
    const core = [by('c', read(9), 10, 11), bad];
    expect(premise({ core, from: null })).toBe('sets 9.');
    expect(premise({ core })).toBe('leads to that.');
    expect(premise({ core, from: null, model: casRegister(9) })).toBe('leads to that.');
  });
  it('names the values that other operations would need to provide it', () => {
    const elsewhere = 'makes it 9 or 3 from another value.';
    const [matched, unknown] = [
      beside(cas(3, 'matched'), 13, 14),
      beside(cas(3, 'unknown'), 0, 14),
    ];
    for (const others of [[matched], [unknown], [matched, unknown]]) {
      expect(premise({ others })).toBe(elsewhere);
      expect(premise({ others, model: casRegister(3) })).toBe(elsewhere);
    }
    expect(premise({ others: [matched, beside(write(7), 13, 14)] })).toBe(elsewhere);
    const chain = [matched, beside({ ...cas(4, 'matched'), value: 3 }, 13, 14)];
    expect(premise({ others: chain })).toBe('makes it 9, 3 or 4 from another value.');
  });
  it('names no values if others can provide it from further values', () => {
    const others = [beside(cas(3, 'matched'), 13, 14)];
    const core = [by('b', write(3), 10, 11), bad];
    expect(premise({ others, core })).toBe('leads to that.');
    expect(premise({ others: [...others, beside(write(3), 13, 14)] })).toBe('leads to that.');
    const plain = casRegister();
    const step: typeof plain.step = (state, call) =>
      call.name === 'cas' ? [call.value] : plain.step(state, call);
    expect(premise({ others, model: { ...plain, step } })).toBe('leads to that.');
  });
  it('reports that nothing changes the object if that is the contradiction', () => {
    const missed: CasRegisterCall = { name: 'cas', key, expected: 2, value: 5, answer: 'missed' };
    const core = [overwritten, by('f', missed, 12, 20)];
    expect(premise({ core })).toBe('changes it.');
    expect(premise({ core, model: casRegister(2) })).toBe('changes it.');
    expect(premise({ core, others: [beside(write(7), 13, 14)] })).toBe('leads to that.');
    expect(premise({ core: [overwritten, by('f', read(2), 12, 20)] })).toBe('leads to that.');
  });
  it('names no values if the model does not report what a call finds or leaves', () => {
    const { awaits: _awaits, ...blind } = casRegister();
    const growing = { ...casRegister(), approaches: () => true };
    const others = [beside(write(3), 13, 14)];
    for (const model of [blind, growing, { ...casRegister(), provides: () => undefined }]) {
      expect(premise({ others, model })).toBe('leads to that.');
    }
    const { describeValue: _describeValue, ...mute } = casRegister();
    expect(premise({ others, model: mute })).toBe('leads to that.');
    expect(premise({ others })).toBe('sets 9.');
  });
});

describe('the reasons for a history of several objects', () => {
  const on = (object: string, call: RegisterCall): RegisterCall => ({ ...call, key: object });
  const both: History<RegisterCall> = [
    by('a', on('y', write(7)), 0, 1),
    by('a', on('x', write(1)), 2, 3),
    by('b', on('y', read(7)), 2, 4),
    by('b', on('x', write(2)), 5, 12),
    by('c', on('x', read(2)), 6, 7),
    by('d', on('x', read(1)), 8, 10),
    by('a', on('y', write(8)), 20, 21),
  ];
  it('have indices into the complete history, and a witness', () => {
    const verdict = checkHistory(both, register());
    expect(verdict).toMatchObject({ kind: 'invalid', part: 'x', at: 5 });
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    const reasons = explainHistory(both, register(), verdict);
    expect(reasons).toEqual({
      at: 5,
      prefix: [1, 3, 4],
      possible: [{ state: 2, order: [1, 3], example: 4 }],
      core: { required: [4, 5], optional: [], areOthersFree: true, from: 6, isMinimal: true },
    });
  });
});

describe('the possible states before the bad operation', () => {
  const bad = by('f', read(9), 5, 6);
  const seen = by('e', read(2), 3, 4);
  const first = by('a', write(1), 0, 1);
  const rows: readonly (readonly [string, History<RegisterCall>, Reasons<Json>['possible']])[] = [
    ['nothing before it', [bad], [{ state: null, order: [] }]],
    [
      'an overlapping write, which may come later',
      [first, by('b', write(2), 2, 9), bad],
      [
        { state: 1, order: [0] },
        { state: 2, order: [0, 1] },
      ],
    ],
    [
      'an overlapping write before any return',
      [by('b', write(2), 2, 9), bad],
      [
        { state: null, order: [] },
        { state: 2, order: [0] },
      ],
    ],
    [
      'an unanswered write that was read',
      [first, by('b', write(2), 2, null), seen, bad],
      [{ state: 2, order: [0, 1], example: 2 }],
    ],
    [
      'a write that returns at its call, and that was read',
      [first, by('b', write(2), 2, 5), seen, bad],
      [{ state: 2, order: [0, 1], example: 2 }],
    ],
    [
      'a write that had returned',
      [first, by('b', write(2), 2, 3), bad],
      [{ state: 2, order: [0, 1] }],
    ],
    [
      'a failed write beside one that had returned',
      [first, { ...by('b', write(2), 2, 3), outcome: 'fail' }, bad],
      [{ state: 1, order: [0] }],
    ],
  ];
  it.each(rows)('with %s', (_, history, possible) => {
    const verdict = checkHistory(history, register());
    if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
    expect(explainHistory(history, register(), verdict).possible).toStrictEqual(possible);
  });
});
