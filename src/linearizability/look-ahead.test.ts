/**
 * Tests the look-ahead on small histories, and compares the search with and without it on histories
 * of medium length.
 */
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import {
  casRegisters,
  keyValues,
  registers,
  swapRegisters,
} from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { decideHistory, type HistoryVerdict } from './check-history.ts';
import { LookAhead, type OpenOperations } from './look-ahead.ts';
import type { CallData, History, Model } from './model.ts';
import { type KeyValueCall, keyValue } from './models/key-value.ts';
import { type CasRegisterCall, casRegister, register, type Value } from './models/register.ts';
import { done, operation, read, write } from './operations.fixture.ts';
import { PreparedHistory } from './prepare.ts';
import { Transitions, TransitionTables } from './transitions.ts';

const histories = runs(1_500);
const medium: HistoryShape = {
  operations: 26,
  clients: 5,
  longest: 12,
  wrong: 12,
  unknown: 8,
  failed: 5,
};

function judgement(verdict: HistoryVerdict): string {
  return verdict.kind === 'invalid' ? `invalid at ${verdict.at}` : verdict.kind;
}

function expectSameJudgements<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { awaits: _awaits, fastPath: _fastPath, ...blind } = repertoire.model;
  let invalid = 0;
  let spared = 0;
  for (let seed = 0; seed < histories; seed++) {
    const history = drawHistory(seed, repertoire, medium);
    const looking = decideHistory(history, repertoire.model, { isSearchOnly: true });
    const unseeing = decideHistory(history, blind);
    expect(judgement(looking), `seed ${seed}`).toBe(judgement(unseeing));
    if (looking.kind === 'invalid') invalid += 1;
    if (looking.configurations < unseeing.configurations) spared += 1;
  }
  expect(invalid).toBeGreaterThan(histories / 5);
  expect(invalid).toBeLessThan(histories / 1.25);
  expect(spared).toBeGreaterThan(histories / 10);
}

describe('the look-ahead changes neither the verdict nor the first bad return', () => {
  it('on registers', () => expectSameJudgements(registers));
  it('on CAS registers', () => expectSameJudgements(casRegisters));
  it('on registers that swap unseen', () => expectSameJudgements(swapRegisters));
  it('on maps', () => expectSameJudgements(keyValues));
});

/** Returns the look-ahead of a history, and the numbers of its states. */
function lookAt<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  mode: { readonly givesUp: boolean; readonly horizon?: number } = { givesUp: true },
): { readonly ahead: LookAhead; readonly number: (state: State) => number } {
  const prepared = new PreparedHistory();
  const transitions = new Transitions(model, prepared.load(history, model), new TransitionTables());
  const ahead = LookAhead.of(prepared, transitions, { horizon: prepared.completed, ...mode });
  if (ahead === null) expect.fail('the model does not say what its calls await');
  return { ahead, number: (state) => transitions.number(state) };
}

const key = 'x';

/** Operations are numbered by their returns: the placed ones, and the optional ones. */
function open(placed: readonly number[], unneeded: readonly number[] = []): OpenOperations {
  return {
    isPlaced: (operation) => placed.includes(operation),
    mustCome: (operation) => !unneeded.includes(operation),
  };
}

