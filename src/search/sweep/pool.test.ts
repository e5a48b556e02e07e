/** Tests the pool alone, with a worker that acts on the name of its scenario. */
import { afterEach, describe, expect, test } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { planOf } from '../../systems/plan.fixture.ts';
import type { Chunk, ReuseDifference } from './chunk.ts';
import { mergeCounts, NO_COUNTS, type SweepCounts } from './counts.ts';
import { Pool, type PoolOptions } from './pool.ts';
import type { TaskEnd } from './tasks.ts';

let pool: Pool | null = null;
afterEach(() => pool?.close());

function open(options: Partial<PoolOptions> = {}): Pool {
  const workerUrl = new URL('./pool-worker.fixture.mjs', import.meta.url);
  const limits = { stallMs: 300, memoryMb: 64 };
  pool = new Pool({ workers: 1, workerUrl, examinerUrl: '', ...limits, ...options });
  return pool;
}

interface Done {
  readonly sizes: readonly number[];
  readonly ranges: readonly string[];
  readonly counts: SweepCounts;
  readonly differences: readonly ReuseDifference[];
}

/** The worker reads only the name. */
function scenarioNamed(name: string): Scenario {
  const text =
    'systems: { fenced: { lock: lock-service, store: fenced } }\nclients: { count: 1, ttl: 20ms, sections: 1 }\nworkload: { steps: [write: {}] }\n';
  const read = loadScenario(`name: ${name}\n${text}`, 'a.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** Examines the seeds 0 to 29, in chunks of at most `size`. */
async function examine(name: string, on: Pool, size = 10, isReusing = false): Promise<Done> {
  const differences: ReuseDifference[] = [];
  const sizes: number[] = [];
  const ranges: string[] = [];
  let counts = NO_COUNTS;
  let from = 0;
  await on.run({
    scenario: scenarioNamed(name),
    modules: [],
    next: (seeds): Chunk | null => {
      sizes.push(seeds);
      if (from >= 30) return null;
      const chunk = { system: 'fenced', from, to: from + size - 1, skip: [], isReusing };
      from += size;
      return chunk;
    },
    onCounts: (one, chunk, difference) => {
      if (difference !== null) differences.push(difference);
      ranges.push(`${chunk.from}..${chunk.to}`);
      counts = mergeCounts(counts, one);
    },
  });
  return { sizes, ranges, counts, differences };
}

test('every chunk is examined once, and its duration decides the size of the next', async () => {
  const { ranges, sizes, counts } = await examine('quick', open());
  expect(ranges).toEqual(['0..9', '10..19', '20..29']);
  expect(counts.seeds).toBe(30);
  // Eight, then at most four times ten: half a millisecond alone would allow 200 times as many.
  expect(sizes).toEqual([8, 40, 40, 40]);
});

test('a slow worker gets fewer seeds, at least one', async () => {
  expect((await examine('slow', open())).sizes).toEqual([8, 1, 1, 1]);
});

test('no chunk has more than 8,192 seeds', async () => {
  expect((await examine('quick', open(), 5000)).sizes).toEqual([8, 8192]);
});

test('seeds that hang are findings, and the rest of their chunks is examined', async () => {
  const { counts, ranges } = await examine('hangs', open({ workers: 2 }));
  expect([counts.seeds, counts.failed, counts.killed]).toEqual([30, 3, 3]);
  const error =
    'it did not finish: 0.3 s of CPU time without an event, at pool-worker.fixture.mjs:57:55';
  expect(counts.failures).toEqual([3, 13, 23].map((seed) => ({ seed, error })));
  expect([...ranges].sort()).toEqual(['0..9', '10..19', '20..29']);
});

test('a seed that keeps producing events is never ended', async () => {
  const { counts } = await examine('events', open(), 1);
  expect([counts.seeds, counts.killed]).toEqual([30, 0]);
});

test('a seed that fills its heap is a finding with its place', async () => {
  const { counts } = await examine('eats', open({ stallMs: 3_000 }));
  expect([counts.seeds, counts.failed, counts.killed]).toEqual([30, 3, 3]);
  const error = 'it did not finish: heap out of memory, at pool-worker.fixture.mjs:23:34';
  expect(counts.failures).toEqual([3, 13, 23].map((seed) => ({ seed, error })));
});

test('a seed that hangs only in reused realms is not a finding', async () => {
  const { counts, differences } = await examine('reused', open(), 10, true);
  expect([counts.seeds, counts.killed, differences]).toEqual([30, 0, []]);
});

test('a seed that a repeated run did not survive is a finding, and is not run again', async () => {
  const one = open();
  const scenario = scenarioNamed('quick');
  const task = { kind: 'repeat', scenario, system: 'fenced', seed: 12 } as const;
  const { error } = await one.perform({ task, modules: [] }).then((end) => {
    return { error: end.kind === 'lost' ? end.why : end.kind };
  });
  const { counts } = await examine('quick', one);
  expect(error).toContain('dies of a task');
  expect([counts.seeds, counts.failures]).toEqual([30, [{ seed: 12, error }]]);
});

test('seeds that kill a worker are findings', async () => {
  const { counts } = await examine('dies', open());
  expect([counts.seeds, counts.failed, counts.killed]).toEqual([30, 3, 3]);
  expect(counts.failures.map(({ error }) => error)).toEqual([
    'dies of 4',
    'dies of 14',
    'dies of 24',
  ]);
});

test('a seed is blamed only if it also ends a fresh worker', async () => {
  const kept = await examine('keeps', open(), 10, true);
  expect([kept.counts.seeds, kept.counts.failed, kept.counts.killed]).toEqual([30, 0, 0]);
  expect(kept.differences).toEqual([{ seed: 15, what: 'kept' }]);
  const dies = await examine('dies', open(), 10, true);
  expect([dies.counts.failed, dies.counts.killed, dies.differences]).toEqual([3, 3, []]);
});

test('a worker serves one job after another, and is replaced when it dies', async () => {
  const one = open();
  const threadsOf = async (name: string): Promise<number> =>
    (await examine(name, one)).counts.events;
  const first = await threadsOf('quick');
  expect(await threadsOf('quick')).toBe(first);
  await threadsOf('dies');
  expect(await threadsOf('quick')).toBeGreaterThan(first);
  await one.close();
});

test('a worker that cannot start fails the job, which hands out no more chunks', async () => {
  const one = open({ examinerUrl: 'dies' });
  await expect(examine('quick', one)).rejects.toThrow('a worker did not start: no examiner');
  // The job has ended, so the next one may begin.
  await expect(examine('quick', one)).rejects.toThrow('a worker did not start');
});

test('a pool has one job at a time', async () => {
  const one = open();
  const first = examine('quick', one);
  await expect(examine('quick', one)).rejects.toThrow('a pool has two jobs at once');
  await first;
});

describe('a task', () => {
  const perform = (on: Pool, title: string, isGivenUp?: () => boolean): Promise<TaskEnd> => {
    const plan = planOf({ clients: [] });
    return on.perform(
      { task: { kind: 'shrink', plan, claim: '', title, seed: 0 }, modules: [] },
      isGivenUp,
    );
  };

  test('is answered, even if fencepost’s own code takes longer than a seed may', async () => {
    const one = open();
    expect(await perform(one, 'idles')).toEqual({ kind: 'threw', error: 'idles' });
    expect(await perform(one, 'fencepost code')).toEqual({
      kind: 'threw',
      error: 'fencepost code',
    });
  });

  test('that never ends, or kills its worker, is lost at a known place', async () => {
    const one = open();
    const why =
      'it did not finish: 0.3 s of CPU time without an event, at pool-worker.fixture.mjs:42:47';
    expect(await perform(one, 'hangs')).toEqual({ kind: 'lost', where: 'hangs', why });
    const dead = await perform(one, 'dies');
    expect(dead).toEqual({ kind: 'lost', where: 'dies', why: 'dies of a task' });
    expect(await perform(one, 'hangs')).toEqual({ kind: 'lost', where: 'hangs', why });
    const ended = { kind: 'lost', where: 'exits', why: 'it ended the process' };
    expect(await perform(one, 'exits')).toEqual(ended);
    expect(await perform(one, 'dies early')).toMatchObject({ kind: 'lost', where: '' });
  });

  test('that is given up may still end; a worker that does not end is killed', async () => {
    const one = open({ stallMs: 60_000 });
    expect(await perform(one, 'idles')).toMatchObject({ kind: 'threw' });
    expect(await perform(one, 'waits', () => true)).toEqual({ kind: 'threw', error: 'waits' });
    expect(await perform(one, 'stays', () => true)).toEqual({ kind: 'given up' });
  });

  test('does not begin once others lost 10 s of CPU time, until that is forgotten', async () => {
    const one = open({ stallMs: 5_000 });
    const done = { kind: 'threw', error: 'idles' };
    expect(await perform(one, 'idles')).toEqual(done);
    for (let times = 0; times < 3; times += 1) await perform(one, 'eats');
    const lost = { kind: 'lost', where: 'other runs', why: 'they did not finish' };
    expect(await perform(one, 'idles')).toEqual(lost);
    one.restorePatience();
    expect(await perform(one, 'idles')).toEqual(done);
  });

  test('needs the pool alone, and a pool with a worker', async () => {
    const one = open();
    const first = perform(one, 'idles');
    await expect(perform(one, 'idles')).rejects.toThrow('a pool has two jobs at once');
    await first;
    await expect(perform(open({ workers: 0 }), 'idles')).rejects.toThrow('a pool has no worker');
    await one.close();
  });
});
