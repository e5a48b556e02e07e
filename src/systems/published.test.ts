/**
 * The scheme as it was published, without the simulator: Kleppmann's lock service and its stores.
 */
import { describe, expect, test } from 'vitest';
import { LockClient } from './lock-service/lock-client.ts';
import { hasExpired, LockService } from './lock-service/lock-service.ts';
import { stores } from './store/fence.ts';
import { Store, type StoreAnswer } from './store/store.ts';

const TTL = 10;

function storeOf(name: string): Store {
  const rule = stores.get(name);
  if (rule === undefined) throw new Error(`there is no store ${name}`);
  return new Store(rule);
}

function take(service: LockService, client: LockClient, now: number): number {
  const answer = service.acquire({ lock: 'db', client: client.id, ttl: TTL, now });
  if (answer.kind !== 'granted') throw new Error(`${client.id} was ${answer.kind}`);
  client.remember(answer.grant);
  return answer.grant.token;
}

function write(store: Store, client: LockClient, value: number): StoreAnswer {
  const token = client.token('db');
  return store.write({ resource: 'db', key: 'x', token, sequence: 1 }, value);
}

function valueIn(store: Store, client: LockClient): StoreAnswer {
  return store.read({ resource: 'db', key: 'x', token: client.token('db'), sequence: 2 });
}

/** The six steps; the last answer and the final value are what the stores differ in. */
function sixSteps(store: Store): { late: StoreAnswer; final: StoreAnswer } {
  const service = new LockService();
  const [alice, bob] = [new LockClient('alice'), new LockClient('bob')];
  expect(take(service, alice, 0)).toBe(1); // 1: alice acquires at 0
  expect(write(store, alice, 100)).toEqual({ kind: 'accepted' }); // 2: her write is accepted
  const stalledUntil = 20; // 3: alice stalls past the end of her lease
  expect(take(service, bob, 15)).toBe(2); // 4: bob acquires at 15
  expect(write(store, bob, 200)).toEqual({ kind: 'accepted' }); // 5: his write is accepted
  expect(service.current('db')).toMatchObject({ client: 'bob', issuedAt: 15 });
  expect(stalledUntil).toBeGreaterThan(15);
  const late = write(store, alice, 101); // 6: her late write, still with token 1
  return { late, final: valueIn(store, bob) };
}

describe('the six-step flow', () => {
  test('a fenced store refuses the late write of the stalled holder', () => {
    expect(sixSteps(storeOf('fenced'))).toEqual({
      late: { kind: 'refused', highest: 2 },
      final: { kind: 'value', value: 200 },
    });
  });

  test('an unfenced store lets it overwrite its successor silently', () => {
    expect(sixSteps(storeOf('unfenced'))).toEqual({
      late: { kind: 'accepted' },
      final: { kind: 'value', value: 101 },
    });
  });

  test('has the numbers of the classic picture when the first token is 31', () => {
    const service = new LockService(31);
    const [one, two] = [new LockClient('client-1'), new LockClient('client-2')];
    expect([take(service, one, 0), take(service, two, 15)]).toEqual([31, 32]);
    const store = storeOf('fenced');
    expect(write(store, two, 1)).toEqual({ kind: 'accepted' });
    expect(write(store, one, 2)).toEqual({ kind: 'refused', highest: 32 });
  });
});

describe('a grant', () => {
  const grant = { token: 1, lock: 'db', client: 'alice', issuedAt: 0, ttl: 10 };

  test('issued at 0 with ttl 10 is live at 9 and expired at 10', () => {
    expect([0, 9, 10, 11].map((now) => hasExpired(grant, now))).toEqual([false, false, true, true]);
  });

  test('is taken over by another client at its very end, not before', () => {
    const service = new LockService();
    const [alice, bob] = [new LockClient('alice'), new LockClient('bob')];
    take(service, alice, 0);
    const early = service.acquire({ lock: 'db', client: 'bob', ttl: TTL, now: 9 });
    expect(early).toEqual({ kind: 'denied', holder: 'alice' });
    expect(take(service, bob, 10)).toBe(2);
  });
});
