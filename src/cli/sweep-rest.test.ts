import { afterEach, expect, test, vi } from 'vitest';
import type { FleetResult } from '../adapters/fleet/coordinate.ts';
import { smallScenario } from '../adapters/fleet/sweep.fixture.ts';
import { builtIn } from '../catalogue.ts';
import { EMPTY_TALLY } from '../search/sweep/tally.ts';
import type { FleetOptions } from './fleet-scenario.ts';
import { restText } from './sweep-rest.ts';

afterEach(() => vi.unstubAllEnvs());

const QUEUE = 'redis://h:1';
const scenario = { ...smallScenario(), use: { './own.mjs': 'sha256:0' } };
const loaded = { file: 'x/small.yaml', text: '', scenario, catalogue: builtIn, warnings: [] };
const options: FleetOptions = {
  ...{ from: 1, to: 10_000, workers: null, output: 'reports', reporters: new Set() },
  ...{ isJson: false, isQuiet: false, isVerbose: false, corpus: null, version: '0' },
  ...{ modules: null, queue: QUEUE, chunkMs: 1 },
};

function rest(end: FleetResult['end'], isAnnounced: boolean): string | null {
  const tallies = new Map(
    scenario.systems.map(({ name }, at) => [name, { ...EMPTY_TALLY, seeds: 1312 + at }]),
  );
  const result = { end, tallies, lost: new Map(), alarm: null, shrunk: [], milliseconds: 1 };
  return restText(loaded, { result, id: 's0123', file: null, isAnnounced }, options);
}

test('of a whole sweep nothing is left', () => {
  expect(rest('whole', true)).toBeNull();
});

test('who stopped or left a sweep is told the whole command that goes on', () => {
  vi.stubEnv('FENCEPOST_QUEUE', QUEUE);
  for (const end of ['stopped', 'left'] as const) {
    expect(rest(end, true)).toBe(
      'small: 1,312 of 10,000 seeds; go on with: ' + 'npx fencepost sweep resume s0123 --modules x',
    );
  }
});

test('what is on no queue is not said to be resumed from one', () => {
  expect(rest('left', false)).toBe('small: 1,312 of 10,000 seeds; the same command goes on');
  expect(rest('lost', true)).toBe(
    'small: 1,312 of 10,000 seeds; the same command tries the others again',
  );
});
