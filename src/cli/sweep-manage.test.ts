import { expect, test } from 'vitest';
import { smallSweep } from '../adapters/fleet/sweep.fixture.ts';
import type { ListedSweep } from '../adapters/fleet/sweep-queue.ts';
import { sweepIdOf } from '../adapters/fleet/sweep-record.ts';
import { TailLines } from './sweep-manage.ts';

const sweep = smallSweep();

function at(runs: number, kinds: Readonly<Record<string, number>> = {}): ListedSweep {
  const broken = Object.values(kinds).reduce((sum, seeds) => sum + seeds, 0);
  const progress = { coordinator: 'c', epoch: 1, beat: runs, done: 1, chunks: 2, total: 90 };
  return {
    id: sweepIdOf(sweep),
    entry: { sweep, state: 'running' },
    progress: { ...progress, runs, broken, runsPerSecond: 1 + runs, kinds },
  };
}

test('a line is printed only when something changed', () => {
  const lines = new TailLines(true);
  expect(lines.next(at(1), 0)).toContain('1 of 90 runs');
  expect(lines.next(at(1), 60_000)).toBeNull();
  expect(lines.next(at(2), 61_000)).toContain('2 of 90 runs');
});

test('where nobody looks there is a line each ten seconds at most, and no change is lost', () => {
  const lines = new TailLines(false);
  expect(lines.next(at(1), 0)).not.toBeNull();
  expect(lines.next(at(2), 9_000)).toBeNull();
  expect(lines.next(at(2), 10_000)).toContain('2 of 90 runs');
});

test('kinds of failure are told when they change', () => {
  const lines = new TailLines(true);
  const kinds = { 'a mutual-exclusion': 3 };
  expect(lines.next(at(1, kinds), 0)).toContain('3 broke a claim: a mutual-exclusion 3');
  expect(lines.next(at(2, kinds), 1)).toMatch(/3 broke a claim$/);
  expect(lines.next(at(3, { ...kinds, b: 1 }), 2)).toContain('b 1');
});
