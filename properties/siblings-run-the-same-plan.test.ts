/**
 * Laws of the line that follows an expected story: the plan that broke one system, run on its
 * twins, which must hold.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runHere } from '../src/cli/command-line.fixture.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { examine } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import { outputLine } from '../src/report/output-schema.ts';
import { siblingLine } from '../src/report/sibling-text.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import type { SiblingLine } from '../src/search/campaign/result.ts';
import { runSiblings } from '../src/search/corpus/replay.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';

const scratch = mkdtempSync(join(tmpdir(), 'fencepost-siblings-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const folder = fileURLToPath(new URL('../fixtures/', import.meta.url));

function planOf(file: string): Plan {
  const read = readPlan({ file, text: readFileSync(`${folder}plans/${file}`, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

function scenarioOf(name: string): Scenario {
  const read = loadScenario(readFileSync(`${folder}${name}.yaml`, 'utf8'), name);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

const broken = readdirSync(`${folder}plans`)
  .map((file) => [file.replace(/\.yaml$/, ''), planOf(file)] as const)
  .filter(([, plan]) => plan.expect?.outcome === 'reproduced');

async function linesOf(plan: Plan, scenario = scenarioOf(plan.scenario)): Promise<SiblingLine[]> {
  const claim = plan.expect?.claim ?? '';
  const { trace } = examine(plan, []);
  const siblings = await runSiblings(scenario, { plan, claim });
  return siblings.map((sibling) => siblingLine(sibling, trace));
}

/** Returns the line of the kept plan on one twin. */
async function lineOn(system: string, name: string): Promise<SiblingLine | undefined> {
  return (await linesOf(planOf(`${name}.yaml`))).find((line) => line.system === system);
}

beforeAll(async () => {
  for (const [, plan] of broken) await prepare(scenarioOf(plan.scenario).systems);
});

describe('the kept plan of a broken system', () => {
  test.each(broken)('%s breaks no twin that must hold', async (_, plan) => {
    for (const { outcome, text } of await linesOf(plan)) {
      expect(['holds', 'untested', 'diverged'], text).toContain(outcome);
      // At most two lines; an ordinary one has 100 columns.
      expect(text.length).toBeLessThanOrEqual(190);
    }
  });

  test('holds on most twins, if the same hazard arose', async () => {
    const lines = (await Promise.all(broken.map(([, plan]) => linesOf(plan)))).flat();
    expect(lines.length).toBeGreaterThan(70);
    const held = lines.filter(({ outcome }) => outcome === 'holds');
    expect(held.length / lines.length).toBeGreaterThan(0.85);
    const refused = held.filter(({ text }) => text.includes('⊘'));
    expect(refused.length / held.length).toBeGreaterThan(0.5);
  });
});

