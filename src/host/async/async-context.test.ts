/**
 * The store of an `AsyncLocalStorage` goes wherever Node takes it, and no further: not to another
 * process, to a later event, to the next run, or to the host. This does not depend on what ran
 * before in the thread: `tools/first-runs/tests.mjs` runs each test as the first one.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { EventEmitter, on, once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { MS } from '../../systems/plan.fixture.ts';
import { inSection } from '../network/in-section.fixture.ts';
import { happen, logOf, PING, type Script } from './script.fixture.ts';

const COMPLETE = { kind: 'complete' };

/** Schedules a callback, in a simulated process. */
type Way = (call: () => void, given: Parameters<Script>) => void;

/** Continues in the context in which it waited. */
const awaited =
  (waits: (given: Parameters<Script>) => Promise<unknown>): Way =>
  (call, given) =>
    void waits(given).then(call);

const WAYS: Readonly<Record<string, Way>> = {
  'a callback': (call) => call(),
  'a promise': awaited(async () => {}),
  'a wait': awaited(() => wait(2)),
  'an answer of a server': awaited(([context, echo]) =>
    context.call(echo, { label: 'ping', request: PING }),
  ),
  'a point of the program': awaited(([context]) => context.section(1).mark('point')),
  'a tick': (call) => process.nextTick(call),
  'a microtask': (call) => queueMicrotask(call),
  'a timer': (call) => void setTimeout(call, 1),
  'an immediate': (call) => void setImmediate(call),
  'an interval': (call) => {
    const interval = setInterval(() => {
      clearInterval(interval);
      call();
    }, 1);
  },
  'a signal that times out': (call) =>
    AbortSignal.timeout(1).addEventListener('abort', () => call()),
  'an emitter': (call) => void new EventEmitter().on('a', call).emit('a'),
  'an emitter that is waited for': awaited(async () => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('a'), 1);
    await once(emitter, 'a');
  }),
  'an emitter that is looped over': awaited(async () => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('a'), 1);
    for await (const _ of on(emitter, 'a')) break;
  }),
  'a resource': (call) => {
    const resource = new AsyncResource('test');
    setTimeout(() => resource.runInAsyncScope(call), 1);
  },
  'a bound function': (call) => void setTimeout(AsyncLocalStorage.bind(call), 1),
  'a snapshot': (call) => {
    const inContext = AsyncLocalStorage.snapshot();
    setTimeout(() => inContext(call), 1);
  },
};

test.each(Object.entries(WAYS))('a store follows %s', async (_, way) => {
  const storage = new AsyncLocalStorage<string>();
  const found: (string | undefined)[] = [];
  const script: Script = async (context, echo) => {
    const note = (): void => void found.push(storage.getStore());
    storage.run(`of ${context.name}`, () => way(note, [context, echo]));
    await wait(20);
    note();
  };
  for (let run = 0; run < 2; run += 1) {
    found.length = 0;
    expect((await happen({ alice: script, bob: script })).ending).toEqual(COMPLETE);
    expect([...found].sort()).toEqual(['of alice', 'of bob', undefined, undefined]);
  }
});

test('an entered store follows its async function, and `exit` and `disable` leave it', async () => {
  const storage = new AsyncLocalStorage<number>();
  const script: Script = async (context) => {
    const seen: unknown[] = [];
    storage.enterWith(1);
    seen.push(storage.getStore());
    await null;
    seen.push(storage.getStore());
    seen.push(storage.exit(() => storage.getStore() ?? 'none'));
    seen.push(storage.run(2, () => storage.getStore()));
    await wait(1);
    seen.push(storage.getStore());
    storage.disable();
    seen.push(storage.getStore() ?? 'none');
    context.log('', seen.join(' '));
  };
  expect(logOf(await happen({ alice: script }))).toEqual(['1 1 1 none 2 1 none']);
});

const RESTART: Fault = {
  kind: 'crash',
  process: 'alice',
  when: { kind: 'at', atUs: 5 * MS },
  restartAfterUs: MS,
};

test('an entered store stays within its event, process, incarnation and run', async () => {
  const storage = new AsyncLocalStorage<string>();
  const method = async (): Promise<void> => {};
  const script: Script = async (context, echo) => {
    const look = (): void => context.log('', storage.getStore() ?? 'none');
    const interval = setInterval(() => {
      look();
      storage.enterWith('of an interval');
    }, 2);
    look();
    storage.enterWith(`of ${context.name}`);
    await context.call(echo, { label: 'ping', request: PING });
    await wait(2);
    clearInterval(interval);
    await wait(8);
    look();
  };
  for (let run = 0; run < 2; run += 1) {
    const trace = await happen({ alice: script, bob: script }, { faults: [RESTART] });
    await method();
    expect(storage.getStore()).toBeUndefined();
    expect(trace.ending).toEqual(COMPLETE);
    const texts = logOf(trace).map((line) => line.replace(/^\S+ /, ''));
    expect(texts.filter((text) => text !== 'none')).toEqual(['of bob', 'of alice']);
    expect(texts.length).toBeGreaterThan(7);
  }
});

test('an entered store does not reach a process that waits meanwhile', async () => {
  const storage = new AsyncLocalStorage<string>();
  const at = (ms: number, deed: () => void): Script => {
    return async (context) => {
      await wait(ms);
      deed();
      await wait(10 - ms);
      context.log('', storage.getStore() ?? 'none');
    };
  };
  const scripts = { alice: at(2, () => storage.enterWith('of alice')), bob: at(5, () => {}) };
  expect(logOf(await happen(scripts))).toEqual(['10 of alice', '10 none']);
  await new Promise((done) => setImmediate(done));
  expect(storage.getStore()).toBeUndefined();
});

