import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import type { FinishedRange } from './chunk.ts';
import { NO_COUNTS, type SweepCounts } from './counts.ts';
import { lossy } from './lossy.fixture.ts';
import type { SeedRange } from './shards.ts';
import { ChunkSource, openPool, type Progress, sweep } from './sweep.ts';

afterEach(() => void vi.useRealTimers());

const text = `name: calm
systems: { one: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } } }
`;

function sameFor(systems: readonly string[], range: SeedRange): ReadonlyMap<string, SeedRange> {
  return new Map(systems.map((name) => [name, range]));
}

test('a sweep in this thread ends while timers are faked', async () => {
  const read = loadScenario(text, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  vi.useFakeTimers();
  const { isComplete, countsBySystem } = await sweep(read.scenario, {
    from: 0,
    to: 99,
    pool: null,
  });
  expect(isComplete).toBe(true);
  expect(countsBySystem.get('one')?.seeds).toBe(100);
});

describe('a sweep in this thread', () => {
  const two = text.replace('systems: {', 'systems: { two: { lock: lock-service, store: fenced },');
  const read = loadScenario(two, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;

  test('reports its progress, and each chunk that it examined itself', async () => {
    const done: number[] = [];
    const chunks: string[] = [];
    const seen: Progress[] = [];
    const counts: SweepCounts = { ...NO_COUNTS, seeds: 10, broken: 2 };
    const { countsBySystem, isComplete, milliseconds } = await sweep(scenario, {
      from: 0,
      to: 79,
      pool: null,
      finished: [{ system: 'two', from: 0, to: 9, counts, milliseconds: 5 }],
      onProgress: (progress) => {
        done.push(progress.done);
        seen.push(progress);
      },
      onFinished: ({ system, from, to }, { seeds }) =>
        chunks.push(`${system} ${from}..${to} ${seeds}`),
    });
    expect(chunks).toEqual(['one 0..63 64', 'two 10..73 64', 'one 64..79 16', 'two 74..79 6']);
    expect(done).toEqual([10, 74, 138, 154, 160]);
    expect(new Set(seen.map(({ total, broken }) => `${total} ${broken}`))).toEqual(
      new Set(['160 2']),
    );
    expect([...countsBySystem].map(([name, { seeds }]) => [name, seeds])).toEqual([
      ['two', 80],
      ['one', 80],
    ]);
    expect(isComplete).toBe(true);
    expect(milliseconds).toBeLessThan(60_000);
  });

  test('stops on request, and keeps the result so far', async () => {
    const answers = [false, true];
    const options = { from: 0, to: 99, pool: null, shouldStop: () => answers.shift() ?? true };
    const { isComplete, countsBySystem } = await sweep(scenario, options);
    expect(isComplete).toBe(false);
    expect([...countsBySystem.values()].map(({ seeds }) => seeds).sort()).toEqual([0, 64]);
  });
});

test('only claims that its own system lists break a seed', async () => {
  const { countsBySystem } = await sweep(lossy, { from: 0, to: 3, pool: null });
  const [one, two] = [countsBySystem.get('one'), countsBySystem.get('two')];
  expect(one?.broken).toBeGreaterThan(0);
  expect(one?.claims['no-lost-update']?.broken).toBe(one?.broken);
  expect(two?.claims['no-lost-update']?.broken).toBeGreaterThan(0);
  expect(two?.broken).toBe(0);
});

test('a pool gets only definitions that its workers can load', async () => {
  const read = loadScenario(text, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const pool = openPool({ workers: 0 });
  const range = { from: 0, to: 9, pool };
  expect(await sweep(read.scenario, range)).toMatchObject({ isComplete: false });
  const catalogue = { ...builtIn, isLoadable: false };
  await expect(sweep(read.scenario, { ...range, catalogue })).rejects.toThrow(
    'worker threads can load only definitions from modules; use pool: null',
  );
  expect(await sweep(read.scenario, { ...range, pool: null, catalogue })).toMatchObject({
    isComplete: true,
  });
  await pool.close();
});

const finished = fc.array(
  fc.record({ system: fc.constantFrom('a', 'b'), from: fc.nat(60), count: fc.nat(20) }),
  { maxLength: 8 },
);

function seedsOf({ from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

test('every seed that is not done yet is handed out exactly once', () => {
  fc.assert(
    fc.property(finished, fc.integer({ min: 1, max: 30 }), (before, size) => {
      const done: readonly FinishedRange[] = before.map(({ system, from, count }) => ({
        system,
        from,
        to: from + count,
      }));
      const source = new ChunkSource(sameFor(['a', 'b'], { from: 10, to: 60 }), done);
      const handed: Record<string, number[]> = { a: [], b: [] };
      for (let chunk = source.next(size); chunk !== null; chunk = source.next(size)) {
        expect(chunk.to - chunk.from).toBeLessThan(size);
        handed[chunk.system]?.push(...seedsOf(chunk));
      }
      for (const system of ['a', 'b']) {
        const known = new Set(done.filter((range) => range.system === system).flatMap(seedsOf));
        const rest = seedsOf({ from: 10, to: 60 }).filter((seed) => !known.has(seed));
        expect(handed[system]).toEqual(rest);
      }
    }),
  );
});

test('the system with the least progress comes next', () => {
  const source = new ChunkSource(sameFor(['a', 'b'], { from: 0, to: 9 }), [
    { system: 'a', from: 0, to: 3 },
  ]);
  const order = Array.from({ length: 4 }, () => source.next(5));
  expect(order.map((chunk) => chunk && `${chunk.system} ${chunk.from}..${chunk.to}`)).toEqual([
    'b 0..4',
    'a 4..8',
    'b 5..9',
    'a 9..9',
  ]);
});

test('a range without seeds has no chunk', () => {
  expect(new ChunkSource(sameFor(['a'], { from: 4, to: 3 })).next(9)).toBeNull();
});
