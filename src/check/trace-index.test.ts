/** Tests the index of a trace: its locks, places, operations and faults. */
import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import { operationOf } from '../core/kernel/name.ts';
import {
  accepted,
  acquire,
  answer,
  deny,
  enter,
  grant,
  healed,
  invoke,
  leaseTest,
  leave,
  pause,
  read,
  recovered,
  release,
  renew,
  traceOf,
  unknown,
  write,
} from './trace-builder.fixture.ts';
import { grantUnder, indexTrace, isAcknowledged, isStale, placeAt } from './trace-index.ts';

const events = [
  deny(0, 'bob', 0), // 0
  grant(1, 'alice', 1), // 1
  write(2, 'alice', 1, 1), // 2
  enter(2, 'alice', 1, 11), // 3
  renew(3, 'alice', 1), // 4
  leaseTest(4, 'alice', 1, 13), // 5
  leave(5, 'alice', 1), // 6
  release(6, 'alice', 1), // 7
  grant(7, 'bob', 2), // 8
  write(8, 'alice', 1, 2, { key: 'y' }), // 9
  read(9, 'bob', 2, 1), // 10
  write(9, 'bob', 0, 3), // 11
  write(9, 'bob', 2, 3, { process: 'other' }), // 12
  write(9, 'bob', 2, 3, { resource: 'disk' }), // 13
  recovered(10, 2, { x: 1 }), // 14
  pause(11, 'bob', 12), // 15
  release(12, 'carol', 9), // 16
  renew(12, 'carol', 9), // 17
];
const indexed = indexTrace(traceOf(events));
const place = placeAt(indexed, { store: 'store', resource: 'db' });

describe('a lock', () => {
  const lock = indexed.locks.get('db');

  test('has its events in trace order, each with the grant before it', () => {
    const entries = lock?.entries.map(({ index, latest }) => [index, latest?.index ?? null]);
    expect(entries).toEqual([
      ...[0, 1].map((index) => [index, null]),
      ...[3, 4, 5, 6, 7, 8].map((index) => [index, 1]),
      ...[16, 17].map((index) => [index, 8]),
    ]);
  });

  test('has its grants in order and by number, each with its changes', () => {
    const changes = lock?.grants.map((one) => one.changes.map(({ index }) => index));
    expect(lock?.grants.map(({ index }) => index)).toEqual([1, 8]);
    expect(changes).toEqual([[4, 7], []]);
    expect([...(lock?.byNumber ?? [])].map(([number, { index }]) => [number, index])).toEqual([
      [1, 1],
      [2, 8],
    ]);
  });

  test('exists for every resource, even one that was never locked', () => {
    expect([...indexed.locks.keys()]).toEqual(['db', 'disk']);
    expect(indexed.locks.get('disk')?.grants).toEqual([]);
  });
});

describe('a place', () => {
  test('is one resource in one store', () => {
    const places = indexed.places.map(({ store, resource, accesses }) => {
      return [store, resource, accesses.map(({ index }) => index)];
    });
    expect(places).toEqual([
      ['store', 'db', [2, 9, 10, 11]],
      ['other', 'db', [12]],
      ['store', 'disk', [13]],
    ]);
    expect(placeAt(indexed, { store: 'other', resource: 'disk' })).toBeUndefined();
    expect(placeAt(indexed, { store: 'other', resource: 'db' })).toBe(indexed.places[1]);
  });

  test('has the accesses to each of its keys', () => {
    const keys = [...(place?.keys.values() ?? [])];
    expect(keys.map((log) => [log.key, ...log.accesses.map(({ index }) => index)])).toEqual([
      ['x', 2, 10, 11],
      ['y', 9],
    ]);
  });

  test('has its recoveries and, separately, the initial values of its keys', () => {
    const begins = (key: string, version: number): TraceEvent => ({
      ...recovered(0, 0, { x: 4, y: 5 }),
      begins: { key, version },
    });
    const all = [begins('x', 3), begins('y', 0), begins('x', 9), begins('z', 1)];
    const from = indexTrace(traceOf([...all, recovered(5, 0, {})])).places[0];
    expect(from?.recoveries.map(({ index }) => index)).toEqual([4]);
    expect(Object.fromEntries(from?.firsts ?? [])).toEqual({
      x: { value: 4, version: 3 },
      y: { value: 5, version: 0 },
      z: { value: 0, version: 1 },
    });
    expect(place?.recoveries.map(({ index }) => index)).toEqual([14]);
    expect(place?.firsts.size).toBe(0);
  });
});

