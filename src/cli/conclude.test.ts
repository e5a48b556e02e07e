/** How files are called after what is in them, and what is taken over that was shrunk before. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readShrunk, shrinkKind } from '../adapters/fleet/shrink-kind.ts';
import { smallScenario } from '../adapters/fleet/sweep.fixture.ts';
import type { ShrinkJob, ShrunkKind } from '../adapters/fleet/sweep-queue.ts';
import { builtIn } from '../catalogue.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { loadScenario } from '../load.ts';
import type { Finding } from '../report/finding.ts';
import { expand } from '../scenario/expand.ts';
import { sweep } from '../search/sweep/sweep.ts';
import { claimTally, EMPTY_TALLY } from '../search/sweep/tally.ts';
import {
  concludeScenario,
  type Failing,
  findCounterexample,
  type ShrunkBefore,
} from './conclude.ts';
import { exits } from './exit.ts';
import { fileName, ownName, planFileOf } from './output-files.ts';
import { openTerminal } from './terminal.ts';

describe('a file is called', () => {
  test.each([
    [['zombie writer', 'unfenced', 'grant-order'], 'zombie-writer-unfenced-grant-order'],
    [['../étage/2.b'], 'étage-2.b'],
    [['..'], 'unnamed'],
    [[']]>', 'fenced'], 'unnamed-fenced'],
    [['zombie', '"', 'grant-order'], 'zombie-unnamed-grant-order'],
  ])('after %j as %s', (parts, name) => {
    expect(fileName(parts)).toBe(name);
  });

  test('as no other of one run, even where their names differ by signs only', () => {
    const names = ['a b', 'a/b', 'a-b-2', 'c', '..', ']]>', 'a+b'];
    const own = names.map((name) => ownName(name, names));
    expect(own).toEqual(['a-b', 'a-b-2', 'a-b-2-2', 'c', 'unnamed', 'unnamed-2', 'a-b-3']);
    expect(ownName('elsewhere', [])).toBe('elsewhere');
  });
});

const scenario = smallScenario();
const kind = { system: 'unfenced', claim: 'fence-monotone' };
const systems = scenario.systems.map(({ name }) => name);
const planFile = planFileOf(kind, { scenario: 'small', systems, output: 'reports' });

async function brokenSeeds(): Promise<readonly number[]> {
  const { tallies } = await sweep(scenario, { from: 0, to: 99, pool: null });
  return claimTally(tallies.get(kind.system) ?? EMPTY_TALLY, kind.claim).brokenSeeds;
}

/** What a worker answers. */
async function shrinkAtWorker(seed: number): Promise<ShrunkKind> {
  const origin = { sweep: 's1', fencepost: '1.0.0', planFile };
  const job: ShrinkJob = { kind: 'shrink', ...origin, ...kind, seed };
  const shrunk = await shrinkKind({ job, scenario, file: 'small.yaml' }, builtIn);
  return JSON.parse(JSON.stringify(shrunk));
}

async function find(
  seeds: readonly number[],
  shrunkBefore?: Failing['shrunkBefore'],
): Promise<Finding | null> {
  const loaded = { scenario, file: 'small.yaml', catalogue: builtIn };
  const before = shrunkBefore && { shrunkBefore };
  const folders = { output: 'reports', corpus: null, hasPage: true };
  return await findCounterexample(loaded, { ...kind, seeds, ...before }, folders, HERE);
}

/** In this thread, to the end. */
const HERE = { pool: null, isGivenUp: (): boolean => false };

test('what a worker has shrunk gives the same finding, byte for byte, as shrinking it here', async () => {
  const seeds = await brokenSeeds();
  expect(seeds.length).toBeGreaterThan(3);
  for (const [at, own] of seeds.slice(0, 3).entries()) {
    const shrunk = await shrinkAtWorker(own);
    const asked: number[] = [];
    const there = await find(seeds, async (seed) => {
      asked.push(seed);
      return seed === own ? await readShrunk(shrunk, builtIn) : null;
    });
    expect(there).not.toBeNull();
    expect(there).toEqual(await find(seeds));
    expect(asked).toEqual(seeds.slice(0, 3));
    if (at === 0) expect((await find([own]))?.planText).toBe(shrunk.plan);
  }
});

