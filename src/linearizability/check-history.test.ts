import { describe, expect, it } from 'vitest';
import { drawHistory } from '../../tools/oracle/random-history.ts';
import { registers } from '../../tools/oracle/repertoires.ts';
import { checkHistory, checkParts, readFailures } from './check-history.ts';
import { decide, findPossibleStates } from './decide.ts';
import type { History, Model, Operation } from './model.ts';
import { counter } from './models/counter.ts';
import { mutex } from './models/mutex.ts';
import { type RegisterCall, register } from './models/register.ts';
import { refuteOrder } from './verify-order.ts';

function write(
  value: number,
  invoke: number,
  end: number | null,
  key = 'x',
): Operation<RegisterCall> {
  const outcome = end === null ? 'info' : 'ok';
  return { client: 'a', call: { name: 'write', key, value }, invoke, return: end, outcome };
}

function read(value: number, invoke: number, end: number, key = 'x'): Operation<RegisterCall> {
  const call: RegisterCall = { name: 'read', key, value };
  return { client: 'b', call, invoke, return: end, outcome: 'ok' };
}

describe('real time', () => {
  it('allows overlapping operations in either order', () => {
    const history = [write(1, 0, 3), write(2, 1, 2), read(1, 4, 5)];
    expect(checkHistory(history, register())).toMatchObject({ kind: 'valid', order: [1, 0, 2] });
  });
  it('lets an operation overlap one that returns at the position of its call', () => {
    expect(checkHistory([write(1, 0, 2), read(1, 3, 5), write(2, 2, 3)], register()).kind).toBe(
      'valid',
    );
  });
  it('forbids a read to return a value that is written only after it', () => {
    const verdict = checkHistory([read(1, 0, 1), write(1, 2, 3)], register());
    expect(verdict).toMatchObject({ kind: 'invalid', at: 0 });
  });
});

describe('an operation without an answer', () => {
  it('may take effect long after its call', () => {
    const history = [write(1, 0, null), write(2, 1, 2), read(2, 3, 4), read(1, 5, 6)];
    expect(checkHistory(history, register())).toMatchObject({ kind: 'valid', order: [1, 2, 0, 3] });
  });
  it('may never take effect', () => {
    const history = [write(1, 0, null), write(2, 1, 2), read(2, 3, 4)];
    expect(checkHistory(history, register())).toMatchObject({ kind: 'valid', order: [1, 2] });
  });
  it('takes effect at most once', () => {
    const history = [
      write(1, 0, null),
      read(1, 1, 2),
      write(2, 3, 4),
      read(2, 5, 6),
      read(1, 7, 8),
    ];
    expect(checkHistory(history, register())).toMatchObject({ kind: 'invalid', at: 4 });
  });
});

describe('a failed operation', () => {
  it('has no effect', () => {
    const failed: Operation<RegisterCall> = { ...write(1, 0, 1), outcome: 'fail' };
    expect(checkHistory([failed, read(1, 2, 3)], register())).toMatchObject({
      kind: 'invalid',
      at: 1,
    });
  });
});

describe('independent keys', () => {
  const history = [
    write(1, 0, 3, 'x'),
    write(7, 1, 2, 'y'),
    read(7, 4, 5, 'y'),
    read(1, 6, 7, 'x'),
    write(8, 8, 20, 'y'),
    read(8, 9, 10, 'y'),
    write(5, 21, 30, 'x'),
    write(6, 25, 26, 'x'),
    read(5, 31, 32, 'x'),
  ];
  it('are joined into one order that respects real time', () => {
    const verdict = checkHistory(history, register());
    expect(verdict.kind).toBe('valid');
    if (verdict.kind === 'valid') {
      expect(refuteOrder(history, register(), verdict.order)).toBeNull();
    }
  });
  it('are all reported, and the history fails at the earliest of the bad returns', () => {
    const bad = [...history, read(3, 41, 44, 'x'), read(4, 42, 43, 'y')];
    expect(checkHistory(bad, register())).toMatchObject({ kind: 'invalid', part: 'y', at: 10 });
    expect(checkParts(bad, register())).toMatchObject([
      { name: 'x', decision: { kind: 'invalid', at: 9 } },
      { name: 'y', decision: { kind: 'invalid', at: 10 } },
    ]);
  });
});

