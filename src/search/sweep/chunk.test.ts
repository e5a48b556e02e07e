/** Tests the counts of a chunk of seeds, with traces written by hand. */
import { describe, expect, test } from 'vitest';
import {
  acquire,
  answer,
  fault,
  grant,
  keyChange,
  pause,
  read,
  release,
  renew,
  traceOf,
  write,
} from '../../check/trace-builder.fixture.ts';
import type { Verdict } from '../../check/verdict.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { SeedResult } from '../../harness.ts';
import { clientOf, planOf } from '../../systems/plan.fixture.ts';
import { countsOfKilled, type Examiner, examineChunk } from './chunk.ts';
import { NO_COUNTS, type SweepCounts } from './counts.ts';
import { NO_SECTIONS } from './sections.ts';

const quiet: SeedResult = {
  plan: planOf({ clients: [clientOf('alice', [])] }),
  trace: traceOf([]),
  verdicts: [],
  causes: new Map(),
  overlap: { times: 0, longestUs: 0, totalUs: 0 },
  losses: { times: 0, longestUs: 0, totalUs: 0 },
  stampede: { computations: 0, most: 0 },
};

const RELEASE = 'alice/1/release';
const LISTED = { holds: ['kept'], breaks: ['broken'] };

function countsBy(examiner: Examiner, to = 0, skip: readonly number[] = []): Promise<SweepCounts> {
  return examineChunk({ system: 's', from: 0, to, skip }, LISTED, examiner, () => {});
}

/** Counts consecutive seeds from 0, each with one of these results. */
function countsOf(...seeds: readonly Partial<SeedResult>[]): Promise<SweepCounts> {
  return countsBy((_, seed) => ({ ...quiet, ...seeds[seed] }), seeds.length - 1);
}

const traced = (...events: readonly TraceEvent[]): Partial<SeedResult> => ({
  trace: traceOf(events),
});

