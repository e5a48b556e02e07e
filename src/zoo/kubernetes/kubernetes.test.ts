import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { run } from '../../run.ts';
import { Options } from '../../systems/options.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { kubernetes } from './protocol.ts';

const S = 1000 * MS;

/** A client that leads for four seconds, with a lease of three, 80 % of which it relies on. */
function client(name: string, thinkUs: number): ClientPlan {
  const work = [writeOf(thinkUs / MS), { kind: 'compute', id: 2, forUs: 4 * S } as const];
  const settings = { ttlUs: 3 * S, lockTimeoutUs: 1 * S, backoffUs: 400 * MS };
  return clientOf(name, work, { section: { thinkUs }, ...settings });
}

function happen(options: Record<string, string>, faults: readonly Fault[] = []): Trace {
  const clients = [client('alice', 1 * MS), client('bob', 9 * MS)];
  const system = { lock: 'kubernetes', store: 'unfenced', options };
  return run(planOf({ clients, faults, ...system, healAtUs: 9 * S }));
}

function pause(point: string, forUs: number): Fault {
  const when = { kind: 'before', point } as const;
  return { kind: 'pause', process: 'alice', when, forUs, clocks: 'run' };
}

function entered(trace: Trace): readonly string[] {
  return eventsOf(trace, 'enter').map(({ process, atUs }) => `${process} ${atUs / MS}`);
}

describe('a leader', () => {
  test('leads while its heartbeat is answered; the next one leads after its release', () => {
    const trace = happen({ release: 'checked' });
    expect(trace.ending).toEqual({ kind: 'complete' });
    const [alice, bob] = eventsOf(trace, 'enter');
    expect([alice?.atUs, alice?.believedUntilUs]).toEqual([5 * MS, 3 * MS + 2.4 * S]);
    const [release] = eventsOf(trace, 'release');
    expect(release).toMatchObject({ client: 'alice', released: 1 });
    expect(bob?.atUs).toBeGreaterThan(release?.atUs ?? 0);
    expect(eventsOf(trace, 'renew').every(({ extended, under }) => extended === under)).toBe(true);
  });

  test('without a heartbeat is replaced once its record stayed unchanged for the lease', () => {
    const trace = happen({ release: 'none' }, [pause('alice/1/heartbeat', 8 * S)]);
    // bob first saw that record at 10 ms, and reads it about every 402 ms.
    expect(entered(trace)).toEqual(['alice 5', 'bob 3229']);
    const leave = eventsOf(trace, 'leave').find(({ process }) => process === 'alice');
    expect(leave?.atUs).toBeGreaterThan(8 * S);
  });

  test('that releases by an outdated copy of the record clears its successor’s', () => {
    const faults = [pause('alice/1/release-get', 3_900 * MS)];
    const releases = (release: string): readonly (readonly number[])[] => {
      const releases = eventsOf(happen({ release }, faults), 'release').filter(
        ({ client: who }) => who === 'alice',
      );
      return releases.map(({ under, released }) => [under, released]);
    };
    expect(releases('observed')).toEqual([[1, 2]]);
    expect(releases('checked')).toEqual([]);
  });
});

describe('the options', () => {
  const client1 = client('alice', 0);
  const why = (given: Record<string, string | number>, ttlUs = 3 * S): string | undefined => {
    const options = Options.read(kubernetes.options ?? [], given);
    if (typeof options === 'string') return options;
    return kubernetes.problem?.(options, [{ ...client1, ttlUs }])?.what;
  };

  test('are refused with a reason if the record cannot represent the lease', () => {
    expect(why({})).toBeUndefined();
    expect(why({}, 999 * MS)).toMatch(/^a ttl of less than 1s is 0 in the record/);
    expect(why({ duration: 'rounded-up' }, 999 * MS)).toBeUndefined();
    expect(why({ renewDeadline: 90, retryPeriod: 10 })).toMatch(/^renewDeadline and retryPeriod/);
  });
});