describe('a history without operations', () => {
  it('is valid', () => {
    expect(checkHistory([], register())).toEqual({ kind: 'valid', order: [], configurations: 0 });
  });
});

describe('a limit', () => {
  /** All increments overlap, and no subset of them has the sum that is read. */
  const hard: History<Parameters<ReturnType<typeof counter>['step']>[1]> = [
    ...Array.from({ length: 13 }, (_, place) => ({
      client: `c${place}`,
      call: { name: 'increment' as const, key: 'x', by: 2 * 3 ** place },
      invoke: place,
      return: null,
      outcome: 'info' as const,
    })),
    {
      client: 'r',
      call: { name: 'read' as const, key: 'x', value: 3 },
      invoke: 30,
      return: 31,
      outcome: 'ok' as const,
    },
  ];
  it('of configurations ends the search as unknown after exactly that number', () => {
    expect(checkHistory(hard, counter(), { maxConfigurations: 5_000 })).toEqual({
      kind: 'unknown',
      part: 'x',
      cause: 'maxConfigurations',
      deepest: 13,
      configurations: 5_000,
    });
    expect(checkHistory(hard, counter()).kind).toBe('invalid');
  });
  it('by `shouldStop` leaves the undecided parts unknown', () => {
    const other = hard.map((operation) => {
      return { ...operation, call: { ...operation.call, key: 'y' } };
    });
    const parts = checkParts([...hard, ...other], counter(), { shouldStop: () => true });
    expect(parts.map(({ decision }) => decision)).toEqual([
      { kind: 'unknown', cause: 'shouldStop', deepest: 13, configurations: 0 },
      { kind: 'unknown', cause: 'shouldStop', deepest: 27, configurations: 0 },
    ]);
  });
  it('by `shouldStop` ends the search soon', () => {
    let asked = 0;
    const shouldStop = (): boolean => ++asked === 3;
    expect(checkHistory(hard, counter(), { shouldStop })).toMatchObject({
      kind: 'unknown',
      cause: 'shouldStop',
      configurations: 2 * 256,
    });
  });
});

describe('a verdict', () => {
  it('does not depend on the order in which operations are listed', () => {
    const shape = { operations: 7, clients: 3, longest: 8, wrong: 18, unknown: 15, failed: 5 };
    for (let seed = 0; seed < 500; seed++) {
      const history = drawHistory(seed, registers, shape);
      const turned = [...history].reverse();
      const { kind } = checkHistory(history, registers.model);
      expect(checkHistory(turned, registers.model).kind, `seed ${seed}`).toBe(kind);
    }
  });
});

describe('the parts of a history', () => {
  it('are judged by the bad part that returns first, wherever it is listed', () => {
    const at = (end: number, key: string): Operation<RegisterCall> => read(9, end - 1, end, key);
    const bad = [at(5, 'x'), at(3, 'y'), at(4, 'z'), write(1, 0, 1, 'w')];
    expect(checkHistory(bad, register())).toMatchObject({ kind: 'invalid', part: 'y', at: 1 });
    expect(checkHistory(bad.toReversed(), register())).toMatchObject({ part: 'y', at: 2 });
    expect(checkHistory([at(3, 'x'), at(3, 'y')], register())).toMatchObject({ part: 'x', at: 0 });
  });
  it('add up their configurations, and a bad part outweighs an unknown one', () => {
    const { fastPath: _, ...searched } = register();
    const hard = (key: string): Operation<RegisterCall>[] => [
      write(1, 0, 9, key),
      write(2, 1, 9, key),
      write(3, 2, 9, key),
      read(2, 10, 11, key),
      read(1, 12, 13, key),
    ];
    const limits = { maxConfigurations: 1 };
    const unknown = checkHistory([...hard('x'), ...hard('y')], searched, limits);
    expect(unknown).toMatchObject({ kind: 'unknown', part: 'x' });
    const parts = checkParts([...hard('x'), ...hard('y')], searched, limits);
    const counts = parts.map(({ decision }) => decision.configurations);
    expect(unknown.configurations).toBe(counts.reduce((sum, one) => sum + one, 0));
    const bad = [...hard('x'), read(9, 0, 1, 'y'), ...hard('z')];
    expect(checkHistory(bad, searched, limits)).toMatchObject({
      kind: 'invalid',
      part: 'y',
      at: 5,
    });
  });
  it('are one if the model does not distinguish objects', () => {
    const { partition: __, ...unpartitioned } = register();
    const history = [write(1, 0, 1, 'x'), read(1, 2, 3, 'y')];
    expect(checkParts(history, unpartitioned)).toMatchObject([
      { name: '', decision: { kind: 'valid' } },
    ]);
    expect(checkHistory([read(1, 2, 3)], unpartitioned)).toMatchObject({
      kind: 'invalid',
      part: '',
    });
  });
  it('are joined as early as each allows', () => {
    const history = [
      write(1, 6, 9, 'x'),
      write(2, 1, 2, 'y'),
      read(1, 7, 8, 'x'),
      read(2, 6, 7, 'y'),
    ];
    expect(checkHistory(history, register())).toMatchObject({ order: [1, 0, 3, 2] });
  });
});

