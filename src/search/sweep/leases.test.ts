/** Tests the lease statistics of a sweep. */
import { expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import { enter, grant, keyChange, traceOf } from '../../check/trace-builder.fixture.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import { loadScenario } from '../../load.ts';
import {
  addLeases,
  earlyGuards,
  type LeaseCounts,
  leasesSchema,
  mergeLeases,
  NO_LEASES,
  shortFaults,
} from './leases.ts';

const clientGrant = { process: 'alice', message: '', untilUs: null } as const;
const entered = [grant(5, 'alice', 1, clientGrant), enter(5, 'alice', 1, 1e12)];
const key = (ms: number, seconds: number): TraceEvent =>
  keyChange(ms, 'alice', { untilUs: ms * 1000 + seconds * 1_000_000 + 1000 });

function countsOf(events: readonly TraceEvent[], seed = 7): LeaseCounts {
  const counts = { ...NO_LEASES };
  addLeases(counts, indexTrace(traceOf(events)), seed);
  return leasesSchema.parse(counts);
}

test('the shortest lease is that of a key or of a server’s grant, not a program’s claim', () => {
  expect(countsOf([key(1, 5), ...entered])).toMatchObject({ shortestUs: 5_000_000, ofKey: true });
  expect(countsOf([grant(1, 'alice', 1)])).toMatchObject({ shortestUs: 10_000, ofKey: false });
  expect(countsOf(entered)).toEqual(NO_LEASES);
  const both = mergeLeases(countsOf([key(1, 5), ...entered]), countsOf([grant(1, 'alice', 1)]));
  expect(both).toMatchObject({ shortestUs: 10_000, ofKey: false });
});

test('a guard taken before the key is counted; a section that takes the key first is not', () => {
  const early = countsOf([...entered, key(6, 5)]);
  expect(early).toMatchObject({ early: 1, firstEarly: { seed: 7, section: 'alice/1' } });
  expect(earlyGuards(early)).toEqual([
    'section.guard() was called before the key was set on 1 seed, first alice/1 of seed 7',
  ]);
  expect(earlyGuards(countsOf([key(1, 5), ...entered]))).toEqual([]);
  const merged = mergeLeases(early, countsOf([...entered, key(6, 5)], 3));
  expect(merged).toMatchObject({ early: 2, firstEarly: { seed: 3 } });
});

function reason(faults: string, claims: readonly string[], ttl = '20ms'): string | null {
  const text = `
name: short
systems: { own: { lock: redis, store: unfenced, expect: { holds: [grant-order] } } }
clients: { count: 2, ttl: ${ttl}, sections: 1 }
workload: { kind: read-modify-write }
faults: [${faults}]
`;
  const read = loadScenario(text, 'short.yaml', builtIn);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const [system] = read.scenario.systems;
  if (system === undefined) throw new Error('there is no system');
  return shortFaults(read.scenario, system, countsOf([key(1, 5), ...entered]), claims);
}

const PAUSE = '{ pause: { process: clients, for: 1ms..60ms, chance: 1/2 } }';

test('faults too short to outlast any lease are reported, with a length that would', () => {
  expect(reason(PAUSE, ['grant-order'])).toBe(
    'no fault outlasts a key of 5 s; the longest pause is 60 ms: pass `section.ttlMs`, or try `for: 1ms..12s`',
  );
  expect(reason(PAUSE, ['grant-order'], '5s')).toBe(
    'no fault outlasts a key of 5 s; the longest pause is 60 ms: try `for: 1ms..12s`',
  );
  expect(reason(PAUSE, ['mutual-exclusion'])).toBeNull();
  expect(reason(PAUSE.replace('60ms', '6s'), ['grant-order'])).toBeNull();
  expect(reason('{ crash: { process: clients, chance: 1/2 } }', ['grant-order'])).toBeNull();
});

test('of two equal leases, the merge reports the key, in either order', () => {
  const [ofKey, ofGrant] = [true, false].map((is) => ({
    ...NO_LEASES,
    shortestUs: 5,
    ofKey: is,
  }));
  expect(mergeLeases(ofKey ?? NO_LEASES, ofGrant ?? NO_LEASES).ofKey).toBe(true);
  expect(mergeLeases(ofGrant ?? NO_LEASES, ofKey ?? NO_LEASES).ofKey).toBe(true);
});

test('the lease of a key is the time that a separate expiry command gives it', () => {
  const endless = keyChange(1, 'alice', { untilUs: null });
  const expires = keyChange(2, 'alice', { change: 'prolonged', untilUs: 5_003_000 });
  expect(countsOf([endless, expires, ...entered])).toMatchObject({ shortestUs: 5_000_000 });
});
