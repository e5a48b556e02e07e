import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type LockAnswer,
  type LockGrant,
  LockService,
  type Numbering,
  tokenOf,
} from './lock-service.ts';

type Step = { readonly client: string; readonly lock: string; readonly afterUs: number } & (
  | { readonly kind: 'acquire'; readonly ttl: number }
  | { readonly kind: 'renew'; readonly ttl: number; readonly names: boolean }
  | { readonly kind: 'release'; readonly names: boolean }
);

const who = {
  client: fc.constantFrom('alice', 'bob', 'carol'),
  lock: fc.constantFrom('db', 'db', 'log'),
  afterUs: fc.nat(8),
};
const ttl = fc.integer({ min: 1, max: 15 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('acquire'), ...who, ttl }),
  fc.record({ kind: fc.constant('renew'), ...who, ttl, names: fc.boolean() }),
  fc.record({ kind: fc.constant('release'), ...who, names: fc.boolean() }),
);

/** One step: the holder before and after it, and the answer. */
interface Seen {
  readonly step: Step;
  readonly now: number;
  readonly before: LockGrant | null;
  readonly after: LockGrant | null;
  readonly answer: LockAnswer;
}

/** Takes the steps in order; those that name a token name the last one of their client. */
function take(steps: readonly Step[]): readonly Seen[] {
  const service = new LockService();
  const tokens = new Map<string, number>();
  let now = 0;
  return steps.map((step) => {
    now += step.afterUs;
    const { client, lock } = step;
    const before = service.current(lock);
    const token = step.kind !== 'acquire' && step.names ? (tokens.get(client + lock) ?? 0) : null;
    const answer =
      step.kind === 'acquire'
        ? service.acquire({ lock, client, ttl: step.ttl, now })
        : step.kind === 'renew'
          ? service.renew({ lock, client, token, ttl: step.ttl, now })
          : service.release({ lock, client, token });
    if (answer.kind === 'granted') tokens.set(client + lock, answer.grant.token);
    return { step, now, before, after: service.current(lock), answer };
  });
}

function isLive(grant: LockGrant | null, now: number): grant is LockGrant {
  return grant !== null && now < grant.issuedAt + grant.ttl;
}

/** Asserts `law` for every sequence of steps. */
function always(law: (seen: readonly Seen[]) => void): void {
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => law(take(steps))));
}

