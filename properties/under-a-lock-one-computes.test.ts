/**
 * Laws of a lock around a memoized value: without one, all clients compute at once; with one, a
 * single client computes; with a lossy one, only evictions and pauses cause more computations.
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

/** The sum over all seeds, with only these kinds of faults. */
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

  test('computes all at once without a lock', () => {
    expect(none.most).toBe(5);
    expect(none.computations).toBeGreaterThan(4 * SEEDS);
  });

  test.each(['cache-lock', 'lock-service'])('computes once per run under %s', (lock) => {
    expect(stampedeOf(lock, [])).toEqual({ computations: SEEDS, most: 1 });
  });

  test.each([
    ['evictions', ['evict']],
    ['pauses', ['pause']],
    ['both', ['evict', 'pause']],
  ] as const)('computes more than once, but far from all at once, with %s', (_, kinds) => {
    const { computations, most } = stampedeOf('cache-lock', kinds);
    expect(computations).toBeGreaterThan(SEEDS);
    expect(computations).toBeLessThan(none.computations / 2);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(none.most);
  });

  test.each(['impatient', 'not-blocking', 'lock-service'])(
    'computes nearly as often as without a lock if waiting fails: %s',
    (system) => {
      const { computations, most } = stampedeOf(system, [], scenarioOf('stampede-timeout'));
      expect(computations).toBeGreaterThan((4 / 5) * none.computations);
      expect(most).toBe(5);
    },
  );

  test('computes once if it computes in pieces and the lock is extended', () => {
    for (const lock of ['cache-lock', 'lock-service']) {
      const pieces = scenarioOf('stampede-pieces');
      expect(stampedeOf(lock, [], pieces)).toEqual({ computations: SEEDS, most: 1 });
    }
  });
});