describe('in a register', () => {
  /** The example of `look-ahead.ts`: w(1), w(2), r=1, w(3) and r=3 return in this order. */
  const history = [
    done(write(1), 0, 5),
    done(write(2), 0, 8),
    done(read(1), 20, 23),
    done(write(3), 20, 25),
    done(read(3), 30, 33),
  ];

  it('states that no remaining operation awaits count as one', () => {
    const { ahead, number } = lookAt(history, register(0));
    expect(ahead.knowsStates).toBe(true);
    expect(ahead.statesAt(0)).toEqual([0, number(1), number(3)]);
    expect(ahead.statesAt(2)).toEqual([0, number(1), number(3)]);
    expect(ahead.statesAt(3)).toEqual([0, number(3)]);
    expect(ahead.statesAt(5)).toEqual([0]);
  });
  it('a state is critical after its last provider has opened, until it is read', () => {
    const { ahead, number } = lookAt(history, register(0));
    const isHopeless = (next: number, value: number, placed: readonly number[]): boolean =>
      ahead.isHopeless(next, number(value), open(placed));
    const first = [isHopeless(0, 2, [0, 1]), isHopeless(0, 2, [1]), isHopeless(0, 1, [0])];
    expect(first).toEqual([true, false, false]);
    expect([isHopeless(1, 2, [1]), isHopeless(1, 1, [])]).toEqual([true, false]);
    const later = [isHopeless(3, 2, [3]), isHopeless(3, 2, []), isHopeless(3, 3, [3])];
    expect(later).toEqual([true, false, false]);
    expect(isHopeless(4, 3, [])).toBe(false);
  });
  it('an open required read is hopeless if no open operation provides its value', () => {
    const { ahead, number } = lookAt(history, register(0));
    const isHopeless = (value: number, { isPlaced, mustCome }: OpenOperations): boolean =>
      ahead.isHopeless(2, number(value), { isPlaced, mustCome });
    expect(isHopeless(2, open([]))).toBe(true);
    expect(isHopeless(1, open([]))).toBe(false);
    expect(isHopeless(2, open([2]))).toBe(false);
    expect(isHopeless(2, open([], [2]))).toBe(false);
  });
  it('nothing is hopeless if the look-ahead must not give up, or beyond the horizon', () => {
    const merges = lookAt(history, register(0), { givesUp: false });
    expect(merges.ahead.isHopeless(1, merges.number(2), open([0, 1]))).toBe(false);
    const short = lookAt(history, register(0), { givesUp: true, horizon: 2 });
    expect(short.ahead.isHopeless(1, short.number(2), open([0, 1]))).toBe(false);
  });
  it.each([
    [5, 1, 3],
    [2, 7, 3],
    [4, 1, 8],
  ])('%d returns precede one that cannot be satisfied, with r=%d and r=%d', (...sizes) => {
    const [infeasible, first, second] = sizes;
    const reads = [read(first), read(second)];
    const other = history.map((one, index) => {
      const call = index === 2 ? reads[0] : index === 4 ? reads[1] : undefined;
      return call === undefined ? one : { ...one, call };
    });
    expect(lookAt(other, register(0)).ahead.infeasible).toBe(infeasible);
  });
  it('a read is infeasible if its value is neither the first nor written before it returns', () => {
    const infeasible = (first: Value, invoke: number): number =>
      lookAt([done(read(1), 0, 5), done(write(1), invoke, 9)], register(first)).ahead.infeasible;
    expect([infeasible(0, 5), infeasible(0, 6), infeasible(1, 6)]).toEqual([2, 0, 2]);
  });
  it('the eight states needed first are tracked, and no more', () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const many = [
      ...values.map((value) => done(write(value), 0, 50 + value)),
      ...values.map((value) => done(read(value), 100 + 2 * value, 101 + 2 * value)),
    ];
    const { ahead, number } = lookAt(many, register(0));
    for (const next of [0, 1]) {
      expect(ahead.isHopeless(next, number(1), open([7]))).toBe(true);
      expect(ahead.isHopeless(next, number(1), open([8]))).toBe(false);
    }
  });
});

describe('with more states than are tracked', () => {
  it('the eight whose reads return first are tracked if all reads open together', () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const many = [
      ...values.map((value) => done(write(value), 0, 50 + value)),
      ...values.map((value) => done(read(value), 100, 101 + value)),
    ];
    const { ahead, number } = lookAt(many, register(0));
    expect(ahead.isHopeless(0, number(1), open([7]))).toBe(true);
    expect(ahead.isHopeless(0, number(1), open([8]))).toBe(false);
  });
});

