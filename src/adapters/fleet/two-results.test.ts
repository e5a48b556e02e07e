import { expect, test } from 'vitest';
import { EMPTY_TALLY, mergeTallies, type Tally } from '../../search/sweep/tally.ts';
import {
  digestOfTally,
  type Located,
  locateDifference,
  type Repeat,
  type TwoResults,
} from './two-results.ts';

const FROM = 1_000;
const TO = 1_499;

/** Of a made-up seed, one event more for each time before. */
function tallyOf(seed: number, times = 0): Tally {
  return { ...EMPTY_TALLY, seeds: 1, events: 2 * seed + times };
}

function sumOf(from: number, to: number, timesOf: (seed: number) => number = () => 0): Tally {
  const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return seeds.map((seed) => tallyOf(seed, timesOf(seed))).reduce(mergeTallies, EMPTY_TALLY);
}

const alarm: TwoResults = {
  ...{ chunk: 7, from: FROM, to: TO },
  systems: [
    { system: 'fenced', counted: digestOfTally(sumOf(FROM, TO)), other: 9 },
    { system: 'unfenced', counted: digestOfTally(sumOf(FROM, TO)), other: 10 },
  ],
};

/** Examines made-up seeds; `odd` comes to something else each time, in one system. */
async function locate(odd: number | null, change: Partial<TwoResults> = {}): Promise<Located> {
  let times = 0;
  return await locateDifference({ ...alarm, ...change }, async ({ from, to }) => {
    times += 1;
    const unfenced = sumOf(from, to, (seed) => (seed === odd ? times : 0));
    return new Map([
      ['fenced', sumOf(from, to)],
      ['unfenced', unfenced],
    ]);
  });
}

test.each([FROM, 1_234, TO])(
  'seed %i is found, with the system that differs on it',
  async (seed) => {
    expect(await locate(seed)).toEqual({ kind: 'seed', system: 'unfenced', seed });
  },
);

test('where nothing differs here, it is told which of the two results is that of here', async () => {
  expect(await locate(null)).toEqual({ kind: 'equal', here: 'counted' });
  const [fenced, unfenced] = alarm.systems;
  if (fenced === undefined || unfenced === undefined) throw new Error('there are both');
  const swapped = [{ system: 'fenced', counted: 9, other: fenced.counted }];
  expect(await locate(null, { systems: swapped })).toEqual({ kind: 'equal', here: 'other' });
  const mixed = [fenced, { ...unfenced, counted: 10 }];
  expect(await locate(null, { systems: mixed })).toEqual({ kind: 'equal', here: 'neither' });
});

test('seeds that differ only together are told together', async () => {
  let times = 0;
  const repeat: Repeat = async ({ from, to }) => {
    times += 1;
    const isOdd = from <= 1_234 && to >= 1_234 && from < to;
    return new Map([['fenced', sumOf(from, to, () => (isOdd ? times : 0))]]);
  };
  const located = await locateDifference(alarm, repeat);
  expect(located).toEqual({ kind: 'seeds', system: 'fenced', from: 1_232, to: 1_239 });
});

test('a seed that is killed here, or too little time, tells nothing', async () => {
  const killed: Tally = { ...tallyOf(FROM), failed: 1, killed: 1 };
  let times = 0;
  const repeat: Repeat = async ({ from, to }) => {
    times += 1;
    const own = from === FROM && times === 1 ? killed : sumOf(from, to);
    return new Map(['fenced', 'unfenced'].map((name) => [name, own]));
  };
  expect(await locateDifference(alarm, repeat)).toEqual({ kind: 'unknown' });
  let left = 5;
  const spent: Repeat = async ({ from, to }) => {
    left -= 1;
    return left < 0 ? null : new Map([['fenced', sumOf(from, to)]]);
  };
  expect(await locateDifference(alarm, spent)).toEqual({ kind: 'unknown' });
});
