import { describe, expect, test } from 'vitest';
import { LockLine } from './lock-line.ts';

type Answer = ReturnType<LockLine['acquire']>;

function ask(line: LockLine, client: string, now: number, place = 0): Answer {
  return line.acquire({ lock: 'db', client, ttl: 10, now, place });
}

describe('a line', () => {
  test('gives the lock in the order in which it was asked for', () => {
    const line = new LockLine(1, true);
    expect(ask(line, 'alice', 0)).toMatchObject({ kind: 'granted', grant: { token: 1 } });
    expect(ask(line, 'bob', 1)).toEqual({ kind: 'denied', holder: 'alice', place: 2 });
    expect(ask(line, 'carol', 2)).toMatchObject({ kind: 'denied', place: 3 });
    line.release({ lock: 'db', client: 'alice', token: 1 });
    expect(ask(line, 'carol', 3, 3)).toEqual({ kind: 'denied', holder: 'bob', place: 3 });
    expect(ask(line, 'bob', 4, 2)).toMatchObject({
      ...{ kind: 'granted', grant: { token: 2, issuedAt: 4, ttl: 10 } },
    });
  });

  test('prolongs the lease of a place whenever its client asks', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    line.renew({ lock: 'db', client: 'alice', token: 1, ttl: 20, now: 5 });
    expect(ask(line, 'bob', 10, 2)).toMatchObject({ kind: 'denied', place: 2 });
    expect(ask(line, 'bob', 19, 2)).toMatchObject({ kind: 'denied', place: 2 });
  });

  test('puts who comes too late at its end', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'carol', 9)).toMatchObject({ place: 3 });
    expect(ask(line, 'bob', 12, 2)).toEqual({ kind: 'denied', holder: 'carol', place: 4 });
    expect(ask(line, 'carol', 13, 3)).toMatchObject({ kind: 'granted', grant: { token: 3 } });
  });

  test('that verifies nothing gives a lapsed place the lock, for no time at all', () => {
    const line = new LockLine(1, false);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'bob', 12, 2)).toMatchObject({
      ...{ kind: 'granted', grant: { token: 2, issuedAt: 12, ttl: 0 } },
    });
    expect(line.current('db')).toBeNull();
    expect(ask(line, 'carol', 12)).toMatchObject({ kind: 'granted', grant: { token: 3 } });
  });

  test('tells its holder again of the grant that it has, and prolongs it', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'alice', 3)).toMatchObject({
      ...{ kind: 'granted', isAgain: true, grant: { token: 1, issuedAt: 3, ttl: 10 } },
    });
    expect(ask(line, 'bob', 10, 2)).toEqual({ kind: 'denied', holder: 'alice', place: 2 });
    expect(ask(line, 'bob', 13, 2)).toMatchObject({ kind: 'granted', grant: { token: 2 } });
  });

  test('never ends a lease earlier because its holder asked with a slower clock', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 5);
    expect(ask(line, 'alice', 2)).toMatchObject({ grant: { token: 1, issuedAt: 5 } });
  });

  test('lets nobody but the holder renew or release, and comes back as it was', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    const restore = line.snapshot();
    const denied = { kind: 'denied', holder: 'alice' };
    expect(line.release({ lock: 'db', client: 'bob', token: 2 })).toEqual(denied);
    expect(line.renew({ lock: 'db', client: 'bob', token: 2, ttl: 10, now: 2 })).toEqual(denied);
    expect(line.forget('db')).toBe(true);
    restore();
    expect(line.release({ lock: 'db', client: 'alice', token: null })).toEqual({
      kind: 'released',
    });
  });
});
