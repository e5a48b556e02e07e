/**
 * Each incarnation of a simulated process has its own copy of what Node keeps per thread: its
 * changes are not seen by other processes, by its next incarnation, or by the next run.
 */
import diagnostics from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import process from 'node:process';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import { MS } from '../../systems/plan.fixture.ts';
import { happen, logOf, type Script } from './script.fixture.ts';

interface Change {
  readonly find: () => unknown;
  readonly change: () => unknown;
  /** The values found before and after the change. */
  readonly found: readonly [before: unknown, after: unknown];
}

const SIGNAL = 'SIGUSR2';
const CHANNEL = 'of this test';
const SHARED: unique symbol = Symbol.for('of this test');

/** Returns a function that `isMarked` recognizes. */
const marked = (): (() => boolean) => Object.assign(() => false, { isMine: true });
const isMarked = (key: string): unknown => Reflect.get(Reflect.get(process, key), 'isMine');

const CHANGES: Readonly<Record<string, Change>> = {
  'a listener': {
    find: () => [process.listenerCount(SIGNAL), process.listeners(SIGNAL).length],
    change: () => process.on(SIGNAL, () => {}),
    found: [
      [0, 0],
      [1, 1],
    ],
  },
  'a listener that is called once': {
    find: () => process.eventNames().includes('exit'),
    change: () => process.once('exit', () => {}),
    found: [false, true],
  },
  'a listener that a method of all emitters adds': {
    find: () => [process.listenerCount(SIGNAL), EventEmitter.listenerCount(process, SIGNAL)],
    change: () => EventEmitter.prototype.on.call(process, SIGNAL, () => {}),
    found: [
      [0, 0],
      [1, 1],
    ],
  },
  'how many may listen': {
    find: () => process.getMaxListeners(),
    change: () => process.setMaxListeners(3),
    found: [10, 3],
  },
  'how many may listen by default': {
    find: () => new EventEmitter().getMaxListeners(),
    change: () => Object.assign(EventEmitter, { defaultMaxListeners: 3 }),
    found: [10, 3],
  },
  'what becomes of rejections of listeners': {
    find: () => EventEmitter.captureRejections,
    change: () => Object.assign(EventEmitter, { captureRejections: true }),
    found: [false, true],
  },
  'a variable': {
    find: () => process.env['OF_THIS_TEST'],
    change: () => Object.assign(process.env, { OF_THIS_TEST: 1 }),
    found: [undefined, '1'],
  },
  'a variable that is taken away': {
    find: () => [process.env['OF_THE_MACHINE'], 'OF_THE_MACHINE' in { ...process.env }],
    change: () => Reflect.deleteProperty(process.env, 'OF_THE_MACHINE'),
    found: [
      ['yes', true],
      [undefined, false],
    ],
  },
  'the whole environment': {
    find: () => process.env['OF_THE_MACHINE'],
    change: () => Object.assign(process, { env: { OF_THE_MACHINE: 'no' } }),
    found: ['yes', 'no'],
  },
  'the name of what runs': {
    find: () => process.execPath === '/usr/bin/simulated',
    change: () => Object.assign(process, { execPath: '/usr/bin/simulated' }),
    found: [false, true],
  },
  'a function of process': {
    find: () => [isMarked('emit'), isMarked('cwd'), isMarked('reallyExit')],
    change: () => Object.assign(process, { emit: marked(), cwd: marked(), reallyExit: marked() }),
    found: [
      [undefined, undefined, undefined],
      [true, true, true],
    ],
  },
  'a function of the console': {
    find: () => Reflect.get(console.debug, 'isMine'),
    change: () => Object.assign(console, { debug: marked() }),
    found: [undefined, true],
  },
  'what it defines where all look, as signal-exit 4 does': {
    find: () => Reflect.get(globalThis, SHARED),
    change: () => Object.defineProperty(globalThis, SHARED, { value: 'mine' }),
    found: [undefined, 'mine'],
  },
  'what it defines by a getter, as graceful-fs does': {
    find: () => [Reflect.get(Array, SHARED), Object.keys(Array)],
    change: () => Object.defineProperty(Array, SHARED, { get: () => 'mine', enumerable: true }),
    found: [
      [undefined, []],
      ['mine', []],
    ],
  },
  'what it defines and sets again': {
    find: () => Reflect.get(Reflect, SHARED),
    change: () => {
      Object.defineProperty(Reflect, SHARED, { value: 'first', writable: true });
      Reflect.set(Reflect, SHARED, 'second');
    },
    found: [undefined, 'second'],
  },
  'how values are printed': {
    find: () => [inspect({ a: { b: { c: { d: 1 } } } }).length, inspect.defaultOptions.depth],
    change: () => Object.assign(inspect.defaultOptions, { depth: 9 }),
    found: [
      [29, 2],
      [31, 9],
    ],
  },
  'which messages of channels are heard': {
    find: () => diagnostics.hasSubscribers(CHANNEL) || diagnostics.channel(CHANNEL).hasSubscribers,
    change: () => diagnostics.subscribe(CHANNEL, () => {}),
    found: [false, true],
  },
  'which calls are traced': {
    find: () => diagnostics.tracingChannel(CHANNEL).start.hasSubscribers,
    change: () => diagnostics.tracingChannel(CHANNEL).start.subscribe(() => {}),
    found: [false, true],
  },
  'what it is called': {
    find: () => process.title === 'mine',
    change: () => Object.assign(process, { title: 'mine' }),
    found: [false, true],
  },
  'what cls-hooked keeps': {
    find: () => Reflect.get(process, 'namespaces') === undefined,
    change: () => Object.assign(process, { namespaces: {} }),
    found: [true, false],
  },
  'what signal-exit 3 keeps': {
    find: () => Reflect.get(process, '__signal_exit_emitter__') === undefined,
    change: () => Object.assign(process, { __signal_exit_emitter__: new EventEmitter() }),
    found: [true, false],
  },
};

