import { expect, test } from 'vitest';
import { smallScenario } from './sweep.fixture.ts';
import type { ShrinkJob } from './sweep-queue.ts';
import { shrinkApart } from './worker.ts';

const job: ShrinkJob = {
  ...{ kind: 'shrink', sweep: 's1', fencepost: '1.0.0', system: 'unfenced' },
  ...{ claim: 'fence-monotone', seed: 12, planFile: 'reports/a.yaml' },
};
const setting = { job, scenario: smallScenario(), file: 'small.yaml', modules: [] };

const TOO_MUCH = `
import { parentPort } from 'node:worker_threads';
const head = { system: 'unfenced', claim: 'fence-monotone', seed: 12, signature: 'abcd' };
const rest = { boundary: null, whyNoBoundary: null, others: [], headline: 'it broke' };
parentPort.postMessage({ ...head, ...rest, plan: 'x'.repeat(1_000_001) });
`;

/** On a busy machine a thread may take seconds to start. */
const PATIENT_MS = 30_000;

test.each([
  ['hangs', 'for (;;);', 300, 'shrinking did not end within 0.3 s'],
  ['throws', 'throw new Error("no")', PATIENT_MS, 'shrinking failed: no'],
  ['ends without a word', '', PATIENT_MS, 'shrinking ended without an answer'],
  ['says too much', TOO_MUCH, PATIENT_MS, 'what it was shrunk to is too large to be told'],
])(
  'a thread that %s is an answer without a plan, and no job to try again',
  async (_, code, limitMs, why) => {
    const thread = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    const shrunk = await shrinkApart(setting, { thread, limitMs, memoryMb: 64 });
    const { system, claim, seed } = job;
    expect(shrunk).toMatchObject({
      system,
      claim,
      seed,
      plan: null,
      boundary: null,
      headline: why,
    });
  },
);
