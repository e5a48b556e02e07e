/** Tests in simulated runs which leases the three back ends keep and lose. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';

const SECOND = 1000 * MS;

/** A worker that takes the lease once per think time, and keeps it unless `more` overrides that. */
function worker(name: string, thinks: readonly number[], more: Partial<ClientPlan>): ClientPlan {
  const sections = thinks.map((thinkUs, at) => ({ id: at + 1, thinkUs, lock: 'm', work: [] }));
  const patience = { ttlUs: 2 * SECOND, attempts: 1, releases: false };
  return { ...clientOf(name, []), ...patience, sections, ...more };
}

function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup>): Trace {
  const plan = planOf({ healAtUs: 60 * SECOND, clients, ...setup });
  return run({ ...plan, limits: { ...plan.limits, endUs: 100 * SECOND } });
}

function tokens(trace: Trace): readonly number[] {
  return eventsOf(trace, 'grant').map(({ token }) => token);
}

const at = (us: number): { kind: 'at'; atUs: number } => ({ kind: 'at', atUs: us });

describe('the tokens of three consecutive leases', () => {
  const alice = worker('alice', [0, SECOND, SECOND], { releases: true });
  const crash: Fault = {
    kind: 'crash',
    process: 'lock',
    when: at(1500 * MS),
    restartAfterUs: 100 * MS,
  };
  const evict: Fault = { kind: 'evict', process: 'lock', key: 'm', when: at(1500 * MS) };
  const failover: Fault = { kind: 'failover', process: 'lock', when: at(1500 * MS), lagUs: SECOND };
  const always = { persistence: 'always' };

  test.each<[string, string, PlanSetup['options'], Fault, readonly number[]]>([
    ['a crash of DynamoDB', 'lease-dynamodb', {}, crash, [1, 2, 3]],
    ['a crash of memcached', 'lease-memcached', {}, crash, [1, 2, 1]],
    ['a crash of Redis', 'lease-redis', {}, crash, [1, 2, 1]],
    ['a crash of Redis that persists', 'lease-redis', always, crash, [1, 2, 3]],
    ['an eviction from DynamoDB', 'lease-dynamodb', {}, evict, [1, 2, 3]],
    ['an eviction from memcached', 'lease-memcached', {}, evict, [1, 2, 1]],
    ['a failover of DynamoDB that lags', 'lease-dynamodb', {}, failover, [1, 2, 2]],
    ['a failover of Redis that lags', 'lease-redis', always, failover, [1, 2, 2]],
  ])('after %s', (_, lock, options = {}, fault, expected) => {
    expect(tokens(runOf([alice], { lock, options, faults: [fault] }))).toEqual(expected);
  });

  test('after a silence longer than the lifetime of a key', () => {
    const slow = worker('alice', [0, SECOND, 3 * SECOND], { releases: true });
    const options = { keyTtl: 3 };
    expect(tokens(runOf([slow], { lock: 'lease-memcached', options }))).toEqual([1, 2, 1]);
    expect(tokens(runOf([slow], { lock: 'lease-redis', options }))).toEqual([1, 2, 1]);
    expect(tokens(runOf([slow], { lock: 'lease-memcached' }))).toEqual([1, 2, 3]);
  });

  test('continue if the expiry of the record, not of the lease, is postponed', () => {
    const slow = worker('alice', [0, SECOND, 3 * SECOND], { releases: true });
    const plan = planOf({ clients: [slow], lock: 'lease-memcached', options: { keyTtl: 3 } });
    const late = {
      ...plan,
      limits: { ...plan.limits, healAtUs: 60 * SECOND, endUs: 100 * SECOND },
    };
    const left = eventsOf(run(late), 'release')[1]?.message ?? '';
    const tokensWith = (of: 'lease' | 'record'): readonly number[] =>
      tokens(run(late, undefined, [{ kind: 'expiry postponed', message: left, of }]));
    expect(tokensWith('lease')).toEqual([1, 2, 1]);
    expect(tokensWith('record')).toEqual([1, 2, 3]);
  });

  test('start at the time of day with absent: clock, again after an eviction', () => {
    const trace = runOf([alice], {
      lock: 'lease-memcached',
      options: { absent: 'clock' },
      faults: [evict],
    });
    const [first = 0, second = 0, third = 0] = tokens(trace);
    expect([first, second - first]).toEqual([1, 1]);
    expect(third).toBeGreaterThan(2 * SECOND);
  });
});