describe('the lock service', () => {
  test('gives tokens that increase by one from 1 on, over all locks', () => {
    always((seen) => {
      const tokens = seen.flatMap(({ answer }) =>
        answer.kind === 'granted' ? [answer.grant.token] : [],
      );
      expect(tokens).toEqual(tokens.map((_, at) => at + 1));
    });
  });

  test('never resets its counter, not even by a release, an expiry or a denial', () => {
    const service = new LockService();
    const ask = (client: string, now: number): LockAnswer =>
      service.acquire({ lock: 'db', client, ttl: 10, now });
    ask('alice', 0);
    service.release({ lock: 'db', client: 'alice', token: null });
    ask('bob', 1);
    ask('alice', 2);
    expect(ask('alice', 11)).toMatchObject({ kind: 'granted', grant: { token: 3 } });
  });

  test('denies if and only if an unexpired grant of another client holds the lock', () => {
    always((seen) => {
      for (const { step, now, before, answer } of seen) {
        if (step.kind !== 'acquire') continue;
        const isHeld = isLive(before, now) && before.client !== step.client;
        expect(answer.kind).toBe(isHeld ? 'denied' : 'granted');
        if (isHeld) expect(answer).toEqual({ kind: 'denied', holder: before.client });
      }
    });
  });

  test('grants the lock to its holder again, with a higher token and a new lease', () => {
    const service = new LockService();
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
    expect(service.acquire({ lock: 'db', client: 'alice', ttl: 20, now: 5 })).toEqual({
      kind: 'granted',
      grant: { token: 2, lock: 'db', client: 'alice', issuedAt: 5, ttl: 20 },
    });
  });

  test('renews only for the unexpired holder, who keeps its token', () => {
    always((seen) => {
      for (const { step, now, before, after, answer } of seen) {
        if (step.kind !== 'renew') continue;
        const { ttl, client } = step;
        const isHolder = isLive(before, now) && before.client === client;
        if (answer.kind === 'renewed') {
          expect(isHolder).toBe(true);
          expect(answer.grant).toEqual({ ...before, issuedAt: now, ttl });
          expect(after).toEqual(answer.grant);
        } else {
          if (!step.names) expect(isHolder).toBe(false);
          expect(answer).toEqual({ kind: 'denied', holder: before?.client ?? '' });
          expect(after).toEqual(before);
        }
      }
    });
  });

  test('renews before the end of the lease, but not at it', () => {
    const renewAt = (now: number): string => {
      const service = new LockService();
      service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
      return service.renew({ lock: 'db', client: 'alice', token: null, ttl: 5, now }).kind;
    };
    expect([9, 10].map(renewAt)).toEqual(['renewed', 'denied']);
  });

  test('releases only for the holder, and then has no holder', () => {
    always((seen) => {
      for (const { step, before, after, answer } of seen) {
        if (step.kind !== 'release') continue;
        if (answer.kind === 'released') {
          expect(before?.client).toBe(step.client);
          expect(after).toBeNull();
        } else {
          if (!step.names) expect(before?.client).not.toBe(step.client);
          expect(answer).toEqual({ kind: 'denied', holder: before?.client ?? '' });
          expect(after).toEqual(before);
        }
      }
    });
  });

  test('a release or renew that names a grant does not affect its client’s later ones', () => {
    const service = new LockService();
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 5 });
    const stale = { lock: 'db', client: 'alice', token: 1 };
    expect(service.release(stale)).toEqual({ kind: 'denied', holder: 'alice' });
    expect(service.renew({ ...stale, ttl: 10, now: 6 })).toEqual({
      kind: 'denied',
      holder: 'alice',
    });
    expect(service.release({ ...stale, token: null })).toEqual({ kind: 'released' });
  });

  test('answers every step with a value and never throws', () => {
    always((seen) => {
      for (const { answer } of seen) {
        expect(['granted', 'renewed', 'released', 'denied']).toContain(answer.kind);
      }
    });
  });

  test('restores a saved state, with nothing shared', () => {
    const service = new LockService(31);
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
    const saved = service.save();
    service.acquire({ lock: 'db', client: 'bob', ttl: 10, now: 10 });
    service.load(saved);
    expect(service.current('db')).toMatchObject({ token: 31, client: 'alice' });
    expect(service.acquire({ lock: 'db', client: 'bob', ttl: 10, now: 10 })).toMatchObject({
      grant: { token: 32 },
    });
  });

  test('counts from its first token after a counter reset, and forgets a lock on request', () => {
    const service = new LockService(31);
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
    expect([service.forget('db'), service.forget('db')]).toEqual([true, false]);
    service.resetCounter();
    expect(service.acquire({ lock: 'db', client: 'bob', ttl: 10, now: 1 })).toMatchObject({
      grant: { token: 31, client: 'bob' },
    });
  });

  test('grants an unreleased lock only at the end of its delay', () => {
    const grantedAt = (now: number, isReleased: boolean): string => {
      const service = new LockService(1, { lockDelay: 5 });
      service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
      if (isReleased) service.release({ lock: 'db', client: 'alice', token: 1 });
      return service.acquire({ lock: 'db', client: 'bob', ttl: 10, now }).kind;
    };
    expect([10, 14, 15].map((now) => grantedAt(now, false))).toEqual([
      'denied',
      'denied',
      'granted',
    ]);
    expect(grantedAt(1, true)).toBe('granted');
  });

  test('gives a new token with a renew only if its rules say so', () => {
    const service = new LockService(1, { renewRaises: true });
    service.acquire({ lock: 'db', client: 'alice', ttl: 10, now: 0 });
    const renewal = { lock: 'db', client: 'alice', token: 1, ttl: 10, now: 5 };
    expect(service.renew(renewal)).toMatchObject({ kind: 'renewed', grant: { token: 2 } });
    expect(service.renew(renewal)).toEqual({ kind: 'denied', holder: 'alice' });
  });
});

describe('the numbering of tokens', () => {
  function tokens(numbering: Numbering, first: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, before) => tokenOf(numbering, { first, before }));
  }

  test('exact tokens count from the first', () => {
    expect(tokens('exact', 31, 3)).toEqual([31, 32, 33]);
  });

  test('an exact token that is not a safe integer throws', () => {
    expect(() => tokens('exact', Number.MAX_SAFE_INTEGER, 2)).toThrow(
      'the token is no longer a safe integer',
    );
  });

  test('above 2^53 doubles skip odd numbers, and halfway values round to even', () => {
    const above = tokens('double', 2 ** 53 - 2, 7).map((token) => token - 2 ** 53);
    expect(above).toEqual([-2, -1, 0, 0, 2, 4, 4]);
  });

  test('a 32-bit counter wraps to its minimum', () => {
    expect(tokens('32-bit', 2 ** 31 - 2, 3)).toEqual([2 ** 31 - 2, 2 ** 31 - 1, -(2 ** 31)]);
  });

  test('random tokens are distinct, unordered and above 0', () => {
    const given = tokens('random', 1, 1000);
    expect(new Set(given).size).toBe(1000);
    const rises = given.filter((token, at) => at > 0 && token > (given[at - 1] ?? 0)).length;
    expect(rises).toBeGreaterThan(400);
    expect(rises).toBeLessThan(600);
    expect(Math.min(...given)).toBeGreaterThan(0);
  });
});
