import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FinishedChunk,
  type JournalHead,
  readJournal,
  renderChunk,
  renderHead,
  whyOtherSweep,
} from './journal.ts';
import { tallyOf } from './tally.fixture.ts';

const head: JournalHead = {
  origin: { fencepost: '1.2.3', scenario: 'zombie', digest: 'sha256:00', modules: {} },
  range: { from: 0, to: 99 },
  shard: null,
};

async function chunkOf(from: number, to: number, system = 'a'): Promise<FinishedChunk> {
  return { system, from, to, tally: await tallyOf({ from, to }), milliseconds: 5 };
}

const chunks = [
  await chunkOf(0, 9),
  await chunkOf(0, 9, 'b'),
  await chunkOf(20, 29),
  await chunkOf(10, 19),
];
const text = renderHead(head) + chunks.map(renderChunk).join('');

test('a journal that is cut off anywhere gives the chunks whose lines are whole', () => {
  const headLength = renderHead(head).length;
  fc.assert(
    fc.property(fc.integer({ min: headLength, max: text.length }), (length) => {
      const part = text.slice(0, length);
      const whole = part.split('\n').length - 2;
      expect(readJournal(part)).toEqual({
        ...{ kind: 'journal', head, chunks: chunks.slice(0, whole) },
        isTorn: !part.endsWith('\n'),
      });
    }),
  );
});

describe('a journal is refused', () => {
  test('with the line that is damaged', () => {
    const lines = text.split('\n');
    lines[2] = lines[2]?.replace('"seeds":10', '"seeds":11') ?? '';
    expect(readJournal(lines.join('\n'))).toMatchObject({ kind: 'problem', line: 3 });
    lines[2] = 'torn and glued';
    expect(readJournal(lines.join('\n'))).toMatchObject({ kind: 'problem', line: 3 });
  });

  test('where its head is cut off, or is of another format', () => {
    expect(readJournal('')).toMatchObject({ kind: 'problem', line: 1 });
    expect(readJournal(text.slice(0, 20))).toMatchObject({ kind: 'problem', line: 1 });
    expect(readJournal(text.replace('"version":1', '"version":2'))).toEqual({
      ...{ kind: 'problem', line: 1 },
      what: 'has version 2 of its format; this fencepost reads 1',
    });
  });

  test.each<[string, JournalHead]>([
    [
      'is of fencepost 1.2.3, not 2.0.0',
      { ...head, origin: { ...head.origin, fencepost: '2.0.0' } },
    ],
    [
      'is of another version of zombie',
      { ...head, origin: { ...head.origin, digest: 'sha256:01' } },
    ],
    [
      'is of another version of ./my-lock.mjs',
      { ...head, origin: { ...head.origin, modules: { './my-lock.mjs': 'sha256:02' } } },
    ],
    ['is of the seeds 0..99, not 0..100', { ...head, range: { from: 0, to: 100 } }],
    ['is of all of them, not of shard 1 of 2', { ...head, shard: { index: 1, of: 2 } }],
  ])('that %s', (why, ours) => {
    expect(whyOtherSweep(head, ours)).toBe(why);
    expect(whyOtherSweep(ours, ours)).toBeNull();
  });
});

test('seeds that are there twice count once', async () => {
  const twice = text + renderChunk(await chunkOf(5, 12)) + renderChunk(await chunkOf(10, 14, 'b'));
  const read = readJournal(twice);
  expect(read.kind === 'journal' && read.chunks.map(({ system, from }) => [system, from])).toEqual([
    ...[
      ['a', 0],
      ['b', 0],
      ['a', 20],
      ['a', 10],
      ['b', 10],
    ],
  ]);
});
