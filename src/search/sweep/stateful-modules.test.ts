/**
 * Tests reused realms with locks whose packages keep state, and with locks whose packages do not.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examineEither, shrinkFailureAsync } from '../../host/async/run-async.ts';
import { loadScenarioFile } from '../../host/modules/load-files.ts';
import type { RealmBlock } from '../../host/realm/realm-blocks.ts';
import { digestOf } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { SeedBlocks } from './examiner.ts';
import { canReuse, compareBlock } from './stateful-modules.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-keepers-'));

/** Package `calm` keeps no state; `counts` counts its calls, which makes one lock begin late. */
const FILES = {
  'node_modules/calm/index.js': `const { wait } = require('./wait.js'); exports.wait = wait;`,
  'node_modules/calm/wait.js': `exports.wait = (ms) => new Promise((go) => setTimeout(go, ms));`,
  'node_modules/counts/package.json': '{ "main": "./index.mjs" }',
  'node_modules/counts/index.mjs': `let calls = 0; export const count = () => (calls += 1);`,
  'lock.mjs': `import { defineSystem } from 'fencepost';
import { wait } from 'calm';
import { count } from 'counts';
const OWN = Math.random();
let sections = 0;
const lockOf = (counts, from = 0) => ({
  about: 'waits',
  servers: [],
  buildAsync: () => () => async (section) => {
    sections += 1;
    await wait(sections + Math.floor(OWN * 3) + (counts ? count() : 0));
    if (from > 0 && count() < from) return;
    const guard = section.guard();
    await guard.work();
    guard.leave();
  },
});
const locks = { calm: lockOf(false), counts: lockOf(true), late: lockOf(false, 2) };
export default defineSystem({ locks });
`,
  'own.mjs': `import { defineSystem } from 'fencepost';
const buildAsync = () => () => async () => {};
export default defineSystem({ locks: { own: { about: 'own', servers: [], buildAsync } } });
`,
  'lock.yaml': `name: keepers
use: [./lock.mjs, ./own.mjs]
systems:
  calm: { lock: calm, store: unfenced }
  counts: { lock: counts, store: unfenced }
  late: { lock: late, store: unfenced }
  own: { lock: own, store: unfenced }
  built-in: { lock: redis, store: unfenced }
clients: { count: 2, sections: 2 }
workload: { kind: read-modify-write }
faults:
  - crash: { process: clients, at: 1ms..20ms, restart: 1ms..5ms, chance: 1/2 }
`,
};

let scenario: Scenario;
let catalogue: Catalogue;
beforeAll(async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const read = await loadScenarioFile(join(folder, 'lock.yaml'));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  ({ scenario, catalogue } = read);
});

/** Digests of the runs of these seeds, run in the given order. */
async function digestsOf(
  system: string,
  seeds: readonly number[],
  isReusing: boolean,
): Promise<ReadonlyMap<number, string>> {
  const blocks = new SeedBlocks();
  const traceOf = async (seed: number, realms?: RealmBlock): Promise<Trace> => {
    const options = realms === undefined ? {} : { realms };
    return (await examineEither(expand(scenario, system, seed), [], catalogue, options)).trace;
  };
  const digests = new Map<number, string>();
  for (const seed of seeds) {
    const asked = { system, seed, skip: [] };
    const realms = isReusing ? await blocks.realmsFor(asked, traceOf) : undefined;
    digests.set(seed, digestOf(await traceOf(seed, realms)));
  }
  return digests;
}

const row = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test.each(['calm', 'late'])(
  'a plan of `%s` shrinks to one that breaks in fresh realms',
  async (name) => {
    const claim = 'no-lost-update';
    const isBroken = async (plan: Plan): Promise<boolean> => {
      const { verdicts } = await examineEither(plan, [claim], catalogue);
      return verdicts[0]?.kind === 'invalid';
    };
    let seed = 0;
    while (!(await isBroken(expand(scenario, name, seed)))) seed += 1;
    const plan = expand(scenario, name, seed);
    const { plan: shrunk, reproduced } = await shrinkFailureAsync(plan, claim, { catalogue });
    expect(reproduced).toBe(true);
    expect(await isBroken(shrunk)).toBe(true);
  },
);

test('only a lock whose code uses packages can be reused', () => {
  const reusable = scenario.systems.filter(({ name }) => canReuse(scenario, name, catalogue));
  // Packages count per module, not per lock: only `own` is in a module that imports none.
  expect(reusable.map(({ name }) => name)).toEqual(['calm', 'counts', 'late']);
});

test('a seed has the same result in reused and fresh realms', async () => {
  const used = await digestsOf('calm', row(0, 70), true);
  expect(used).toEqual(await digestsOf('calm', row(0, 70), false));
  expect(new Set(used.values()).size).toBe(71);
  const compared = await compareBlock(
    { scenario, system: 'calm', from: 32, seeds: 32 },
    catalogue,
    () => false,
  );
  expect(compared).toEqual({ same: 32, keeper: null });
});

test('a seed finds the state that its block left, wherever a chunk begins', async () => {
  const complete = await digestsOf('counts', row(32, 95), true);
  const pieces = [row(60, 70), row(71, 95), row(40, 45), row(32, 33)];
  for (const piece of pieces) {
    for (const [seed, digest] of await digestsOf('counts', piece, true)) {
      expect(digest, String(seed)).toBe(complete.get(seed));
    }
  }
  const fresh = await digestsOf('counts', row(32, 95), false);
  const differing = row(32, 95).filter((seed) => complete.get(seed) !== fresh.get(seed));
  expect(differing.length).toBeGreaterThan(50);
  expect(differing).not.toContain(32);
  expect(differing).not.toContain(64);
});

test('the package that keeps state is named, with the seed', async () => {
  const block = { scenario, system: 'counts', from: 0, seeds: 32 };
  const { same, keeper } = await compareBlock(block, catalogue, () => false);
  expect(same).toBe(1);
  expect(keeper).toMatchObject({ seed: 1, name: 'counts' });
  expect(keeper?.what).toMatch(/^event \d+ differs: first .*, then /);
  // The comparison changed nothing.
  expect(await compareBlock(block, catalogue, () => false)).toEqual({ same, keeper });
});

test('the comparison stops on request', async () => {
  const block = { scenario, system: 'calm', from: 0, seeds: 32 };
  let asked = 0;
  const shouldStop = (): boolean => {
    asked += 1;
    return asked > 3;
  };
  expect(await compareBlock(block, catalogue, shouldStop)).toEqual({ same: 3, keeper: null });
});