describe('with failures read strictly', () => {
  const call = { name: 'acquire', lock: 'db', owner: 'a', answer: 'granted' } as const;
  const acquire = { client: 'a', call, invoke: 0, return: 1, outcome: 'ok' } as const;

  it('a failure becomes an answer if the model defines one, and nothing else changes', () => {
    const failed = { ...acquire, outcome: 'fail' } as const;
    const unheard = { ...failed, return: null };
    const history = [acquire, failed, unheard];
    const [same, answered, stays] = readFailures(history, mutex(), 'strict');
    expect(same).toBe(acquire);
    expect(answered).toEqual({ ...acquire, call: { ...call, answer: 'denied' } });
    expect(stays).toBe(unheard);
    expect(readFailures(history, mutex())).toBe(history);
    expect(readFailures(history, register(), 'strict')).toBe(history);
  });
});

describe('the possible states before the first bad return', () => {
  const history = [write(1, 0, null), write(2, 0, null), write(3, 0, null), read(9, 5, 6)];

  it('are each reported once, with an order that leads to them, up to the limit', () => {
    const all = findPossibleStates(history, register(), { limit: 10 });
    expect(all).toHaveLength(4);
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set([null, 1, 2, 3]));
    for (const { state, order } of all) {
      const last = history[order.at(-1) ?? -1]?.call;
      expect(last?.value ?? null).toBe(state);
    }
    for (const limit of [1, 2, 3]) {
      expect(findPossibleStates(history, register(), { limit })).toEqual(all.slice(0, limit));
    }
    expect(findPossibleStates(history.slice(0, 3), register(), { limit: 9 })).toEqual([]);
  });
  it('are the states that their orders lead to, not others with the same key', () => {
    type Counted = { readonly value: number; readonly writes: number };
    const counting: Model<Counted, RegisterCall> = {
      name: 'counting-register',
      init: { value: 0, writes: 0 },
      step({ value, writes }, call) {
        if (call.name === 'read') return call.value === value ? [{ value, writes }] : [];
        return typeof call.value === 'number' ? [{ value: call.value, writes: writes + 1 }] : [];
      },
      stateKey: ({ value }) => value,
    };
    const again = [write(1, 0, 1), write(2, 2, 3), write(1, 4, 5), read(9, 6, 7)];
    expect(findPossibleStates(again, counting, { limit: 9 })).toEqual([
      { state: { value: 1, writes: 3 }, order: [0, 1, 2] },
    ]);
    // A step with several next states leaves the state ambiguous.
    const either: Model<Counted, RegisterCall> = {
      ...counting,
      step(state, call) {
        const next = counting.step(state, call);
        return call.name === 'read' ? next : next.concat({ value: 7, writes: 0 });
      },
    };
    expect(findPossibleStates(again.slice(2), either, { limit: 9 })).toEqual([
      { state: { value: 1, writes: 1 }, order: [0] },
      { state: { value: 7, writes: 0 }, order: [0] },
    ]);
  });
});

it('a search without time left gives up at the operation that returns first', () => {
  const stop = { shouldStop: () => true };
  const history = [write(1, 0, 9), write(2, 0, null), write(3, 1, 4), write(4, 2, 4)];
  expect(decide(history, register(), stop)).toEqual({
    kind: 'unknown',
    cause: 'shouldStop',
    deepest: 2,
    configurations: 0,
  });
  const failed = { ...write(5, 0, 1), outcome: 'fail' } as const;
  expect(decide([failed, ...history], register(), stop)).toMatchObject({ deepest: 3 });
  expect(decide([write(2, 0, null)], register(), stop).kind).toBe('valid');
});
