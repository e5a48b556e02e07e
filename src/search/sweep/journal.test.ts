import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FinishedRange } from './chunk.ts';
import { countsOf } from './counts.fixture.ts';
import {
  type FinishedChunk,
  type JournalHead,
  type JournalRead,
  readJournal,
  renderChunk,
  renderHead,
  whyOtherSweep,
  withoutRepeats,
} from './journal.ts';

const head: JournalHead = {
  origin: { fencepost: '1.2.3', scenario: 'zombie', digest: 'sha256:00', modules: {} },
  range: { from: 0, to: 99 },
  shard: null,
};

async function chunkOf(from: number, to: number, system = 'a'): Promise<FinishedChunk> {
  return { system, from, to, counts: await countsOf({ from, to }), milliseconds: 5 };
}

const chunks = [
  await chunkOf(0, 9),
  await chunkOf(0, 9, 'b'),
  await chunkOf(20, 29),
  await chunkOf(10, 19),
];
const text = renderHead(head) + chunks.map(renderChunk).join('');

/** Reads a journal in pieces, as from a file. */
function readPieces(text: string): JournalRead {
  return readJournal(text.match(/[\s\S]{1,700}/g) ?? []);
}

test('a journal that is truncated anywhere gives the chunks whose lines are complete', () => {
  const headLength = renderHead(head).length;
  fc.assert(
    fc.property(fc.integer({ min: headLength, max: text.length }), (length) => {
      const part = text.slice(0, length);
      const lineCount = part.split('\n').length - 2;
      expect(readPieces(part)).toEqual({
        kind: 'journal',
        head,
        chunks: chunks.slice(0, lineCount),
        isTorn: !part.endsWith('\n'),
      });
    }),
  );
});

test('a journal without a first line is empty, not damaged', () => {
  expect(readPieces('')).toEqual({ kind: 'empty' });
  expect(readJournal(['', ''])).toEqual({ kind: 'empty' });
});

describe('a journal is refused', () => {
  test('with the damaged line', () => {
    const lines = text.split('\n');
    lines[2] = lines[2]?.replace('"seeds":10', '"seeds":11') ?? '';
    expect(readPieces(lines.join('\n'))).toMatchObject({ kind: 'problem', line: 3 });
    lines[2] = 'torn and glued';
    expect(readPieces(lines.join('\n'))).toMatchObject({ kind: 'problem', line: 3 });
  });

  test('if its header is truncated, or of another format', () => {
    expect(readPieces(text.slice(0, 20))).toMatchObject({ kind: 'problem', line: 1 });
    expect(readPieces(text.replace('"version":3', '"version":2'))).toEqual({
      kind: 'problem',
      line: 1,
      what: 'has format version 2; this fencepost reads 3',
    });
  });

  test.each<[string, JournalHead]>([
    [
      'is from fencepost 1.2.3, not 2.0.0',
      { ...head, origin: { ...head.origin, fencepost: '2.0.0' } },
    ],
    [
      'is for another version of zombie',
      { ...head, origin: { ...head.origin, digest: 'sha256:01' } },
    ],
    [
      'is for another version of ./my-lock.mjs',
      { ...head, origin: { ...head.origin, modules: { './my-lock.mjs': 'sha256:02' } } },
    ],
    ['is for the seeds 0..99, not 0..100', { ...head, range: { from: 0, to: 100 } }],
    ['is for all seeds, not for shard 1 of 2', { ...head, shard: { index: 1, of: 2 } }],
  ])('that %s', (why, ours) => {
    expect(whyOtherSweep(head, ours)).toBe(why);
    expect(whyOtherSweep(ours, ours)).toBeNull();
  });
});

test('seeds that occur twice count once', async () => {
  const twice = text + renderChunk(await chunkOf(5, 12)) + renderChunk(await chunkOf(10, 14, 'b'));
  const read = readPieces(twice);
  expect(read.kind === 'journal' && read.chunks.map(({ system, from }) => [system, from])).toEqual([
    ['a', 0],
    ['b', 0],
    ['a', 20],
    ['a', 10],
    ['b', 10],
  ]);
});

describe('of many chunks', () => {
  const ranges = fc.array(
    fc.record({
      system: fc.constantFrom('a', 'b'),
      from: fc.nat(60),
      length: fc.nat(9),
    }),
  );
  const overlap = (a: FinishedRange, b: FinishedRange): boolean =>
    a.system === b.system && a.from <= b.to && b.from <= a.to;

  test('no two kept ones share a seed, and each omitted one shares a seed with a kept one', () => {
    fc.assert(
      fc.property(ranges, (drawn) => {
        const all = drawn.map(({ system, from, length }) => ({ system, from, to: from + length }));
        const kept = withoutRepeats(all);
        expect(kept).toEqual(all.filter((range) => kept.includes(range)));
        for (const range of all) {
          const others = kept.filter((other) => other !== range && overlap(other, range));
          expect(others.length > 0).toBe(!kept.includes(range));
        }
      }),
    );
  });

  test('each is compared with few others', () => {
    let looks = 0;
    const many = Array.from({ length: 4000 }, (_, at) => ({
      system: 'a',
      get from(): number {
        looks += 1;
        return 10 * at;
      },
      to: 10 * at + 9,
    }));
    expect(withoutRepeats(many)).toHaveLength(4000);
    expect(looks).toBeLessThan(4000 * 30);
  });
});
