import { expect, test } from 'vitest';
import { readScenario } from './read-scenario.ts';
import type { Vocabulary } from './vocabulary.ts';

const WAITS = { name: 'waits', values: ['retry', 'in-line'] };

const vocabulary: Vocabulary = {
  locks: new Map([['lock-service', { options: [WAITS], servers: () => ['lock'] }]]),
  stores: ['fenced'],
  claims: [],
};

/** Returns the clock bounds of a scenario whose lock runs 40,000 to 50,000 ppm fast. */
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

test('a clock fault may exceed the declared bounds, which are then kept separately', () => {
  expect(boundsOf('clocks: { drift: 200ppm, skew: 5ms }')).toEqual({
    skewUs: 5_000,
    driftPpm: 50_000,
    declared: { skewUs: 5_000, driftPpm: 200 },
  });
});

test('a clock fault within the bounds, or without declared ones, keeps no separate bounds', () => {
  const drawn = { skewUs: null, driftPpm: 50_000, declared: undefined };
  expect(boundsOf('clocks: { drift: 50000ppm }')).toEqual(drawn);
  expect(boundsOf('')).toEqual({ ...drawn, driftPpm: null });
});

/** Returns the problems or warnings for these clients. */
function saidOf(clients: string, options = ''): readonly string[] {
  const text = `name: crowd
systems: { s: { lock: lock-service, store: fenced${options} } }
clients: ${clients}
`;
  const read = readScenario({ text, file: 'crowd.yaml', vocabulary });
  const said = read.kind === 'problems' ? read.problems : read.warnings;
  return said.map(({ what }) => what);
}

test('more sections than a run can hold are refused at once, with their total', () => {
  expect(saidOf('{ count: 1000, sections: 10000 }')).toEqual([
    '1,000 clients have 10,000,000 sections in all; at most 100,000 are allowed: use fewer, and more seeds',
  ]);
  expect(saidOf('{ count: 10, sections: 10000 }')).toEqual([]);
});

test('a crowd that polls one lock gets a warning that suggests waiting in line', () => {
  expect(saidOf('{ count: 49, sections: 1 }')).toEqual([]);
  expect(saidOf('{ count: 50, sections: 1 }')).toEqual([
    '50 clients poll one lock, so events grow with the square of their number; with waits: in-line, each requests it once',
  ]);
  expect(saidOf('{ count: 50, sections: 1 }', ', options: { waits: in-line }')).toEqual([]);
});
