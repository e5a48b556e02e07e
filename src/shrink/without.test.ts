import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import { pause, planWith } from './sample-plan.test.ts';
import { withoutClients, withoutSections, withoutWork } from './without.ts';

describe('what is dropped', () => {
  test('takes along what names it, and nothing that only begins like it', () => {
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

  test('leaves the ids, and so the names, of the rest', () => {
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
