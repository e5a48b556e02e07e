/**
 * Tests runs of the lock on one Redis instance: which locks its node loses, and whose grants its
 * commands affect.
 */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';

const works: Work = { kind: 'compute', id: 1, forUs: 6 * MS };
const alice = clientOf('alice', [works]);

/** Asks once, after alice has held the lock for 3 ms. */
const bob = clientOf('bob', [], { attempts: 1, section: { thinkUs: 4 * MS } });

function traceOf(
  options: Record<string, string>,
  faults: readonly Fault[] = [],
  clients: readonly ClientPlan[] = [alice, bob],
): Trace {
  return run(planOf({ lock: 'redis', store: 'unfenced', clients, options, faults }));
}

function granted(trace: Trace): readonly string[] {
  return eventsOf(trace, 'grant').map(({ client }) => client);
}

describe('a held lock', () => {
  test('is denied to others, and ends by the wall clock one microsecond after its ttl', () => {
    const trace = traceOf({});
    expect(granted(trace)).toEqual(['alice']);
    expect(eventsOf(trace, 'grant')[0]).toMatchObject({ untilUs: 11 * MS + 1, token: 0 });
    expect(eventsOf(trace, 'deny')[0]).toMatchObject({ client: 'bob', holder: 'alice' });
  });

  const step: Fault = {
    kind: 'clock',
    process: 'lock',
    stepUs: 20 * MS,
    ratePpm: 0,
    when: { kind: 'at', atUs: 3 * MS },
  };
  test('is granted again if the wall clock is set forward, unless expiry is monotonic', () => {
    expect(granted(traceOf({}, [step]))).toEqual(['alice', 'bob']);
    expect(granted(traceOf({ expiry: 'monotonic' }, [step]))).toEqual(['alice']);
  });

  const crash: Fault = {
    kind: 'crash',
    process: 'lock',
    restartAfterUs: MS,
    when: { kind: 'at', atUs: 3 * MS },
  };
  test('is lost in a crash, unless the node persists every write', () => {
    expect(granted(traceOf({}, [crash]))).toEqual(['alice', 'bob']);
    expect(granted(traceOf({ persistence: 'always' }, [crash]))).toEqual(['alice']);
  });

  const failover = (lagUs: number): Fault => ({
    kind: 'failover',
    process: 'lock',
    lagUs,
    when: { kind: 'at', atUs: 3 * MS },
  });
  test('survives a failover only if the replica received it in time', () => {
    expect(granted(traceOf({}, [failover(1 * MS)]))).toEqual(['alice']);
    expect(granted(traceOf({}, [failover(3 * MS)]))).toEqual(['alice', 'bob']);
  });

  const evict: Fault = {
    kind: 'evict',
    process: 'lock',
    key: 'db',
    when: { kind: 'at', atUs: 3 * MS },
  };
  test('is granted again if its key is evicted', () => {
    expect(granted(traceOf({}, [evict]))).toEqual(['alice', 'bob']);
  });
});

/** Alice is paused before `point` beyond her lease; bob holds the lock when she resumes. */
function late(point: string, options: Record<string, string>): Trace {
  const renews: Work = { kind: 'renew', id: 1, ttlUs: 10 * MS };
  const works: Work = { kind: 'compute', id: 2, forUs: 5 * MS };
  const pause: Fault = {
    kind: 'pause',
    process: 'alice',
    forUs: 14 * MS,
    clocks: 'run',
    when: { kind: 'before', point },
  };
  const rival = clientOf('bob', [works], { attempts: 1, section: { thinkUs: 12 * MS } });
  const first = clientOf('alice', point.endsWith('renew') ? [renews] : []);
  return traceOf(options, [pause], [first, rival]);
}

describe('a release after the end of the lease', () => {
  test.each<[string, number]>([
    ['compare-and-delete', 0],
    ['get-then-delete', 2],
    ['delete', 2],
  ])('by %s, after any check, ends grant %i', (release, released) => {
    const [event] = eventsOf(late('alice/1/release', { release }), 'release');
    expect(event).toMatchObject({ client: 'alice', under: 1, released });
  });

  test('that reads another value first deletes nothing', () => {
    const trace = late('alice/1/release-get', { release: 'get-then-delete' });
    expect(eventsOf(trace, 'release').map(({ client }) => client)).toEqual(['bob']);
  });
});

describe('a renew after the end of the lease', () => {
  test.each<[string, number]>([
    ['compare', 0],
    ['any', 2],
  ])('that compares %s extends grant %i', (renew, extended) => {
    const [event] = eventsOf(late('alice/1/renew', { renew }), 'renew');
    expect(event).toMatchObject({ client: 'alice', under: 1, extended });
  });
});

test('a client may use the random value as a token', () => {
  const [grant] = eventsOf(traceOf({ token: 'value' }), 'grant');
  expect(grant?.token).toBeGreaterThan(0);
  expect(eventsOf(traceOf({ token: 'value' }), 'enter')[0]?.token).toBe(grant?.token);
});
