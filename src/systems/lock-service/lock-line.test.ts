/** Tests waiting in line for a lock: the rules of the line alone, and clients that use it. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { examine, examineSeed } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../plan.fixture.ts';
import { LockLine } from './lock-line.ts';

type Answer = ReturnType<LockLine['acquire']>;

function ask(line: LockLine, client: string, now: number, place = 0): Answer {
  return line.acquire({ lock: 'db', client, ttl: 10, now, place });
}

describe('a line', () => {
  test('gives the lock in request order', () => {
    const line = new LockLine(1, true);
    expect(ask(line, 'alice', 0)).toMatchObject({ kind: 'granted', grant: { token: 1 } });
    expect(ask(line, 'bob', 1)).toEqual({ kind: 'denied', holder: 'alice', place: 2 });
    expect(ask(line, 'carol', 2)).toMatchObject({ kind: 'denied', place: 3 });
    line.release({ lock: 'db', client: 'alice', token: 1 });
    expect(ask(line, 'carol', 3, 3)).toEqual({ kind: 'denied', holder: 'bob', place: 3 });
    expect(ask(line, 'bob', 4, 2)).toMatchObject({
      kind: 'granted',
      grant: { token: 2, issuedAt: 4, ttl: 10 },
    });
  });

  test('extends the lease of a place whenever its client asks', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    line.renew({ lock: 'db', client: 'alice', token: 1, ttl: 20, now: 5 });
    expect(ask(line, 'bob', 10, 2)).toMatchObject({ kind: 'denied', place: 2 });
    expect(ask(line, 'bob', 19, 2)).toMatchObject({ kind: 'denied', place: 2 });
  });

  test('puts a client that asks too late at its end', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'carol', 9)).toMatchObject({ place: 3 });
    expect(ask(line, 'bob', 12, 2)).toEqual({ kind: 'denied', holder: 'carol', place: 4 });
    expect(ask(line, 'carol', 13, 3)).toMatchObject({ kind: 'granted', grant: { token: 3 } });
  });

  test('that verifies nothing grants the lock to an expired place, with a ttl of 0', () => {
    const line = new LockLine(1, false);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'bob', 12, 2)).toMatchObject({
      kind: 'granted',
      grant: { token: 2, issuedAt: 12, ttl: 0 },
    });
    expect(line.current('db')).toBeNull();
    expect(ask(line, 'carol', 12)).toMatchObject({ kind: 'granted', grant: { token: 3 } });
  });

  test('repeats its grant to its holder, and extends it', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 0);
    ask(line, 'bob', 1);
    expect(ask(line, 'alice', 3)).toMatchObject({
      kind: 'granted',
      isAgain: true,
      grant: { token: 1, issuedAt: 3, ttl: 10 },
    });
    expect(ask(line, 'bob', 10, 2)).toEqual({ kind: 'denied', holder: 'alice', place: 2 });
    expect(ask(line, 'bob', 13, 2)).toMatchObject({ kind: 'granted', grant: { token: 2 } });
  });

  test('never shortens a lease because its holder asked with a slower clock', () => {
    const line = new LockLine(1, true);
    ask(line, 'alice', 5);
    expect(ask(line, 'alice', 2)).toMatchObject({ grant: { token: 1, issuedAt: 5 } });
  });

  test('lets only the holder renew or release, and restores a snapshot unchanged', () => {
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

const CLAIMS = [
  'mutual-exclusion',
  'tokens-unique',
  'tokens-increase',
  'token-stable',
  'token-bound',
  'owner-only-release',
  'lease-conservative',
  'renew-live',
  'grant-order',
];

const WORLD = {
  clients: { count: 3, ttl: '30ms', sections: 3, think: '0ms..5ms', lockTimeout: '6ms', tries: 3 },
  workload: { steps: [{ compute: '8ms' }, { write: {} }] },
};

/** Returns the claims that break in a scenario with these settings, over `seeds` seeds. */
function broken(world: object, seeds: number): readonly string[] {
  const systems = {
    line: { lock: 'lock-service', store: 'fenced', options: { waits: 'in-line' } },
  };
  const read = loadScenario(JSON.stringify({ name: 'line', systems, ...WORLD, ...world }), 'line');
  if (read.kind !== 'scenario') throw new Error(JSON.stringify(read.problems));
  const found = new Set<string>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const { kind, claim } of examineSeed(read.scenario, 'line', seed, CLAIMS).verdicts) {
      if (kind === 'invalid') found.add(claim);
    }
  }
  return [...found];
}

const slow: Work = { kind: 'compute', id: 1, forUs: 20 * MS };

describe('a lock that is waited for in line', () => {
  test('stays with its holder when the granted acquire arrives twice', () => {
    const alice = clientOf('alice', [slow], { ttlUs: 60 * MS });
    const bob = clientOf('bob', [slow], { ttlUs: 60 * MS, section: { thinkUs: 2 * MS } });
    const duplicate: Fault = {
      kind: 'duplicate',
      byUs: 6 * MS,
      which: { kind: 'message', message: 'alice/1/acquire/1/request' },
    };
    const clients: readonly ClientPlan[] = [alice, bob];
    const plan = { ...planOf({ clients, options: { waits: 'in-line' }, faults: [duplicate] }) };
    const { trace, verdicts } = examine(
      { ...plan, network: { ...plan.network, link: 'datagram' } },
      CLAIMS,
    );
    expect(eventsOf(trace, 'grant').map(({ client, token }) => [client, token])).toEqual([
      ['alice', 1],
      ['bob', 2],
    ]);
    // The second acquire is recorded as the same grant with a later end.
    expect(eventsOf(trace, 'renew')).toMatchObject([
      { client: 'alice', under: 1, extended: 1, token: 1, untilUs: 67 * MS },
    ]);
    expect(verdicts.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });

  test('stays with its holder when the reply is late and the acquire is sent again', () => {
    const delay = { message: 'acquire', leg: 'reply', by: '5ms..15ms', chance: '1/4' };
    expect(broken({ network: { latency: '1ms..2ms' }, faults: [{ delay }] }, 60)).toEqual([]);
  });

  test('stays with its holder when datagrams are copied and lost', () => {
    const faults = [
      { duplicate: { by: '1ms..10ms', chance: '1/10' } },
      { drop: { chance: '1/20' } },
    ];
    const network = { link: 'datagram', latency: '1ms..2ms' };
    expect(broken({ network, faults }, 100)).toEqual([]);
  });

  test('stays with a holder that acquires it again without a release', () => {
    const clients = { ...WORLD.clients, releases: false };
    expect(broken({ network: { latency: '1ms..2ms' }, clients }, 60)).toEqual([]);
  });

  test('continues the numbers of accesses when its holder acquires it again', () => {
    const section = { id: 1, thinkUs: 0, lock: 'db', work: [writeOf(1)] };
    const again = { ...section, id: 2, work: [writeOf(2)] };
    const alice = { ...clientOf('alice', [], { releases: false }), sections: [section, again] };
    const options = { waits: 'in-line' };
    const { trace, verdicts } = examine(
      planOf({ clients: [alice], store: 'fenced-sequenced', options }),
      [...CLAIMS, 'holder-order'],
    );
    const writes = eventsOf(trace, 'write');
    expect(writes.map(({ under, isAccepted }) => [under, isAccepted])).toEqual([
      [1, true],
      [1, true],
    ]);
    expect(writes[1]?.issue).toBeGreaterThan(writes[0]?.issue ?? 0);
    expect(verdicts.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });
});
