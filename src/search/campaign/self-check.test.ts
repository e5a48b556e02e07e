/** The self-check runs the first requested seeds twice, and no others. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { runTest } from '../../adapters/scenario-check/check-scenario.ts';
import { checkOptions } from '../../adapters/scenario-check/options.ts';
import { lockOfBody } from '../../adapters/scenario-check/subject.ts';
import { readRequests } from '../../adapters/scenario-check/test-place.ts';
import { rangeOfShard } from '../sweep/shards.ts';
import { campaign } from './campaign.ts';
import type { CampaignEvent, CampaignSetting } from './setting.ts';
import { QUIET, smallSubject } from './small-scenario.fixture.ts';

/** Returns the names of the tasks up to the end of the self-check, and all seeds that ran. */
async function workOf(
  change: Partial<CampaignSetting>,
): Promise<{ readonly twice: readonly string[]; readonly seeds: readonly number[] }> {
  const twice: string[] = [];
  const seeds: number[] = [];
  let isChecking = true;
  const named: NonNullable<CampaignSetting['named']> = ({ what, seed }, work) => {
    if (isChecking) twice.push(what);
    if (seed !== undefined) seeds.push(seed);
    return work();
  };
  const emit = ({ kind }: CampaignEvent): void => {
    if (kind === 'repeated') isChecking = false;
  };
  const shrinking = { ...QUIET.shrinking, claimsOf: () => [] };
  await campaign([smallSubject()], { ...QUIET, chunkSeeds: 1, ...change, named, emit, shrinking });
  return { twice, seeds };
}

test('a campaign runs the first seeds of its part twice, and none outside of it', async () => {
  const asked = fc.record({
    from: fc.nat(20),
    more: fc.nat(5),
    repeats: fc.nat(5),
    of: fc.integer({ min: 1, max: 3 }),
  });
  const law = fc.asyncProperty(asked, fc.nat(2), async ({ from, more, repeats, of }, at) => {
    const range = { from, to: from + more };
    const shard = of === 1 ? null : { index: (at % of) + 1, of };
    const part = shard === null ? range : rangeOfShard(range, shard);
    const setting = { range, shard, repeats: { seeds: repeats } };
    const { twice, seeds } = await workOf(setting);
    const count = Math.min(repeats, part.to - part.from + 1);
    const expected = ['unfenced', 'fenced'].flatMap((system) =>
      Array.from({ length: Math.max(0, count) }, (_, k) => `seed ${part.from + k} of ${system}`),
    );
    expect(twice).toEqual(expected);
    expect(seeds.filter((seed) => seed < part.from || seed > part.to)).toEqual([]);
  });
  await fc.assert(law, { numRuns: runs(50) });
});

/** Returns how many sections run in a test of `seeds` seeds with one section each. */
async function sectionsOf(seeds: number): Promise<number> {
  let sections = 0;
  const lock = lockOfBody(
    {},
    async (section) => {
      sections += 1;
      const guard = section.guard({ token: 1 });
      await guard.work();
      guard.leave();
    },
    [],
  );
  const clients = { count: 1, ttl: '20ms', sections: 1 } as const;
  const options = { clients, faults: [], probe: false, holds: ['grant-order'], seeds } as const;
  const file = join(import.meta.dirname, 'exit-codes.ts');
  const place = { file, fullName: 'own', command: [], alone: [] };
  const { signal } = new AbortController();
  const setting = { place, requests: readRequests({}), signal, print: () => {} };
  // The result is irrelevant here: a single client exercises no claim.
  await Promise.allSettled([runTest(checkOptions(options, lock), setting)]);
  return sections;
}

test('a test runs each of its seeds once, three of them twice more, and no others', async () => {
  const counts = await Promise.all([1, 2, 3, 5].map(sectionsOf));
  // The test also runs a constant number of sections to learn the calls of the body.
  const [first = 0] = counts;
  expect(counts.map((count) => count - first)).toEqual([0, 3, 6, 8]);
});
