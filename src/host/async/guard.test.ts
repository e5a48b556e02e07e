import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../../catalogue.ts';
import { judge } from '../../check/claims.ts';
import { termsOf } from '../../check/terms.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Port } from '../../core/world/port.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import { defineSystem } from '../../define-system.ts';
import { GrantRecorder } from '../../systems/grant-recorder.ts';
import { clientOf, eventsOf, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncSection, BuildAsync } from '../../systems/protocol.ts';
import { EPOCH_MS } from './incarnation.ts';
import { runAsync } from './run-async.ts';
import { type Fill, runFilled } from './run-filled.ts';

/** Returns a catalogue with a lock that excludes no client; bob comes `bobMs` after alice. */
function noLock(bobMs: number): Catalogue {
  const buildAsync: BuildAsync =
    () =>
    ({ name }) =>
    async (section) => {
      if (name === 'bob') await wait(bobMs);
      const guard = section.guard({ untilMs: Date.now() + 10 });
      await guard.write('x', (await guard.read('x')) + 1);
      guard.leave();
    };
  const about = 'a lock that is none';
  return extend(builtIn, defineSystem({ locks: { own: { about, servers: [], buildAsync } } }));
}

const clients = [clientOf('alice', []), clientOf('bob', [])];
const plan = planOf({ clients, lock: 'own', store: 'unfenced' });

const terms = termsOf(plan, { model: null, isFenced: false }, 1000);

const verdictsOf = (trace: Trace): unknown =>
  judge(trace, terms, ['grant-order', 'no-lost-update']).map(({ kind }) => kind);

describe('grant-order and no-lost-update judge guards', () => {
  test('that took turns', async () => {
    const trace = await runAsync(plan, noLock(20));
    expect(eventsOf(trace, 'write').map(({ value, under }) => [value, under])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(verdictsOf(trace)).toEqual(['valid', 'valid']);
  });

  test('that did not', async () => {
    const trace = await runAsync(plan, noLock(1));
    expect(eventsOf(trace, 'write').map(({ value, under }) => [value, under])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(verdictsOf(trace)).toEqual(['invalid', 'invalid']);
  });
});

test('a write names the last read or write of its key under the same guard', async () => {
  const buildAsync: BuildAsync = () => () => async (section) => {
    const guard = section.guard();
    await guard.write('x', 1);
    await guard.write('x', 2);
    await guard.write('y', await guard.read('y'));
    guard.leave();
    const next = section.guard();
    await next.write('y', await next.read('x'));
  };
  const locks = { own: { about: 'a lock that is none', servers: [], buildAsync } };
  const one = planOf({ clients: [clientOf('alice', [])], lock: 'own', store: 'unfenced' });
  const trace = await runAsync(one, extend(builtIn, defineSystem({ locks })));
  const bases = eventsOf(trace, 'invoke').map(({ operation, call }) => [
    operation,
    'base' in call ? call.base : undefined,
  ]);
  expect(bases.filter(([operation]) => operation?.includes('write'))).toEqual([
    ['alice/1/write', undefined],
    ['alice/1/write-2', 'alice/1/write'],
    ['alice/1/write-3', 'alice/1/read'],
    ['alice/1/write-4', undefined],
  ]);
});

test('a guard records the lease end that its program assumes, by its own clock', async () => {
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
  const trace = await runFilled({ ...plan, faults }, late);
  const [first, second] = eventsOf(trace, 'enter');
  expect(first).toMatchObject({ atUs: 1000, believedUntilUs: 11_000, section: 'alice/1' });
  expect(second?.believedUntilUs).toBeGreaterThan(1e12);
  expect(eventsOf(trace, 'grant').map(({ ordinal, untilUs }) => [ordinal, untilUs])).toEqual([
    [1, 11_000],
    [2, null],
  ]);
  expect(eventsOf(trace, 'release').length).toBe(1);
});

describe('a guard after an acquire that a server granted', () => {
  type Verb = 'acquire' | 'again';

  /** Grants every request; `again` repeats the last grant. */
  class Granting implements Server<Verb, number> {
    private readonly recorder: GrantRecorder = new GrantRecorder('lock');

    handle(verb: Verb, turn: Turn<number>): number {
      const terms = { lock: 'db', client: turn.client, token: 0, ttlUs: 50_000, untilUs: null };
      if (verb === 'again') this.recorder.grantAgain(turn, terms);
      else this.recorder.grant(turn, terms);
      return 1;
    }
  }

  async function grantsOf(
    body: (section: AsyncSection, ask: (verb: Verb) => Promise<unknown>) => Promise<void>,
  ): Promise<readonly (readonly [giver: string, ordinal: number])[]> {
    const buildAsync: BuildAsync = (world) => {
      const port: Port<Verb, number> = {
        host: world.addServer({ name: 'lock', role: 'lock' }, new Granting()),
        describeRequest: () => ({ verb: 'acquire', lock: 'db', token: 0 }),
        describeReply: () => ({ kind: 'granted', token: 0 }),
      };
      return () => (section) =>
        body(section, (verb) => section.call(port, { label: verb, request: verb }));
    };
    const locks = { own: { about: 'grants always', buildAsync } };
    const plan = planOf({ clients: [clientOf('alice', [])], lock: 'own', store: 'unfenced' });
    const trace = await runAsync(plan, extend(builtIn, defineSystem({ locks })));
    expect(trace.ending).toEqual({ kind: 'complete' });
    const givers = new Map(eventsOf(trace, 'grant').map((one) => [one.ordinal, one.process]));
    return eventsOf(trace, 'enter').map(({ ordinal }) => [givers.get(ordinal) ?? '', ordinal]);
  }

  test('refers to that grant, and a second guard to a grant of its own', async () => {
    const entered = await grantsOf(async (section, ask) => {
      await ask('acquire');
      section.guard();
      section.guard();
    });
    expect(entered).toEqual([
      ['lock', 1],
      ['alice', 2],
    ]);
  });

  test('refers to the grant of its own answer, even if two jobs acquire at once', async () => {
    const entered = await grantsOf(async (section, ask) => {
      const job = async (): Promise<void> => {
        await ask('acquire');
        section.guard();
      };
      await Promise.all([job(), job()]);
    });
    expect(entered.map(([giver]) => giver)).toEqual(['lock', 'lock']);
    expect(new Set(entered.map(([, ordinal]) => ordinal)).size).toBe(2);
  });

  test('refers to a repeated grant only after the first guard is left', async () => {
    const again = (isLeft: boolean) =>
      grantsOf(async (section, ask) => {
        await ask('acquire');
        const first = section.guard();
        if (isLeft) first.leave();
        await ask('again');
        section.guard();
      });
    expect(await again(true)).toEqual([
      ['lock', 1],
      ['lock', 1],
    ]);
    expect(await again(false)).toEqual([
      ['lock', 1],
      ['alice', 2],
    ]);
  });
});
