/** Tests runs of Redlock, in the steps of its page: asking, counting, undoing, extending. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';

const alice = clientOf('alice', []);
const works: Work = { kind: 'compute', id: 1, forUs: 6 * MS };

function traceOf(
  options: Record<string, string | number> = {},
  more: { faults?: readonly Fault[]; clients?: readonly ClientPlan[] } & Partial<PlanSetup> = {},
): Trace {
  return run(planOf({ lock: 'redlock', store: 'unfenced', clients: [alice], options, ...more }));
}

/** Returns the sent requests whose names contain `word`. */
function requests(trace: Trace, word: string): readonly string[] {
  const names = eventsOf(trace, 'send').map(({ message }) => message);
  return names.filter((name) => name.includes(word) && name.endsWith('/request'));
}

/** Delays the reply of a node by `byUs`. */
function lateReply(message: string, byUs: number): Fault {
  return { kind: 'delay', which: { kind: 'message', message }, byUs };
}

function truncated(nodes: readonly string[], client = 'alice'): Fault {
  return {
    kind: 'partition',
    from: [client],
    to: nodes,
    direction: 'both',
    forUs: 100 * MS,
    when: { kind: 'at', atUs: 0 },
  };
}

describe('acquiring', () => {
  test('asks all nodes at once, with one value, and is valid for ttl - drift from then', () => {
    const trace = traceOf();
    const sent = eventsOf(trace, 'send').filter(({ from, atUs }) => from === 'alice' && atUs === 0);
    expect(sent.map(({ to }) => to)).toEqual(['lock-1', 'lock-2', 'lock-3', 'lock-4', 'lock-5']);
    expect(new Set(sent.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(eventsOf(trace, 'enter')[0]).toMatchObject({ atUs: 2 * MS, believedUntilUs: 7_900 });
    // A majority of the nodes holds the key until 1 ms (its handling) + 10 ms.
    expect(eventsOf(trace, 'grant')[0]).toMatchObject({ sentAtUs: 0, untilUs: 11 * MS + 1 });
  });

  test('may ask the nodes in turn, which leaves less time', () => {
    const trace = traceOf({ nodes: 3, asks: 'in-turn' });
    expect(eventsOf(trace, 'enter')[0]).toMatchObject({ atUs: 6 * MS, believedUntilUs: 7_900 });
  });

  test('needs a majority: two of five nodes may be cut off, three may not', () => {
    const impatient = clientOf('alice', [], { lockTimeoutUs: 4 * MS, attempts: 1 });
    const grantsWithout = (nodes: readonly string[]): number =>
      eventsOf(traceOf({}, { clients: [impatient], faults: [truncated(nodes)] }), 'grant').length;
    expect(grantsWithout(['lock-4', 'lock-5'])).toBe(1);
    expect(grantsWithout(['lock-3', 'lock-4', 'lock-5'])).toBe(0);
  });

  test.each<[number, number]>([
    [5_899, 1],
    [5_900, 0],
  ])('with a reply %i µs late results in %i grants: 7.9 ms are too long', (byUs, grants) => {
    const once = clientOf('alice', [], { attempts: 1 });
    const faults = [lateReply('alice/1/acquire/lock-2/1/reply', byUs)];
    expect(eventsOf(traceOf({}, { clients: [once], faults }), 'grant')).toHaveLength(grants);
  });

  test('tries no node twice, since its own value would deny it', () => {
    const again = clientOf('alice', [], { attempts: 1, tries: 3, lockTimeoutUs: 4 * MS });
    const trace = traceOf({ nodes: 1 }, { clients: [again], faults: [truncated(['lock-1'])] });
    expect(requests(trace, 'acquire')).toEqual(['alice/1/acquire/1/request']);
  });
});

describe('a failed attempt', () => {
  const once = clientOf('alice', [], { attempts: 1, lockTimeoutUs: 4 * MS });
  const faults = [truncated(['lock-2', 'lock-3'])];

  test('unlocks every node, also those that did not answer', () => {
    const trace = traceOf({ nodes: 3 }, { clients: [once], faults });
    expect(requests(trace, 'undo')).toEqual([
      'alice/1/undo/1/request',
      'alice/1/undo/lock-2/1/request',
      'alice/1/undo/lock-3/1/request',
    ]);
  });

  test('leaves its keys with partial: kept', () => {
    const trace = traceOf({ nodes: 3, partial: 'kept' }, { clients: [once], faults });
    expect(requests(trace, 'undo')).toEqual([]);
  });
});

describe('extending', () => {
  const renew: Work = { kind: 'renew', id: 2, ttlUs: 20 * MS };
  const holder = clientOf('alice', [works, renew]);

  test('counts from its own requests and needs a majority', () => {
    const trace = traceOf({}, { clients: [holder] });
    expect(eventsOf(trace, 'renew')[0]).toMatchObject({
      atUs: 10 * MS,
      sentAtUs: 8 * MS,
      extended: 1,
      untilUs: 29 * MS + 1,
    });
    expect(eventsOf(trace, 'lease-test')[0]).toMatchObject({ believedUntilUs: 8_000 + 17_800 });
  });

  test('fails if a majority has lost the key', () => {
    const evictions = ['lock-1', 'lock-2', 'lock-3'].map(
      (process): Fault => ({
        kind: 'evict',
        process,
        key: 'db',
        when: { kind: 'at', atUs: 5 * MS },
      }),
    );
    const write: Work = { kind: 'write', id: 3, store: 'store', key: 'x', value: 1, awaits: true };
    const writer = clientOf('alice', [works, renew, write]);
    const trace = traceOf({}, { clients: [writer], faults: evictions });
    expect(eventsOf(trace, 'renew')).toEqual([]);
    expect(eventsOf(trace, 'write')).toEqual([]);
  });
});

describe('the grant of a quorum', () => {
  const evictAt = (process: string, atUs: number): Fault => ({
    kind: 'evict',
    process,
    key: 'db',
    when: { kind: 'at', atUs },
  });
  const untilUs = (faults: readonly Fault[], options = {}): readonly (number | null)[] => {
    const clients = [clientOf('alice', [], { attempts: 1 })];
    const trace = traceOf({ nodes: 3, ...options }, { clients, faults });
    return eventsOf(trace, 'grant').map((grant) => grant.untilUs);
  };

  test('ends when too few of its nodes hold the key, though their answers still count', () => {
    const [one, two] = [evictAt('lock-1', 1_500), evictAt('lock-2', 1_700)];
    expect(untilUs([one])).toEqual([11 * MS + 1]);
    expect(untilUs([one, two])).toEqual([1_700]);
  });

  test('ends when nodes restart without their keys, unless they stay out of service', () => {
    const crashes = ['lock-1', 'lock-2'].map(
      (process): Fault => ({
        kind: 'crash',
        process,
        restartAfterUs: 500,
        when: { kind: 'at', atUs: 2_500 },
      }),
    );
    // Both have answered by then; alice still waits for the third answer.
    const faults = [...crashes, lateReply('alice/1/acquire/lock-3/1/reply', 3 * MS)];
    expect(untilUs(faults, { restart: 'at-once' })).toEqual([3 * MS]);
    expect(untilUs(faults, { restart: 'delayed' })).toEqual([11 * MS + 1]);
    expect(untilUs(faults, { restart: 'at-once', persistence: 'always' })).toEqual([11 * MS + 1]);
  });
});

describe('a replica of a node', () => {
  const untilUs = (lagUs: number): readonly (number | null)[] => {
    const failovers = ['lock-1', 'lock-2'].map(
      (process): Fault => ({ kind: 'failover', process, lagUs, when: { kind: 'at', atUs: 2_500 } }),
    );
    const faults = [...failovers, lateReply('alice/1/acquire/lock-3/1/reply', 3 * MS)];
    const clients = [clientOf('alice', [], { attempts: 1 })];
    return eventsOf(traceOf({ nodes: 3 }, { clients, faults }), 'grant').map((one) => one.untilUs);
  };

  test('has only the keys that it received before the failover', () => {
    expect(untilUs(1 * MS)).toEqual([11 * MS + 1]);
    // At 0.5 ms no node had the key: by now, no majority is known to have held it.
    expect(untilUs(2 * MS)).toEqual([0]);
  });
});

describe('a node that lost its keys', () => {
  const crash = (process: string): Fault => ({
    kind: 'crash',
    process,
    restartAfterUs: MS,
    when: { kind: 'at', atUs: 3 * MS },
  });
  const holder = clientOf('alice', [works]);
  const rival = clientOf('bob', [], { attempts: 1, section: { thinkUs: 5 * MS } });
  const faults = ['lock-1', 'lock-2'].map(crash);
  const grantsWith = (options: Record<string, string>): readonly string[] => {
    const trace = traceOf({ nodes: 3, ...options }, { clients: [holder, rival], faults });
    return eventsOf(trace, 'grant').map(({ client }) => client);
  };

  test('grants the lock twice if two of three lost it and serve at once', () => {
    expect(grantsWith({ restart: 'at-once' })).toEqual(['alice', 'bob']);
  });

  test('serves no client for the longest ttl, unless it persists its keys', () => {
    expect(grantsWith({ restart: 'delayed' })).toEqual(['alice']);
    expect(grantsWith({ restart: 'at-once', persistence: 'always' })).toEqual(['alice']);
  });

  test('measures that time by its own clock, not by true time', () => {
    const later = clientOf('bob', [], { attempts: 1, section: { thinkUs: 13 * MS } });
    const slow = ['lock-1', 'lock-2'].map(
      (process): Fault => ({
        kind: 'clock',
        process,
        stepUs: 0,
        ratePpm: -500_000,
        when: { kind: 'at', atUs: 0 },
      }),
    );
    const all = { clients: [holder, later], faults: [...slow, ...faults] };
    const trace = traceOf({ nodes: 3 }, all);
    // They restart at 4 ms; at half speed, their next 10 ms end at 24 ms.
    expect(eventsOf(trace, 'grant').map(({ client }) => client)).toEqual(['alice']);
  });

  test('serves again after that time', () => {
    const later = clientOf('bob', [], { attempts: 1, section: { thinkUs: 13 * MS } });
    const trace = traceOf({ nodes: 3 }, { clients: [holder, later], faults });
    // lock-1 and lock-2 restart at 4 ms, and answer again from 14 ms.
    expect(eventsOf(trace, 'grant').map(({ client }) => client)).toEqual(['alice', 'bob']);
  });
});
