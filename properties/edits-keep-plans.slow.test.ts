/**
 * Law: a kept plan survives edits to the lock that it guards. After ten edits that preserve the
 * behavior of the guide's lock, at least nine leave each finding reproduced, by the cause for which
 * it was kept. A plan that names a renamed command gets a hint with the rename that repairs it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { renamedPlan } from '../src/core/plan/amend.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { expectsBreach } from '../src/harness.ts';
import { examineAsync, shrinkFailureAsync } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import { type KeptReplay, replayKept } from '../src/search/corpus/kept-replay.ts';
import { asCured, asPublished, catalogueOf, edits } from './edited-locks.ts';

const published = catalogueOf(asPublished);

/** The scenario of the guide; with two clients, the test of docs/library.md. */
function scenarioText(clients: number, faults: readonly string[]): string {
  return `name: my-lock
systems:
  alone: { lock: my-lock, store: unfenced, expect: { breaks: [grant-order] } }
clients: { count: ${clients}, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
${faults.map((fault) => `  - ${fault}`).join('\n')}
`;
}

const beforeWrite = 'pause: { before: write, for: 1ms..60ms, chance: 1/2 }';
const anywhere = 'pause: { for: 1ms..60ms, chance: 1/4 }';
const afterSet = 'pause: { after: set, for: 1ms..60ms, chance: 1/2 }';
const late = 'delay: { by: 1ms..60ms, chance: 1/10 }';

/** Clients and faults to sweep, and the seeds whose findings are kept. */
const sources: readonly (readonly [number, readonly string[], readonly number[]])[] = [
  [3, [beforeWrite, anywhere], [0, 1, 24]],
  [2, [beforeWrite], [1, 3]],
  [3, [anywhere], [13]],
  [3, [late], [3, 11]],
];

async function shrunk(text: string, seed: number): Promise<Plan | null> {
  const read = loadScenario(text, 'my-lock.yaml', published);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const plan = expand(read.scenario, 'alone', seed);
  const result = await shrinkFailureAsync(plan, 'grant-order', { catalogue: published });
  if (!result.reproduced) return null;
  const { causes } = await examineAsync(result.plan, ['grant-order'], published);
  return expectsBreach(result.plan, 'grant-order', causes.get('grant-order'));
}

const kept: Plan[] = [];

beforeAll(async () => {
  for (const [clients, faults, seeds] of sources)
    kept.push(...(await keep(clients, faults, seeds)));
}, 60_000);

async function keep(
  clients: number,
  faults: readonly string[],
  seeds: readonly number[],
): Promise<readonly Plan[]> {
  const plans: Plan[] = [];
  for (const seed of seeds) {
    const plan = await shrunk(scenarioText(clients, faults), seed);
    if (plan !== null) plans.push(plan);
  }
  return plans;
}

/** Replays all kept plans on this code. */
async function replayed(code: (typeof edits)[string]): Promise<readonly KeptReplay[]> {
  const catalogue = catalogueOf(code);
  const results: KeptReplay[] = [];
  for (const plan of kept) results.push(await replayKept(plan, { catalogue, hasChanged: true }));
  return results;
}

test('each kept plan reproduces unchanged on the published lock', async () => {
  expect(kept.length).toBeGreaterThanOrEqual(8);
  expect(kept.filter(({ expect: said }) => said?.cause === undefined)).toEqual([]);
  const outcomes = (await replayed(asPublished)).map(({ outcome, changes }) => [outcome, changes]);
  expect(outcomes).toEqual(kept.map(() => ['reproduced', []]));
});

describe('after an edit', () => {
  const held: string[] = [];

  test.each(Object.entries(edits))('%s', async (about, code) => {
    const results = await replayed(code);
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes.filter((one) => one !== 'reproduced' && one !== 'diverged')).toEqual([]);
    expect(results.map(({ otherCause }) => otherCause)).toEqual(kept.map(() => null));
    if (outcomes.every((one) => one === 'reproduced')) held.push(about);
  });

  test('at least nine of ten leave every finding reproduced', () => {
    expect(Object.keys(edits).length).toBe(10);
    expect(held.length).toBeGreaterThanOrEqual(9);
  });
});

describe('a label that the code no longer has', () => {
  const relabelled = edits['its commands go by another name'] ?? asPublished;

  test('is reported with its new name, with which each plan reproduces', async () => {
    const named = await keep(3, [afterSet], [3, 4, 5]);
    expect(named.length).toBeGreaterThan(0);
    for (const plan of named) {
      const catalogue = catalogueOf(relabelled);
      const {
        outcome,
        lost: label,
        divergedAt,
      } = await replayKept(plan, {
        catalogue,
        hasChanged: true,
      });
      expect(outcome).toBe('diverged');
      expect(divergedAt).toMatch(/^\w+\/[12]\/set$/);
      expect(label).toMatchObject({ from: 'set', rename: { from: 'set', to: 'eval' } });
      expect(label?.nearest[0]).toBe('eval');
      const mended = renamedPlan(plan, label?.rename ? [label.rename] : []);
      const again = await replayKept(mended, { catalogue });
      expect(again.outcome).toBe('reproduced');
    }
  });
});

test('a cure is not an edit: the kept findings are fixed or no longer arise', async () => {
  const outcomes = (await replayed(asCured)).map(({ outcome }) => outcome);
  expect(outcomes.filter((one) => one === 'reproduced' || one === 'diverged')).toEqual([]);
});

describe('a plan that was kept for another cause', () => {
  const other = { rule: 'wrong-value', isByNonOwnerRelease: false, faults: [] };
  const asOther = (plan: Plan): Plan => expectsBreach(plan, 'grant-order', other);

  test('still breaks its claim unchanged, and its new cause is reported', async () => {
    for (const plan of kept) {
      const { outcome, otherCause } = await replayKept(asOther(plan), { catalogue: published });
      expect(outcome).toBe('reproduced');
      expect(otherCause).toMatch(/^[a-z-]+: (pause|delay) /);
    }
  });

  test('is not reproduced by a similar plan', async () => {
    let needed = 0;
    for (const code of Object.values(edits)) {
      const catalogue = catalogueOf(code);
      for (const plan of kept) {
        const options = { catalogue, hasChanged: true };
        const { outcome, changes } = await replayKept(plan, options);
        if (outcome !== 'reproduced' || changes.length === 0) continue;
        needed += 1;
        const result = await replayKept(asOther(plan), options);
        expect(result.outcome).not.toBe('reproduced');
        expect(result.otherCause).toMatch(/^[a-z-]+: (pause|delay) /);
      }
    }
    expect(needed).toBeGreaterThan(0);
  });
});
