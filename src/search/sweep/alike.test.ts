/** Seeds are left out if all of the first ones fail with the same error. */
import { expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import { defineSystem } from '../../define-system.ts';
import { loadScenario } from '../../load.ts';
import { campaign } from '../campaign/campaign.ts';
import { exits } from '../campaign/exit-codes.ts';
import type { SystemResult } from '../campaign/result.ts';
import type { CampaignSetting, Examined } from '../campaign/setting.ts';
import { QUIET } from '../campaign/small-scenario.fixture.ts';
import { NO_COUNTS } from './counts.ts';
import { type FiledShard, mergeShards, type Shard } from './shards.ts';

/** A system whose run fails with the error that `why` returns, or passes if it returns null. */
async function examine(
  why: () => string | null,
  { seeds = 20, ...setting }: Partial<CampaignSetting> & { readonly seeds?: number } = {},
): Promise<{ readonly exit: number; readonly system: SystemResult; readonly examined: Examined }> {
  const catalogue = extend(
    builtIn,
    defineSystem({
      locks: {
        own: {
          about: 'a lock that is none',
          buildAsync: () => () => async (section) => {
            const error = why();
            console.error('begins');
            if (error !== null) void Promise.reject(new Error(error));
            await section.guard().work();
          },
        },
      },
    }),
  );
  const text = `
name: alike
systems: { own: { lock: own, store: unfenced, expect: { holds: [grant-order] } } }
clients: { count: 2, ttl: 20ms, sections: 1, think: 0ms..10ms }
workload: { kind: read-modify-write }
`;
  const read = loadScenario(text, 'alike.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const all: Examined[] = [];
  const { summary } = await campaign([{ scenario: read.scenario, file: 'alike.yaml', catalogue }], {
    ...QUIET,
    range: { from: 100, to: 99 + seeds },
    ...setting,
    emit: (event) => void (event.kind === 'conclusion' && all.push(event.examined)),
  });
  const [[system] = [], [examined]] = [summary.scenarios[0]?.systems, all];
  if (system === undefined || examined === undefined) throw new Error('nothing was examined');
  return { exit: summary.exit, system, examined };
}

/** One of a few words, drawn per seed. */
const word = (): string => ['a', 'b', 'c'][Math.floor(Math.random() * 3)] ?? '';

test('a system whose first 8 seeds fail with one error runs on no others', async () => {
  const { exit, system } = await examine(() => `no host redis-${Math.random()}`);
  expect(exit).toBe(exits.failed);
  expect(system).toMatchObject({ seeds: 8, failed: 8, leftOut: 12, met: null });
  expect(system.failures).toHaveLength(1);
  expect(system.output).toEqual({ seed: 100, lines: [expect.stringMatching(/^\w+ \| begins$/)] });
});

test('a system that fails with different errors, or passes a seed, runs on all seeds', async () => {
  for (const why of [() => `no host ${word()}`, () => (Math.random() < 0.7 ? null : 'no host')]) {
    const { system } = await examine(why);
    expect(system).not.toHaveProperty('leftOut');
    expect(system.seeds).toBe(20);
  }
});

test('a system that never fails, or has only 8 seeds, runs on all of them', async () => {
  const broken = await examine(() => null);
  expect(broken.system).toMatchObject({ seeds: 20, failed: 0 });
  expect(broken.system).not.toHaveProperty('output');
  const { system } = await examine(() => 'no host', { seeds: 8 });
  expect(system).toMatchObject({ seeds: 8, failed: 8 });
  expect(system).not.toHaveProperty('leftOut');
});

test('shards leave out the same seeds, and merge into the result of one machine', async () => {
  const one = await examine(() => 'no host');
  const shards: FiledShard[] = [];
  const range = { from: 100, to: 119 };
  for (let index = 1; index <= 4; index += 1) {
    const shard: Shard = { index, of: 4 };
    const { examined } = await examine(() => 'no host', { shard });
    expect(examined.cutShort).toBeNull();
    shards.push(filed(examined, { shard, range }));
  }
  const merge = mergeShards(shards);
  if (merge.kind !== 'merged') throw new Error(JSON.stringify(merge));
  expect(merge.merged.truncated).toEqual([]);
  expect(merge.merged.scenarios[0]?.countsBySystem).toEqual(one.examined.countsBySystem);
  const shorter = shards.map((each, at) => (at === 0 ? without(each) : each));
  expect(mergeShards(shorter)).toMatchObject({ merged: { truncated: [{}, {}, {}, {}] } });
});

function filed(
  { countsBySystem, keptPlans, repeated, difference }: Examined,
  { shard, range }: Pick<FiledShard['shard'], 'shard' | 'range'>,
): FiledShard {
  const scenario = {
    origin: { scenario: 'alike', fencepost: '', modules: {}, digest: '' },
    file: '',
    text: '',
    isComplete: true,
    milliseconds: 0,
    countsBySystem: Object.fromEntries(countsBySystem),
    counterexamples: [],
    keptPlans,
    repeated,
    difference,
    corpus: null,
  };
  return { file: `${shard.index}.json`, shard: { shard, range, scenarios: [scenario] } };
}

function without({ file, shard }: FiledShard): FiledShard {
  const scenarios = shard.scenarios.map((one) => ({ ...one, countsBySystem: { own: NO_COUNTS } }));
  return { file, shard: { ...shard, scenarios } };
}
