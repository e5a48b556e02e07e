/** Tests which client holds which keys until when, and the possible orders of acquisitions. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Grant, KeyChange } from '../core/history/events.ts';
import { type Acquisition, KeyHolds, ordersOf, untilUsBefore } from './holders.ts';
import { grant, keyChange, send } from './trace-builder.fixture.ts';

const byClient: Partial<Grant> = { process: 'alice', message: '' };

/** Returns the keys of alice's grant in her first section, which she enters after these changes. */
function keysOf(...changes: readonly KeyChange[]): ReturnType<KeyHolds['of']> {
  const holds = new KeyHolds(changes.map((event, index) => ({ event, index })));
  return holds.of(
    { index: changes.length, event: grant(50, 'alice', 1, byClient) },
    'alice/1',
    Infinity,
  );
}

const on = (ms: number, process: string, more: Partial<KeyChange> = {}): KeyChange =>
  keyChange(ms, 'alice', { process, ...more });

describe('a key on three servers', () => {
  const three = [on(1, 'redis-1'), on(2, 'redis-2'), on(3, 'redis-3')];

  test('is held since the second server granted it, as long as two servers keep it', () => {
    const keys = keysOf(...three);
    expect(keys?.acquired.event.process).toBe('redis-2');
    expect([1, 2, 3].map((before) => untilUsBefore(keys?.ends ?? [], before))).toEqual([
      Number.NEGATIVE_INFINITY,
      11_000,
      12_000,
    ]);
  });

  test('is not held if only one server granted it', () => {
    const bobs = [on(4, 'redis-2'), on(5, 'redis-3')].map((event) => ({
      ...event,
      client: 'bob',
      message: 'bob/1/set/1/request',
    }));
    expect(keysOf(on(1, 'redis-1'), ...bobs)).toBeNull();
  });

  test('is held since the first server granted it if the section asked no other server', () => {
    const sent = { index: 0, event: { ...send(1, 'alice', 'alice/1/set'), to: 'redis-1' } };
    const bobs = { ...on(4, 'redis-2'), client: 'bob', message: 'bob/1/set/1/request' };
    const changes = [on(1, 'redis-1'), bobs].map((event, index) => ({ event, index }));
    const holds = new KeyHolds(changes, (section) => (section === 'alice/1' ? [sent] : []));
    const keys = holds.of(
      { index: 3, event: grant(50, 'alice', 1, byClient) },
      'alice/1',
      Infinity,
    );
    expect(keys?.acquired.event.process).toBe('redis-1');
  });

  test('is no longer held once two servers lost it, but remains promised until its expiry', () => {
    const lost = ['redis-1', 'redis-3'].map((process) =>
      on(6, process, { change: 'lost', client: '', message: '' }),
    );
    const keys = keysOf(...three, ...lost);
    expect(untilUsBefore(keys?.ends ?? [], 9)).toBe(6000);
    expect(untilUsBefore(keys?.promises ?? [], 9)).toBe(12_000);
  });

  test('is held longer once two servers extended it', () => {
    const extended = [on(5, 'redis-1'), on(6, 'redis-2')].map((event): KeyChange => {
      return { ...event, change: 'prolonged', holder: 'alice', untilUs: 40_000 };
    });
    const keys = keysOf(...three, ...extended);
    expect([3, 4, 5].map((before) => untilUsBefore(keys?.ends ?? [], before))).toEqual([
      12_000, 13_000, 40_000,
    ]);
  });
});

test('a taken key belongs to its section, and to later grants of its client while kept', () => {
  const holds = new KeyHolds([{ event: keyChange(1, 'alice'), index: 0 }]);
  const enteredAt = (ms: number) => ({ index: 2, event: grant(ms, 'alice', 1, byClient) });
  expect(holds.of(enteredAt(5), 'alice/1', Infinity)?.isReused).toBe(false);
  expect(holds.of(enteredAt(5), 'alice/1', Infinity)?.isReused).toBe(true);
  expect(holds.of(enteredAt(10), 'alice/2', Infinity)?.isReused).toBe(true);
  expect(holds.of(enteredAt(11), 'alice/2', Infinity)).toBeNull();
  const bobs = { index: 2, event: grant(5, 'bob', 1, { process: 'bob', message: '' }) };
  expect(holds.of(bobs, 'bob/1', Infinity)).toBeNull();
});

test('a section that takes its expired key again before it leaves holds it again', () => {
  const message = 'alice/1/eval-2/1/request';
  const events = [
    keyChange(1, 'alice', { untilUs: 5_000 }),
    keyChange(6, 'bob', { message: 'bob/1/set/1/request', untilUs: 9_000 }),
    keyChange(10, 'alice', { message, untilUs: 30_000 }),
  ];
  const holds = () => new KeyHolds(events.map((event, index) => ({ event, index })));
  const mine = { index: 0, event: grant(2, 'alice', 1, byClient) };
  const endsBefore = (leftAt: number): readonly number[] => {
    const { ends = [] } = holds().of(mine, 'alice/1', leftAt) ?? {};
    return [1, 2, 3].map((before) => untilUsBefore(ends, before));
  };
  expect(endsBefore(9)).toEqual([5_000, 5_000, 30_000]);
  expect(endsBefore(1)).toEqual([5_000, 5_000, 5_000]);
});

