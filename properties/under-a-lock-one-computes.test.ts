/**
 * Laws of what a lock around a memoized value is for: without one all compute at once, with it one
 * does, and what is left to a lossy one are evictions and pauses.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Stampede } from '../src/check/single-flight.ts';
import type { FaultKind } from '../src/core/plan/fault.ts';
import { examineSeed } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';

const SEEDS = 60;

const faults = ['stampede-pause', 'stampede-eviction'].flatMap((name) => scenarioOf(name).faults);

/** `fixtures/stampede.yaml` with longer pauses, and with evictions as well. */
const scenario: Scenario = { ...scenarioOf('stampede'), faults };

function scenarioOf(name: string): Scenario {
  const file = fileURLToPath(new URL(`../fixtures/${name}.yaml`, import.meta.url));
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** On all seeds together, where no fault but of these kinds fires. */
function stampedeOf(system: string, kinds: readonly FaultKind[], from = scenario): Stampede {
  const faults = from.faults.filter(({ kind }) => kinds.includes(kind));
  let [computations, most] = [0, 0];
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const { stampede } = examineSeed({ ...from, faults }, system, seed, []);
    computations += stampede.computations;
    most = Math.max(most, stampede.most);
  }
  return { computations, most };
}

describe('a crowd of five that misses one value', () => {
  const none = stampedeOf('none', []);

  test('computes it all at once without a lock', () => {
    expect(none.most).toBe(5);
    expect(none.computations).toBeGreaterThan(4 * SEEDS);
  });

  test.each(['cache-lock', 'lock-service'])('computes it once a run under %s', (lock) => {
    expect(stampedeOf(lock, [])).toEqual({ computations: SEEDS, most: 1 });
  });

  test.each([
    ['evictions', ['evict']],
    ['pauses', ['pause']],
    ['both', ['evict', 'pause']],
  ] as const)('computes it more than once, and far from all at once, with %s', (_, kinds) => {
    const { computations, most } = stampedeOf('cache-lock', kinds);
    expect(computations).toBeGreaterThan(SEEDS);
    expect(computations).toBeLessThan(none.computations / 2);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(none.most);
  });

  test.each(['impatient', 'not-blocking', 'lock-service'])(
    'computes it nearly as often as without a lock where it waits in vain: %s',
    (system) => {
      const { computations, most } = stampedeOf(system, [], scenarioOf('stampede-timeout'));
      expect(computations).toBeGreaterThan((4 / 5) * none.computations);
      expect(most).toBe(5);
    },
  );

  test('that is left to compute it in pieces computes it once, as the lock is extended', () => {
    for (const lock of ['cache-lock', 'lock-service']) {
      const pieces = scenarioOf('stampede-pieces');
      expect(stampedeOf(lock, [], pieces)).toEqual({ computations: SEEDS, most: 1 });
    }
  });
});
