/** Tests the dispatch as published, and its differences from the baseline. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { examine } from '../../harness.ts';
import { protocols } from '../../parts.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';

const SECOND = 1000 * MS;
const BACK_ENDS = ['lease-dynamodb', 'lease-memcached', 'lease-redis'];

/** A worker with one step per think time, which tries each step once. */
function worker(name: string, thinks: readonly number[], forUs: number = 2 * SECOND): ClientPlan {
  const sections = thinks.map((thinkUs, at) => ({
    id: at + 1,
    thinkUs,
    lock: 'machine',
    work: [{ kind: 'job', id: 1, tick: at, retries: 0, forUs } as const],
  }));
  const patience = { ttlUs: 10 * SECOND, lockTimeoutUs: SECOND, backoffUs: SECOND, attempts: 1 };
  return { ...clientOf(name, []), ...patience, sections };
}

function setup(
  clients: readonly ClientPlan[],
  more: Partial<PlanSetup>,
): ReturnType<typeof planOf> {
  const plan = planOf({ lock: 'lease-dynamodb', healAtUs: 60 * SECOND, clients, ...more });
  return { ...plan, limits: { ...plan.limits, probe: false, endUs: 100 * SECOND } };
}

function logs(trace: Trace): readonly string[] {
  return eventsOf(trace, 'log').map(({ process, text }) => `${process}: ${text}`);
}

/** Returns the sender, the receiver and the body of each request. */
function asked(trace: Trace): readonly unknown[] {
  return eventsOf(trace, 'send').flatMap(({ from, to, body, message }) =>
    message.endsWith('/request') ? [[from, to, body]] : [],
  );
}

const truncated: Fault = {
  kind: 'partition',
  from: ['alice'],
  to: ['lock'],
  direction: 'both',
  when: { kind: 'at', atUs: 0 },
  forUs: 2 * SECOND,
};

describe.each(BACK_ENDS)('%s', (lock) => {
  const two = [worker('alice', [0]), worker('bob', [SECOND])];
  const standby = { standby: 'yes' };

  test('as published grants a held lease twice, without a fault; the baseline does not', () => {
    const both = (name: string, options: PlanSetup['options'] = {}): string | undefined =>
      examine(setup(two, { lock: name, options }), ['mutual-exclusion']).verdicts[0]?.kind;
    expect(both(`${lock}-published`)).toBe('invalid');
    expect(both(`${lock}-published`, { onDenied: 'waits' })).toBe('valid');
    expect(both(lock, standby)).toBe('valid');
    expect(both(lock, { ...standby, onDenied: 'flips' })).toBe('invalid');
  });

  test('as published treats False as a system error, and logs one', () => {
    const trace = run(setup(two, { lock: `${lock}-published` }));
    expect(logs(trace)).toEqual(['bob: system error acquiring primary=true lease of machine']);
    const granted = eventsOf(trace, 'grant').map(({ process, token }) => [process, token]);
    expect(granted).toEqual([
      ['lock', 1],
      ['lock-standby', 1],
    ]);
  });

  test('as published releases a denied lease, at the back end that it flipped to', () => {
    const three = [...two, worker('carol', [1500 * MS])];
    const trace = run(setup(three, { lock: `${lock}-published` }));
    expect(logs(trace).filter((line) => line.startsWith('carol'))).toEqual([
      'carol: system error acquiring primary=true lease of machine',
      'carol: could not acquire lease of machine, gives up',
      'carol: could not release lease of machine, fence false',
    ]);
    const denied = eventsOf(trace, 'release').filter(({ client }) => client === 'carol');
    expect(denied).toMatchObject([{ process: 'lock-standby', released: 0 }]);
  });

  test('as a baseline releases only what it holds', () => {
    const trace = run(setup(two, { lock, options: standby }));
    expect(logs(trace)).toEqual(['bob: could not acquire lease of machine, gives up']);
    expect(eventsOf(trace, 'release').map(({ client }) => client)).toEqual(['alice']);
  });

  test('refuses onDenied: flips without a secondary', () => {
    const plan = setup(two, { lock, options: { onDenied: 'flips' } });
    expect(() => run(plan)).toThrow('onDenied: flips needs a secondary');
    expect(() => run(setup(two, { lock, options: { onDenied: 'waits' } }))).not.toThrow();
  });
});

describe('a flip', () => {
  const options = { standby: 'yes' };

  test('stays with the machine: its next dispatch starts at the secondary', () => {
    const trace = run(
      setup([worker('alice', [0, 5 * SECOND], MS)], { options, faults: [truncated] }),
    );
    const acquires = asked(trace).flatMap((it) =>
      JSON.stringify(it).includes('"acquire"') ? [it] : [],
    );
    expect(acquires).toMatchObject([
      ['alice', 'lock', { steps: 0 }],
      ['alice', 'lock-standby', { steps: 0 }],
      // The primary is reachable again; without the flip it would be asked first.
      ['alice', 'lock-standby', { steps: 1 }],
    ]);
    expect(eventsOf(trace, 'enter').map(({ token }) => token)).toEqual([1, 2]);
  });

  test('affects only its machine: another one starts at the primary', () => {
    const [first, second] = worker('alice', [0, 5 * SECOND], MS).sections;
    if (first === undefined || second === undefined) throw new Error('there are two');
    const alice = { ...worker('alice', []), sections: [first, { ...second, lock: 'other' }] };
    const trace = run(setup([alice], { options, faults: [truncated] }));
    const grants = eventsOf(trace, 'grant').flatMap(({ process, lock, token }) =>
      lock === 'other' ? [[process, token]] : [],
    );
    expect(grants).toEqual([['lock', 1]]);
  });

  test('is lost if its worker crashes', () => {
    const crash: Fault = {
      kind: 'crash',
      process: 'alice',
      when: { kind: 'at', atUs: 4 * SECOND },
      restartAfterUs: SECOND,
    };
    const faults = [truncated, crash];
    const trace = run(setup([worker('alice', [0, 5 * SECOND, SECOND], MS)], { options, faults }));
    const last = asked(trace).findLast((it) => JSON.stringify(it).includes('"acquire"'));
    // The crash skipped her second section, which had not begun.
    expect(last).toMatchObject(['alice', 'lock', { steps: 2 }]);
  });
});

test('the published protocols differ from the baselines only in their published defaults', () => {
  for (const lock of BACK_ENDS) {
    const [base, published] = [protocols.get(lock), protocols.get(`${lock}-published`)];
    const changed = published?.options.filter(
      ({ name, fallback }) =>
        base?.options.find((option) => option.name === name)?.fallback !== fallback,
    );
    expect(changed?.map(({ name, fallback }) => [name, fallback])).toEqual([
      ['standby', 'yes'],
      ['onDenied', 'flips'],
    ]);
  }
});
