import { describe, expect, test } from 'vitest';
import {
  affectsLinks,
  affectsMessage,
  amountField,
  amountOf,
  FAULT_KINDS,
  type Fault,
  type FaultOf,
  faultWith,
  fieldsOfKind,
  instantOf,
  omittable,
  placeNamed,
  processesNamed,
  targetOf,
  withAmount,
  withInstant,
} from './fault.ts';

const at = { kind: 'at', atUs: 3 } as const;
const before = { kind: 'before', point: 'alice/1/write' } as const;
const after = { kind: 'after', point: 'alice/1/checked' } as const;
const message = { kind: 'message', message: 'alice/1/write/1/request' } as const;
const link = { kind: 'link', from: 'alice', to: 'lock', atUs: 3 } as const;

const pause = { kind: 'pause', process: 'alice', when: before, forUs: 20, clocks: 'run' } as const;
const step = { kind: 'clock', process: 'bob', when: at, stepUs: -9, ratePpm: 5 } as const;
const rate = { ...step, stepUs: 0 } as const;
const crash = { kind: 'crash', process: 'lock', when: after, restartAfterUs: null } as const;
const reset = { kind: 'reset', from: 'alice', to: 'lock', when: at } as const;
const delay = { kind: 'delay', which: message, byUs: 7 } as const;
const drop = { kind: 'drop', which: link } as const;
const partition: FaultOf<'partition'> = {
  kind: 'partition',
  from: ['alice', 'bob'],
  to: ['lock'],
  direction: 'both',
  when: at,
  forUs: 4,
};
const late: FaultOf<'late-timer'> = {
  kind: 'late-timer',
  which: { kind: 'timer', timer: 'alice/1/backoff-2' },
  byUs: 6,
};
const ofAlice = { kind: 'process', process: 'alice', atUs: 3 } as const;
const later: FaultOf<'late-timer'> = { ...late, which: ofAlice };

/** Each fault with its amount, instant, named place and target. */
const SEEN: readonly (readonly [string, Fault, number | null, number | null, string, string])[] = [
  ['a pause', pause, 20, null, 'alice/1/write', 'alice'],
  ['a step back', step, 9, 3, '', 'bob'],
  ['a clock that only runs fast', rate, null, 3, '', 'bob'],
  ['a crash for good', crash, null, null, 'alice/1/checked', 'lock'],
  ['a crash', { ...crash, restartAfterUs: 5 }, 5, null, 'alice/1/checked', 'lock'],
  ['a reset', reset, null, 3, '', 'alice to lock'],
  ['a delay by name', delay, 7, null, 'alice/1/write/1/request', 'alice/1/write/1/request'],
  ['a drop on a link', drop, null, 3, '', 'alice to lock'],
  ['a partition', partition, 4, 3, '', 'alice, bob and lock'],
  ['a late timer by name', late, 6, null, 'alice/1/backoff-2', 'alice/1/backoff-2'],
  ['a late timer of a process', later, 6, 3, '', 'alice'],
];

describe('the parts of a fault', () => {
  test.each(SEEN)('are known: %s', (_, fault, amount, instant, place, target) => {
    const seen = [amountOf(fault), instantOf(fault), placeNamed(fault), targetOf(fault)];
    expect(seen).toEqual([amount, instant, place, target]);
  });

  test('include the processes that it names, those of a group together', () => {
    expect(processesNamed(pause)).toEqual([['alice']]);
    expect(processesNamed(partition)).toEqual([['alice', 'bob'], ['lock']]);
    expect(processesNamed(drop)).toEqual([['alice'], ['lock']]);
    expect(processesNamed(later)).toEqual([['alice']]);
    expect(processesNamed(delay)).toEqual([]);
  });
});

describe('a fault with another amount', () => {
  test.each<[string, Fault, number, Fault]>([
    ['is longer', pause, 30, { ...pause, forUs: 30 }],
    ['keeps the direction of its step', step, 4, { ...step, stepUs: -4 }],
    ['steps forwards, as before', { ...step, stepUs: 9 }, 4, { ...step, stepUs: 4 }],
    ['steps by 0, not by −0', step, 0, rate],
    ['is unchanged if it has no amount', reset, 4, reset],
    ['is unchanged if it is permanent', crash, 4, crash],
    ['is unchanged if it changes only a rate', rate, 4, rate],
  ])('%s', (_, fault, amount, changed) => {
    expect(withAmount(fault, amount)).toStrictEqual(changed);
  });
});

describe('a fault at another instant', () => {
  const moved = { kind: 'at', atUs: 8 } as const;
  test.each<[string, Fault, Fault]>([
    ['is injected at that time', partition, { ...partition, when: moved }],
    ['waits for its message from that time', drop, { ...drop, which: { ...link, atUs: 8 } }],
    ['waits for its timer from that time', later, { ...late, which: { ...ofAlice, atUs: 8 } }],
    ['is unchanged if it waits for a point', pause, pause],
    ['is unchanged if it waits for a message by name', delay, delay],
    ['is unchanged if it waits for a timer by name', late, late],
  ])('%s', (_, fault, changed) => {
    expect(withInstant(fault, 8)).toStrictEqual(changed);
  });
});

describe('a kind of fault', () => {
  test('names its fields in files without their units', () => {
    const names = (kind: (typeof FAULT_KINDS)[number]): readonly string[] =>
      fieldsOfKind(kind).map(({ name, inFiles, type }) => `${name} ${inFiles} ${type}`);
    expect(names('clock')).toEqual([
      'process process process',
      'when when when',
      'stepUs step step',
      'ratePpm rate rate',
    ]);
    expect(names('crash')[2]).toBe('restartAfterUs restart durationOrNever');
  });

  test('affects a message, the link between processes, or neither', () => {
    expect(FAULT_KINDS.filter(affectsMessage)).toEqual(['delay', 'drop', 'duplicate']);
    expect(FAULT_KINDS.filter(affectsLinks)).toEqual(['partition', 'reset']);
  });

  test('lists the fields that a scenario may omit, with their defaults', () => {
    expect(omittable('pause')).toEqual({ process: 'clients' });
    expect(omittable('clock')).toEqual({ when: 'at the start' });
    expect(omittable('drop')).toEqual({});
  });

  test.each(FAULT_KINDS)('has at most one amount, which shrinking lowers: %s', (kind) => {
    const types = fieldsOfKind(kind).map(({ type }) => type);
    const amounts = types.filter((type) => /^(?:duration(?:OrNever)?|step)$/.test(type));
    expect(amounts.length).toBeLessThanOrEqual(1);
    expect(amountField(kind)?.type).toBe(amounts[0]);
  });

  test('is built from a value per field', () => {
    const evict = faultWith('evict', ({ name }) => (name === 'when' ? at : name));
    expect(evict).toEqual({ kind: 'evict', process: 'process', key: 'key', when: at });
  });
});
