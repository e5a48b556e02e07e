import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault, When } from '../../core/plan/fault.ts';
import type { Work } from '../../core/plan/plan.ts';
import { whyRefused } from '../../run.ts';
import { eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { type AsyncClient, NoAnswer } from '../../systems/protocol.ts';
import { alice, type Body, catalogueOf, type EchoPort, happen, write } from './body.fixture.ts';
import { runAsync } from './run-async.ts';
import { logOf } from './script.fixture.ts';

const at = (ms: number): When => ({ kind: 'at', atUs: ms * MS });
const before = (point: string): When => ({ kind: 'before', point });
const pause = (when: When, ms: number): Fault => ({
  kind: 'pause',
  process: 'alice',
  when,
  forUs: ms * MS,
  clocks: 'run',
});
const crash = (when: When, restartAfterUs: number | null = null): Fault => ({
  kind: 'crash',
  process: 'alice',
  when,
  restartAfterUs,
});

const operationsOf = (trace: Trace): readonly string[] =>
  eventsOf(trace, 'invoke').map(({ operation }) => operation);

describe('a section', () => {
  test('that rejects is logged, leaves its lock, and lets the next one begin', async () => {
    const trace = await happen(async (section) => {
      section.guard();
      if (section.id === 1) throw new Error('the lock was lost\nand more');
    });
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(logOf(trace)).toEqual(['1 section 1 ended: Error: the lock was lost']);
    expect(eventsOf(trace, 'enter').map(({ section }) => section)).toEqual(['alice/1', 'alice/2']);
    expect(eventsOf(trace, 'leave').length).toBe(2);
  });

  test.each([
    ['a TypeError', () => Reflect.get(Object(null), 'none').such, 'Cannot read properties'],
    ['a value that is not an error', () => Promise.reject('busy'), 'busy'],
    ['an assertion', () => expect(1).toBe(2), 'expected 1 to be 2'],
  ])('that throws %s ends the run, naming the process', async (_, code, text) => {
    const trace = await happen(async () => {
      await code();
    });
    expect(trace.ending).toMatchObject({ kind: 'failed', process: 'alice' });
    expect(trace.ending.kind === 'failed' && trace.ending.error).toContain(text);
  });

  test('releases its lock on a crash only if the lock has no end of its own', async () => {
    const enterFor = (untilMs: number | null): Promise<Trace> => {
      const body: Body = async (section) => {
        section.guard(untilMs === null ? {} : { untilMs: Date.now() + untilMs });
        await wait(20);
      };
      return happen(body, { clients: [alice(1, [])], faults: [crash(at(5))] });
    };
    const releases = (trace: Trace): readonly number[] =>
      eventsOf(trace, 'release').map(({ atUs }) => atUs / MS);
    expect(releases(await enterFor(null))).toEqual([5]);
    expect(releases(await enterFor(10))).toEqual([]);
  });

  test('that a crash interrupted is skipped by the restart', async () => {
    const incarnations: string[] = [];
    const start = ({ incarnation }: AsyncClient): number =>
      incarnations.push(`life ${incarnation}`);
    const body: Body = async (section, { incarnation }) => {
      incarnations.push(`section ${section.id} in life ${incarnation}`);
      await section.guard().work();
    };
    const faults = [crash(before('alice/2/write'), 3 * MS)];
    const trace = await happen(body, { clients: [alice(3, [write])], faults, start });
    expect(incarnations).toEqual([
      'life 1',
      'section 1 in life 1',
      'section 2 in life 1',
      'life 2',
      'section 3 in life 2',
    ]);
    expect(operationsOf(trace)).toEqual(['alice/1/write', 'alice/3/write']);
  });
});

describe('a guard', () => {
  test('reads, writes and works under its grant, each at its point', async () => {
    const body: Body = async (section, { log }) => {
      const guard = section.guard({ token: 5 });
      log('', `read ${await guard.read('x')}`);
      log('', `wrote ${await guard.write('x', 3)}`);
      log('', `read ${await guard.read('x')}`);
      guard.leave();
    };
    const faults = [pause(before('alice/1/write'), 30)];
    const trace = await happen(body, { clients: [alice(1, [])], faults });
    expect(logOf(trace)).toEqual(['3 read 0', '35 wrote true', '37 read 3']);
    expect(operationsOf(trace)).toEqual(['alice/1/read', 'alice/1/write', 'alice/1/read-2']);
    expect(eventsOf(trace, 'write')).toMatchObject([{ value: 3, token: 5, under: 1 }]);
  });

  test('does the steps of the workload, and tests its lease before a write', async () => {
    const body: Body = async (section) => {
      await section.guard({ untilMs: Date.now() + 10 }).work();
    };
    const compute: Work = { kind: 'compute', id: 2, forUs: 20 * MS };
    const clients = [alice(1, [write, compute, writeOf(8, { id: 3 })])];
    const trace = await happen(body, { clients });
    expect(operationsOf(trace)).toEqual(['alice/1/write']);
    expect(eventsOf(trace, 'lease-test').map(({ isLive }) => isLive)).toEqual([true, false]);
  });

  test('gives every operation of a section a unique name', async () => {
    const body: Body = async (section) => {
      const guard = section.guard();
      await guard.write('y', 1);
      await guard.work();
      await guard.work();
      const again = section.guard();
      await again.write('y', 2);
    };
    const faults = [pause(before('alice/1/write-3'), 10)];
    const trace = await happen(body, { clients: [alice(1, [write])], faults });
    const names = [1, 2, 3, 4].map((nth) => `alice/1/write${nth === 1 ? '' : `-${nth}`}`);
    expect(operationsOf(trace)).toEqual(names);
    expect(trace.unmatched).toEqual([]);
    const [, , third] = eventsOf(trace, 'invoke');
    expect(third?.atUs).toBe(15 * MS); // sent at 5 ms without the pause
  });

  test('refuses a token that is a string, and an end that is not a time', async () => {
    const guardWith = (setting: unknown): Promise<Trace> =>
      happen(async (section) => void Reflect.apply(section.guard, section, [setting]));
    const errors = [await guardWith({ token: '5' }), await guardWith({ untilMs: Number.NaN })].map(
      ({ ending }) => ending.kind === 'failed' && ending.error,
    );
    expect(errors).toEqual([
      'guard: token must be a number, not string',
      'guard: untilMs must be a number, not NaN',
    ]);
  });

  test('works under its own grant, even after its section ended', async () => {
    const body: Body = async (section) => {
      const guard = section.guard();
      if (section.id === 2) return await wait(50);
      const late = wait(3).then(() => Promise.reject(new Error('too late')));
      await Promise.race([guard.work(), late]);
    };
    const compute: Work = { kind: 'compute', id: 1, forUs: 20 * MS };
    const trace = await happen(body, { clients: [alice(2, [compute, writeOf(8, { id: 2 })])] });
    expect(eventsOf(trace, 'enter').map(({ ordinal }) => ordinal)).toEqual([1, 2]);
    expect(eventsOf(trace, 'write').map(({ under }) => under)).toEqual([1]);
  });

  test('reports a refused read, which differs from no answer', async () => {
    const body: Body = async (section, { log }) => {
      const guard = section.guard({ token: section.id === 1 ? 5 : 4 });
      const read = await guard.read('x').catch((error: unknown) => error);
      log('', String(read));
    };
    const trace = await happen(body, { clients: [alice(2, [])], store: 'fenced-reads' });
    expect(logOf(trace).map((line) => line.replace(/^\d+ /, ''))).toEqual([
      '0',
      'AccessRefused: the read of x was refused',
    ]);
  });

  test('reports that no answer arrived, even if the operation was executed', async () => {
    const body: Body = async (section, { log }) => {
      const guard = section.guard();
      const failed = await guard.write('x', 1).catch((error: unknown) => error);
      log('', `${failed instanceof NoAnswer} ${String(failed)}`);
      await guard.read('x');
    };
    const slow: Fault = {
      kind: 'pause',
      process: 'store',
      when: at(1),
      forUs: 60 * MS,
      clocks: 'run',
    };
    const clients = [alice(1, [], { storeTimeoutUs: 10 * MS })];
    const trace = await happen(body, { clients, faults: [slow] });
    expect(logOf(trace)).toEqual([
      '11 true NoAnswer: no answer to the write of x',
      '21 section 1 ended: NoAnswer: no answer to the read of x',
    ]);
    expect(eventsOf(trace, 'write').length).toBe(1);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });
});

test('the probe tries until it has held the lock', async () => {
  let tries = 0;
  const body: Body = async (section, { name }) => {
    if (name !== 'probe') return;
    tries += 1;
    if (tries < 4) throw new Error('busy');
    await section.guard().work();
  };
  const trace = await happen(body, {
    clients: [alice(1, [write])],
    probe: true,
    healAtUs: 50 * MS,
  });
  expect(tries).toBe(4);
  expect(eventsOf(trace, 'enter').map(({ process }) => process)).toEqual(['probe']);
  expect(logOf(trace).filter((line) => line.includes('Error: busy')).length).toBe(3);
});

test('a call outside of all sections has a name under `start`', async () => {
  const asked: Promise<unknown>[] = [];
  const start = (client: AsyncClient, echo: EchoPort): void => {
    asked.push(client.call(echo, { label: 'hello', request: null }));
  };
  const body: Body = async (_section, client, echo) => {
    await Promise.all(asked);
    await client.call(echo, { label: 'hello', request: null });
  };
  const trace = await happen(body, { clients: [alice(1, [])], start });
  expect(operationsOf(trace)).toEqual(['alice/start/hello', 'alice/1/hello']);
});

test.each<[string, Work]>([
  ['renew', { kind: 'renew', id: 1, ttlUs: 1000 }],
  ['lock', { kind: 'lock', id: 1, lock: 'b' }],
  ['memoize', { kind: 'memoize', id: 1, store: 'store', key: 'x', value: 1, forUs: 1, pieces: 1 }],
])('a %s step is refused, since the code itself decides', async (step, work) => {
  const plan = planOf({ clients: [alice(1, [work])], lock: 'own', store: 'unfenced' });
  const catalogue = catalogueOf(async () => {});
  expect(whyRefused(plan, catalogue)).toBe(
    `own does not support the step "${step}": the code of its clients does this`,
  );
  await expect(runAsync(plan, catalogue)).rejects.toThrow(`does not support the step "${step}"`);
});