test('a key that another client shares has no known holder', () => {
  const shares = keyChange(2, 'bob', { change: 'untracked', message: 'bob/1/eval/1/request' });
  expect(keysOf(keyChange(1, 'alice'), shares)).toBeNull();
});

test('a key that another client takes is no longer held, whatever end its server gave', () => {
  const bobs = keyChange(5, 'bob', { message: 'bob/1/set/1/request' });
  expect(untilUsBefore(keysOf(keyChange(1, 'alice'), bobs)?.ends ?? [], 9)).toBe(5000);
});

interface Sample {
  readonly start: number;
  readonly length: number;
  readonly token: number;
}

function acquisition({ start, length, token }: Sample, place: number): Acquisition {
  const event = grant(0, 'alice', place + 1, { token });
  // No two acquisitions share an event.
  const [from, to] = [start * 10 + place, (start + length) * 10 + place];
  return { index: to, event, between: [from, to] };
}

const isCertain = (one: Acquisition, other: Acquisition): boolean =>
  one.between[1] < other.between[0];

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((first) =>
    permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  );
}

/** Finds the orders by trying all permutations. */
function triedOut(all: readonly Acquisition[]): readonly string[] {
  const agrees = all.every((one) =>
    all.every((other) => {
      const areBoth = one.event.token !== 0 && other.event.token !== 0;
      return !areBoth || !isCertain(one, other) || one.event.token < other.event.token;
    }),
  );
  const isBefore = (one: Acquisition, other: Acquisition): boolean => {
    if (isCertain(one, other) || isCertain(other, one)) return isCertain(one, other);
    const areBoth = one.event.token !== 0 && other.event.token !== 0;
    return agrees && areBoth && one.event.token < other.event.token;
  };
  const enteredFirst = (one: Acquisition, other: Acquisition): boolean =>
    one.between[1] - other.between[1] < 0 ||
    (one.between[1] === other.between[1] && one.event.ordinal < other.event.ordinal);
  const next = (one: Acquisition): readonly Acquisition[] =>
    all.filter(
      (other) =>
        other !== one &&
        (isBefore(one, other) || (!isBefore(other, one) && enteredFirst(one, other))),
    );
  const reaches = (from: Acquisition, to: Acquisition): boolean => {
    const seen = new Set([from]);
    for (const one of seen) for (const other of next(one)) seen.add(other);
    return seen.has(to);
  };
  return permutations(all)
    .filter((order) =>
      order.every((one, place) =>
        order.slice(place + 1).every((other) => {
          if (isBefore(other, one)) return false;
          return reaches(one, other);
        }),
      ),
    )
    .map((order) => order.map(({ event }) => event.ordinal).join(' '));
}

const sample = fc.record({
  start: fc.nat({ max: 8 }),
  length: fc.nat({ max: 6 }),
  token: fc.nat({ max: 4 }),
});

test('the possible orders respect certain precedence, then tokens, then entries', () => {
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 5 }), (samples) => {
      const all = samples.map(acquisition);
      const orders = [...(ordersOf(all)?.all() ?? [])];
      const found = orders.map((order) =>
        all
          .map(({ event }) => event.ordinal)
          .sort((one, other) => order(one) - order(other))
          .join(' '),
      );
      expect([...found].sort()).toEqual([...triedOut(all)].sort());
    }),
    { numRuns: 2000 },
  );
});

test('nine grants that contradict each other have too many orders', () => {
  const tangled = (count: number): readonly Acquisition[] => [
    acquisition({ start: 0, length: 100, token: 1 }, 0),
    ...Array.from({ length: count - 2 }, (_, place) =>
      acquisition({ start: 10, length: 20 + place, token: 0 }, place + 1),
    ),
    acquisition({ start: 1, length: 2, token: 2 }, count - 1),
  ];
  expect([...(ordersOf(tangled(8))?.all() ?? [])].length).toBeGreaterThan(1);
  expect(ordersOf(tangled(9))).toBeNull();
});

test('orders are generated lazily', () => {
  const groups = Array.from({ length: 6 }, (_, group) =>
    Array.from({ length: 8 }, (_, place) => {
      const [start, length] = place === 0 ? [0, 100] : place === 7 ? [1, 2] : [10, 20 + place];
      const token = 10 * group + (place === 0 ? 1 : place === 7 ? 2 : 0);
      return acquisition({ start: 1000 * group + start, length, token }, 8 * group + place);
    }),
  );
  const [first] = ordersOf(groups.flat())?.all() ?? [];
  expect(first).toBeDefined();
});
