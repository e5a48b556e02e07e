/** Tests each way to weaken a history. */
import { describe, expect, it } from 'vitest';
import type { CallData, History, Model } from './model.ts';
import { keyValue } from './models/key-value.ts';
import { type RegisterCall, register } from './models/register.ts';
import { operation, read, write } from './operations.fixture.ts';
import {
  beginHistory,
  distinctCalls,
  FreeCalls,
  makeOptional,
  StartStates,
  truncateHistory,
} from './relax.ts';

const key = 'x';

/** Describes each operation: unchanged, made optional (`info`) or left out (`fail`). */
function changes(after: History, before: History): readonly string[] {
  return after.map((one, index) => {
    if (one === before[index]) return 'as it was';
    return one.outcome === 'info' && one.return === null ? 'optional' : one.outcome;
  });
}

const history = [
  operation(write(1), 0, 3),
  operation(write(2), 1, 5),
  operation(read(2), 2, 5),
  operation(write(3), 5, 8),
  operation(write(4), 6, 7),
  operation(write(5), 4, null),
];

describe('a history that is cut', () => {
  it.each([
    [1, 'after', ['as it was', 'as it was', 'optional', 'optional', 'fail', 'as it was']],
    [1, 'before', ['as it was', 'optional', 'optional', 'optional', 'fail', 'as it was']],
    [2, 'after', ['as it was', 'as it was', 'as it was', 'optional', 'fail', 'as it was']],
    [2, 'before', ['as it was', 'as it was', 'optional', 'optional', 'fail', 'as it was']],
    [3, 'after', ['as it was', 'as it was', 'as it was', 'as it was', 'as it was', 'as it was']],
    [4, 'after', ['as it was', 'as it was', 'as it was', 'optional', 'as it was', 'as it was']],
  ] as const)(
    'at %d keeps the operations that returned by then, %s included',
    (at, side, expected) => {
      expect(changes(truncateHistory(history, at, side), history)).toEqual(expected);
    },
  );
});

it('a history that begins later leaves out ended operations, and pure calls from before', () => {
  const isPure = ({ name }: RegisterCall): boolean => name === 'read';
  const from = (position: number): readonly string[] =>
    changes(beginHistory(history, position, isPure), history);
  expect(from(3)).toEqual(['optional', 'optional', 'fail', ...Array(3).fill('as it was')]);
  expect(from(4)).toEqual(['fail', 'optional', 'fail', ...Array(3).fill('as it was')]);
  expect(from(5)).toEqual(['fail', 'optional', 'fail', 'as it was', 'as it was', 'as it was']);
  expect(from(0)).toEqual(Array(6).fill('as it was'));
  const unanswered = operation(write(1), 0, 2, 'info');
  expect(beginHistory([unanswered], 3, isPure)).toEqual([unanswered]);
});

it('a failed or unknown operation is unchanged when made optional', () => {
  const failed = operation(write(1), 0, 3, 'fail');
  const unknown = operation(write(1), 0, null);
  expect(makeOptional(failed)).toBe(failed);
  expect(makeOptional(unknown)).toBe(unknown);
});

it('calls that may have happened are listed once each', () => {
  const failed = operation(write(9), 0, 3, 'fail');
  expect(distinctCalls([...history, ...history, failed])).toEqual(history.map(({ call }) => call));
});

describe('the starting states of a part of a history are', () => {
  const calls = history.map(({ call }) => call);
  const part = [operation(read(2), 0, 1), operation(read(4), 2, 3, 'fail')];
  it('each awaited state, and one for all others', () => {
    expect(new StartStates(register(), calls).before(part)).toEqual([null, 2]);
    expect(new StartStates(register(2), calls).before(part)).toEqual([2, 1]);
  });
  it('each state that its calls lead to, if none is awaited', () => {
    const { awaits: _, ...blind } = register();
    expect(new StartStates(blind, calls).before(part)).toEqual([null, 1, 2, 3, 4, 5]);
  });
  it('unknown if there are too many', () => {
    const { awaits: _, ...blind } = register();
    const many = (count: number): RegisterCall[] =>
      Array.from({ length: count }, (_one, value) => write(value));
    expect(new StartStates(blind, many(127)).before(part)).toHaveLength(128);
    expect(new StartStates(blind, many(128)).before(part)).toBeNull();
    expect(new StartStates(blind, many(201)).before(part)).toBeNull();
    expect(new StartStates(register(), many(300)).before(part)).toEqual([null, 2]);
    const reads = [...many(100), ...Array.from({ length: 300 }, (_one, value) => read(value))];
    expect(new StartStates(blind, reads).before(part)).toHaveLength(101);
  });
  it('those that its model names', () => {
    const get = { ...part[0], call: { name: 'get', key, value: 'ab' } };
    const states = new StartStates(keyValue(), []).before([
      { ...operation(read(1), 0, 1), ...get },
    ]);
    expect(states).toEqual([null, '', 'ab', '   ']);
  });
});

describe('free calls', () => {
  const counter: Model<number, CallData> = {
    name: 'counter',
    init: 0,
    step: (sum, { name }) => (name === 'add' ? [sum + 1] : sum < 3 ? [sum + 10] : []),
  };
  const [add, leap] = [{ name: 'add' }, { name: 'leap' }];
  it('lead to all states that they reach, or to null if these are too many', () => {
    const free = new FreeCalls(counter, []);
    expect(free.reach([1, 5], [leap])).toEqual([1, 5, 11]);
    expect(free.reach([1, 1], [])).toEqual([1]);
    expect(free.reach([0], [add])).toBeNull();
    const many = Array.from({ length: 256 }, (_, state) => 10 + state);
    expect(free.reach(many, [leap])).toHaveLength(256);
    expect(free.reach([...many, 9], [leap])).toBeNull();
  });
  it('precede each call of their model', () => {
    const free = new FreeCalls(counter, []);
    expect(free.modelWith([])).toBe(counter);
    const model = free.modelWith([leap]);
    expect([model.name, model.init]).toEqual(['counter', 0]);
    expect(model.step(1, add)).toEqual([2, 12]);
    expect(model.step(5, add)).toEqual([6]);
  });
  it('count texts that no call awaits as one', () => {
    const append = { name: 'append', key, value: 'a' } as const;
    const free = new FreeCalls(keyValue(), [{ name: 'get', key, value: 'aa' }, append]);
    expect(free.reach([''], [append])).toEqual(['', 'a', 'aa', 'aaa']);
    expect(free.reach(['b', 'c'], [append])).toEqual(['b']);
  });
});
