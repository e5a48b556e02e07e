import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import type { Plan, Work } from '../plan/plan.ts';
import { withoutClients, withoutSections, withoutWork } from './change.ts';
import { pause, planWith } from './sample-plan.fixture.ts';

describe('dropping a piece', () => {
  test('removes all that names it, but no name that merely starts like it', () => {
    const pauses = [pause('alice', 5_000), pause('bob', 5_000)];
    const placed = { ...pause('bob', 5_000), when: { kind: 'before', point: 'alice/1/write' } };
    const groups = { from: ['alice', 'bob'], to: ['lock'], direction: 'both', forUs: 9 } as const;
    const partition: Fault = { kind: 'partition', ...groups, when: { kind: 'at', atUs: 1 } };
    const start = planWith([...pauses, { ...placed, when: { ...placed.when, kind: 'before' } }]);
    const rest = withoutClients({ ...start, faults: [...start.faults, partition] }, ['alice']);
    expect(rest.faults).toEqual([pause('bob', 5_000), { ...partition, from: ['bob'] }]);
    expect(Object.keys(rest.decisions)).toEqual(['alice2/1/write/1/request', 'bob/1/backoff-2']);
    expect(rest.order).toEqual(['bob/1/acquire']);
  });

  test('removes every operation of a transfer, with its opens and check, and a timer', () => {
    const from = { kind: 'transfer', from: 'db', to: 'other', key: 'x', amount: 1 } as const;
    const names = ['read-from-2', 'read-to-2', 'write-from-2', 'write-to-2', 'checked', 'open-2'];
    const gone = [...names, 'compute'].map((name) => `alice/1/${name}`);
    const kept = ['acquire', 'open', 'read-3', 'release'].map((name) => `alice/1/${name}`);
    const start = planWith([]);
    const [alice] = start.clients;
    const [section] = alice?.sections ?? [];
    if (alice === undefined || section === undefined) return expect.unreachable();
    const work: readonly Work[] = [
      { kind: 'compute', id: 1, forUs: 5 },
      { ...from, id: 2 },
      { kind: 'read', id: 3, store: 'db', key: 'x' },
    ];
    const opened: Plan = {
      ...start,
      system: { ...start.system, store: 'fenced-open' },
      clients: [{ ...alice, sections: [{ ...section, work }] }],
      decisions: Object.fromEntries([...gone, ...kept].map((name) => [`${name}/1/request`, 700])),
    };
    const keys = [1, 2].map((id) => ({ client: 'alice', section: 1, work: id }));
    const left = Object.keys(withoutWork(opened, keys).decisions);
    expect(left).toEqual(kept.map((name) => `${name}/1/request`));
  });

  test('keeps the ids, and so the names, of all other pieces', () => {
    const start = planWith([]);
    const later = withoutSections(start, [{ client: 'alice', section: 1 }]);
    expect(later.clients[0]?.sections.map(({ id }) => id)).toEqual([2]);
    expect(Object.keys(later.decisions)).toContain('alice/2/write/1/request');
    const second = withoutWork(start, [{ client: 'alice', section: 1, work: 1 }]);
    expect(second.clients[0]?.sections[0]?.work.map(({ id }) => id)).toEqual([2]);
    expect(Object.keys(second.decisions).filter((name) => name.startsWith('alice/1/'))).toEqual([
      'alice/1/write-2/1/request',
    ]);
  });
});
