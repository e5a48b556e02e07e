/**
 * Law: the same plan gives the same run, in this process or another, in any time zone and locale.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan, renderPlan } from '../src/core/plan/plan-text.ts';
import { digestOf, pin, run } from '../src/run.ts';
import { runnablePlans, samplePlans } from './plans.ts';
import { runs } from './runs.ts';

const plans: fc.Arbitrary<Plan> = runnablePlans({
  stores: ['fenced', 'unfenced', 'fenced-reads', 'fenced-open', 'fenced-volatile'],
});

test('the same plan gives the same digest', () => {
  const digests = new Set<string>();
  fc.assert(
    fc.property(plans, (plan) => {
      const digest = digestOf(run(plan));
      expect(digestOf(run(structuredClone(plan)))).toBe(digest);
      digests.add(digest);
    }),
    { seed: 1, numRuns: runs(150) },
  );
  // The law above would hold even if all runs had the same digest.
  expect(digests.size).toBeGreaterThanOrEqual(runs(130));
});

const RUNNER: URL = new URL('../tools/built/modules/run.js', import.meta.url);

/** Runs the plans with the built package in a separate process. */
function digestsElsewhere(sample: readonly Plan[], env: Record<string, string>): unknown {
  const script = `
    import { digestOf, run } from ${JSON.stringify(RUNNER.href)};
    import { readFileSync } from 'node:fs';
    const plans = JSON.parse(readFileSync(0, 'utf8'));
    process.stdout.write(JSON.stringify(plans.map((plan) => digestOf(run(plan)))));
  `;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    { input: JSON.stringify(sample), encoding: 'utf8', env: { ...process.env, ...env } },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return JSON.parse(stdout);
}

test('another process, time zone and locale give the same digests', () => {
  if (!existsSync(RUNNER)) expect.fail('dist is missing: run `npm run build` before this test');
  const sample = samplePlans(plans, 60, 2);
  const here = sample.map((plan) => digestOf(run(plan)));
  expect(digestsElsewhere(sample, { TZ: 'Asia/Tokyo', LC_ALL: 'tr_TR.UTF-8' })).toEqual(here);
  expect(digestsElsewhere(sample, { TZ: 'America/Lima', LC_ALL: 'C' })).toEqual(here);
});

test('a plan that was written to a file and read back gives the same digest', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const read = readPlan({ text: renderPlan(plan), file: 'plan.yaml' });
      if (read.kind === 'problems') expect.fail(JSON.stringify(read.problems));
      expect(read.plan).toEqual(plan);
      expect(digestOf(run(read.plan))).toBe(digestOf(run(plan)));
    }),
    { seed: 3, numRuns: runs(120) },
  );
});

test('a pinned plan leaves nothing to chance and gives the digest of its original plan', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const pinned = pin(plan);
      expect(pinned.chance).toBeNull();
      expect(digestOf(run(pinned))).toBe(digestOf(run(plan)));
    }),
    { seed: 4, numRuns: runs(150) },
  );
});
