import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { judge } from '../check/claims.ts';
import { termsOf } from '../check/terms.ts';
import type { Trace } from '../history/trace.ts';
import { clientOf, eventsOf, planOf } from '../systems/plan.fixture.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { EPOCH_MS } from './life.ts';
import { type Fill, runAsync } from './run-async.ts';

/** Two clients that increment under a guard, without any lock: alice at 0, bob at `bobMs`. */
function fillAt(bobMs: number): Fill {
  return (_plan, world) => {
    const server = storeKinds.get('unfenced')?.build('store', null);
    if (server === undefined) throw new Error('there is no unfenced store');
    const store = world.addServer({ name: 'store', role: 'store' }, server);
    for (const [name, ms] of [
      ['alice', 0],
      ['bob', bobMs],
    ] as const) {
      world.addClient(name, async (context) => {
        const section = context.section(1);
        if (ms > 0) await wait(ms);
        const guard = section.enter({ lock: 'db', untilMs: Date.now() + 10 });
        const read = await guard.read(store, 'x');
        const value =
          read.kind === 'answered' && read.reply.kind === 'value' ? read.reply.value : 0;
        await guard.write(store, 'x', value + 1);
        guard.leave();
      });
    }
  };
}

const plan = planOf({ clients: [clientOf('alice', []), clientOf('bob', [])] });

const verdictOf = (trace: Trace): unknown =>
  judge(trace, termsOf(plan, { model: null, isFenced: false }, 1000), ['grant-order'])[0]?.kind;

describe('grant-order judges guards', () => {
  test('that took turns', async () => {
    const trace = await runAsync(plan, fillAt(20));
    expect(eventsOf(trace, 'write').map(({ value, under }) => [value, under])).toEqual([
      ...[
        [1, 1],
        [2, 2],
      ],
    ]);
    expect(verdictOf(trace)).toBe('valid');
  });

  test('that did not', async () => {
    const trace = await runAsync(plan, fillAt(1));
    expect(eventsOf(trace, 'write').map(({ value, under }) => [value, under])).toEqual([
      ...[
        [1, 1],
        [1, 2],
      ],
    ]);
    expect(verdictOf(trace)).toBe('invalid');
  });
});

test('a guard says until when its program believes, by the program’s own date', async () => {
  const faults = [
    {
      kind: 'clock',
      process: 'alice',
      when: { kind: 'at', atUs: 0 },
      stepUs: 3_000_000,
      ratePpm: 0,
    },
  ] as const;
  const late: Fill = (_plan, world) => {
    world.addClient('alice', async (context) => {
      await wait(1);
      context
        .section(1)
        .enter({ lock: 'db', untilMs: EPOCH_MS + 3011 })
        .leave();
      context.section(2).enter({ lock: 'db' });
    });
  };
  const trace = await runAsync({ ...plan, faults }, late);
  const [first, second] = eventsOf(trace, 'enter');
  expect(first).toMatchObject({ atUs: 1000, believedUntilUs: 11_000, section: 'alice/1' });
  expect(second?.believedUntilUs).toBeGreaterThan(1e12);
  expect(eventsOf(trace, 'grant').map(({ ordinal, untilUs }) => [ordinal, untilUs])).toEqual([
    [1, 11_000],
    [2, expect.any(Number)],
  ]);
  expect(eventsOf(trace, 'release').length).toBe(1);
});
