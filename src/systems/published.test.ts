/**
 * Tests the scheme as published, without the simulator: Kleppmann's lock service and its stores.
 */
import { describe, expect, test } from 'vitest';
import { LockClient } from './lock-service/lock-client.ts';
import { hasExpired, LockService } from './lock-service/lock-service.ts';
import { Store } from './store/store.ts';

const TTL = 10;
const X = { lock: 'db', key: 'x' };

function take(client: LockClient, now: number): number {
  const answer = client.acquire({ lock: 'db', ttl: TTL, now });
  if (answer.kind !== 'granted') throw new Error(`${client.id} was ${answer.kind}`);
  return answer.grant.token;
}

/** Takes the six steps; the stores differ in the last answer and in the final value. */
function sixSteps(store: Store): Record<'late' | 'final', ReturnType<LockClient['write']>> {
  const service = new LockService();
  const [a, b] = [new LockClient('A', service), new LockClient('B', service)];
  expect(take(a, 0)).toBe(1); // 1: A acquires at 0
  expect(a.write(store, X, 100)).toEqual({ kind: 'accepted' }); // 2: its write is accepted
  // 3: A stalls past the end of its lease
  expect(take(b, 15)).toBe(2); // 4: B acquires at 15
  expect(b.write(store, X, 200)).toEqual({ kind: 'accepted' }); // 5: its write is accepted
  expect(service.current('db')).toMatchObject({ client: 'B', issuedAt: 15 });
  const late = a.write(store, X, 101); // 6: A's late write, still with token 1
  return { late, final: b.read(store, X) };
}

describe('the six-step flow', () => {
  test('a fenced store refuses the late write of the stalled holder', () => {
    expect(sixSteps(new Store('fenced'))).toEqual({
      late: { kind: 'refused', highest: 2 },
      final: { kind: 'value', value: 200 },
    });
  });

  test('an unfenced store lets it overwrite its successor silently', () => {
    expect(sixSteps(new Store('unfenced'))).toEqual({
      late: { kind: 'accepted' },
      final: { kind: 'value', value: 101 },
    });
  });

  test('has the numbers of the classic picture if the first token is 31', () => {
    const service = new LockService(31);
    const [one, two] = [new LockClient('A', service), new LockClient('B', service)];
    expect([take(one, 0), take(two, 15)]).toEqual([31, 32]);
    const store = new Store('fenced');
    expect(two.write(store, X, 1)).toEqual({ kind: 'accepted' });
    expect(one.write(store, X, 2)).toEqual({ kind: 'refused', highest: 32 });
  });
});

describe('a grant', () => {
  const grant = { token: 1, lock: 'db', client: 'alice', issuedAt: 0, ttl: 10 };

  test('issued at 0 with ttl 10 is live at 9 and expired at 10', () => {
    expect([0, 9, 10, 11].map((now) => hasExpired(grant, now))).toEqual([false, false, true, true]);
  });

  test('is replaced by another client’s at its very end, not before', () => {
    const service = new LockService();
    const [alice, bob] = [new LockClient('alice', service), new LockClient('bob', service)];
    take(alice, 0);
    const early = service.acquire({ lock: 'db', client: 'bob', ttl: TTL, now: 9 });
    expect(early).toEqual({ kind: 'denied', holder: 'alice' });
    expect(take(bob, 10)).toBe(2);
  });
});
