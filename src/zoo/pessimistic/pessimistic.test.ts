import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import {
  clientOf,
  eventsOf,
  MS,
  type PlanSetup,
  planOf,
  writeOf,
} from '../../systems/plan.fixture.ts';

const compute = (forMs: number, id = 1): Work => ({ kind: 'compute', id, forUs: forMs * MS });
const also = (lock: string, id = 1): Work => ({ kind: 'lock', id, lock });

interface Place {
  readonly lock?: string;
  readonly thinkMs?: number;
}

function patient(
  name: string,
  work: readonly Work[],
  { lock = 'db', thinkMs = 0 }: Place = {},
  more: Partial<ClientPlan> = {},
): ClientPlan {
  const section = { lock, thinkUs: thinkMs * MS };
  return clientOf(name, work, { lockTimeoutUs: null, checksLease: false, section, ...more });
}

function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}): Trace {
  return run(planOf({ clients, lock: 'pessimistic', store: 'unfenced', ...setup }));
}

const grants = (trace: Trace): readonly string[] =>
  eventsOf(trace, 'grant').map(
    ({ atUs, client, lock, token }) => `${atUs / MS} ${client} ${lock} ${token}`,
  );
const releases = (trace: Trace): readonly string[] =>
  eventsOf(trace, 'release').map(
    ({ atUs, client, lock, under, released }) =>
      `${atUs / MS} ${client} ${lock} ${under}→${released}`,
  );
const crashed: Fault = {
  kind: 'crash',
  process: 'alice',
  when: { kind: 'after', point: 'alice/1/acquire' },
  restartAfterUs: null,
};

describe('a pessimistic lock', () => {
  test('is granted to waiting clients in order of arrival, as it is released', () => {
    const trace = runOf([
      patient('alice', [compute(10)]),
      patient('bob', [compute(10)], { thinkMs: 2 }),
      patient('carol', [compute(10)], { thinkMs: 1 }),
    ]);
    expect(grants(trace)).toEqual(['1 alice db 1', '13 carol db 2', '25 bob db 3']);
    expect(eventsOf(trace, 'deny').map(({ client, waits }) => [client, waits])).toEqual([
      ['carol', true],
      ['bob', true],
    ]);
    expect(eventsOf(trace, 'grant').map(({ untilUs }) => untilUs)).toEqual([null, null, null]);
  });

  test('outlives any pause of its holder', () => {
    const when = { kind: 'before', point: 'alice/1/write' } as const;
    const pause: Fault = { kind: 'pause', process: 'alice', when, forUs: 300 * MS, clocks: 'run' };
    const clients = [patient('alice', [writeOf(1)]), patient('bob', [writeOf(2)], { thinkMs: 5 })];
    const trace = runOf(clients, { faults: [pause] });
    expect(eventsOf(trace, 'write').map(({ value }) => value)).toEqual([1, 2]);
  });

  test('stays with a holder that crashed, and is never granted to another client', () => {
    const clients = [patient('alice', []), patient('bob', [], { thinkMs: 5 })];
    const trace = runOf(clients, { faults: [crashed], probe: true });
    expect(trace.ending.kind).toBe('complete');
    expect(grants(trace)).toEqual(['1 alice db 1']);
  });

  test('is granted again to the same holder, with a higher token', () => {
    const again: Fault = { ...crashed, restartAfterUs: 5 * MS };
    const one = { id: 1, thinkUs: 0, lock: 'db', work: [] };
    const alice = patient('alice', [], {}, { sections: [one, { ...one, id: 2 }] });
    const trace = runOf([alice], { faults: [again] });
    expect(grants(trace)).toEqual(['1 alice db 1', '8 alice db 2']);
    expect(releases(trace)).toEqual(['10 alice db 2→2']);
  });

  test('is not granted to a client that gave up waiting', () => {
    const bob = patient('bob', [], { thinkMs: 1 }, { lockTimeoutUs: 5 * MS, attempts: 1 });
    const clients = [patient('alice', [compute(20)]), bob, patient('carol', [], { thinkMs: 3 })];
    const trace = runOf(clients);
    expect(grants(trace)).toEqual(['1 alice db 1', '23 carol db 2']);
    expect(eventsOf(trace, 'log').map(({ text }) => text)).toEqual(['bob waits for db no more']);
  });

  test('is released, under its own grant, by a client that gave up but was granted it', () => {
    const bob = patient('bob', [], { thinkMs: 1 }, { lockTimeoutUs: 5 * MS, attempts: 1 });
    const decisions = { 'bob/1/acquire/1/reply': 20 * MS };
    const trace = runOf([bob, patient('carol', [], { thinkMs: 3 })], { decisions });
    expect(grants(trace)).toEqual(['2 bob db 1', '7 carol db 2']);
    expect(releases(trace)[0]).toBe('7 bob db 1→1');
  });

  test('is granted once, however often the request is sent', () => {
    const decisions = { 'alice/1/acquire/1/reply': 8 * MS };
    const twice = { lockTimeoutUs: 5 * MS, tries: 2 };
    const trace = runOf([patient('alice', [writeOf(1)], {}, twice)], { decisions });
    expect(grants(trace)).toEqual(['1 alice db 1']);
    expect(eventsOf(trace, 'write')[0]).toMatchObject({ under: 1, token: 1 });
  });

  test('keeps a client in its queue that gets a repeated answer to an earlier request', () => {
    const which = { kind: 'message', message: 'alice/1/acquire/1/request' } as const;
    const copy: Fault = { kind: 'duplicate', which, byUs: 3 * MS };
    const alice = patient('alice', [also('c')], { lock: 'a', thinkMs: 3 });
    const bob = patient('bob', [compute(20)], { lock: 'c' });
    const plan = planOf({ clients: [alice, bob], lock: 'pessimistic', faults: [copy] });
    const trace = run({ ...plan, network: { link: 'datagram', latencyUs: MS } });
    expect(trace.unmatched).toEqual([]);
    expect(grants(trace)).toEqual(['1 bob c 1', '4 alice a 2', '23 alice c 3']);
    expect(releases(trace).slice(1)).toEqual(['25 alice c 3→3', '27 alice a 2→2']);
  });

  test('is not requested by a client that would never release it', () => {
    const trace = runOf([patient('alice', [], {}, { releases: false, attempts: 1 })]);
    expect(grants(trace)).toEqual([]);
    expect(eventsOf(trace, 'log')).toHaveLength(1);
  });

  test('survives a crash of its server, and waiting clients ask again', () => {
    const when = { kind: 'at', atUs: 5 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'lock', when, restartAfterUs: 5 * MS };
    const clients = [patient('alice', [compute(30)]), patient('bob', [], { thinkMs: 1 })];
    const trace = runOf(clients, { faults: [crash] });
    expect(grants(trace).map((grant) => grant.split(' ').slice(1).join(' '))).toEqual([
      'alice db 1',
      'bob db 2',
    ]);
  });
});

