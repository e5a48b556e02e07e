import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tally } from '../../search/sweep/tally.ts';
import { type Checkpoint, readCheckpoint, renderCheckpoint } from './checkpoint.ts';
import { chunksIn } from './chunk-map.ts';
import { digestOfTally } from './chunk-result.ts';
import type { ShrunkKind } from './jobs.ts';
import { Ledger } from './ledger.ts';
import { resultOf, smallSweep } from './sweep.fixture.ts';
import { sweepIdOf } from './sweep-record.ts';
import type { TwoResults } from './two-results.ts';

const sweep = smallSweep();
const systems = ['unfenced', 'fenced'];
const chunks = chunksIn(sweep);
const SHRUNK: ShrunkKind = {
  ...{ system: 'unfenced', claim: 'fence-monotone', seed: 12, plan: 'a plan', signature: 'abcd' },
  boundary: { what: 'a pause', parameter: 'p', breaksAtUs: -1, holdsAtUs: 0, holdsPlan: 'near' },
  ...{ whyNoBoundary: null, headline: 'it broke' },
};
const ALARM: TwoResults = {
  ...{ chunk: 3, from: 31, to: 37 },
  systems: [{ system: 'unfenced', counted: 5, other: 6 }],
};
const all = Array.from({ length: chunks }, (_, chunk) => resultOf(sweep, chunk));

function inOrder(): Ledger {
  const ledger = new Ledger(sweep, systems);
  for (const result of all) ledger.offer(result);
  return ledger;
}

test('in any order, and however often they arrive, results add up to the same', () => {
  const whole = inOrder();
  expect(whole.done).toBe(chunks);
  const arrivals = fc.array(fc.nat(chunks - 1), { maxLength: 60 });
  fc.assert(
    fc.property(arrivals, (first) => {
      const ledger = new Ledger(sweep, systems);
      const once = new Set<number>();
      for (const chunk of [...first, ...all.keys()]) {
        const { kind } = ledger.offer(resultOf(sweep, chunk));
        expect(kind).toBe(once.has(chunk) ? 'equal' : 'counted');
        once.add(chunk);
      }
      expect(ledger.tallies).toEqual(whole.tallies);
    }),
  );
  expect(whole.tallies.get('unfenced')).toMatchObject({ seeds: 100, broken: 33 });
});

test('a second result that differs is told with the system that does, and does not count', () => {
  const ledger = inOrder();
  const before = new Map(ledger.tallies);
  const result = resultOf(sweep, 3);
  const { unfenced } = result.tallies;
  if (unfenced === undefined) throw new Error('the fixture has this system');
  const other = { ...result, tallies: { ...result.tallies, unfenced: { ...unfenced, events: 1 } } };
  const counted = digestOfTally(unfenced);
  const digests = { counted, other: digestOfTally({ ...unfenced, events: 1 }) };
  const systems = [{ system: 'unfenced', ...digests }];
  expect(ledger.offer(other)).toEqual({ kind: 'different', systems });
  expect(ledger.tallies).toEqual(before);
});

test('where a seed was killed in one of two results, its system is not compared', () => {
  const well = resultOf(sweep, 3);
  const { unfenced, fenced } = well.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const killed: Tally = { ...unfenced, failed: 1, killed: 1, failures: [{ seed: 31, error: '' }] };
  const ill = { ...well, tallies: { unfenced: killed, fenced } };
  for (const [first, second] of [
    [well, ill],
    [ill, well],
    [ill, { ...ill, tallies: { unfenced: { ...killed, failed: 2, killed: 2 }, fenced } }],
  ] as const) {
    const ledger = new Ledger(sweep, systems);
    expect(ledger.offer(first).kind).toBe('counted');
    expect(ledger.offer(second).kind).toBe('equal');
    expect(ledger.tallies.get('unfenced')).toMatchObject({
      ...{ seeds: unfenced.seeds, killed: first.tallies.unfenced?.killed },
    });
    const other = { ...second, tallies: { ...second.tallies, fenced: { ...fenced, events: 1 } } };
    expect(ledger.offer(other)).toMatchObject({ systems: [{ system: 'fenced' }] });
  }
});

test('how long a chunk took, and the order of names, make no other result', () => {
  const ledger = inOrder();
  const { unfenced, fenced } = resultOf(sweep, 3).tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const tallies = { fenced, unfenced };
  expect(ledger.offer({ ...resultOf(sweep, 3), tallies, milliseconds: 99 }).kind).toBe('equal');
});

test('a result of other seeds, of a part of them or of other systems is foreign', () => {
  const ledger = new Ledger(sweep, systems);
  const result = resultOf(sweep, 3);
  const { unfenced, fenced } = result.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  for (const other of [
    { ...result, chunk: 4 },
    { ...result, chunk: chunks },
    { ...result, to: result.to + 1 },
    { ...result, tallies: { unfenced } },
    { ...result, tallies: { unfenced, fenced: { ...fenced, seeds: 6 } } },
    { ...result, tallies: { unfenced, other: fenced } },
  ]) {
    expect(ledger.offer(other).kind).toBe('foreign');
  }
  expect(ledger.done).toBe(0);
});

test('from a checkpoint a ledger goes on as if nothing had happened', () => {
  const first = new Ledger(sweep, systems);
  for (const result of all.slice(0, 5)) first.offer(result);
  const left: Checkpoint = {
    ...{ sweep, ledger: first.state(), milliseconds: 12 },
    ...{ shrunk: [SHRUNK], alarm: ALARM },
  };
  const read = readCheckpoint(renderCheckpoint(left), sweepIdOf(sweep));
  expect(read).toEqual({ kind: 'checkpoint', checkpoint: left });
  if (read.kind === 'problem') throw new Error(read.what);
  const second = new Ledger(sweep, systems, read.checkpoint.ledger);
  expect(second.done).toBe(5);
  for (const result of all) second.offer(result);
  expect(second.tallies).toEqual(inOrder().tallies);
});

test('a checkpoint that is damaged, of another sweep or of another cut is refused', () => {
  const state = inOrder().state();
  const left = { sweep, ledger: state, milliseconds: 0, shrunk: [], alarm: null };
  const text = renderCheckpoint(left);
  const id = sweepIdOf(sweep);
  expect(readCheckpoint(text.slice(0, -9), id).kind).toBe('problem');
  expect(readCheckpoint(text.replace('"seeds":100', '"seeds":101'), id).kind).toBe('problem');
  expect(readCheckpoint(text, 's0').kind).toBe('problem');
  const short = { ...left, ledger: { ...state, digests: state.digests.slice(1) } };
  expect(readCheckpoint(renderCheckpoint(short), id).kind).toBe('problem');
});