test('an access is stale if its lock was granted again before', () => {
  const stale = place?.accesses.filter(isStale);
  expect(stale?.map(({ index }) => index)).toEqual([9]);
  const later = indexTrace(traceOf([write(0, 'alice', 1, 1), grant(1, 'alice', 1)]));
  expect(later.places[0]?.accesses.some(isStale)).toBe(false);
});

test('the grant of an access has its number and its resource', () => {
  const found = place?.accesses.map(({ event }) => grantUnder(indexed, event)?.index);
  expect(found).toEqual([1, 1, 8, undefined]);
  expect(grantUnder(indexed, write(9, 'bob', 2, 3, { resource: 'nowhere' }))).toBeUndefined();
});

test('an operation has its return, and a return without a call is ignored', () => {
  const { operations } = indexTrace(
    traceOf([
      invoke(1, 'alice/1/write'),
      acquire(2, 'bob/1/acquire'),
      accepted(3, 'alice/1/write'),
      accepted(3, 'carol/1/write'),
    ]),
  );
  const returns = [...operations].map(([name, log]) => [name, log.return?.index ?? null]);
  expect(returns).toEqual([
    ['alice/1/write', 2],
    ['bob/1/acquire', null],
  ]);
});

test.each([
  [true, accepted(2, 'alice/1/write')],
  [false, answer(2, 'alice/1/write', { kind: 'refused', highest: 1 })],
  [false, unknown(2, 'alice/1/write')],
  [false, { ...accepted(2, 'alice/1/write'), outcome: 'info' as const }],
  [false, { ...accepted(2, 'alice/1/write'), answer: null }],
  [false, healed(2)],
])('a write is acknowledged (%s) after %j', (isTrue, event) => {
  const { operations } = indexTrace(traceOf([invoke(1, 'alice/1/write'), event]));
  expect([...operations.values()].map(isAcknowledged)).toEqual([isTrue]);
});

test('the faults, the probes and the completeness of the run are those of the trace', () => {
  expect(indexed.faults.map(({ index }) => index)).toEqual([15]);
  expect([...indexed.probes]).toEqual(['probe']);
  expect(indexed.isComplete).toBe(true);
  expect(indexTrace(traceOf([], { kind: 'cut', limit: 'end' })).isComplete).toBe(false);
});

test('a message name contains its operation, its attempt and its leg', () => {
  expect(operationOf('alice/1/write/2/request')).toBe('alice/1/write');
  expect(operationOf('alice/life-2/put/1/reply')).toBe('alice/life-2/put');
});

describe('a store of replicas', () => {
  const at = (process: string, operation: string, token: number, more: object = {}) => ({
    process,
    store: 'store',
    operation,
    stamp: [token, 0, operation] as const,
    ...more,
  });
  const heard = (name: string) => [invoke(1, name), accepted(9, name)];

  test('handles a write once, when it reaches the first replica, with the latest timestamp', () => {
    const writes = [
      write(2, 'bob', 2, 8, at('store-1', 'bob/1/write', 2)),
      write(3, 'bob', 2, 8, at('store-2', 'bob/1/write', 2)),
      write(4, 'alice', 1, 7, at('store-3', 'alice/1/write', 1)),
    ];
    const events = [...heard('bob/1/write'), ...heard('alice/1/write'), ...writes];
    const { places } = indexTrace(traceOf(events));
    expect(places.map(({ store }) => store)).toEqual(['store']);
    const accesses = places[0]?.accesses ?? [];
    expect(accesses.map(({ index, event }) => [index, event.isAccepted])).toEqual([
      [4, true],
      [6, false],
    ]);
  });

  test('leaves out a write that was neither acknowledged nor read', () => {
    const limbo = write(2, 'bob', 2, 8, at('store-1', 'bob/1/write', 2));
    const served = read(3, 'carol', 3, 8, {
      ...at('store-1', 'carol/1/read', 3),
      written: 'bob/1/write',
    });
    expect(indexTrace(traceOf([limbo])).places[0]?.accesses).toEqual([]);
    expect(indexTrace(traceOf([limbo, served])).places[0]?.accesses).toHaveLength(2);
  });
});
