import { describe, expect, test } from 'vitest';
import type { Trace } from '../core/history/trace.ts';
import type { Fault } from '../core/plan/fault.ts';
import type { Work } from '../core/plan/plan.ts';
import { run, whyRefused } from '../run.ts';
import { storeNamesOf, UnknownSystem } from './assemble.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf, writeOf } from './plan.fixture.ts';

const alice = clientOf('alice', [writeOf(1)]);
const sleeps: Work = { kind: 'compute', id: 9, forUs: 60 * MS };

const IN_LINE_WITH_DELAY = { waits: 'in-line', lockDelay: 5 };
const RENEWS = { clients: [clientOf('alice', [{ kind: 'renew', id: 1, ttlUs: 10 * MS }])] };

function tokens(trace: Trace): readonly number[] {
  return eventsOf(trace, 'grant').map(({ token }) => token);
}

describe('a plan', () => {
  test.each<[string, Partial<PlanSetup>]>([
    ['there is no lock spinlock', { lock: 'spinlock' }],
    ['there is no store sieve', { store: 'sieve' }],
    ['no option colour', { options: { colour: 'red' } }],
    ['no option counter: "duarble"', { options: { counter: 'duarble' } }],
    ['no option firstToken: -1', { options: { firstToken: -1 } }],
    ['two processes are named alice', { clients: [alice, alice] }],
    ['two processes are named lock', { clients: [clientOf('lock', [])] }],
    ['two processes are named store', { clients: [alice, clientOf('store', [])] }],
    ['two processes are named lock', { clients: [clientOf('a', [writeOf(1, { store: 'lock' })])] }],
    ['lockDelay has no effect with waits: in-line', { options: IN_LINE_WITH_DELAY }],
    [
      'clock has no effect on lock-service-published: its callers pass the time',
      { lock: 'lock-service-published', options: { clock: 'wall' } },
    ],
    ['no option nodes: 0', { lock: 'redlock', options: { nodes: 0 } }],
    [
      'driftMarginUs has no effect with drift: ignored',
      { lock: 'redlock', options: { drift: 'ignored', driftMarginUs: 1 } },
    ],
    [
      'timeoutUs has no effect with blocking: no',
      { lock: 'cache-lock', options: { blocking: 'no', timeoutUs: 5 } },
    ],
    ['optimistic has no lease to renew', { ...RENEWS, lock: 'optimistic' }],
    ['pessimistic has no lease to renew', { ...RENEWS, lock: 'pessimistic' }],
    ['lease-redis has no lease to renew', { ...RENEWS, lock: 'lease-redis' }],
  ])('is refused: %s', (what, setup) => {
    const plan = planOf({ clients: [alice], ...setup });
    expect(() => run(plan)).toThrow(new UnknownSystem(what));
    expect(whyRefused(plan)).toBe(what);
  });

  test('is accepted if it can run', () => {
    expect(whyRefused(planOf({ clients: [alice] }))).toBe(null);
  });

  test('has a store for each that its work names, and at least one', () => {
    const transfer: Work = { kind: 'transfer', id: 2, from: 'b', to: 'a', key: 'x', amount: 1 };
    expect(storeNamesOf({ clients: [clientOf('alice', [writeOf(1), transfer])] })).toEqual([
      'store',
      'b',
      'a',
    ]);
    expect(storeNamesOf({ clients: [] })).toEqual(['store']);
  });
});

describe('the lock service', () => {
  test('begins with the token given by an option', () => {
    const trace = run(planOf({ clients: [alice], options: { firstToken: 31 } }));
    expect(tokens(trace)).toEqual([31]);
  });

  test('keeps its counter in a crash, unless the counter is volatile', () => {
    const bob = clientOf('bob', [], { section: { thinkUs: 30 * MS } });
    const crash: Fault = {
      kind: 'crash',
      process: 'lock',
      when: { kind: 'at', atUs: 20 * MS },
      restartAfterUs: MS,
    };
    const tokensWith = (counter: string): readonly number[] =>
      tokens(run(planOf({ clients: [alice, bob], faults: [crash], options: { counter } })));
    expect(tokensWith('durable')).toEqual([1, 2]);
    expect(tokensWith('volatile')).toEqual([1, 1]);
  });

  test('judges expiry by the clock given by an option', () => {
    const bob = clientOf('bob', [], { attempts: 1, section: { thinkUs: 5 * MS } });
    const step: Fault = {
      kind: 'clock',
      process: 'lock',
      when: { kind: 'at', atUs: 3 * MS },
      stepUs: 20 * MS,
      ratePpm: 0,
    };
    const holder = clientOf('alice', [sleeps]);
    const grants = ['monotonic', 'wall'].map((clock) => {
      const plan = planOf({ clients: [holder, bob], faults: [step], options: { clock } });
      return tokens(run(plan)).length;
    });
    expect(grants).toEqual([1, 2]);
  });

  test('as published lets a client with a fast clock take a live lock, unlike the baseline', () => {
    const bob = clientOf('bob', [], { attempts: 1, section: { thinkUs: 5 * MS } });
    const fast: Fault = {
      kind: 'clock',
      process: 'bob',
      when: { kind: 'at', atUs: 0 },
      stepUs: 20 * MS,
      ratePpm: 0,
    };
    const holder = clientOf('alice', [sleeps]);
    const grants = ['lock-service', 'lock-service-published'].map(
      (lock) => tokens(run(planOf({ clients: [holder, bob], faults: [fast], lock }))).length,
    );
    expect(grants).toEqual([1, 2]);
  });

  test('as published lets a late release free its client’s next grant, unlike the baseline', () => {
    // Alice's first release times out and she acquires again before that release arrives.
    const section = { thinkUs: 0, lock: 'db', work: [] };
    const sections = [
      { ...section, id: 1 },
      { ...section, id: 2, work: [sleeps] },
    ];
    const client = { ...clientOf('alice', []), sections, pool: 2, lockTimeoutUs: 4 * MS };
    const decisions = { 'alice/1/release/1/request': 15 * MS };
    const released = ['lock-service', 'lock-service-published'].map((lock) => {
      const trace = run(planOf({ clients: [client], decisions, lock }));
      expect(tokens(trace).slice(0, 2)).toEqual([1, 2]);
      return eventsOf(trace, 'release')[0]?.released;
    });
    expect(released).toEqual([0, 2]);
  });
});