const RESTART: Fault = {
  kind: 'crash',
  process: 'alice',
  when: { kind: 'at', atUs: 5 * MS },
  restartAfterUs: MS,
};

const idle = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));

test.each(Object.keys(CHANGES))('each incarnation has its own: %s', async (name) => {
  const { find, change, found } = CHANGES[name] ?? expect.fail(name);
  Object.assign(process.env, { OF_THE_MACHINE: 'yes', FENCEPOST_ENV: 'OF_THE_MACHINE' });
  onTestFinished(() => {
    for (const key of ['OF_THE_MACHINE', 'FENCEPOST_ENV']) Reflect.deleteProperty(process.env, key);
  });
  const machine = find();
  const script: Script = async (context) => {
    const before = find();
    change();
    await idle(2);
    context.log('', JSON.stringify([before, find()]));
    await idle(8);
  };
  const expected = JSON.stringify(found);
  for (let run = 0; run < 2; run += 1) {
    const trace = await happen({ alice: script, bob: script }, { faults: [RESTART] });
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(logOf(trace)).toEqual([`2 ${expected}`, `2 ${expected}`, `8 ${expected}`]);
    expect(find()).toEqual(machine);
  }
});

describe('an event that is emitted on process', () => {
  test('reaches the listeners of its own process only, and calls them on process', async () => {
    const script: Script = async (context) => {
      let heard = 0;
      const listener = function (this: unknown): void {
        if (this === process) heard += 1;
      };
      process.on('SIGHUP', listener).once('SIGHUP', listener);
      await idle(1);
      for (const _ of [1, 2]) process.emit('SIGHUP');
      process.off('SIGHUP', listener);
      context.log('', `${heard} ${process.emit('SIGHUP')}`);
    };
    const trace = await happen({ alice: script, bob: script });
    expect(logOf(trace)).toEqual(['1 3 false', '1 3 false']);
  });

  test('reaches no simulated process from outside, and no real listener from inside', async () => {
    const heard: string[] = [];
    const real = (): number => heard.push('real');
    process.on(SIGNAL, real);
    onTestFinished(() => void process.off(SIGNAL, real));
    const alice: Script = async () => {
      process.on(SIGNAL, () => heard.push('simulated'));
      await idle(1);
      process.removeAllListeners();
      process.emit(SIGNAL);
    };
    const run = happen({ alice });
    process.emit(SIGNAL);
    await run;
    process.emit(SIGNAL);
    expect(heard).toEqual(['real', 'real']);
  });

  test('by Node reaches real listeners outside of processes, and these may leave', async () => {
    const heard: string[] = [];
    const once = (warning: Error): void => {
      heard.push(`${warning.message} ${process.pid}`);
      process.off('warning', once);
    };
    process.on('warning', once);
    const alice: Script = async () => {
      process.emitWarning('one');
      await idle(1);
      process.emitWarning('two');
      await idle(1);
    };
    expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
    expect(heard).toEqual([`one ${process.pid}`]);
    expect(process.listeners('warning')).not.toContain(once);
  });

  test('by Node also reaches the process, whose run still fails', async () => {
    const heard: unknown[] = [];
    const alice: Script = async () => {
      process.on('unhandledRejection', (error) => heard.push(error));
      void Promise.reject('lost');
      await idle(1);
    };
    expect((await happen({ alice })).ending).toMatchObject({ kind: 'failed' });
    expect(heard).toEqual(['lost']);
  });
});

test('a property of a prototype works per object, and an object may override it', async () => {
  const key = Symbol('of this test');
  const script: Script = async (context) => {
    Object.defineProperty(Array.prototype, key, { get: lengthOf });
    Object.defineProperty(Map.prototype, key, { value: { of: 'all' }, writable: true });
    const [list, map, other] = [[1, 2], new Map(), new Map()];
    Reflect.set(map, key, 'own');
    const found = [list, map, other].map((object) => Reflect.get(object, key));
    context.log('', JSON.stringify(found));
  };
  function lengthOf(this: readonly unknown[]): number {
    return this.length;
  }
  const expected = '0 [2,"own",{"of":"all"}]';
  expect(logOf(await happen({ alice: script, bob: script }))).toEqual([expected, expected]);
});

test('each process may define a non-configurable polyfill again', async () => {
  const key = Symbol('of this test');
  const script: Script = async (context) => {
    Object.defineProperty(Array.prototype, key, { value: () => context.name });
    context.log('', Reflect.get([], key)());
  };
  const trace = await happen({ alice: script, bob: script });
  expect(logOf(trace)).toEqual(['0 alice', '0 bob']);
  Reflect.deleteProperty(Array.prototype, key);
});

test('a default that is restored stays restored', async () => {
  const script: Script = async (context) => {
    for (const most of [3, 10]) {
      EventEmitter.defaultMaxListeners = most;
      await idle(1);
    }
    context.log('', String(EventEmitter.defaultMaxListeners));
  };
  expect(logOf(await happen({ alice: script, bob: script }))).toEqual(['2 10', '2 10']);
});

test.each([['process.cache', () => Object.assign(process, { cache: {} })]])(
  'a change of `process` that cannot be isolated is refused: %s',
  async (name, change) => {
    const alice: Script = async () => void change();
    const error = expect.stringContaining(
      `it changes ${name}, which all simulated processes share`,
    );
    expect((await happen({ alice })).ending).toMatchObject({ kind: 'failed', error });
    expect(process).not.toHaveProperty('cache');
  },
);
