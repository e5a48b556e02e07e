/** Tests the results of the public functions, and their refusal of invalid arguments. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtIn } from './catalogue.ts';
import { defineSystem } from './define-system.ts';
import {
  expand,
  explain,
  InvalidInput,
  judge,
  loadPlan,
  loadScenario,
  type Plan,
  replay,
  run,
  shrink,
} from './library.ts';
import { digestOf, run as runData } from './run.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
const zombie = await loadScenario(join(fixtures, 'zombie-writer.yaml'));
const kept = await loadPlan(join(fixtures, 'plans/zombie-writer-unfenced-grant-order.yaml'));

/** Returns the first plan of the unfenced system that breaks the claim. */
async function broken(): Promise<Plan> {
  for (let seed = 0; seed < 100; seed += 1) {
    const plan = await expand(zombie, 'unfenced', seed);
    const [verdict] = await judge(plan, await run(plan), ['grant-order']);
    if (verdict?.kind === 'invalid') return plan;
  }
  throw new Error('no seed breaks it');
}

describe('a scenario', () => {
  test('has its name and those of its systems, and may be given as a text', async () => {
    const file = join(fixtures, 'zombie-writer.yaml');
    const read = await loadScenario({ file, text: readFileSync(file, 'utf8') });
    expect(read.name).toBe('zombie-writer');
    expect(read.systems).toEqual(zombie.systems);
    expect(read.systems).toContain('fenced');
  });

  test('with mistakes is refused with each mistake and its place', async () => {
    const text = 'name: a\nsystems: { a: { lock: lokk, store: fenced } }\nclients: none\n';
    const refused = loadScenario({ file: 'a.yaml', text });
    await expect(refused).rejects.toThrow(InvalidInput);
    await expect(refused).rejects.toThrow(
      /^a\.yaml:2:23 systems\.a\.lock: .*\na\.yaml:3:10 clients/s,
    );
    await expect(refused).rejects.toMatchObject({ problems: [{ line: 2 }, { line: 3 }] });
  });

  test('may use definitions that are passed with it', async () => {
    const claims = { few: { about: 'few events', judge: () => ({ exercised: 1 }) } };
    const text = readFileSync(join(fixtures, 'zombie-writer.yaml'), 'utf8');
    const use = defineSystem({ claims });
    const { systems, catalogue } = await loadScenario({ file: 'zombie.yaml', text }, { use });
    expect(systems).toEqual(zombie.systems);
    expect(catalogue.claims.has('few')).toBe(true);
    expect(builtIn.claims.has('few')).toBe(false);
  });
});

