/** Tests how a replay distinguishes the reasons for an unexpected outcome of a kept plan. */
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import type { Expectation, KeptCause, Plan } from '../../core/plan/plan.ts';
import { defineSystem } from '../../define-system.ts';
import { clientOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { replayKept } from './kept-replay.ts';

const before = (point: string) => ({ kind: 'before', point }) as const;

/** Alice writes once and is paused before `point`; no claim breaks. */
function pausedAt(point: string, outcome: Expectation['outcome']): Plan {
  const pause = { kind: 'pause', process: 'alice', when: before(point), forUs: MS } as const;
  const made = planOf({ clients: [clientOf('alice', [writeOf(1)])] });
  const faults = [{ ...pause, clocks: 'run' } as const];
  return { ...made, faults, expect: { claim: 'grant-order', outcome } };
}

test('a name that matched nothing in two equal runs means diverged', async () => {
  const kept = await replayKept(pausedAt('alice/1/wrote', 'reproduced'));
  expect(kept).toMatchObject({
    outcome: 'diverged',
    expected: 'reproduced',
    difference: null,
    divergedAt: 'alice/1/wrote',
  });
});

test('for a name with an unknown number, the known numbers are reported', async () => {
  const kept = await replayKept(pausedAt('alice/1/write-7', 'reproduced'));
  expect(kept.lost).toMatchObject({ from: 'write', namesakes: ['alice/1/write'] });
  const other = await replayKept(pausedAt('alice/1/wrote', 'reproduced'));
  expect(other.lost?.namesakes).toEqual([]);
});

test('a name in another section is not a namesake', async () => {
  const plan = pausedAt('alice/1/write-7', 'reproduced');
  const clients = plan.clients.map((client) => {
    const [first] = client.sections;
    const sections = first === undefined ? [] : [first, { ...first, id: 2 }];
    return { ...client, sections };
  });
  const kept = await replayKept({ ...plan, clients });
  expect(kept.lost?.namesakes).toEqual(['alice/1/write']);
});

test('a plan with the expected outcome runs once', async () => {
  const kept = await replayKept(pausedAt('alice/1/write', 'inert'));
  expect(kept).toMatchObject({ outcome: 'inert', expected: 'inert', difference: null });
});

describe('a system whose runs differ', () => {
  let runs = 0;
  const moodyLock = defineSystem({
    locks: {
      moody: {
        about: 'waits longer in every run',
        operations: ['nap'],
        buildAsync() {
          runs += 1;
          const napMs = runs;
          return () => async (section) => {
            await new Promise((resolve) => setTimeout(resolve, napMs));
            const guard = section.guard({ token: 1 });
            await guard.work();
            guard.leave();
          };
        },
      },
    },
  });

  test('is nondeterministic, even if a name matched nothing', async () => {
    const catalogue = extend(builtIn, moodyLock);
    const plan = pausedAt('alice/1/wrote', 'reproduced');
    const moody: Plan = { ...plan, system: { ...plan.system, lock: 'moody' } };
    const kept = await replayKept(moody, { catalogue });
    expect(kept.outcome).toBe('nondeterministic');
    expect(kept.difference).toMatch(/^event \d+ differs: /);
  });
});

describe('an unknown label', () => {
  /** Alice is paused before her write until bob has written, so her write is late. */
  const zombie = (point: string): Plan => {
    const pause = { kind: 'pause', process: 'alice', when: before(point), forUs: 40 * MS } as const;
    const clients = [
      clientOf('alice', [writeOf(1)], { ttlUs: 10 * MS, checksLease: false }),
      clientOf('bob', [writeOf(2)], { ttlUs: 10 * MS, backoffUs: 5 * MS }),
    ];
    const made = planOf({ store: 'unfenced', clients, faults: [{ ...pause, clocks: 'run' }] });
    return { ...made, expect: { claim: 'grant-order', outcome: 'reproduced' } };
  };

  test('is renamed to the one with which the plan reproduces, not to the nearest', async () => {
    expect((await replayKept(zombie('alice/1/write'))).outcome).toBe('reproduced');
    const { outcome, lost } = await replayKept(zombie('alice/1/writes'));
    expect(outcome).toBe('diverged');
    expect(lost).toMatchObject({ from: 'writes', rename: { from: 'writes', to: 'write' } });
    expect(lost?.nearest[0]).toBe('write');
    expect(lost?.nearest).toContain('acquire');
    expect(new Set(lost?.nearest).size).toBe(lost?.nearest.length);
  });

  test('is not renamed if the plan reproduces with no other', async () => {
    const { lost } = await replayKept(pausedAt('alice/1/wrote', 'reproduced'));
    expect(lost).toMatchObject({ from: 'wrote', rename: null });
    expect(lost?.nearest).toEqual(expect.arrayContaining(['write', 'checked']));
    expect(lost?.nearest).not.toContain('');
  });

  test('is only compared with names of the same form', async () => {
    expect((await replayKept(pausedAt('alice/nothing', 'reproduced'))).lost).toBeNull();
  });
});

describe('if the code has changed', () => {
  /** Per run: the time at which each section ended, as the code saw it. */
  const runs: number[][] = [];
  /** Bob asks 8 ms later, so a pause of that length makes alice's write late. */
  const anybody = defineSystem({
    locks: {
      anybody: {
        about: 'lets everybody in',
        operations: [],
        buildAsync() {
          const ends: number[] = [];
          runs.push(ends);
          return () => async (section) => {
            const guard = section.guard({ token: 1 });
            await guard.work();
            ends.push(performance.now());
            guard.leave();
          };
        },
      },
    },
  });
  const catalogue = extend(builtIn, anybody);

  const paused = (forUs: number, mostUs: number): Plan => {
    const pause = {
      kind: 'pause',
      process: 'alice',
      when: before('alice/1/write'),
      forUs,
    } as const;
    const bob = clientOf('bob', [writeOf(2)], { section: { thinkUs: 8 * MS } });
    const clients = [clientOf('alice', [writeOf(1)]), bob];
    const faults = [{ ...pause, clocks: 'run' } as const];
    const made = planOf({ lock: 'anybody', store: 'unfenced', clients, faults });
    const durations = { pause: { minUs: 0, maxUs: mostUs } };
    const bounds = { ...made.bounds, durations };
    return { ...made, bounds, expect: { claim: 'grant-order', outcome: 'reproduced' } };
  };

  test('a longer fault within its bounds may still break the claim', async () => {
    expect((await replayKept(paused(20 * MS, 40 * MS), { catalogue })).outcome).toBe('reproduced');
    const short = paused(3 * MS, 40 * MS);
    const same = await replayKept(short, { catalogue });
    expect(same).toMatchObject({ outcome: 'inert', changes: [], plan: short });
    const { outcome, changes, plan } = await replayKept(short, { catalogue, hasChanged: true });
    expect(outcome).toBe('reproduced');
    expect(changes).toEqual(['a pause of 12 ms instead of 3 ms']);
    expect(plan.faults).toMatchObject([{ kind: 'pause', forUs: 12 * MS }]);
  });

  test('no fault is tried beyond its bounds', async () => {
    const kept = await replayKept(paused(3 * MS, 4 * MS), { catalogue, hasChanged: true });
    expect(kept).toMatchObject({ outcome: 'inert', changes: [], lost: null });
  });

  test('no plan is tried twice, except the kept one', async () => {
    runs.length = 0;
    await replayKept(paused(3 * MS, 4 * MS), { catalogue, hasChanged: true });
    const [first, second, ...others] = runs.map((ends) => ends.join(' '));
    expect(second).toBe(first);
    expect(others.length).toBeGreaterThan(10);
    expect(new Set([first, ...others]).size).toBe(1 + others.length);
  });

  /** The kept plan with the cause of its breach, or with another cause. */
  const keptBy = (plan: Plan, cause: KeptCause): Plan => ({
    ...plan,
    expect: { claim: 'grant-order', outcome: 'reproduced', cause },
  });
  const HIT = { kind: 'pause', what: 'before access' } as const;
  const CAUSE: KeptCause = { rule: 'stale-write', isByNonOwnerRelease: false, faults: [HIT] };

  test.each<[string, Partial<KeptCause>, string | null]>([
    ['the same', {}, null],
    ['one with fewer faults', { faults: [] }, null],
    ['one with more', { faults: [HIT, { kind: 'crash', what: 'of lock' }] }, null],
    ['another rule', { rule: 'lost-update' }, 'stale-write: pause before access'],
    ['a release', { isByNonOwnerRelease: true }, 'stale-write: pause before access'],
    [
      'a fault elsewhere',
      { faults: [{ kind: 'pause', what: 'before release' }] },
      'stale-write: pause before access',
    ],
    ['one before a call of another name', { faults: [{ ...HIT, what: 'before put' }] }, null],
    [
      'one at a message of a call of another name',
      { faults: [{ ...HIT, what: 'of put reply' }] },
      'stale-write: pause before access',
    ],
    [
      'one of another kind before a call of another name',
      { faults: [{ kind: 'crash', what: 'before put' }] },
      'stale-write: pause before access',
    ],
  ])('a breach by another cause than the kept one is reported: %s', async (_, more, other) => {
    const kept = await replayKept(keptBy(paused(20 * MS, 40 * MS), { ...CAUSE, ...more }), {
      catalogue,
    });
    expect(kept).toMatchObject({ outcome: 'reproduced', otherCause: other });
  });

  test('a similar plan that breaks by another cause is reported, but is not a proof', async () => {
    const short = paused(3 * MS, 40 * MS);
    const other = keptBy(short, { ...CAUSE, rule: 'lost-update' });
    const kept = await replayKept(other, { catalogue, hasChanged: true });
    expect(kept).toMatchObject({ outcome: 'inert', changes: [], plan: other });
    expect(kept.otherCause).toBe('stale-write: pause before access');
    const same = await replayKept(keptBy(short, CAUSE), { catalogue, hasChanged: true });
    expect(same).toMatchObject({ outcome: 'reproduced', otherCause: null });
  });

  /** The same plan, with the pause before an attempt of alice's write that no longer exists. */
  const atLostTry = (plan: Plan): Plan => ({
    ...plan,
    faults: plan.faults.map((fault) => {
      return fault.kind === 'pause' ? { ...fault, when: before('alice/1/write-7') } : fault;
    }),
  });
  const MOVED = 'a pause at alice/1/write instead of alice/1/write-7';

  test('a longer fault at another attempt may still break it; both are reported', async () => {
    const plan = atLostTry(paused(3 * MS, 40 * MS));
    const kept = await replayKept(plan, { catalogue, hasChanged: true });
    expect(kept).toMatchObject({
      outcome: 'reproduced',
      changes: ['a pause of 40 ms instead of 3 ms', MOVED],
    });
  });

  /** Bob comes so late that only a slow alice comes after him. */
  const tightly = (): Plan => {
    const tight = paused(20 * MS, 20 * MS);
    const clients = tight.clients.map((client) => {
      const sections = client.sections.map((section) => {
        return client.name === 'bob' ? { ...section, thinkUs: 23 * MS } : section;
      });
      return { ...client, sections };
    });
    const bounds = { ...tight.bounds, latency: { minUs: MS, maxUs: 20 * MS } };
    return { ...tight, clients, bounds };
  };

  test('other latencies and waits may still break the claim, and are reported', async () => {
    const plan = tightly();
    const kept = await replayKept(plan, { catalogue, hasChanged: true });
    expect(kept).toMatchObject({
      outcome: 'reproduced',
      changes: ['different latencies and random numbers'],
    });
    expect(kept.plan.chance).toBeNull();
    expect((await replayKept(kept.plan, { catalogue })).digest).toBe(kept.digest);
  });

  test('other latencies are also drawn for another attempt', async () => {
    const kept = await replayKept(atLostTry(tightly()), { catalogue, hasChanged: true });
    expect(kept).toMatchObject({
      outcome: 'reproduced',
      changes: [MOVED, 'different latencies and random numbers'],
    });
  });
});