describe('a store that recovers', () => {
  test('reports every resource that was accessed, with what it still knows of it', () => {
    const crash: Fault = {
      kind: 'crash',
      process: 'store',
      when: { kind: 'at', atUs: 50 * MS },
      restartAfterUs: MS,
    };
    const read: Work = { kind: 'read', id: 1, store: 'store', key: 'x' };
    const other = clientOf('bob', [read], { section: { lock: 'log' } });
    const recovered = ['fenced-reads', 'fenced-volatile'].map((store) => {
      const trace = run(planOf({ clients: [alice, other], faults: [crash], store }));
      return eventsOf(trace, 'recovered').map(({ resource, highest, values }) => [
        resource,
        highest > 0,
        values,
      ]);
    });
    expect(recovered).toEqual([
      [
        ['db', true, { x: 1 }],
        ['log', true, {}],
      ],
      [
        ['db', false, { x: 1 }],
        ['log', false, {}],
      ],
    ]);
  });
});

describe('the probe', () => {
  test('takes each lock once after healing and writes a value that no client writes', () => {
    const bob = clientOf('bob', [{ kind: 'read', id: 4, store: 'store', key: 'y' }], {
      section: { lock: 'log' },
    });
    const trace = run(planOf({ clients: [alice, bob], probe: true, healAtUs: 50 * MS }));
    const grants = eventsOf(trace, 'grant').filter(({ client }) => client === 'probe');
    expect(grants.map(({ lock }) => lock)).toEqual(['db', 'log']);
    expect(grants[0]?.atUs).toBe(51 * MS);
    const writes = eventsOf(trace, 'write').filter(({ client }) => client === 'probe');
    expect(writes).toMatchObject([
      { resource: 'db', value: 1_000_000_000, isAccepted: true },
      { resource: 'log', key: 'y', value: 1_000_000_000, isAccepted: true },
    ]);
  });

  test('waits until the lease of a crashed client ends', () => {
    const crash: Fault = {
      kind: 'crash',
      process: 'alice',
      when: { kind: 'at', atUs: 5 * MS },
      restartAfterUs: null,
    };
    const holder = clientOf('alice', [sleeps], { ttlUs: 40 * MS });
    const plan = planOf({ clients: [holder], faults: [crash], probe: true, healAtUs: 10 * MS });
    const grants = eventsOf(run(plan), 'grant');
    expect(grants.map(({ client }) => client)).toEqual(['alice', 'probe']);
    expect(grants[1]?.atUs).toBeGreaterThanOrEqual(41 * MS);
    expect(grants[1]?.atUs).toBeLessThan(50 * MS);
  });

  test('asks for the longest ttl of all, renewals included', () => {
    const renew: Work = { kind: 'renew', id: 1, ttlUs: 90 * MS };
    const holder = clientOf('alice', [renew], { ttlUs: 40 * MS });
    const grants = eventsOf(run(planOf({ clients: [holder], probe: true })), 'grant');
    expect(grants.map(({ ttlUs }) => ttlUs)).toEqual([40 * MS, 90 * MS]);
  });
});

describe('an eviction from a store', () => {
  test('is recorded with the remaining values of the store, its highest token unchanged', () => {
    const writes = [writeOf(1), writeOf(2, { id: 2, key: 'y' })];
    const evict: Fault = {
      kind: 'evict',
      process: 'store',
      key: 'x',
      when: { kind: 'after', point: 'alice/1/write-2' },
    };
    const trace = run(planOf({ clients: [clientOf('alice', writes)], faults: [evict] }));
    const at = trace.events.findIndex(({ kind }) => kind === 'fault');
    expect(trace.events[at + 1]).toEqual({
      kind: 'recovered',
      atUs: trace.events[at]?.atUs,
      process: 'store',
      resource: 'db',
      highest: 1,
      values: { y: 2 },
    });
  });
});

test('a plan runs with its current options, even if their object was changed or shared', () => {
  const options: Record<string, string> = { counter: 'durable' };
  const plan = planOf({ clients: [alice, clientOf('bob', [writeOf(2)])], options });
  const fresh = (): Trace => run(structuredClone(plan));
  expect(run(plan)).toEqual(fresh());
  options['counter'] = 'volatile';
  expect(run(plan)).toEqual(fresh());
  options['counter'] = 'duarble';
  expect(() => run(plan)).toThrow(UnknownSystem);
  delete options['counter'];
  const others = ['lock-service', 'redis', 'lock-service', 'pessimistic'];
  for (const lock of others) {
    const other = { ...plan, system: { ...plan.system, lock, options } };
    expect(run(other)).toEqual(run(structuredClone(other)));
  }
});