describe('the lifetime of a key', () => {
  const alice = worker('alice', [0, 10 * SECOND], { releases: true });
  const leap: Fault = {
    kind: 'clock',
    process: 'lock',
    when: at(5 * SECOND),
    ratePpm: 0,
    stepUs: 90_000 * SECOND,
  };

  test.each<[string, string, PlanSetup['options'], readonly number[]]>([
    ['over by Redis’s wall clock', 'lease-redis', {}, [1, 1]],
    ['not over by its monotonic one', 'lease-redis', { expiry: 'monotonic' }, [1, 2]],
    ['not over by memcached’s, which is monotonic', 'lease-memcached', {}, [1, 2]],
  ])('is %s after the server’s clock jumped ahead', (_, lock, options = {}, expected) => {
    expect(tokens(runOf([alice], { lock, options, faults: [leap] }))).toEqual(expected);
  });
});

describe('two workers at the same time', () => {
  const both = [worker('alice', [0], {}), worker('bob', [0], {})];

  test.each(['lease-dynamodb', 'lease-memcached', 'lease-redis'])(
    'share no lease of %s',
    (lock) => {
      const trace = runOf(both, { lock });
      expect(tokens(trace)).toEqual([1]);
      expect(eventsOf(trace, 'deny')).toMatchObject([
        { client: 'bob', holder: 'alice', holderOrdinal: 1 },
      ]);
    },
  );

  test.each(['lease-dynamodb', 'lease-memcached', 'lease-redis'])(
    'exchange nothing through %s that only the observer knows',
    (lock) => {
      const clients = [
        worker('alice', [0, 3 * SECOND], { releases: true }),
        worker('bob', [0, SECOND], {}),
      ];
      const bodies = eventsOf(runOf(clients, { lock }), 'send').map(({ body }) => body);
      expect(bodies.length).toBeGreaterThan(8);
      const known = /alice|bob|holder|client|wish|sinceUs|ttlUs|ordinal/;
      for (const body of bodies) expect(JSON.stringify(body)).not.toMatch(known);
    },
  );

  test.each(['lease-dynamodb', 'lease-memcached'])(
    'are denied by %s with the holder, even if one asks later',
    (lock) => {
      const trace = runOf([worker('alice', [0], {}), worker('bob', [SECOND], {})], { lock });
      expect(eventsOf(trace, 'deny')).toMatchObject([{ client: 'bob', holder: 'alice' }]);
    },
  );

  test('share a lease that is stored with a plain set', () => {
    const trace = runOf(both, { lock: 'lease-memcached', options: { vacant: 'set' } });
    expect(tokens(trace)).toEqual([1, 1]);
  });
});

describe('the time of a lease', () => {
  const fast: Fault = {
    kind: 'clock',
    process: 'bob',
    when: at(0),
    stepUs: 10 * SECOND,
    ratePpm: 0,
  };
  const slowServer: Fault = { ...fast, process: 'lock', stepUs: -SECOND };
  const clients = [worker('alice', [0], {}), worker('bob', [SECOND], {})];

  test.each(['lease-dynamodb', 'lease-memcached'])(
    'in %s is measured by the client’s clock',
    (lock) => {
      expect(tokens(runOf(clients, { lock, faults: [fast] }))).toEqual([1, 2]);
      expect(tokens(runOf(clients, { lock, faults: [] }))).toEqual([1]);
    },
  );

  test.each(['lease-dynamodb', 'lease-memcached'])(
    'in %s is measured by its own clock with clock: server',
    (lock) => {
      const options = { clock: 'server' };
      expect(tokens(runOf(clients, { lock, options, faults: [fast] }))).toEqual([1]);
      const trace = runOf(clients, { lock, options, faults: [slowServer] });
      // Its clock is a second slow: at 3 s it shows 2 s.
      expect(eventsOf(trace, 'grant')[0]).toMatchObject({ untilUs: 3 * SECOND });
    },
  );

  test.each(['lease-dynamodb', 'lease-memcached'])(
    'in %s starts for its holder with its first request',
    (lock) => {
      const trace = runOf([worker('alice', [500 * MS], {})], { lock });
      const [grant] = eventsOf(trace, 'grant');
      expect(grant).toMatchObject({ sentAtUs: 500 * MS, ttlUs: 2 * SECOND, untilUs: 3 * SECOND });
      expect(eventsOf(trace, 'enter')[0]?.believedUntilUs).toBe(2500 * MS);
    },
  );
});
