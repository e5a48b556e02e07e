import { expect, test } from 'vitest';
import type { EdgePoint, SystemEdges } from '../search/campaign/result.ts';
import { renderEdges } from './exhausted.ts';

/** The edges of a claim at ttls of 10 ms and 20 ms. */
function pointsOf(
  claim: string,
  kind: EdgePoint['kind'],
  edgesUs: readonly (number | null)[],
): readonly EdgePoint[] {
  return edgesUs.map((edgeUs, at) => ({ kind, claim, ttlUs: 10_000 * (at + 1), edgeUs }));
}

interface Edged {
  readonly name: string;
  readonly edges: SystemEdges;
}

function edgesOf(...points: readonly (readonly EdgePoint[])[]): Edged {
  return { name: 'one', edges: { points: points.flat(), givenUp: [] } };
}

const wide = { width: 200 };

test('claims with the same edges share a line; others have their own', () => {
  const edges = edgesOf(
    pointsOf('a', 'pause', [8_001, 18_001]),
    pointsOf('b', 'pause', [8_001, 18_001]),
    pointsOf('c', 'pause', [9_500, null]),
    pointsOf('a', 'late-timer', [0, 1_000]),
  );
  expect(renderEdges([edges], wide).split('\n')).toEqual([
    '  one: a, b break with a pause over 8 ms at ttl 10 ms; over 18 ms at ttl 20 ms',
    '  one: c breaks with a pause over 9.499 ms at ttl 10 ms; of no length at ttl 20 ms',
    '  one: a breaks with a late timer of any length at ttl 10 ms; over 999 us at ttl 20 ms',
  ]);
});

test('claims that no length breaks, or that break without a fault, are omitted', () => {
  const edges = edgesOf(pointsOf('a', 'pause', [null, null]), pointsOf('b', 'pause', [0, 0]));
  expect(renderEdges([edges], wide)).toBe('');
  expect(renderEdges([{ name: 'seeds' }], wide)).toBe('');
});

test('a search that was given up is reported, and systems are named with their scenario', () => {
  const edges: SystemEdges = { points: [], givenUp: ['pause', 'delay'] };
  const givenUp = { name: 'one', edges };
  expect(renderEdges([givenUp], { ...wide, within: 'small/' })).toBe(
    '  small/one: shortest breaking pause, delay not found (too many runs)',
  );
});

test('lines fit the terminal, and names cannot control it', () => {
  const { edges: grantOrderEdges } = edgesOf(pointsOf('grant-order', 'pause', [10_001, 20_001]));
  const edges = { name: 'one\u001b[2J', edges: grantOrderEdges };
  const lines = renderEdges([edges], { width: 40 }).split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(lines.join('\n')).not.toContain('\u001b');
});
