/**
 * Law: a hint suggests only what would change the scenario. It names a place only if no fault of
 * the kind has it, fewer locks only if there are several, and longer faults only if none outlasts a
 * lease; and it does not contradict the counts next to it.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadScenario } from '../src/load.ts';
import type { Scenario, SystemScenario } from '../src/scenario/scenario.ts';
import { type FaultCounts, NO_COUNTS, type SweepCounts } from '../src/search/sweep/counts.ts';
import { contentionAdvice, faultHints } from '../src/search/sweep/hints.ts';
import { runs } from './runs.ts';

/** Places of a kind of fault, as in a scenario. */
const PLACES = {
  pause: ['at: 0ms..50ms', 'before: write', 'after: write', 'before: alice/1/write', 'after: read'],
  delay: ['message: write', 'message: acquire', 'message: write, leg: reply', 'chance: 1/2'],
} as const;

interface Fault {
  readonly kind: 'pause' | 'delay';
  readonly place: string;
  readonly longestMs: number;
}

const fault = fc.constantFrom('pause' as const, 'delay' as const).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    place: fc.constantFrom<string>(...PLACES[kind]),
    longestMs: fc.integer({ min: 1, max: 40 }),
  }),
);

const stages = ['server', 'not-holding', 'before-access', 'read-to-write', 'writing'] as const;
const byPosition = fc.record(
  Object.fromEntries(stages.map((position) => [position, fc.integer({ min: 1, max: 9 })])),
  { requiredKeys: [] },
);
const faultCounts: fc.Arbitrary<FaultCounts> = fc.record({
  fired: fc.constant(9),
  overlapped: fc.integer({ min: 0, max: 9 }),
  strikes: byPosition,
});

const setting = fc.record({
  faults: fc.uniqueArray(fault, { maxLength: 4, selector: ({ place }) => place }),
  workload: fc.constantFrom('blind-writes', 'read-modify-write', 'transfer'),
  locks: fc.constantFrom(['db'], ['db', 'aux']),
  ttlMs: fc.integer({ min: 1, max: 40 }),
  pause: faultCounts,
  delay: faultCounts,
});

function scenarioOf(drawn: {
  readonly faults: readonly Fault[];
  readonly workload: string;
  readonly locks: readonly string[];
  readonly ttlMs: number;
}): Scenario {
  const listed = drawn.faults.map(({ kind, place, longestMs }) => {
    const length =
      kind === 'pause' ? `process: clients, for: 1ms..${longestMs}ms` : `by: 1ms..${longestMs}ms`;
    return `  - ${kind}: { ${place}, ${length} }\n`;
  });
  const text = `name: hints
systems: { own: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } } }
clients: { count: 2, ttl: ${drawn.ttlMs}ms, sections: 2 }
workload: { kind: ${drawn.workload}, locks: [${drawn.locks.join(', ')}] }
network: { latency: 1ms..2ms }
faults: ${listed.length === 0 ? '[]' : `\n${listed.join('')}`}
`;
  const read = loadScenario(text, 'hints.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify([text, read.problems]));
  return read.scenario;
}

function systemOf({ systems: [system] }: Scenario): SystemScenario {
  if (system === undefined) throw new Error('the scenario has a system');
  return system;
}

test('a hint suggests no place that a fault of its kind has, and contradicts no count', () => {
  let [suggested, known] = [0, 0];
  fc.assert(
    fc.property(setting, (drawn) => {
      const scenario = scenarioOf(drawn);
      const { pause, delay } = drawn;
      const counts: SweepCounts = { ...NO_COUNTS, seeds: 9, faults: { pause, delay } };
      for (const hint of faultHints(scenario, systemOf(scenario), counts)) {
        const [, kind = '', place] = /^(\w+) .*, try `(.+)`$/.exec(hint) ?? [];
        const isThere = drawn.faults.some((one) => one.kind === kind && one.place === place);
        if (place !== undefined) suggested += 1;
        expect([hint, isThere]).toEqual([hint, false]);
        const [, about = ''] = /^(pause|delay)/.exec(hint) ?? [];
        if (/; never [^:]+$/.test(hint)) known += 1;
        const overlapped = about === 'pause' ? pause.overlapped : delay.overlapped;
        if (overlapped > 0) expect(hint).not.toContain('never fired while a lock was held');
      }
    }),
    { seed: 1, numRuns: runs(1_000) },
  );
  expect(Math.min(suggested, known)).toBeGreaterThanOrEqual(runs(10));
});

test('advice on contention asks for fewer locks or longer faults iff that can help', () => {
  fc.assert(
    fc.property(setting, (drawn) => {
      const advice = contentionAdvice(scenarioOf(drawn));
      expect(advice.includes('fewer `locks`')).toBe(drawn.locks.length > 1);
      const isOutlasted = drawn.faults.some(({ longestMs }) => longestMs > drawn.ttlMs);
      expect(advice.includes('outlast')).toBe(!isOutlasted);
    }),
    { seed: 1, numRuns: runs(1_000) },
  );
});