describe('a section that takes several pessimistic locks', () => {
  test('releases them in reverse order, each under its own grant', () => {
    const trace = runOf([patient('alice', [also('b'), also('c', 2), writeOf(1, { id: 3 })])]);
    expect(grants(trace)).toEqual(['1 alice db 1', '3 alice b 2', '5 alice c 3']);
    expect(releases(trace)).toEqual(['9 alice c 3→3', '11 alice b 2→2', '13 alice db 1→1']);
    expect(eventsOf(trace, 'invoke').map(({ operation }) => operation)).toEqual([
      'alice/1/acquire',
      'alice/1/lock',
      'alice/1/lock-2',
      'alice/1/write-3',
      'alice/1/unlock-2',
      'alice/1/unlock',
      'alice/1/release',
    ]);
  });

  test('writes under the grant of its first lock', () => {
    const trace = runOf([patient('alice', [also('b'), writeOf(1, { id: 2 })])]);
    expect(eventsOf(trace, 'write')[0]).toMatchObject({ resource: 'db', under: 1, token: 1 });
  });
});

describe('two sections that take two locks in opposite order', () => {
  const opposite = [
    patient('alice', [also('b'), writeOf(1, { id: 2 })], { lock: 'a' }),
    patient('bob', [also('a'), writeOf(2, { id: 2 })], { lock: 'b' }),
  ];

  test('wait for each other forever, and the server reports the cycle', () => {
    const trace = runOf(opposite);
    const [circle, ...others] = eventsOf(trace, 'deadlock');
    expect(others).toEqual([]);
    expect(circle).toMatchObject({ atUs: 3 * MS, process: 'lock' });
    expect(circle?.waits).toHaveLength(2);
    expect(eventsOf(trace, 'write')).toEqual([]);
  });

  test('both finish if the request that closes the cycle is denied', () => {
    const trace = runOf(opposite, { options: { onDeadlock: 'abort' } });
    expect(eventsOf(trace, 'deadlock')).toHaveLength(1);
    const loser = eventsOf(trace, 'deadlock')[0]?.waits[0]?.client;
    expect(eventsOf(trace, 'write')).toHaveLength(2);
    const again = eventsOf(trace, 'invoke').filter(({ operation }) => /-round-2$/.test(operation));
    expect(again.map(({ process }) => process)).toEqual([loser, loser, loser, loser]);
  });

  test('both finish if waiting clients give up after a while', () => {
    const impatient = opposite.map((client, at) => ({
      ...client,
      lockTimeoutUs: (10 + 20 * at) * MS,
    }));
    expect(eventsOf(runOf(impatient), 'write')).toHaveLength(2);
  });
});

test('three sections close a cycle of three', () => {
  const locks = ['a', 'b', 'c'];
  const clients = ['alice', 'bob', 'carol'].map((name, at) =>
    patient(name, [also(locks[(at + 1) % 3] ?? '')], { lock: locks[at] ?? '' }),
  );
  const [circle] = eventsOf(runOf(clients), 'deadlock');
  expect(circle?.waits.map(({ client }) => client).sort()).toEqual(['alice', 'bob', 'carol']);
});
