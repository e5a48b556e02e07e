import { beforeAll, describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { prepare } from '../../systems/store/store-kinds.ts';

const increment: Work = { kind: 'increment', id: 1, store: 'store', key: 'x' };

interface Setup {
  readonly store?: string;
  readonly unknownCommit?: string;
  readonly faults?: readonly Fault[];
}

function runOf(clients: readonly ClientPlan[], setup: Setup = {}): Trace {
  const { store = 'versioned', unknownCommit, faults = [] } = setup;
  const options = unknownCommit === undefined ? {} : { unknownCommit };
  return run(planOf({ clients, lock: 'optimistic', store, options, faults }));
}

/** Returns the last accepted value of the store. */
function lastValue(trace: Trace): number | null | undefined {
  return eventsOf(trace, 'write').findLast(({ isAccepted }) => isAccepted)?.value;
}

function operations(trace: Trace, client: string): readonly string[] {
  return eventsOf(trace, 'invoke')
    .filter(({ process }) => process === client)
    .map(({ operation }) => operation);
}

beforeAll(() => prepare([{ store: 'versioned-sql' }]));

describe.each(['versioned', 'versioned-sql'])('an optimistic client of a %s store', (store) => {
  const alice = clientOf('alice', [increment]);
  const bob = clientOf('bob', [increment]);

  test('reads and writes again after a conflict', () => {
    const trace = runOf([alice, bob], { store });
    expect(lastValue(trace)).toBe(2);
    expect(operations(trace, 'bob')).toEqual([
      'bob/1/read',
      'bob/1/write',
      'bob/1/read-again',
      'bob/1/write-again',
    ]);
  });

  test('stops after its attempts', () => {
    const once = { ...bob, attempts: 1 };
    const trace = runOf([alice, once], { store });
    expect(lastValue(trace)).toBe(1);
    expect(operations(trace, 'bob')).toEqual(['bob/1/read', 'bob/1/write']);
  });

  test('changes both sides of a transfer separately', () => {
    const transfer = { kind: 'transfer', from: 'store', to: 'other', key: 'x', amount: 5 } as const;
    const trace = runOf([clientOf('alice', [{ ...transfer, id: 1 }])], { store });
    const written = eventsOf(trace, 'write').map(({ process, value }) => [process, value]);
    expect(written).toEqual([
      ['store', -5],
      ['other', 5],
    ]);
  });

  test('writes a value only over the version that it read', () => {
    const trace = runOf([clientOf('alice', [writeOf(7)]), clientOf('bob', [writeOf(8)])], {
      store,
    });
    expect(eventsOf(trace, 'write').map(({ isAccepted }) => isAccepted)).toEqual([
      true,
      false,
      true,
    ]);
    expect(operations(trace, 'alice')).toEqual(['alice/1/read', 'alice/1/write']);
  });

  describe.each([
    ['read-again', 1],
    ['give-up', 1],
    ['retry-blindly', 2],
  ])('after a write without an answer, with %s', (unknownCommit, value) => {
    const hasty = { ...alice, storeTimeoutUs: 10 * MS };

    test(`has added ${value} if the write was applied`, () => {
      const drop: Fault = {
        kind: 'drop',
        which: { kind: 'message', message: 'alice/1/write/1/reply' },
      };
      expect(lastValue(runOf([hasty], { store, unknownCommit, faults: [drop] }))).toBe(value);
    });

    test('has added 1 if it was not applied, or nothing if the client gives up', () => {
      const drop: Fault = {
        kind: 'drop',
        which: { kind: 'message', message: 'alice/1/write/1/request' },
      };
      const trace = runOf([hasty], { store, unknownCommit, faults: [drop] });
      expect(lastValue(trace)).toBe(unknownCommit === 'give-up' ? undefined : 1);
    });
  });
});

test('a store without versions accepts every write of an optimistic client', () => {
  const trace = runOf([clientOf('alice', [increment]), clientOf('bob', [increment])], {
    store: 'unfenced',
  });
  expect(eventsOf(trace, 'write').map(({ isAccepted }) => isAccepted)).toEqual([true, true]);
  expect(lastValue(trace)).toBe(1);
});
