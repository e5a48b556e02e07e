import { describe, expect, it } from 'vitest';
import type { Operation } from './model.ts';
import { type RegisterCall, register } from './models/register.ts';
import { PreparedHistory } from './prepare.ts';

describe('a prepared history', () => {
  it('leaves out failed operations, and pure ones without an answer', () => {
    const prepared = new PreparedHistory();
    const base = { client: 'a', return: null };
    const calls = prepared.load(
      [
        { ...base, call: { name: 'read', key: 'x', value: 'unknown' }, invoke: 0, outcome: 'info' },
        { ...base, call: { name: 'write', key: 'x', value: 1 }, invoke: 1, outcome: 'info' },
        { ...base, call: { name: 'write', key: 'x', value: 2 }, invoke: 2, outcome: 'fail' },
        {
          ...base,
          call: { name: 'write', key: 'x', value: 1 },
          invoke: 3,
          return: 4,
          outcome: 'ok',
        },
      ],
      register(),
    );
    expect(calls).toEqual([{ name: 'write', key: 'x', value: 1 }]);
    expect([prepared.completed, prepared.crashed]).toEqual([1, 1]);
    expect(prepared.source.toArray()).toEqual([3, 1]);
  });
  it('refuses an answered operation without a return', () => {
    const prepared = new PreparedHistory();
    const call = { name: 'write' as const, key: 'x', value: 1 };
    const broken = { client: 'a', call, invoke: 3, return: null, outcome: 'ok' as const };
    expect(() => prepared.load([broken], register())).toThrow('returns after its call');
    const early = { ...broken, return: 2 };
    expect(() => prepared.load([early], register())).toThrow('returns after its call');
    expect(prepared.load([{ ...broken, return: 3 }], register())).toEqual([call]);
  });
  it('uses memory for open operations and for eight numbers per operation', () => {
    const prepared = new PreparedHistory();
    expect(prepared.bytes).toBe(prepared.open.bytes + 8 * prepared.source.bytes);
    expect(prepared.bytes).toBe(9 * 256);
  });
  it('lays out the open operations by return, whatever the order of the history', () => {
    const prepared = new PreparedHistory();
    const write = (value: number, invoke: number, end: number | null): Operation<RegisterCall> => {
      const call: RegisterCall = { name: 'write', key: 'x', value };
      const outcome = end === null ? 'info' : 'ok';
      return { client: 'a', call, invoke, return: end, outcome };
    };
    const read: Operation<RegisterCall> = {
      ...write(1, 3, 5),
      call: { name: 'read', key: 'x', value: 1 },
    };
    const history = [
      write(7, 8, null),
      write(1, 0, 6),
      read,
      write(2, 5, 5),
      write(7, 2, null),
      write(3, 6, 9),
      write(7, 30, null),
    ];
    for (let round = 0; round < 2; round++) {
      const calls = prepared.load(history, register());
      expect(calls).toEqual(
        [read, history[3], history[1], history[5], history[0]].map((one) => one?.call),
      );
      expect([prepared.completed, prepared.crashed, prepared.slots]).toEqual([4, 3, 3]);
      const { source, classOf, isPure, slotOf, opensAt, twin, open, openStart } = prepared;
      expect(source.toArray()).toEqual([2, 3, 1, 5, 4, 0, 6]);
      expect(classOf.toArray()).toEqual([0, 1, 2, 3, 4, 4, 4]);
      expect(isPure.toArray()).toEqual([1, 0, 0, 0, 0, 0, 0]);
      expect(opensAt.toArray()).toEqual([0, 0, 0, 2, 0, 3, 4]);
      expect(twin.toArray()).toEqual([-1, 0, 1]);
      expect(openStart.toArray()).toEqual([0, 3, 5, 7, 8]);
      expect(open.toArray()).toEqual([0, 1, 2, 1, 2, 2, 3, 3]);
      expect(prepared.crashedOpen.toArray()).toEqual([1, 1, 1, 2]);
      expect(slotOf.toArray()).toEqual([1, 2, 0, 2, 0, 1, 2]);
    }
  });
});
