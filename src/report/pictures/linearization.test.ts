import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPlan } from '../../core/plan/plan-text.ts';
import { examine } from '../../harness.ts';
import { linearizationOf } from './linearization.ts';

const file = 'fixtures/plans/zombie-writer-unfenced-linearizable.yaml';
const read = readPlan({ text: readFileSync(file, 'utf8'), file });
if (read.kind !== 'plan') throw new Error('the fixture is a plan');
const { trace, verdicts } = examine(read.plan, ['linearizable']);
const model = 'fenced-register';

describe('linearizationOf', () => {
  it('numbers the operations that fit, and marks the return that does not', () => {
    const found = linearizationOf(trace, { claim: 'linearizable', model });
    const [verdict] = verdicts;
    if (verdict?.kind !== 'invalid') expect.fail('the plan breaks linearizable');
    const bad = verdict.evidence.find(({ role }) => role === 'return')?.event;
    expect(found?.bad?.event).toBe(bad);
    expect(found?.points.map(({ rank }) => rank)).toEqual(found?.points.map((_, at) => at + 1));
    expect(found?.points.length).toBeGreaterThan(0);
    for (const { event } of found?.points ?? []) expect(event).toBeLessThan(bad ?? 0);
  });

  it('is null for other claims, unknown models and linearizable histories', () => {
    expect(linearizationOf(trace, { claim: 'grant-order', model })).toBeNull();
    expect(linearizationOf(trace, { claim: 'linearizable', model: 'somebody-s' })).toBeNull();
    expect(linearizationOf(trace, { claim: 'linearizable(register)', model })).toBeNull();
  });
});
