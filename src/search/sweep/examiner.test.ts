import { beforeEach, describe, expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { defineSystem } from '../../define-system.ts';
import { BLOCK_SEEDS } from '../../host/realm/realm-blocks.ts';
import { loadScenario } from '../../load.ts';
import { claimsJudged, examinerOf, repeatSeed, SeedBlocks, traceDifference } from './examiner.ts';
import { lossy } from './lossy.fixture.ts';

function traceOf(...points: readonly string[]): Trace {
  const events = points.map((point, atUs): TraceEvent => {
    return { kind: 'mark', atUs, process: 'alice', point };
  });
  return { processes: [], events, ending: { kind: 'complete' }, unmatched: [] };
}

test('equal traces have no difference', () => {
  expect(traceDifference(traceOf('a', 'b'), traceOf('a', 'b'))).toBeNull();
});

test('the first event that differs is reported, with both versions', () => {
  const difference = traceDifference(traceOf('a', 'b', 'c'), traceOf('a', 'x', 'y'));
  expect(difference).toMatch(/^event 1 differs: .*"b".*, then .*"x"/);
});

test('a longer trace differs at the end of the shorter one', () => {
  expect(traceDifference(traceOf('a'), traceOf('a', 'b'))).toMatch(/^event 1 .*first nothing/);
});

test('traces with different endings differ', () => {
  const truncated: Trace = { ...traceOf('a'), ending: { kind: 'cut', limit: 'end' } };
  expect(traceDifference(traceOf('a'), truncated)).toBe('the runs ended differently');
});

const read = loadScenario(
  `name: calm
systems:
  one: { lock: lock-service, store: fenced, expect: { holds: [linearizable(register)] } }
`,
  'calm.yaml',
);
if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
const { scenario } = read;

test('a seed is judged by the claims that the scenario lists, and by all cheap ones', async () => {
  const plain = claimsJudged([]);
  expect(plain).toContain('grant-order');
  expect(plain.filter((name) => /\(|holder-overlap|loss-noticed/.test(name))).toEqual([]);
  expect(claimsJudged(['progress', 'holder-overlap'])).toEqual([
    'progress',
    'holder-overlap',
    ...plain.filter((name) => name !== 'progress'),
  ]);
  const { verdicts, plan } = await examinerOf(scenario)('one', 3);
  expect(verdicts.map(({ claim }) => claim)).toEqual(['linearizable(register)', ...plain]);
  expect(plan.system.name).toBe('one');
});

test('a seed gives the same result twice if only its plan decides', async () => {
  expect(await repeatSeed(scenario, 'one', 3)).toBeNull();
});

describe('a seed whose system reuses its realms', () => {
  const reported: string[] = [];
  const passing = {
    skip: [1],
    onPass: () => void reported.push('passed'),
    onDifference: (what: string) => void reported.push(what),
  };
  beforeEach(() => void reported.splice(0));

  test('passes each earlier seed of its block, except skipped ones', async () => {
    const examine = examinerOf(scenario, undefined, ['one']);
    expect((await examine('one', 3, passing)).verdicts).toEqual(
      (await examinerOf(scenario)('one', 3)).verdicts,
    );
    expect(reported).toEqual(['passed', 'passed']);
    await examine('one', 4, passing);
    expect(reported).toEqual(['passed', 'passed']);
  });

  test('runs once if no claim breaks', async () => {
    let runs = 0;
    const counting = defineSystem({
      locks: {
        counting: {
          about: 'counts how often it is built, and lets everybody in',
          operations: [],
          buildAsync() {
            runs += 1;
            let token = 0;
            return () => async (section) => {
              token += 1;
              const guard = section.guard({ token });
              await guard.work();
              guard.leave();
            };
          },
        },
      },
    });
    const catalogue = extend(builtIn, counting);
    const loaded = loadScenario(
      'name: counted\nsystems:\n  one: { lock: counting, store: fenced }\nclients: 1\n',
      'counted.yaml',
      catalogue,
    );
    if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
    const examine = examinerOf(loaded.scenario, catalogue, ['one']);
    const { verdicts } = await examine('one', 0, passing);
    expect(verdicts.every(({ kind }) => kind === 'valid')).toBe(true);
    expect(runs).toBe(1);
  });

  test('reports no difference if reused and fresh realms find the same breach', async () => {
    const examine = examinerOf(lossy, undefined, ['one']);
    const { verdicts } = await examine('one', 0, passing);
    expect(verdicts.some(({ kind }) => kind === 'invalid')).toBe(true);
    expect(reported).toEqual([]);
  });

  test('reports no difference if neither realm can examine it', async () => {
    const examine = examinerOf(scenario, undefined, ['two']);
    await expect(examine('two', 0, passing)).rejects.toThrow('two');
    expect(reported).toEqual([]);
  });
});

describe('the realms of a block', () => {
  const passedBy = async (seeds: readonly number[], skip: readonly number[] = []) => {
    const blocks = new SeedBlocks();
    const passed: number[] = [];
    const realms: unknown[] = [];
    for (const seed of seeds) {
      const pass = async (before: number): Promise<void> => void passed.push(before);
      realms.push(await blocks.realmsFor({ system: 'one', seed, skip }, pass));
    }
    return { passed, areSame: new Set(realms).size === 1 };
  };

  test('have passed all earlier seeds of the block once, except skipped ones', async () => {
    expect(await passedBy([2])).toEqual({ passed: [0, 1], areSame: true });
    expect(await passedBy([0, 1, 4])).toEqual({ passed: [2, 3], areSame: true });
    expect(await passedBy([1, 4], [0, 3])).toEqual({ passed: [2], areSame: true });
  });

  test('are loaded again for a seed that they have passed, and for another block', async () => {
    expect(await passedBy([1, 1])).toEqual({ passed: [0, 0], areSame: false });
    expect(await passedBy([1, 0])).toEqual({ passed: [0], areSame: false });
    expect(await passedBy([0, BLOCK_SEEDS + 1])).toEqual({
      passed: [BLOCK_SEEDS],
      areSame: false,
    });
  });

  test('belong to one system', async () => {
    const blocks = new SeedBlocks();
    const asked = { seed: 0, skip: [] };
    const pass = async (): Promise<void> => {};
    const one = await blocks.realmsFor({ ...asked, system: 'one' }, pass);
    expect(await blocks.realmsFor({ ...asked, system: 'two' }, pass)).not.toBe(one);
    expect(await blocks.realmsFor({ ...asked, system: 'one', seed: 1 }, pass)).toBe(one);
  });
});