describe('a plan', () => {
  test('runs to one trace, as with the synchronous simulator', async () => {
    const plan = await expand(zombie, 'fenced', 3);
    const [one, other] = [await run(plan), await replay(plan)];
    expect(digestOf(one)).toBe(other.digest);
    expect(digestOf(runData(plan.data))).toBe(other.digest);
  });

  test('has a text that loads as the same plan', async () => {
    const again = await loadPlan({ file: 'again.yaml', text: String(kept) });
    expect(String(again)).toBe(String(kept));
    expect(again).toMatchObject({ system: 'unfenced', claim: 'grant-order', moduleChanges: [] });
    expect(again.faults.map((fault) => Object.keys(fault))).toEqual([['pause']]);
  });

  test.each<[string, string, number, RegExp]>([
    ['a system that there is not', 'fence', 0, /has no system "fence"; did you mean "fenced"/],
    ['a seed below 0', 'fenced', -1, /whole number from 0, not -1/],
    ['half a seed', 'fenced', 0.5, /whole number from 0, not 0.5/],
  ])('of %s is refused', async (_, system, seed, why) => {
    const refused = expand(zombie, system, seed);
    await expect(refused).rejects.toThrow(InvalidInput);
    await expect(refused).rejects.toThrow(why);
  });

  test('is judged by all claims that are judged on every run, or by the given ones', async () => {
    const trace = await run(kept);
    const all = await judge(kept, trace);
    expect(all.length).toBeGreaterThan(15);
    expect(all.find(({ claim }) => claim === 'grant-order')?.kind).toBe('invalid');
    const named = await judge(kept, trace, ['tokens-unique', 'grant-order']);
    expect(named.map(({ claim, kind }) => `${claim} ${kind}`)).toEqual([
      'tokens-unique valid',
      'grant-order invalid',
    ]);
  });

  test('is replayed for the claim that it was kept for, or another', async () => {
    expect(await replay(kept)).toMatchObject({ claim: 'grant-order', outcome: 'reproduced' });
    expect((await replay(kept, 'tokens-unique')).outcome).not.toBe('reproduced');
    expect(await replay(kept)).not.toHaveProperty('cause');
  });

  test('is shrunk with its boundary, and explained', async () => {
    const { plan, isMinimal, runs, boundary } = await shrink(await broken(), 'grant-order');
    expect(plan.data.clients.length).toBe(2);
    expect(isMinimal).toBe(true);
    expect(runs).toBeGreaterThan(10);
    expect(boundary?.what).toMatch(/^pause of \w+$/);
    const explained = await explain(plan, 'grant-order');
    expect(explained?.explanation.headline).toBe('Stale write accepted by `unfenced`');
    expect(explained?.causation.neighbours.map(({ kind }) => kind)).toContain('boundary');
    expect(await explain(plan, 'tokens-unique')).toBeNull();
  });

  test('is shrunk no further once its signal is aborted, or its runs are used up', async () => {
    const plan = await broken();
    const few = await shrink(plan, 'grant-order', { maxRuns: 20 });
    expect(few).toMatchObject({ isMinimal: false });
    expect(few.runs).toBeLessThanOrEqual(20);
    const aborted = await shrink(plan, 'grant-order', { signal: AbortSignal.abort() });
    expect(aborted).toMatchObject({ isMinimal: false, runs: 0 });
  });

  test('that does not break its claim is not shrunk', async () => {
    const plan = await expand(zombie, 'fenced', 0);
    await expect(shrink(plan, 'grant-order')).rejects.toThrow(
      'the plan does not break grant-order',
    );
  });

  test.each<[string, (claim: string) => Promise<unknown>]>([
    ['judge', async (claim) => judge(kept, await run(kept), [claim])],
    ['shrink', (claim) => shrink(kept, claim)],
    ['replay', (claim) => replay(kept, claim)],
    ['explain', (claim) => explain(kept, claim)],
  ])('is refused by %s for an unknown claim', async (_, takes) => {
    const refused = takes('grant-odor');
    await expect(refused).rejects.toThrow(InvalidInput);
    await expect(refused).rejects.toThrow(
      'unknown claim "grant-odor"; did you mean "grant-order"?',
    );
  });
});

describe('an argument of the wrong type is refused by name', () => {
  const given = <T>(value: unknown): T => JSON.parse(JSON.stringify(value) ?? 'null');
  const zombieFile = join(fixtures, 'zombie-writer.yaml');

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'a plan that is not awaited',
      () => run(Object(expand(zombie, 'fenced', 0))),
      'await it first',
    ],
    ['not a plan', () => run(given({})), 'run: expected a plan, not'],
    ['a text for a plan', () => replay(given('abc')), 'replay: expected a plan, not "abc"'],
    ['not a trace', () => judge(kept, given(null)), 'judge: expected a trace, not'],
    ['not a scenario', () => expand(given(7), 'fenced', 0), 'expand: expected a scenario, not 7'],
    ['not a source', () => loadScenario(given(7)), 'expected a path, or { file, text }, not 7'],
    ['a missing file', () => loadScenario('none.yaml'), 'none.yaml: there is no such file'],
    ['a folder', () => loadPlan(fixtures), 'it is a folder'],
    [
      'a text for a path',
      () => loadPlan(String(kept)),
      'for the text of a file give { file, text }',
    ],
    [
      'not a definition',
      () => loadScenario(zombieFile, { use: given({}) }),
      'use: expected a definition',
    ],
    ['a limit of no runs', () => shrink(kept, 'grant-order', { maxRuns: 0 }), 'maxRuns: expected'],
  ])('%s', async (_, call, why) => {
    const refused = call();
    await expect(refused).rejects.toThrow(InvalidInput);
    await expect(refused).rejects.toThrow(why);
  });

  test('one claim instead of a list', async () => {
    const claims = given<string[]>('grant-order');
    await expect(judge(kept, await run(kept), claims)).rejects.toThrow('expected a list of claims');
  });
});

test('a plan that never ran is not reported to break its claim', async () => {
  const plan = await expand(zombie, 'fenced', 0);
  const unrun = await shrink(plan, 'grant-order', { signal: AbortSignal.abort() });
  expect(unrun).toMatchObject({ isMinimal: false, runs: 0 });
  expect(unrun.plan.claim).toBeNull();
});