test('what a worker met besides, by another cause, is found as where one process shrinks', async () => {
  const file = fileURLToPath(new URL('../../fixtures/redis-release.yaml', import.meta.url));
  const text = readFileSync(file, 'utf8');
  const read = loadScenario(text, file);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const expected = { holds: [], breaks: ['owner-only-release'], may: [] };
  const plainDel = read.scenario.systems.flatMap((system) =>
    system.name === 'delete' ? [{ ...system, expect: expected }] : [],
  );
  const two = { scenario: { ...read.scenario, systems: plainDel }, file, text };
  const named = { system: 'delete', claim: 'owner-only-release' };
  const folder = { scenario: 'redis-release', systems: ['delete'], output: 'reports' };
  const shrunk = async (seed: number): Promise<ShrunkBefore | null> => {
    const origin = { sweep: 's1', fencepost: '1.0.0', planFile: planFileOf(named, folder) };
    const job: ShrinkJob = { kind: 'shrink', ...origin, ...named, seed };
    const answer = await shrinkKind({ job, ...two }, builtIn);
    return await readShrunk(JSON.parse(JSON.stringify(answer)), builtIn);
  };
  const range = { from: 0, to: 0 };
  const { tallies } = await sweep(two.scenario, { ...range, pool: null });
  const findingsOf = async (
    before: Parameters<typeof concludeScenario>[2]['shrunkBefore'],
  ): Promise<readonly Finding[]> => {
    const outcome = await concludeScenario(
      { ...two, catalogue: builtIn, warnings: [] },
      {
        ...{ tallies, range, isWhole: true, isPart: false, milliseconds: 0 },
        ...{ keptPlans: [], repeated: 0, difference: null },
      },
      {
        ...{ output: 'reports', hasPage: false, isInterrupted: () => false },
        ...(before && { shrunkBefore: before }),
        terminal: { ...openTerminal({ isQuiet: true }), print: () => {} },
      },
    );
    return outcome.findings;
  };
  const here = await findingsOf(undefined);
  expect(here.map(({ plan }) => plan.faults.map(({ kind }) => kind))).toEqual([
    ['pause'],
    ['delay'],
  ]);
  expect(await findingsOf((_, seed) => shrunk(seed))).toEqual(here);
});

test('a seed that a worker has shrunk is not shrunk again', async () => {
  const [seed = 0] = await brokenSeeds();
  const shrunk = await readShrunk(await shrinkAtWorker(seed), builtIn);
  if (shrunk === null) throw new Error('it breaks the claim');
  // Any plan that breaks the claim: what is shrunk here would be smaller.
  const plan = { ...shrunk.plan, limits: { ...shrunk.plan.limits, probe: true } };
  const known: ShrunkBefore = { ...shrunk, plan };
  expect((await find([seed], async () => known))?.plan).toEqual(plan);
  expect((await find([seed]))?.plan).toEqual(shrunk.plan);
});

test('of a worker no plan is taken that is of another kind, or does not break the claim', async () => {
  const [seed = 0] = await brokenSeeds();
  const shrunk = await shrinkAtWorker(seed);
  expect(await readShrunk(shrunk, builtIn)).not.toBeNull();
  const { plan, boundary } = shrunk;
  if (plan === null || boundary === null) throw new Error('both are found');
  const holds = { ...shrunk, plan: boundary.holdsPlan };
  for (const other of [
    { ...shrunk, system: 'fenced' },
    { ...shrunk, claim: 'grant-order' },
    { ...shrunk, plan: null },
    { ...shrunk, plan: `${plan}\n- what` },
    { ...shrunk, boundary: { ...boundary, holdsPlan: '' } },
    { ...shrunk, plan: renderPlan(expand(scenario, 'unfenced', seed)) },
    holds,
  ]) {
    expect(await readShrunk(other, builtIn)).toBeNull();
  }
});

test('two systems whose names differ by signs only have plans of their own', () => {
  const place = { scenario: 'a', systems: ['x y', 'x/y'], output: 'reports' };
  const files = place.systems.map((system) => planFileOf({ system, claim: 'c' }, place));
  expect(files).toEqual(['reports/a-x-y-c.yaml', 'reports/a-x-y-2-c.yaml']);
});

test('a claim that broke, and does not when its seed is run again, is told and no result', async () => {
  const range = { from: 0, to: 99 };
  const { tallies } = await sweep(scenario, { ...range, pool: null });
  const own = tallies.get(kind.system) ?? EMPTY_TALLY;
  const broken = claimTally(own, kind.claim);
  const holds = [...Array(100).keys()].filter((seed) => !broken.brokenSeeds.includes(seed));
  const printed: string[] = [];
  const conclude = async (brokenSeeds: readonly number[]): Promise<readonly number[]> => {
    const claims = { ...own.claims, [kind.claim]: { ...broken, causes: [], brokenSeeds } };
    const outcome = await concludeScenario(
      { scenario, file: 'small.yaml', text: '', catalogue: builtIn, warnings: [] },
      {
        tallies: new Map([...tallies, [kind.system, { ...own, claims }]]),
        ...{ range, isWhole: true, isPart: false, milliseconds: 0 },
        ...{ keptPlans: [], repeated: 0, difference: null },
      },
      {
        ...{ output: 'reports', hasPage: false, isInterrupted: () => false },
        terminal: { ...openTerminal({ isQuiet: true }), print: (line) => printed.push(line) },
      },
    );
    return outcome.exits;
  };
  expect(await conclude(broken.brokenSeeds)).not.toContain(exits.nondeterministic);
  expect(printed).toEqual([]);
  expect(await conclude(holds.slice(0, 2))).toContain(exits.nondeterministic);
  expect(printed).toEqual([
    `nondeterministic: small.yaml, unfenced, seed ${holds[0]}: fence-monotone broke, and does not when it is run again`,
  ]);
});
