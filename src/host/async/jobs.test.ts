import { AsyncLocalStorage } from 'node:async_hooks';
import { stat } from 'node:fs';
import process from 'node:process';
import {
  setImmediate as pass,
  setInterval as ticks,
  setTimeout as wait,
} from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { MS } from '../../systems/plan.fixture.ts';
import { happen, logOf, PING, type Script } from './script.fixture.ts';

describe('jobs', () => {
  test('run to their end before time moves, at any depth', async () => {
    const dive = async (depth: number): Promise<number> => {
      if (depth === 0) return 0;
      await new Promise<void>((done) => process.nextTick(done));
      await new Promise<void>((done) => queueMicrotask(done));
      return 1 + (await dive(depth - 1));
    };
    const alice: Script = async (context) => {
      setTimeout(() => context.log('', 'timer'), 1);
      context.log('', `${await dive(1000)} deep`);
    };
    expect(logOf(await happen({ alice }))).toEqual(['0 1000 deep', '1 timer']);
  });

  test('of two processes at one instant do not mix', async () => {
    const script: Script = async (context) => {
      for (let round = 0; round < 3; round += 1) {
        await wait(5);
        await null;
        context.log('', `${context.name} ${performance.now()}`);
        await null;
        context.log('', `${context.name} ${Math.random() >= 0}`);
      }
    };
    const fast = { kind: 'clock', process: 'bob', stepUs: 0, ratePpm: -500_000 } as const;
    const faults = [{ ...fast, when: { kind: 'at', atUs: 0 } as const }];
    const trace = await happen({ alice: script, bob: script }, { faults });
    expect(logOf(trace).slice(2, 6)).toEqual([
      '10 bob 5',
      '10 bob true',
      '10 alice 10',
      '10 alice true',
    ]);
  });

  test('run between two timers of one instant', async () => {
    const alice: Script = async (context) => {
      for (const name of ['a', 'b']) {
        setTimeout(() => {
          context.log('', name);
          void Promise.resolve().then(() => context.log('', `job of ${name}`));
        }, 2);
      }
    };
    for (let seed = 0; seed < 20; seed += 1) {
      const none = { latency: null, delay: null, drop: null, duplicate: null };
      const chance = { seed, latencyStepUs: 1, lateTimer: null, jitter: null, ...none };
      expect(logOf(await happen({ alice }, { chance }))).toEqual([
        '2 a',
        '2 job of a',
        '2 b',
        '2 job of b',
      ]);
    }
  });
});

