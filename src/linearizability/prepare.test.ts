import { describe, expect, it } from 'vitest';
import { register } from './models/register.ts';
import { PreparedHistory } from './prepare.ts';

describe('a prepared history', () => {
  it('leaves out what failed and what is unknown and pure', () => {
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
  });
});
