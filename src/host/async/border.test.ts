import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import { judge } from '../../check/claims.ts';
import { termsOf } from '../../check/terms.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { defineSystem } from '../../define-system.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';
import type { BuildAsync, GuardSetting } from '../../systems/protocol.ts';
import { inRealTurn } from './ambient.ts';
import { alice, type Body, happen, write } from './body.fixture.ts';
import { runAsync } from './run-async.ts';

const pair = ['alice', 'bob'].map((name) => clientOf(name, []));

function verdict(trace: Trace, claim: string): unknown {
  const terms = termsOf(planOf({ clients: pair }), { model: null, isFenced: false }, 1000);
  return judge(trace, terms, [claim])[0]?.kind;
}

const DATE_MS = (): number => Date.now();

describe('a guard within a guard', () => {
  const one = { clients: [alice(1, [])] };

  test('is a separate acquisition, which overlaps the first as another process would', async () => {
    const body: Body = async (section) => {
      const [first, second] = [section.guard({ untilMs: DATE_MS() + 30 }), section.guard()];
      await second.write('x', 2);
      second.leave();
      await first.write('x', 1);
    };
    const trace = await happen(body, one);
    expect(eventsOf(trace, 'write').map(({ value, under }) => [value, under])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(eventsOf(trace, 'leave').map(({ ordinal }) => ordinal)).toEqual([2, 1]);
    expect(eventsOf(trace, 'release').map(({ released }) => released)).toEqual([2, 1]);
    expect(verdict(trace, 'mutual-exclusion')).toBe('invalid');
  });

  test('takes its turn after the first is left', async () => {
    const trace = await happen(async (section) => {
      section.guard({ untilMs: DATE_MS() + 30 }).leave();
      section.guard().leave();
    }, one);
    expect(eventsOf(trace, 'grant').map(({ ordinal }) => ordinal)).toEqual([1, 2]);
    expect(verdict(trace, 'mutual-exclusion')).toBe('valid');
  });

  test('is left with the first when their section ends, also by a crash', async () => {
    const body: Body = async (section) => {
      section.guard();
      section.guard();
      await wait(10);
    };
    const when = { kind: 'at', atUs: 5 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'alice', when, restartAfterUs: null };
    for (const [faults, ms] of [[[], 11] as const, [[crash], 5] as const]) {
      const trace = await happen(body, { ...one, faults });
      const left = eventsOf(trace, 'leave').map(({ ordinal, atUs }) => [ordinal, atUs / MS]);
      expect(left).toEqual([
        [1, ms],
        [2, ms],
      ]);
    }
  });
});

describe('a guard that is renewed', () => {
  const renewing =
    (more: GuardSetting): Body =>
    async (section) => {
      const guard = section.guard({ token: 4, untilMs: DATE_MS() + 10 });
      await wait(5);
      guard.renew({ untilMs: DATE_MS() + 20, ...more });
      await wait(8);
      await guard.work();
    };

  test('extends its grant without a new acquisition', async () => {
    const trace = await happen(renewing({}), { clients: [alice(1, [write])] });
    expect(eventsOf(trace, 'grant').map(({ ordinal }) => ordinal)).toEqual([1]);
    expect(eventsOf(trace, 'renew').map(({ extended, ttlUs }) => [extended, ttlUs])).toEqual([
      [1, 20 * MS],
    ]);
    expect(eventsOf(trace, 'write').map(({ under, token }) => [under, token])).toEqual([[1, 4]]);
    const tests = eventsOf(trace, 'lease-test').map(({ atUs, isLive }) => [atUs / MS, isLive]);
    expect(tests).toEqual([
      [6, true],
      [14, true],
    ]);
    expect(eventsOf(trace, 'release').length).toBe(1);
    expect(verdict(trace, 'mutual-exclusion')).toBe('valid');
  });

  test('attaches the token of the renewal', async () => {
    const trace = await happen(renewing({ token: 6 }), { clients: [alice(1, [write])] });
    expect(eventsOf(trace, 'write').map(({ token }) => token)).toEqual([6]);
  });

  test('changes nothing after it is left', async () => {
    const trace = await happen(
      async (section) => {
        const guard = section.guard();
        guard.leave();
        guard.renew();
      },
      { clients: [alice(1, [])] },
    );
    expect(eventsOf(trace, 'renew')).toEqual([]);
    expect(eventsOf(trace, 'lease-test')).toEqual([]);
  });
});

test.each([5, 35])('two holders are detected even if acquiring took %i ms', async (ms) => {
  const body: Body = async (section, _, echo) => {
    await section.call(echo, { label: 'ask', request: null });
    await wait(ms);
    const guard = section.guard({ untilMs: DATE_MS() + 20 });
    await wait(10);
    guard.leave();
  };
  const trace = await happen(body, { clients: pair });
  expect(verdict(trace, 'mutual-exclusion')).toBe('invalid');
});

test('a call and a guard access with the same name are separate operations', async () => {
  const body: Body = async (section, _, echo) => {
    const guard = section.guard();
    await section.call(echo, { label: 'read', request: null });
    await guard.read('x');
    await section.call(echo, { label: 'read', request: null });
  };
  const trace = await happen(body, { clients: [alice(1, [])] });
  const names = eventsOf(trace, 'invoke').map(({ operation }) => operation);
  expect(names).toEqual(['alice/1/read', 'alice/1/read-2', 'alice/1/read-3']);
});

test('a late call of a section is made under that section’s grant', async () => {
  const body: Body = async (section, _, echo) => {
    section.guard();
    if (section.id === 2) return await wait(20).then(() => {});
    void wait(10).then(() => section.call(echo, { label: 'late', request: null }));
  };
  const seen: number[] = [];
  await happen(body, { clients: [alice(2, [])], onAsked: (under) => seen.push(under) });
  expect(seen).toEqual([1]);
});

test('a crashed incarnation writes no more, even if its code is woken', async () => {
  const kept: (() => void)[] = [];
  const body: Body = async (section, { incarnation }) => {
    const guard = section.guard();
    if (incarnation === 1) await new Promise<void>((resolve) => kept.push(resolve));
    else for (const wake of kept) wake();
    await guard.write('x', incarnation);
  };
  const crash: Fault = {
    kind: 'crash',
    process: 'alice',
    when: { kind: 'at', atUs: 5 * MS },
    restartAfterUs: MS,
  };
  const trace = await happen(body, { clients: [alice(2, [])], faults: [crash] });
  expect(eventsOf(trace, 'write').map(({ value }) => value)).toEqual([2]);
});

test('code that continues after a real wait fails its run', async () => {
  const body: Body = async (section, { name }) => {
    for (let step = 0; name === 'bob' && step < 500; step += 1) await wait(1);
    const guard = section.guard();
    if (name === 'alice') await new Promise<void>((resolve) => inRealTurn(resolve));
    await guard.write('x', 1);
  };
  const trace = await happen(body, { clients: pair });
  expect(trace.ending.kind === 'failed' ? trace.ending.error : '').toContain('outside');
});

test.each([
  ['gives nothing', undefined, 'the lock must return, for each client, a function'],
  ['is a generator', function* () {}, 'not a generator'],
])('a client whose code %s fails its run', async (_, program, message) => {
  const buildAsync: BuildAsync = () => () => Object(program);
  const about = 'wrong on purpose';
  const lock = { about, buildAsync: program === undefined ? undone : buildAsync };
  const catalogue = extend(builtIn, defineSystem({ locks: { own: lock } }));
  const plan = planOf({ clients: [alice(1, [])], lock: 'own', store: 'unfenced' });
  const { ending } = await runAsync(plan, catalogue);
  expect(ending.kind === 'failed' ? ending.error : '').toContain(message);
});

/** Returns no function, as only plain JavaScript can. */
const undone: BuildAsync = () => () => Object(1);
