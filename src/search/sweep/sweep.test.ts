import * as fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { FinishedRange } from './chunk.ts';
import { ChunkSource, sweep } from './sweep.ts';

afterEach(() => void vi.useRealTimers());

const text = `name: calm
systems: { one: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } } }
`;

test('a sweep of this thread comes to its end while timers are faked', async () => {
  const read = loadScenario(text, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  vi.useFakeTimers();
  const { isWhole, tallies } = await sweep(read.scenario, { from: 0, to: 99, pool: null });
  expect(isWhole).toBe(true);
  expect(tallies.get('one')?.seeds).toBe(100);
});

const finished = fc.array(
  fc.record({ system: fc.constantFrom('a', 'b'), from: fc.nat(60), count: fc.nat(20) }),
  { maxLength: 8 },
);

function seedsOf({ from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

test('what is handed out and what was done before are every seed, each handed out once', () => {
  fc.assert(
    fc.property(finished, fc.integer({ min: 1, max: 30 }), (before, size) => {
      const done: readonly FinishedRange[] = before.map(({ system, from, count }) => ({
        ...{ system, from, to: from + count },
      }));
      const source = new ChunkSource(['a', 'b'], { from: 10, to: 60 }, done);
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

test('the system that is furthest behind comes next', () => {
  const source = new ChunkSource(['a', 'b'], { from: 0, to: 9 }, [{ system: 'a', from: 0, to: 3 }]);
  const order = Array.from({ length: 4 }, () => source.next(5));
  expect(order.map((chunk) => chunk && `${chunk.system} ${chunk.from}..${chunk.to}`)).toEqual([
    ...['b 0..4', 'a 4..8', 'b 5..9', 'a 9..9'],
  ]);
});

test('a range without seeds gives nothing', () => {
  expect(new ChunkSource(['a'], { from: 4, to: 3 }).next(9)).toBeNull();
});
