import { expect, test } from 'vitest';
import { readScenario } from './read-scenario.ts';
import type { Vocabulary } from './vocabulary.ts';

const vocabulary: Vocabulary = {
  locks: new Map([['lock-service', { options: [], servers: () => ['lock'] }]]),
  ...{ stores: ['fenced'], claims: [] },
};

/** What a lock whose clock runs 40,000 to 50,000 ppm fast does to the bounds of these clocks. */
function boundsOf(clocks: string): object {
  const text = `name: fast
systems: { s: { lock: lock-service, store: fenced } }
faults:
  - clock: { process: lock, at: 0ms, rate: 40000ppm..50000ppm }
${clocks}
`;
  const read = readScenario({ text, file: 'fast.yaml', vocabulary });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { skewUs, driftPpm, declared } = read.scenario.bounds;
  return { skewUs, driftPpm, declared };
}

test('a clock fault beyond what is declared may be drawn, and was not promised', () => {
  expect(boundsOf('clocks: { drift: 200ppm, skew: 5ms }')).toEqual({
    ...{ skewUs: 5_000, driftPpm: 50_000 },
    declared: { skewUs: 5_000, driftPpm: 200 },
  });
});

test('a clock fault inside it, or where nothing is declared, needs no other promise', () => {
  const drawn = { skewUs: null, driftPpm: 50_000, declared: undefined };
  expect(boundsOf('clocks: { drift: 50000ppm }')).toEqual(drawn);
  expect(boundsOf('')).toEqual({ ...drawn, driftPpm: null });
});
