/**
 * Law: the story of a failure names its cause, also for locks that fencepost does not know: each
 * story is compared with the cause that was noted before the run (`third-party-locks.ts`, and npm's
 * redlock here), and does not blame a correct component.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import { inWords } from '../src/check/in-words.fixture.ts';
import { defineSystem } from '../src/define-system.ts';
import { examineAsync, shrinkFailureAsync } from '../src/host/async/run-async.ts';
import { loadScenarioFile } from '../src/host/modules/load-files.ts';
import { withRedlock } from '../src/host/redis/redlock.fixture.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';
import { some } from './runs.ts';
import { type ThirdPartyLock, thirdPartyLocks } from './third-party-locks.ts';
import { reasonedLocks } from './third-party-reasons.ts';
import { retriedLocks } from './third-party-retries.ts';

const SEEDS = 120;

interface Loaded {
  readonly scenario: Scenario;
  readonly catalogue: Catalogue;
}

function loaded({
  lock,
  store = 'unfenced',
  claim,
  clients,
  work,
  faults,
}: ThirdPartyLock): Loaded {
  const catalogue = extend(builtIn, defineSystem({ locks: { foreign: lock } }));
  const text = `
name: foreign
systems: { tested: { lock: foreign, store: ${store}, expect: { breaks: [${claim}] } } }
clients: ${clients ?? '{ count: 3, ttl: 20ms, sections: 3, think: 0ms..10ms }'}
${work ?? 'workload: { kind: read-modify-write }'}
network: { latency: 1ms..2ms }
swarm: false
faults: [${faults.map((fault) => `{ ${fault} }`).join(', ')}]
`;
  const read = loadScenario(text, 'foreign.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return { scenario: read.scenario, catalogue };
}

/** Returns the story of the first seed that breaks the claim, shrunk. */
async function storyOf({ scenario, catalogue }: Loaded, system: string, claim: string) {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const plan = expand(scenario, system, seed);
    const { verdicts } = await examineAsync(plan, [claim], catalogue);
    if (verdicts[0]?.kind !== 'invalid') continue;
    const { plan: shrunk, boundary } = await shrinkFailureAsync(plan, claim, { catalogue });
    const explained = await explainPlan(shrunk, claim, { catalogue, boundary });
    if (explained === null) continue;
    const roles = explained.causation.evidence.map(({ role }) => role);
    return { words: inWords(explained.explanation), roles };
  }
  throw new Error(`no seed of ${SEEDS} breaks ${claim}`);
}

describe('the story of a lock that', () => {
  const locks = [...some(thirdPartyLocks), ...some(retriedLocks), ...some(reasonedLocks)];
  const rows = locks.map((lock) => [lock.title, lock] as const);
  test.each(rows)('%s', async (_, lock) => {
    const { words: story, roles } = await storyOf(loaded(lock), 'tested', lock.claim);
    for (const said of lock.says) expect(story).toMatch(said);
    for (const blame of lock.never) expect(story).not.toMatch(blame);
    expect(roles).toEqual(expect.arrayContaining([...(lock.shows ?? [])]));
  });
});

test('the story of npm’s redlock 4 names only the pause before the write', async () => {
  const pause = 'pause: { process: clients, before: write, for: 1s..4s, chance: 1/2 }';
  const text = `
name: npm-redlock-4
systems: { tested: { lock: redlock-4, store: unfenced, expect: { breaks: [grant-order] } } }
clients: { count: 3, ttl: 500ms, sections: 2, think: 0ms..50ms, lockTimeout: 50ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
swarm: false
time: 20s
faults:
  - ${pause}
`;
  const read = loadScenario(text, 'npm-redlock-4.yaml', withRedlock);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const tested = { scenario: read.scenario, catalogue: withRedlock };
  const { words: story } = await storyOf(tested, 'tested', 'grant-order');
  expect(story).toMatch(/paused from .* to/);
  expect(story).not.toMatch(/token|compares|a store (that|whose)/i);
});

test('the story of npm’s redlock 5 names the late reply and the expired lease', async () => {
  const file = fileURLToPath(
    new URL('../fixtures/modules/npm-redlock-late-reply.yaml', import.meta.url),
  );
  const read = await loadScenarioFile(file);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { words: story } = await storyOf(read, 'trusts', 'grant-order');
  expect(story).toMatch(/the reply to \w+'s `eval(sha)?`.* came [\d.]+ (ms|s) late/);
  expect(story).toMatch(/had ended at|under a lease that was over/);
  expect(story).not.toMatch(/token|compares/);
});
