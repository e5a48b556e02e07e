import { Console } from 'node:console';
import fs from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import { defineSystem } from '../../define-system.ts';
import { digestOf } from '../../run.ts';
import { planOf } from '../../systems/plan.fixture.ts';
import { yieldToEventLoop } from './ambient.ts';
import { alice, type Body, happen, write } from './body.fixture.ts';
import { examineEither, runAsync } from './run-async.ts';

const once = { clients: [alice(1, [write])] };

async function printedBy(print: () => unknown): Promise<readonly string[]> {
  const { output = [] } = await happen(async () => void (await print()), once);
  return output;
}

/** Waits until the globals are restored, which happens a turn after each run. */
async function released(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await yieldToEventLoop();
}

/** Each way to print, with the lines that it prints. */
const WAYS: readonly (readonly [name: string, print: () => unknown, lines: readonly string[]])[] = [
  ['console.log', () => console.log('got %d of %s', 1, 'db', { a: 1 }), ['got 1 of db { a: 1 }']],
  ['console.error', () => console.error('a\nb'), ['a', 'b']],
  [
    'console.warn, info, debug',
    () => [console.warn('w'), console.info('i'), console.debug('d')],
    ['w', 'i', 'd'],
  ],
  ['console.dir', () => console.dir({ a: { b: {} } }, { depth: 0 }), ['{ a: [Object] }']],
  ['console.dirxml', () => console.dirxml('x'), ['x']],
  ['console.assert', () => console.assert(false, 'no'), ['Assertion failed: no']],
  [
    'console.count',
    () => [console.count('n'), console.countReset('n'), console.count('n')],
    ['n: 1', 'n: 1'],
  ],
  [
    'console.group',
    () => [console.group('g'), console.log('in'), console.groupEnd(), console.log('out')],
    ['g', '  in', 'out'],
  ],
  ['new Console', () => new Console(process.stdout, process.stderr).log('own'), ['own']],
  ['process.stdout', () => process.stdout.write('one line, '), ['one line, ']],
  [
    'process.stderr, with bytes',
    () => process.stderr.write(new TextEncoder().encode('bytes\n')),
    ['bytes'],
  ],
  ['fs.writeSync', () => fs.writeSync(1, 'text\n'), ['text']],
  [
    'fs.writeSync, part of a buffer',
    () => fs.writeSync(2, Buffer.from('-buffer\n-'), 1, 7),
    ['buffer'],
  ],
  ['fs.write', () => new Promise((done) => fs.write(1, 'later\n', done)), ['later']],
  ['fs.writevSync', () => fs.writevSync(1, [Buffer.from('a'), Buffer.from('b\n')]), ['ab']],
  ['fs.writeFileSync', () => fs.writeFileSync(1, 'file\n'), ['file']],
  ['fs.fsyncSync', () => fs.fsyncSync(1), []],
  ['colors and returns', () => console.log('\u001b[31mred\u001b[0m\r'), ['red']],
];

test.for(WAYS)('output of %s is kept with the run and not printed', async ([, print, lines]) => {
  await released();
  const real = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  try {
    expect(await printedBy(print)).toEqual(lines.map((line) => `alice | ${line}`));
    for (const spy of real) expect(spy).not.toHaveBeenCalled();
  } finally {
    await released();
    for (const spy of real) spy.mockRestore();
  }
});

test('the output of console.table is kept', async () => {
  const lines = await printedBy(() => console.table([{ a: 1 }]));
  expect(lines.join('\n')).toMatch(/index.*a/);
});

test('console.time measures the simulated clock', async () => {
  const lines = await printedBy(async () => {
    console.time('wait');
    await wait(20);
    console.timeEnd('wait');
    console.timeEnd('wait');
  });
  expect(lines).toEqual(['alice | wait: 20ms', "alice | Warning: No such label 'wait'"]);
});

test('a printed stack names only user code', async () => {
  const lines = await printedBy(() => console.trace('here'));
  expect(lines[0]).toBe('alice | Trace: here');
  expect(
    lines.slice(1).every((line) => line.includes('.test.ts') || line.includes('.fixture.ts')),
  ).toBe(true);
  expect(lines.length).toBeGreaterThan(1);
});

test('a warning is kept, and also reaches the listeners of its process', async () => {
  const heard: string[] = [];
  const lines = await printedBy(async () => {
    process.on('warning', ({ message }) => heard.push(message));
    process.emitWarning('old', { type: 'DeprecationWarning' });
    process.emitWarning(new RangeError('large'));
    await wait(1);
  });
  expect(lines.map((line) => line.replace(/\d+/, 'N'))).toEqual([
    'alice | (node:N) DeprecationWarning: old',
    'alice | (node:N) RangeError: large',
  ]);
  expect(heard).toEqual(['old', 'large']);
});

test('text that is written in pieces is joined to lines, per process', async () => {
  const body: Body = async (_, { name }) => {
    process.stdout.write(`${name} `);
    await wait(5);
    process.stdout.write('is here\n');
  };
  const clients = ['alice', 'bob'].map((name) => ({ ...alice(1, [write]), name }));
  const { output } = await happen(body, { clients });
  expect(output).toHaveLength(2);
  expect(output).toEqual(expect.arrayContaining(['alice | alice is here', 'bob | bob is here']));
});

test('output is not part of the digest', async () => {
  const quiet = await happen(async () => {}, once);
  const loud = await happen(async () => console.log('hello'), once);
  expect(quiet.output).toBeUndefined();
  expect(digestOf(loud)).toBe(digestOf(quiet));
});

test('thousands of lines are kept in bounded memory', async () => {
  const { output = [] } = await happen(async () => {
    for (let at = 0; at < 13_000; at += 1) console.error(`try ${at}: no connection`);
    for (let at = 0; at < 13_000; at += 1)
      console.log('abc'[(at * at * at + (at >> 3)) % 3]?.repeat(2_000 + (at % 7) * (at % 11)));
  }, once);
  expect(output.slice(0, 2)).toEqual(['alice | try 0: no connection', '… 12,999 more']);
  expect(output.join('').length).toBeLessThan(300_000);
  expect(output.at(-1)).toMatch(/^… [\d,]+ more/);
});

test('console.log is restored after a run', async () => {
  await released();
  const { log } = console;
  await happen(async () => console.log('hello'), once);
  await released();
  expect(console.log).toBe(log);
});

const loud = extend(
  builtIn,
  defineSystem({
    claims: {
      loud: {
        about: 'prints',
        judge: () => {
          console.log('judged');
          return { exercised: 1 };
        },
      },
    },
  }),
);

test('the output of a user-defined claim is kept with the run that it judges', async () => {
  const plan = planOf({ lock: 'none', store: 'unfenced', clients: [] });
  const { trace } = await examineEither(plan, ['loud'], loud);
  expect(trace.output).toEqual(['judged']);
  expect(await runAsync(plan, loud)).not.toHaveProperty('output');
});

test('the output of a user-defined server is kept', async () => {
  const body: Body = async (_, client, echo) =>
    void (await client.call(echo, { label: 'ask', request: null }));
  const { output } = await happen(body, { ...once, onAsked: () => console.log('asked') });
  expect(output).toEqual(['asked']);
});