describe('a fault', () => {
  test.each<[string, readonly TraceEvent[], 0 | 1]>([
    ['fires before any grant', [pause(0, 'alice', 1), grant(5, 'alice', 1)], 0],
    ['fires as a grant is held', [grant(0, 'alice', 1), pause(5, 'bob', 6)], 1],
    ['fires as the lease ends', [grant(0, 'alice', 1), pause(10, 'bob', 11)], 0],
    [
      'fires under a grant without an end',
      [grant(0, 'alice', 1, { untilUs: null }), pause(99, 'bob', 100)],
      1,
    ],
    [
      'fires in the time that a renew added',
      [grant(0, 'alice', 1), renew(9, 'alice', 1), pause(15, 'bob', 16)],
      1,
    ],
    [
      'fires after a renew without an end',
      [grant(0, 'alice', 1), renew(9, 'alice', 1, { untilUs: null }), pause(99, 'bob', 100)],
      1,
    ],
    [
      'fires after a renew without effect',
      [grant(0, 'alice', 1), renew(9, 'alice', 1, { extended: 0 }), pause(15, 'bob', 16)],
      0,
    ],
    [
      'fires after the release',
      [grant(0, 'alice', 1), release(4, 'alice', 1), pause(5, 'bob', 6)],
      0,
    ],
    [
      'fires after a release without effect',
      [grant(0, 'alice', 1), release(4, 'alice', 1, { released: 0 }), pause(5, 'bob', 6)],
      1,
    ],
    [
      'fires while one of two locks is held',
      [grant(0, 'alice', 1), grant(20, 'bob', 2, { lock: 'b' }), pause(25, 'bob', 26)],
      1,
    ],
    ['lasts until a grant', [pause(0, 'bob', 6), grant(5, 'alice', 1)], 1],
    ['ends with a grant', [pause(0, 'bob', 5), grant(5, 'alice', 1)], 0],
    ['of an instant has ended by the grant', [fault(0, 'drop', 'bob'), grant(5, 'alice', 1)], 0],
    ['of a clock continues', [fault(0, 'clock', 'bob'), grant(5, 'alice', 1)], 1],
    [
      'lasts as long as the longest of its kind',
      [pause(0, 'bob', 9), pause(1, 'alice', 2), grant(5, 'alice', 1)],
      1,
    ],
    [
      'affected a grant stays counted after later faults',
      [grant(0, 'alice', 1), pause(5, 'bob', 6), pause(20, 'bob', 21)],
      1,
    ],
    [
      'affects the release of a key that its server still has',
      [grant(0, 'alice', 1), keyChange(0, 'alice'), left, fault(9, 'drop', 'alice')],
      1,
    ],
    [
      'affects a program whose key is removed or expired',
      [keyChange(0, 'alice'), keyChange(2, 'alice', { change: 'removed' }), pause(9, 'bob', 10)],
      0,
    ],
    [
      'comes before its holder knows that its key is removed',
      [...keyRemoved, fault(6, 'drop', 'alice')],
      1,
    ],
    [
      'comes once its holder knows that its key is removed',
      [...keyRemoved, answer(6, RELEASE, { kind: 'released' }), pause(7, 'bob', 8)],
      0,
    ],
    [
      'affects a key that is not a lock',
      [...over, keyChange(2, 'alice', { ...noLock, untilUs: null }), pause(9, 'bob', 10)],
      0,
    ],
    [
      'comes after a key was lost',
      [...over, keyChange(2, 'alice'), keyChange(3, '', { change: 'lost' }), pause(5, 'bob', 6)],
      0,
    ],
    ['affects an existing key', [...over, keyChange(2, 'alice'), pause(9, 'bob', 10)], 1],
    ['comes after a key expired', [keyChange(0, 'alice'), pause(10, 'bob', 11)], 0],
    [
      'affects the release that a program sends after it left',
      [grant(0, 'alice', 1), left, asksRelease, fault(6, 'drop', 'alice')],
      1,
    ],
    [
      'comes once a program knows that its lock is released',
      [
        grant(0, 'alice', 1),
        left,
        asksRelease,
        answer(6, 'alice/1/release', { kind: 'released' }),
        pause(7, 'bob', 8),
      ],
      0,
    ],
    [
      'fires under a grant that precedes the confirmed release of the previous one',
      [
        grant(0, 'alice', 1),
        asksRelease,
        release(5, 'alice', 1),
        grant(6, 'bob', 2),
        answer(7, 'alice/1/release', { kind: 'released' }),
        pause(8, 'bob', 9),
      ],
      1,
    ],
    ['affects nothing if the lock was denied', asked(write(5, 'alice', 0, 1)), 0],
  ])('that %s', async (_, events, overlapped) => {
    const { faults } = await countsOf(traced(...events));
    expect(Object.values(faults)).toMatchObject([{ fired: 1, overlapped }]);
  });

  test.each<[string, readonly TraceEvent[], 0 | 1]>([
    ['is followed by a write', [pause(0, 'bob', 1), write(5, 'alice', 0, 1)], 1],
    ['is followed by a read', [pause(0, 'bob', 1), read(5, 'alice', 0, 1)], 1],
    ['is followed by nothing', [write(0, 'alice', 0, 1), pause(1, 'bob', 2)], 0],
    ['is followed by another fault', [pause(0, 'bob', 1), pause(2, 'bob', 3)], 0],
    [
      'is followed by a write and a fault',
      [pause(0, 'bob', 1), write(1, 'alice', 0, 1), pause(2, 'bob', 3)],
      1,
    ],
  ])('that %s, if no client asks for a lock', async (_, events, overlapped) => {
    const { faults } = await countsOf(traced(...events));
    expect(faults).toMatchObject({ pause: { fired: 1, overlapped } });
  });

  test('counts once per seed and kind', async () => {
    const faulty = traced(grant(0, 'alice', 1), pause(1, 'bob', 2), pause(3, 'bob', 4));
    const idle = traced(fault(0, 'drop', 'bob'), grant(5, 'alice', 1), pause(50, 'bob', 51));
    const { faults, events } = await countsOf(faulty, idle);
    expect(faults).toEqual({
      pause: { fired: 2, overlapped: 1, strikes: { 'not-holding': 3 } },
      drop: { fired: 1, overlapped: 0, strikes: { 'not-holding': 1 } },
    });
    expect(events).toBe(6);
  });
});

const left = release(4, 'alice', 1, { process: 'alice' });
const asksRelease: TraceEvent = {
  ...acquire(5, 'alice/1/release'),
  call: { verb: 'release', lock: 'db', token: 0 },
};

const noLock = { key: 'seen:7', isNamed: false };
/** A lock was granted and released. */
const over = [grant(0, 'alice', 1), release(1, 'alice', 1)];
const keyRemoved = [
  grant(0, 'alice', 1),
  keyChange(0, 'alice'),
  left,
  keyChange(5, 'alice', { change: 'removed', holder: 'alice', message: `${RELEASE}/1/request` }),
];

function asked(...accesses: readonly TraceEvent[]): readonly TraceEvent[] {
  return [pause(0, 'bob', 1), acquire(2, 'alice/1/acquire'), ...accesses];
}