test('a socket calls its listeners in the context in which it was opened', async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const trace = await inSection(async () => {
    const note = (what: string) => (): number => seen.push(`${what} ${storage.getStore()}`);
    const socket = storage.run('opened', () => net.connect({ host: 'redis-1', port: 6379 }));
    socket.on('connect', note('connect')).on('data', note('data')).on('end', note('end'));
    await once(socket, 'connect');
    await storage.run('written', async () => {
      const answered = once(socket, 'data');
      socket.write('*1\r\n$4\r\nPING\r\n');
      await answered;
      seen.push(`answered ${storage.getStore()}`);
      socket.setTimeout(2, note('timeout'));
    });
    await once(socket, 'timeout');
    socket.write('*1\r\n$4\r\nQUIT\r\n');
    await once(socket, 'end');
  });
  expect(trace.ending).toEqual(COMPLETE);
  const opened = ['connect opened', 'data opened'];
  const closed = ['timeout written', 'data opened', 'end opened'];
  expect(seen).toEqual([...opened, 'answered written', ...closed]);
});

/** Returns the lines of a run without their times, and checks that a second run repeats them. */
async function linesOf(script: Script): Promise<readonly string[]> {
  const lines: (readonly string[])[] = [];
  for (let run = 0; run < 2; run += 1) {
    const trace: Trace = await happen({ alice: script, bob: script });
    expect(trace.ending).toEqual(COMPLETE);
    lines.push(logOf(trace).map((line) => line.replace(/^\S+ /, '')));
  }
  expect(lines[1]).toEqual(lines[0]);
  return lines[0] ?? [];
}

test('async ids of a process count its resources in the order of its requests', async () => {
  const script: Script = async (context) => {
    const numbers: number[] = [];
    const note = (): void => {
      numbers.push(asyncHooks.executionAsyncId(), asyncHooks.triggerAsyncId());
    };
    note();
    process.nextTick(note);
    await wait(1);
    note();
    const resource = new AsyncResource('test', asyncHooks.executionAsyncId());
    numbers.push(resource.asyncId(), resource.triggerAsyncId());
    resource.runInAsyncScope(note);
    context.log('', numbers.join(' '));
  };
  const [alice, bob] = await linesOf(script);
  expect(bob).toBe(alice);
  expect(alice).toMatch(/^1 2 3 1 ([1-9]\d*) \d+ (\d+) \1 \2 \1$/);
});

test('a value in the resource of an event is lost after that event', async () => {
  const key = Symbol('of the test');
  const script: Script = async (context) => {
    const kept = (): unknown => Reflect.get(asyncHooks.executionAsyncResource(), key);
    const seen = [kept()];
    Reflect.set(asyncHooks.executionAsyncResource(), key, context.name);
    seen.push(kept());
    await wait(1);
    seen.push(kept());
    context.log('', seen.map(String).join(' '));
  };
  const of = (name: string): string => `undefined ${name} undefined`;
  expect(await linesOf(script)).toEqual([of('alice'), of('bob')]);
});

test('a hook observes only its own process, until that ends', async () => {
  const kinds: string[] = [];
  let isDestroyed = false;
  const script: Script = async (context) => {
    const known = new Map<number, string>();
    const hook = asyncHooks.createHook({
      init: (id, type) => void known.set(id, type),
      before: (id) => kinds.push(`${context.name} ${known.get(id)}`),
      destroy: () => {
        isDestroyed = true;
      },
    });
    hook.enable();
    setTimeout(() => known.set(asyncHooks.executionAsyncId(), 'timer'), 1);
    await wait(3);
    new AsyncResource('test').emitDestroy();
    context.log('', [...known.keys()].slice(0, 3).join(' '));
  };
  expect(await linesOf(script)).toEqual(['1 3 4', '1 3 4']);
  const before = kinds.length;
  expect(kinds.filter((kind) => kind.startsWith('alice')).length).toBe(before / 2);
  expect(kinds).toContain('bob Timeout');
  for (let at = 0; at < 3; at += 1) await new Promise((done) => setImmediate(done));
  expect(kinds.length).toBe(before);
  expect(isDestroyed).toBe(false);
});

test('an error in a hook fails the run of its process, not the thread', async () => {
  const alice: Script = async () => {
    const init = (): void => {
      throw new Error('of a hook');
    };
    asyncHooks.createHook({ init }).enable();
    await wait(1);
  };
  const { ending } = await happen({ alice });
  expect(ending).toMatchObject({ kind: 'failed', process: 'alice', error: 'of a hook' });
});

test('a storage that a process created is disabled after its run', async () => {
  const made: AsyncLocalStorage<number>[] = [];
  const alice: Script = async () => {
    const storage = new AsyncLocalStorage<number>();
    made.push(storage);
    expect(storage instanceof AsyncLocalStorage).toBe(true);
    await storage.run(1, () => wait(1));
    expect('enabled' in storage ? storage.enabled : true).toBe(true);
  };
  expect((await happen({ alice })).ending).toEqual(COMPLETE);
  const isInUse = made.map((one) => 'enabled' in one && one.enabled);
  expect(new Set(isInUse)).toEqual(new Set([false]));
});