describe('the line of a twin', () => {
  test.each([
    [
      'zombie-writer-unfenced-grant-order',
      'fenced',
      '23 ms ⊘ refused, token 1, highest seen 2; grant-order holds',
    ],
    [
      'six-steps-unfenced-grant-order',
      'fenced-31',
      '20 ms ⊘ refused, token 31, highest seen 32; grant-order holds',
    ],
    [
      'optimistic-unversioned-no-lost-update',
      'versioned',
      '3 ms ⊘ refused, expects no row, has version 1 (0 rows); no-lost-update holds',
    ],
    [
      'clock-step-wall-mutual-exclusion',
      'monotonic',
      '7 ms ⊘ alice denied, carol holds it; mutual-exclusion holds',
    ],
    [
      'cache-lock-release-published-owner-only-release',
      'compared',
      '26 ms ⊘ release of bob denied; owner-only-release holds',
    ],
    [
      'wrong-comparison-fence-inverted-progress',
      'fenced',
      'no additional refusal; progress holds, exercised 4 times',
    ],
    [
      'unknown-commit-retry-blindly-no-lost-update',
      'give-up',
      'no additional refusal; no-lost-update was not exercised',
    ],
    [
      'patient-lock-lease-grant-order',
      'pessimistic',
      'not comparable: no bob/1/write to inject a fault at',
    ],
  ])(
    'of %s on %s names the refusal there, or the reason for its absence',
    async (name, system, what) => {
      expect((await lineOn(system, name))?.text).toBe(`same plan on twin ${system}: ${what}`);
    },
  );

  test('reports that a claim breaks there too', async () => {
    const scenario = scenarioOf('zombie-writer');
    const systems = scenario.systems.map((system) => ({ ...system, store: 'unfenced' }));
    const plan = planOf('zombie-writer-unfenced-grant-order.yaml');
    const [line] = await linesOf(plan, { ...scenario, systems });
    expect(line).toMatchObject({
      outcome: 'breaks',
      text: 'same plan on twin fenced: no additional refusal; grant-order also breaks',
    });
  });

  test('reports an option that a twin does not support', async () => {
    const scenario = scenarioOf('zombie-writer');
    const systems = scenario.systems.map((system) => ({
      ...system,
      options: { counter: 'vague' },
    }));
    const plan = planOf('zombie-writer-unfenced-grant-order.yaml');
    const [line] = await linesOf(plan, { ...scenario, systems });
    expect(line?.outcome).toBe('cannot-run');
    expect(line?.text).toMatch(/^same plan on twin fenced: cannot run: .*counter/);
  });
});

describe('a twin', () => {
  const plan = planOf('zombie-writer-unfenced-grant-order.yaml');

  test('keeps the client settings of its system, and takes all others from the plan', async () => {
    const scenario = scenarioOf('zombie-writer');
    const systems = scenario.systems.map((system) =>
      system.name === 'fenced'
        ? { ...system, store: 'unfenced', clients: { attempts: 7, ttl: 100_000 } }
        : system,
    );
    const siblings = await runSiblings({ ...scenario, systems }, { plan, claim: 'grant-order' });
    // With a lease of 100 ms the pause of 20 ms is harmless: carol is denied meanwhile.
    const [line] = siblings.map((one) => siblingLine(one, examine(plan, []).trace));
    expect(line?.text).toContain('⊘ carol denied, bob holds it');
  });

  test('is run only if the break was expected and the claim must hold on the twin', async () => {
    const scenario = scenarioOf('zombie-writer');
    expect(await runSiblings(scenario, { plan, claim: 'tokens-increase' })).toEqual([]);
    const fenced = { ...plan, system: { ...plan.system, name: 'fenced' } };
    expect(await runSiblings(scenario, { plan: fenced, claim: 'grant-order' })).toEqual([]);
  });
});

describe('the command line', () => {
  const shown =
    'same plan on twin fenced: 20 ms ⊘ refused, token 1, highest seen 2; grant-order holds';

  test('of `run --json` has the twins in the finding, as the schema defines', async () => {
    const { out } = await runHere([
      'run',
      'six-steps',
      '--seeds',
      '5',
      '--json',
      '--output',
      scratch,
    ]);
    const finding = z
      .object({ siblings: z.array(z.object({ system: z.string(), text: z.string() })) })
      .parse(outputLine.parse(JSON.parse(out.split('\n')[0] ?? '')));
    expect(finding.siblings.map(({ system }) => system)).toEqual(['fenced', 'fenced-31']);
    expect(finding.siblings[0]?.text).toBe(shown);
    expect(readFileSync(join(scratch, 'six-steps.html'), 'utf8')).toContain(
      '20 ms ⊘ refused, token 1, highest seen 2',
    );
  });

  test('of `show` has them unless a system is named', async () => {
    expect((await runHere(['show', 'six-steps'])).out).toContain(`\n${shown}\n`);
    expect((await runHere(['show', 'six-steps', '--system', 'unfenced'])).out).not.toContain(
      'same plan',
    );
    expect((await runHere(['show', 'six-steps', '--system', 'fenced'])).out).not.toContain(
      'same plan',
    );
  });
});