describe('a verdict', () => {
  const broken = (claim: string): Verdict => {
    return { kind: 'invalid', claim, exercised: 2, rule: 'r', evidence: [] };
  };
  const unsure = (claim: string, exercised = 0): Verdict => {
    return { kind: 'unknown', claim, exercised, reason: 'who knows' };
  };
  const seed = (...verdicts: readonly Verdict[]): Partial<SeedResult> => ({ verdicts });

  test('that is broken or unknown counts for the seed if the claim is listed', async () => {
    const { broken: seeds, unknown } = await countsOf(
      seed(broken('kept'), broken('broken')),
      seed(broken('other'), unsure('broken')),
      seed(unsure('other'), unsure('kept'), broken('broken')),
      seed({ kind: 'valid', claim: 'kept', exercised: 1 }),
    );
    expect([seeds, unknown]).toEqual([2, 2]);
  });

  test('counts for its claim, listed or not', async () => {
    const valid: Verdict = { kind: 'valid', claim: 'other', exercised: 0 };
    const { claims } = await countsOf(
      seed(valid),
      seed(unsure('other', 1)),
      seed(unsure('other')),
      seed(broken('other')),
    );
    expect(claims).toEqual({
      other: {
        broken: 1,
        brokenSeeds: [3],
        unknown: 2,
        exercised: 2,
        times: 3,
        firstUnknown: { seed: 1, reason: 'who knows' },
      },
    });
  });

  test('of a broken claim lists the first fifty seeds, and counts all', async () => {
    const { claims } = await countsOf(...Array.from({ length: 52 }, () => seed(broken('kept'))));
    const brokenSeeds = Array.from({ length: 50 }, (_, at) => at);
    expect(claims['kept']).toMatchObject({ broken: 52, brokenSeeds });
  });
});

test('overlaps and stampedes are counted per seed, with the longest and the largest', async () => {
  const of = (times: number, longestUs: number, computations: number, most: number) => ({
    overlap: { times, longestUs, totalUs: longestUs },
    stampede: { computations, most },
  });
  const { overlap, stampede } = await countsOf(of(2, 7, 3, 2), of(0, 0, 1, 1), of(1, 5, 4, 3));
  expect(overlap).toEqual({ seeds: 2, longestUs: 7 });
  expect(stampede).toEqual({ seeds: 2, computations: 8, most: 3 });
});

describe('a seed that fails', () => {
  const failed = (error: string): Trace => {
    return traceOf([], { kind: 'failed', process: 'store', error });
  };

  test('is a finding if its run fails, or if its examination throws or rejects', async () => {
    const counts = await countsBy((_, seed) => {
      if (seed === 0) return { ...quiet, trace: failed('out of cheese') };
      if (seed === 1) throw new Error('no such lock');
      return seed === 2 ? Promise.reject(new Error('too late')) : Promise.resolve(quiet);
    }, 3);
    expect(counts).toEqual({
      ...NO_COUNTS,
      seeds: 4,
      failed: 3,
      // A seed whose examination threw has no run, so its sections are not counted.
      sections: { ...NO_SECTIONS, planned: 2 },
      failures: ['store: out of cheese', 'no such lock', 'too late'].map((error, seed) => {
        return { seed, error };
      }),
    });
  });

  test('is listed if it is among the first ten, and counted', async () => {
    const counts = await countsOf(...Array.from({ length: 12 }, () => ({ trace: failed('x') })));
    expect([counts.failed, counts.failures.map(({ seed }) => seed)]).toEqual([
      12,
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]);
  });

  test('outside of the examination has counts of its own', () => {
    const {
      seeds,
      failed: count,
      killed,
      failures,
    } = countsOfKilled({ seed: 7, error: 'it hung' });
    expect([seeds, count, killed]).toEqual([1, 1, 1]);
    expect(failures).toEqual([{ seed: 7, error: 'it hung' }]);
  });
});

test('every seed of a chunk is announced and examined, except skipped ones', async () => {
  const announced: number[] = [];
  const examined: string[] = [];
  const examiner: Examiner = (system, seed) => {
    examined.push(`${system} ${seed}`);
    return quiet;
  };
  const chunk = { system: 's', from: 3, to: 6, skip: [4] };
  const { seeds } = await examineChunk(chunk, LISTED, examiner, (seed) => announced.push(seed));
  expect([seeds, announced, examined]).toEqual([3, [3, 5, 6], ['s 3', 's 5', 's 6']]);
});

test('the cause of a breach is counted for listed claims only', async () => {
  const cause = { rule: 'r', isByNonOwnerRelease: false, faults: [] };
  const broken = (claim: string): Verdict => {
    return { kind: 'invalid', claim, exercised: 1, rule: 'r', evidence: [] };
  };
  const causes = new Map(['kept', 'other'].map((claim) => [claim, cause]));
  const verdicts = [broken('kept'), broken('other')];
  const { claims } = await countsOf({ verdicts, causes }, {}, { verdicts, causes });
  expect(claims['kept']?.causes).toEqual([{ cause, broken: 2, brokenSeeds: [0, 2] }]);
  expect(claims['other']).toMatchObject({ broken: 2 });
  expect(claims['other']?.causes).toBeUndefined();
});

test('each run before a seed is announced as a fraction between two seeds', async () => {
  const reported: number[] = [];
  const examiner: Examiner = (_, __, passing) => {
    for (let runs = 0; runs < 3; runs += 1) passing?.onPass();
    return quiet;
  };
  const chunk = { system: 's', from: 4, to: 5, skip: [] };
  await examineChunk(chunk, LISTED, examiner, (seed) => void reported.push(seed));
  expect(reported.map(Math.ceil)).toEqual([4, 4, 4, 4, 5, 5, 5, 5]);
  expect(new Set(reported).size).toBe(reported.length);
});
