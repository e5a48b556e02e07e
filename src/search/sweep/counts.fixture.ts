/** Counts of synthetic seeds. The seed alone determines the verdicts, faults and failures. */
import type { SectionRun, Unsimulated } from '../../core/history/trace.ts';
import type { SeedResult } from '../../harness.ts';
import { clientOf, planOf } from '../../systems/plan.fixture.ts';
import { type Chunk, examineChunk } from './chunk.ts';
import type { SweepCounts } from './counts.ts';

const EXPECT = { holds: ['grant-order'], breaks: ['tokens-unique'] };

function ended(section: string, text: string | null): SectionRun {
  const run = { process: section.slice(0, -2), section, beganUs: 0 };
  if (text === null) return { ...run, end: { kind: 'returned', atUs: 0, isUnguarded: true } };
  return { ...run, end: { kind: 'failed', atUs: 0, error: { text, place: 'lock.mjs:1:2' } } };
}

/** Together, the seeds request more different commands than the counts keep. */
function asked(seed: number): Unsimulated {
  const what = `X${seed % 37}`;
  return { kind: 'command', what, place: `queue.mjs:${seed}:1`, package: null, count: seed % 5 };
}

/** Each kind of event recurs with a different period. */
function examine(seed: number): SeedResult {
  if (seed % 7 === 6) throw new Error(`seed ${seed} throws`);
  const plan = planOf({ clients: [clientOf('alice', [])] });
  const invalid = { kind: 'invalid', claim: 'grant-order', exercised: 2, rule: '' } as const;
  const evidence = [{ role: 'stale write', event: 0 }];
  return {
    plan,
    trace: {
      events: Array.from({ length: seed % 5 }, (_, at) => ({
        kind: 'fault',
        fault: seed % 2 === 0 ? 'pause' : 'drop',
        atUs: at,
        index: 0,
        processes: ['alice'],
        untilUs: null,
        target: '',
        amount: 1,
      })),
      processes: [],
      unmatched: [],
      ending: { kind: 'complete' },
      unsimulated: seed % 3 === 0 ? [asked(seed)] : [asked(seed), asked(seed + 1)],
      sections: [
        ended('alice/1', seed % 5 === 0 ? null : `Error: kind ${'abcdefghijklmnop'[seed % 16]}`),
        ended('bob/1', `Error: no ${seed} of bob-${seed * 7}`),
      ],
    },
    verdicts: [
      seed % 3 === 0
        ? { ...invalid, evidence }
        : { kind: 'valid', claim: 'grant-order', exercised: seed % 4 },
      seed % 4 === 0
        ? { kind: 'unknown', claim: 'tokens-unique', exercised: 0, reason: `seed ${seed}` }
        : { kind: 'valid', claim: 'tokens-unique', exercised: 1 },
    ],
    causes: new Map(),
    overlap: { times: seed % 2, longestUs: seed * 3, totalUs: 0 },
    losses: { times: seed % 3, longestUs: seed * 2, totalUs: 0 },
    stampede: { computations: seed % 6, most: seed % 3 },
  };
}

/** Returns the counts of a range of synthetic seeds. */
export function countsOf(range: Pick<Chunk, 'from' | 'to'>): Promise<SweepCounts> {
  return examineChunk(
    { system: 's', skip: [], ...range },
    EXPECT,
    (_, seed) => examine(seed),
    () => {},
  );
}
