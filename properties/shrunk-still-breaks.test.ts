/**
 * Tests the shrinker on real counterexamples: seeds of the zombie writer with an unfenced store.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RangeUs } from '../src/core/plan/duration.ts';
import type { Fault } from '../src/core/plan/fault.ts';
import { durationsOf, outside } from '../src/core/plan/places.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import type { ShrinkResult } from '../src/core/shrink/shrink.ts';
import { shrinkWith } from '../src/core/shrink/shrink-with.fixture.ts';
import { isSimpler } from '../src/core/shrink/simpler.ts';
import { breaks } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import { pin } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';

const MAX_RUNS = 600;
const SEEDS = 25;

function zombie(): Scenario {
  const text = readFileSync(new URL('../fixtures/zombie-writer.yaml', import.meta.url), 'utf8');
  const read = loadScenario(text, 'zombie-writer.yaml');
  if (read.kind === 'problems') throw new Error('the fixture does not load');
  return read.scenario;
}

/** One counterexample, its shrunk form, and all attempted plans. */
interface Case {
  readonly claim: string;
  readonly pinned: Plan;
  readonly result: ShrinkResult;
  readonly tried: readonly Plan[];
}

function shrinkSeed(plan: Plan, claim: string): Case {
  const pinned = pin(plan);
  const tried: Plan[] = [];
  const stillBreaks = (candidate: Plan): boolean => {
    tried.push(candidate);
    return breaks(candidate, claim);
  };
  const result = shrinkWith(pinned, stillBreaks, { maxRuns: MAX_RUNS });
  return { claim, pinned, result, tried };
}

const cases: Case[] = [];

function lengthOf(fault: Fault): number | null {
  if ('forUs' in fault) return fault.forUs;
  if ('byUs' in fault) return fault.byUs;
  if ('lagUs' in fault) return fault.lagUs;
  return 'restartAfterUs' in fault ? fault.restartAfterUs : null;
}

/** Returns the parts of a plan outside its own bounds, except clocks. */
function outOfBounds({ bounds, network, decisions, clients, faults }: Plan): readonly string[] {
  const within = (what: string, us: number, range: RangeUs): readonly string[] =>
    outside(us, range) === 0 ? [] : [`${what} of ${us} µs`];
  const messages = Object.entries(decisions).filter(([name]) => /\/(request|reply)$/.test(name));
  const sections = clients.flatMap((client) => client.sections);
  return [
    ...within('latency', network.latencyUs, bounds.latency),
    ...messages.flatMap(([name, us]) => within(name, us, bounds.latency)),
    ...sections.flatMap(({ thinkUs }) => within('think', thinkUs, bounds.think)),
    ...faults.flatMap((fault) => {
      const ranges = durationsOf(bounds, fault.kind);
      const us = lengthOf(fault);
      if (us === null) return ranges.length === 0 ? [fault.kind] : [];
      return ranges.some((range) => outside(us, range) === 0) ? [] : [`${fault.kind} of ${us} µs`];
    }),
  ];
}

beforeAll(() => {
  const scenario = zombie();
  for (const claim of ['grant-order', 'fence-monotone']) {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const plan = expand(scenario, 'unfenced', seed);
      if (breaks(plan, claim)) cases.push(shrinkSeed(plan, claim));
    }
  }
});

describe('a shrunk counterexample', () => {
  test('is found in several seeds', () => {
    expect(cases.length).toBeGreaterThan(5);
  });

  test('still breaks its claim', () => {
    for (const { claim, result } of cases) {
      expect(result.reproduced).toBe(true);
      expect(breaks(result.plan, claim)).toBe(true);
    }
  });

  test('is larger on no scale', () => {
    for (const { pinned, result } of cases) {
      expect(isSimpler(pinned, result.plan)).toBe(false);
      expect(result.plan.clients.length).toBeLessThanOrEqual(pinned.clients.length);
      expect(result.plan.faults.length).toBeLessThanOrEqual(pinned.faults.length);
    }
  });

  test('took at most the allowed number of runs', () => {
    for (const { claim, pinned, result, tried } of cases) {
      expect(tried.length).toBe(result.runs);
      const short = shrinkWith(pinned, (candidate) => breaks(candidate, claim), { maxRuns: 20 });
      expect(short.runs).toBeLessThanOrEqual(20);
      expect(breaks(short.plan, claim)).toBe(true);
    }
  });

  test('stays within the bounds of its scenario at every step', () => {
    for (const { pinned, result, tried } of cases) {
      expect(outOfBounds(pinned)).toEqual([]);
      expect([...tried, result.plan].flatMap(outOfBounds)).toEqual([]);
      expect(result.plan.bounds).toEqual(pinned.bounds);
    }
  });

  test('never changes the time at which the world heals', () => {
    for (const { pinned, tried } of cases) {
      const healing = new Set(tried.map(({ limits }) => limits.healAtUs));
      expect([...healing]).toEqual([pinned.limits.healAtUs]);
    }
  });

  test('shrinks to itself', () => {
    for (const { claim, result } of cases.filter((one) => one.result.isMinimal).slice(0, 5)) {
      const again = shrinkWith(result.plan, (candidate) => breaks(candidate, claim));
      expect(again.plan).toEqual(result.plan);
    }
  });
});