describe('timers', () => {
  test('keep the context that they were set in', async () => {
    const storage = new AsyncLocalStorage<string>();
    const alice: Script = async (context) => {
      const log = (): void => context.log('', storage.getStore() ?? 'none');
      storage.run('inner', () => setTimeout(log, 2));
      storage.run('outer', () => setImmediate(log));
      await storage.run('awaited', async () => {
        await wait(3);
        log();
      });
      log();
    };
    expect(logOf(await happen({ alice }))).toEqual([
      '0.001 outer',
      '2 inner',
      '3 awaited',
      '3 none',
    ]);
  });

  test('fire late if a fault names them', async () => {
    const alice: Script = async (context) => {
      for (let round = 0; round < 2; round += 1) setTimeout(() => context.log('', 'timer'), 5);
    };
    const which = { kind: 'timer', timer: 'alice/timeout-5ms-2' } as const;
    const faults = [{ kind: 'late-timer', which, byUs: 4 * MS } as const];
    expect(logOf(await happen({ alice }, { faults }))).toEqual(['5 timer', '9 timer']);
  });

  test('are cleared, refreshed and repeated as in Node', async () => {
    const alice: Script = async (context) => {
      const log = (text: string) => (): void => context.log('', text);
      clearTimeout(setTimeout(log('cleared'), 1));
      clearTimeout(Number(setTimeout(log('cleared by number'), 1)));
      clearImmediate(setImmediate(log('cleared')));
      const late = setTimeout(log('refreshed'), 3);
      const interval = setInterval(log('tick'), 2);
      setTimeout((...given: unknown[]) => context.log('', given.join()), 4, 1, 2);
      await wait(2);
      late.refresh();
      await wait(5);
      clearInterval(interval);
      const once = setInterval(() => {
        log('once')();
        clearInterval(once);
      }, 2);
    };
    const trace = await happen({ alice });
    expect(logOf(trace)).toEqual(['2 tick', '4 1,2', '4 tick', '5 refreshed', '6 tick', '9 once']);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('that are unreferenced end with their process', async () => {
    const alice: Script = async (context) => {
      setInterval(() => context.log('', 'beat'), 2).unref();
      await wait(5);
    };
    const trace = await happen({ alice });
    expect(logOf(trace)).toEqual(['2 beat', '4 beat']);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('that are unreferenced and have fired no longer count', async () => {
    const alice: Script = async (context) => {
      setTimeout(() => context.log('', 'early'), 2).unref();
      setTimeout(() => context.log('', 'late'), 9);
    };
    expect(logOf(await happen({ alice }))).toEqual(['2 early', '9 late']);
  });

  test('of timers/promises end when they are aborted', async () => {
    const alice: Script = async (context) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error('enough')), 3);
      const { signal } = controller;
      const failed = await wait(10, null, { signal }).catch((error: unknown) => error);
      const { name, code, cause } = Object(failed);
      context.log('', `${name} ${code} ${cause.message}`);
      await pass(1, { signal }).catch(({ name }) => context.log('', name));
      await wait(10, 1, { signal: AbortSignal.timeout(4) }).catch(({ cause: { name } }) =>
        context.log('', name),
      );
      let count = 0;
      for await (const value of ticks(2, 'tick')) {
        context.log('', value);
        count += 1;
        if (count === 2) break;
      }
    };
    const trace = await happen({ alice });
    expect(logOf(trace)).toEqual([
      '3 AbortError ABORT_ERR enough',
      '3 AbortError',
      '7 TimeoutError',
      '9 tick',
      '11 tick',
    ]);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('of a timers/promises interval are all delivered, even to a slow reader', async () => {
    const law = fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 12 }),
      async (everyMs, workMs) => {
        const alice: Script = async (context) => {
          let count = 0;
          for await (const value of ticks(everyMs, 'tick')) {
            context.log('', value);
            const work = workMs[count] ?? 0;
            count += 1;
            if (work > 0) await wait(work);
            if (count === workMs.length) break;
          }
        };
        // A tick that fires while its reader works waits for the reader.
        let freeMs = 0;
        const expected = workMs.map((work, at) => {
          const givenMs = Math.max((at + 1) * everyMs, freeMs);
          freeMs = givenMs + work;
          return `${givenMs} tick`;
        });
        expect(logOf(await happen({ alice }))).toEqual(expected);
      },
    );
    await fc.assert(law, { numRuns: runs(100) });
  });
});

describe('a run fails', () => {
  const FAILURES: readonly (readonly [string, Script, string])[] = [
    ['when a program throws', () => Promise.reject(new Error('no')), 'no'],
    [
      'when a program throws before its first await',
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
    [
      'when a rejection is not handled',
      async () => {
        void wait(1).then(() => Promise.reject(new Error('lost')));
        await wait(5);
      },
      'unhandled rejection: lost',
    ],
    ['when a timer throws', async () => void setTimeout(() => Object(null).a.b, 1), 'undefined'],
    [
      'when a tick throws',
      async () => {
        process.nextTick(() => {
          throw new Error('tick');
        });
      },
      'tick',
    ],
    [
      'when a program waits for its clock to move',
      async () => {
        const end = Date.now() + 10;
        while (Date.now() < end);
      },
      'it polls its clock',
    ],
    [
      'when a program passes points without waiting',
      async (context) => {
        for (const section = context.section(1); ; ) await section.mark('again');
      },
      'it never waits',
    ],
  ];

  test.each(FAILURES)('%s', async (_, alice, error) => {
    const { ending } = await happen({ bob: async () => wait(3), alice });
    expect(ending).toEqual({
      kind: 'failed',
      process: 'alice',
      error: expect.stringContaining(error),
    });
  });
});

describe('a program that has ended', () => {
  test('continues while something can still wake its code', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      const beat = setInterval(() => context.log('', 'beat'), 3);
      beat.unref();
      void section.call(echo, { label: 'ping', request: PING }).then(async () => {
        context.log('', 'answer');
        await wait(2);
        context.log('', 'waited');
      });
    };
    const pause = { kind: 'pause', process: 'alice', forUs: 10 * MS, clocks: 'run' } as const;
    const faults = [{ ...pause, when: { kind: 'before', point: 'alice/1/ping' } } as const];
    const trace = await happen({ alice }, { faults });
    expect(logOf(trace)).toEqual(['10 beat', '12 answer', '13 beat', '14 waited']);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });
});