describe('with an open call that needs a value', () => {
  const unanswered = operation(write(1), 0, null);
  /** w(2), w(1) and r=1 return in this order; r=1 is open from the first return on. */
  const overwriting = done(write(2), 0, 12);
  const history = [overwriting, done(write(1), 20, 25), done(read(1), 10, 30)];

  it('there is hope until all providers of the value have opened and are placed', () => {
    const { ahead, number } = lookAt(history, register(0));
    expect(ahead.isHopeless(0, number(2), open([0]))).toBe(false);
    expect(ahead.isHopeless(1, number(2), open([]))).toBe(false);
    expect(ahead.isHopeless(1, number(2), open([1]))).toBe(true);
    const short = lookAt(history, register(0), { givesUp: true, horizon: 2 });
    expect(short.ahead.isHopeless(1, short.number(2), open([1]))).toBe(false);
  });
  it('there is hope while an unanswered operation may provide the value', () => {
    const sought = done(read(1), 13, 14);
    const { ahead, number } = lookAt([overwriting, sought, unanswered], register(0));
    expect(ahead.infeasible).toBe(2);
    expect(ahead.isHopeless(1, number(2), open([]))).toBe(false);
    expect(ahead.isHopeless(1, number(2), open([2]))).toBe(true);
    const over = done(write(1), 0, 5);
    const other = { ...unanswered, call: write(3) };
    const vain = lookAt([over, overwriting, sought, other], register(0));
    expect(vain.ahead.isHopeless(2, vain.number(2), open([]))).toBe(true);
  });
  it('a call cannot provide its own value, and needs none if it may have missed', () => {
    const cas = (answer: 'matched' | 'unknown'): CasRegisterCall => {
      return { name: 'cas', key, expected: 1, value: 1, answer };
    };
    const isHopeless = (answer: 'matched' | 'unknown'): boolean => {
      const calls = [done(write(1), 0, 5), done(write(2), 0, 12), done(cas(answer), 10, 30)];
      const { ahead, number } = lookAt<Value, CasRegisterCall>(calls, casRegister(0));
      return ahead.isHopeless(1, number(2), open([1]));
    };
    expect([isHopeless('matched'), isHopeless('unknown')]).toEqual([true, false]);
  });
  it('the first value needs no write', () => {
    const first = (value: number): number =>
      lookAt([done(read(1), 0, 5), done(write(2), 6, 9)], register(value)).ahead.infeasible;
    expect([first(1), first(0)]).toEqual([2, 0]);
  });
  it('an operation that returns beyond the horizon may take effect at any time', () => {
    const [all, short] = [3, 1].map((horizon) =>
      lookAt([...history, done(write(5), 40, 41)], register(0), { givesUp: false, horizon }),
    );
    expect(all?.ahead.statesAt(3)).toEqual([0]);
    expect(short?.ahead.statesAt(3)).toEqual([0, short?.number(1)]);
  });
  it('a value is tracked once, and values without remaining providers come first', () => {
    const twice = [
      done(write(1), 0, 50),
      done(write(2), 0, 51),
      ...Array.from({ length: 8 }, (_, at) => done(read(1), 100 + 2 * at, 101 + 2 * at)),
      done(read(2), 200, 201),
    ];
    const same = lookAt(twice, register(0));
    expect(same.ahead.isHopeless(0, same.number(1), open([1]))).toBe(true);
    const turned = lookAt(
      [done(write(2), 0, 5), done(write(1), 6, 8), done(read(1), 20, 21), done(read(2), 30, 31)],
      register(0),
    );
    expect(turned.ahead.isHopeless(0, turned.number(1), open([0]))).toBe(true);
  });
});

describe('in a map with appends', () => {
  const append = (value: string): KeyValueCall => ({ name: 'append', key, value });
  const get = (value: string): KeyValueCall => ({ name: 'get', key, value });
  const history = [
    done(append('A'), 0, 1),
    done(append('B'), 2, 3),
    done(get('AB'), 4, 5),
    done<KeyValueCall>({ name: 'put', key, value: 'x' }, 6, 7),
    done(get('x'), 8, 9),
  ];
  it('texts that cannot grow into an awaited one count as one', () => {
    const { ahead, number } = lookAt(history, keyValue(''), { givesUp: false });
    expect(ahead.knowsStates).toBe(false);
    const standsFor = (next: number, text: string): number => ahead.canonical(next, number(text));
    for (const next of [2, 0]) {
      for (const text of ['', 'A', 'AB', 'x']) expect(standsFor(next, text)).toBe(number(text));
      expect(standsFor(next, 'BA')).toBe(standsFor(next, 'B'));
      expect([number('B'), number('BA')]).toContain(standsFor(next, 'B'));
    }
    const other = standsFor(0, 'B');
    const at = (next: number): readonly number[] =>
      ['', 'A', 'AB', 'x'].map((text) => standsFor(next, text));
    expect(at(3)).toEqual([number(''), other, other, number('x')]);
    expect(at(5)).toEqual([other, other, other, other]);
  });
});