test('references that a program keeps have no effect after its run', async () => {
  const kept: (() => void)[] = [];
  const alice: Script = async (context, echo) => {
    const section = context.section(1);
    kept.push(() => {
      context.log('', 'late');
      context.section(2).enter({ lock: 'db' });
      void section.call(echo, { label: 'ping', request: PING });
      void section.mark('here');
    });
    await new Promise(() => {});
  };
  const trace = await happen({ alice });
  const count = trace.events.length;
  for (const act of kept) act();
  expect(trace.events.length).toBe(count);
});

test('code that awaits may read a clock any number of times', async () => {
  const alice: Script = async () => {
    for (let at = 0; at < 1_200_000; at += 1) {
      Date.now();
      if (at === 600_000) await wait(1);
    }
  };
  expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
});

test('a mark does not change the time of the code that passes it', async () => {
  const alice: Script = async (context) => {
    await wait(3);
    const passed = context.section(1).mark('here');
    context.log('', String(performance.now()));
    await passed;
    context.log('', String(performance.now()));
  };
  expect(logOf(await happen({ alice }))).toEqual(['3 3', '3 3']);
});

describe('a program that never ends', () => {
  const truncatedAt = async (alice: Script): Promise<unknown> =>
    (await happen({ alice }, { limits: { endUs: 50 * MS, maxEvents: 2000 } })).ending;

  test('is stopped by the limits of its plan', async () => {
    const beats: Script = async () => {
      for (;;) await wait(1);
    };
    const polls: Script = async () => {
      for (;;) await pass();
    };
    const asks: Script = async (context, echo) => {
      for (;;) await context.section(1).call(echo, { label: 'ping', request: PING });
    };
    expect(await truncatedAt(beats)).toEqual({ kind: 'cut', limit: 'end' });
    expect(await truncatedAt(asks)).toEqual({ kind: 'cut', limit: 'end' });
    expect(await truncatedAt(polls)).toEqual({ kind: 'cut', limit: 'maxEvents' });
  });

  test('is complete if nothing can wake it', async () => {
    const trace = await happen({ alice: () => new Promise(() => {}) });
    expect(trace.ending).toEqual({ kind: 'complete' });
  });
});

test('after a job threw at any step, the thread itself sees the real process', async () => {
  const real = process.pid;
  const pids = new Set<number>();
  let isOver = false;
  const look = (): void => {
    pids.add(process.pid);
    if (!isOver) stat('.', look);
  };
  look();
  for (let steps = 50; steps < 80; steps += 1) {
    const alice: Script = async () => {
      for (let at = 0; at < steps; at += 1) await wait(1);
      process.nextTick(() => {
        throw new Error('nobody handles it');
      });
      await wait(5);
    };
    expect((await happen({ alice })).ending.kind).toBe('failed');
  }
  isOver = true;
  expect(pids).toEqual(new Set([real]));
});

describe('a timer that is never cleared', () => {
  const limits = { endUs: 3000 * MS };

  test.each([
    ['an interval', () => setInterval(() => {}, 100)],
    ['a timeout', () => setTimeout(() => {}, 60_000)],
  ])('lets a run complete after all programs end: %s', async (_, set) => {
    const alice: Script = async () => void set();
    expect((await happen({ alice }, { limits })).ending).toEqual({ kind: 'complete' });
  });

  test('does not end a run while a program still waits', async () => {
    const alice: Script = async () => void setInterval(() => {}, 100);
    const bob: Script = () => wait(60_000);
    const { ending } = await happen({ alice, bob }, { limits });
    expect(ending).toEqual({ kind: 'cut', limit: 'end' });
  });
});

describe('the jobs that remain after one threw', () => {
  const throwing = (): never => {
    throw new Error('nobody handles it');
  };

  test.each([1, 3, 80])(
    'run in their process, and not in the real one: %i throw',
    async (count) => {
      const seen: string[] = [];
      const alice: Script = async () => {
        await wait(1);
        for (let at = 0; at < count; at += 1) {
          process.nextTick(throwing);
          process.nextTick(() => seen.push(`${process.pid} ${new Date().getUTCFullYear()}`));
          void Promise.resolve().then(() => seen.push(`${process.pid} 2024`));
        }
        await wait(5);
      };
      const trace = await happen({ alice });
      expect(trace.ending).toMatchObject({ kind: 'failed', error: 'nobody handles it' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(seen.length).toBe(2 * count);
      expect(new Set(seen).size).toBe(1);
      expect(seen[0]).toMatch(/ 2024$/);
    },
  );
});
