import { describe, expect, test } from 'vitest';
import { some } from '../properties/runs.ts';
import { Chance, draws } from './core/kernel/chance.ts';
import { nameOf } from './core/kernel/name.ts';
import type { Fault } from './core/plan/fault.ts';
import {
  type ChancePlan,
  CLIENT_DEFAULTS,
  type ClientPlan,
  LIMIT_DEFAULTS,
  type Plan,
  type Work,
} from './core/plan/plan.ts';
import { canonical, digestOf, pin, run } from './run.ts';
import { stores } from './systems/store/store.ts';

const MS = 1000;
const NEVER = { numerator: 0, denominator: 1 };

/** Chooses a number from 0 to `most` for a name. */
type Choose = (what: string, most: number) => number;

function chooser(seed: number): Choose {
  const chance = new Chance(seed);
  return (what, most) => chance.within(nameOf(what), draws.latency, { minUs: 0, maxUs: most });
}

const WORKS: readonly Work[] = [
  { kind: 'increment', id: 1, store: 'store', key: 'x' },
  { kind: 'write', id: 2, store: 'store', key: 'x', value: 7, awaits: false },
  { kind: 'renew', id: 3, ttlUs: 10 * MS },
  { kind: 'compute', id: 4, forUs: 3 * MS },
  { kind: 'transfer', id: 5, from: 'store', to: 'other', key: 'x', amount: 1 },
  { kind: 'read', id: 6, store: 'other', key: 'x' },
];

function clientOf(name: string, choose: Choose): ClientPlan {
  const isHasty = choose(`${name}/hasty`, 1) === 1;
  return {
    ...CLIENT_DEFAULTS,
    name,
    pool: 1 + choose(`${name}/pool`, 2),
    tries: 1 + choose(`${name}/tries`, 2),
    lockTimeoutUs: isHasty ? 5 * MS : 30 * MS,
    storeTimeoutUs: isHasty ? 6 * MS : null,
    sections: [1, 2, 3].map((id) => ({
      id,
      lock: 'db',
      thinkUs: choose(`${name}/${id}/think`, 5) * MS,
      work: WORKS.filter((work) => choose(`${name}/${id}/${work.id}`, 2) === 0),
    })),
  };
}

function faultsOf(choose: Choose): readonly Fault[] {
  const when = { kind: 'at', atUs: choose('when', 40) * MS } as const;
  const point = { kind: 'before', point: 'bob/1/write' } as const;
  const later = { kind: 'at', atUs: choose('later', 40) * MS } as const;
  const mark = { kind: 'after', point: 'alice/1/checked' } as const;
  const [stepUs, ratePpm] = [choose('step', 4000), choose('rate', 200_000)];
  const all: readonly Fault[] = [
    { kind: 'pause', process: 'alice', when, forUs: 9 * MS, clocks: 'freeze' },
    { kind: 'pause', process: 'bob', when: point, forUs: 15 * MS, clocks: 'run' },
    { kind: 'pause', process: 'bob', when: mark, forUs: 5 * MS, clocks: 'run' },
    { kind: 'pause', process: 'store', when: later, forUs: 4 * MS, clocks: 'run' },
    { kind: 'crash', process: 'lock', when: later, restartAfterUs: 7 * MS },
    { kind: 'crash', process: 'carol', when, restartAfterUs: 3 * MS },
    {
      kind: 'crash',
      process: 'store',
      when: { kind: 'after', point: 'bob/2/acquire' },
      restartAfterUs: null,
    },
    {
      kind: 'partition',
      from: ['alice', 'bob'],
      to: ['lock'],
      direction: 'both',
      when,
      forUs: 6 * MS,
    },
    {
      kind: 'partition',
      from: ['store'],
      to: ['carol'],
      direction: 'one-way',
      when: later,
      forUs: 9 * MS,
    },
    { kind: 'clock', process: 'bob', when, stepUs, ratePpm },
    { kind: 'clock', process: 'bob', when: later, stepUs: 0, ratePpm: 0 },
    { kind: 'failover', process: 'store', when: later, lagUs: 5 * MS },
    { kind: 'reset', from: 'alice', to: 'store', when },
    { kind: 'reset', from: 'lock', to: 'carol', when: later },
    { kind: 'evict', process: 'lock', key: 'db', when },
    {
      kind: 'delay',
      which: { kind: 'link', from: 'alice', to: 'store', atUs: 5 * MS },
      byUs: 4 * MS,
    },
    { kind: 'drop', which: { kind: 'link', from: 'bob', to: 'lock', atUs: 9 * MS } },
    { kind: 'late-timer', which: { kind: 'process', process: 'bob', atUs: 4 * MS }, byUs: 2 * MS },
  ];
  return all.filter((_, at) => choose(`fault-${at}`, 3) === 0);
}

function chanceOf(seed: number, choose: Choose): ChancePlan {
  const some = (what: string): { numerator: number; denominator: number } | null =>
    choose(what, 2) === 0 ? null : { numerator: choose(`${what}/odds`, 3), denominator: 20 };
  const long = (what: string): ChancePlan['delay'] => {
    const odds = some(what);
    return odds === null ? null : { ...odds, minUs: 0, maxUs: 4 * MS };
  };
  return {
    seed,
    latency: choose('latency', 3) === 0 ? null : { minUs: 0, maxUs: 3 * MS },
    latencyStepUs: choose('whole', 2) === 0 ? 1 : MS,
    delay: long('delay'),
    drop: some('drop'),
    duplicate: long('duplicate'),
    lateTimer: long('late'),
    jitter: choose('jitter', 1) === 0 ? null : { numerator: 1, denominator: 2 },
  };
}

/**
 * A plan with every kind of feature. Many of its times are whole milliseconds, so that ties occur.
 */
function planOf(seed: number): Plan {
  const choose = chooser(seed);
  const storeNames = [...stores.keys()];
  const lockNames = ['lock-service', 'lock-service-published'];
  return {
    fencepost: 1,
    scenario: '',
    system: {
      name: 'some',
      lock: lockNames[choose('lock', lockNames.length - 1)] ?? '',
      store: storeNames[choose('store', storeNames.length - 1)] ?? '',
      options: { counter: choose('counter', 1) === 0 ? 'durable' : 'volatile' },
    },
    clients: ['alice', 'bob', 'carol'].map((name) => clientOf(name, choose)),
    network: { link: choose('link', 1) === 0 ? 'connection' : 'datagram', latencyUs: MS },
    faults: faultsOf(choose),
    chance: chanceOf(seed, choose),
    decisions: choose('decisions', 3) === 0 ? { 'alice/1/acquire/1/request': 2 * MS } : {},
    order: choose('order', 3) === 0 ? ['bob/1/think', 'alice/1/think'] : [],
    limits: { ...LIMIT_DEFAULTS, healAtUs: (20 + choose('heal', 60)) * MS, endUs: 300 * MS },
    bounds: {
      latency: { minUs: 0, maxUs: 3 * MS },
      think: { minUs: 0, maxUs: 5 * MS },
      durations: {},
      skewUs: null,
      driftPpm: null,
    },
  };
}

const SEEDS = Array.from({ length: 400 }, (_, seed) => seed);

describe('a run', () => {
  test('is a function of its plan', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const plan = planOf(seed);
      expect(digestOf(run(plan))).toBe(digestOf(run(structuredClone(plan))));
    }
  });

  test('injects every kind of fault in some of these plans, and neither fails nor starves', () => {
    const kinds = new Set<string>();
    const losses = new Set<string>();
    let grants = 0;
    for (const seed of SEEDS) {
      const trace = run(planOf(seed));
      expect(trace.ending.kind).not.toBe('failed');
      for (const event of trace.events) {
        if (event.kind === 'fault') kinds.add(event.fault);
        if (event.kind === 'lose') losses.add(event.cause);
        if (event.kind === 'grant') grants += 1;
      }
    }
    expect(kinds.size).toBe(11);
    expect([...losses].sort()).toEqual(['crash', 'drop', 'late', 'partition', 'reset']);
    expect(grants).toBeGreaterThan(3 * SEEDS.length);
  });
});

describe('a pinned plan', () => {
  test('is deterministic, and gives the same trace', () => {
    let ordered = 0;
    const seeds = some(SEEDS);
    for (const seed of seeds) {
      const plan = planOf(seed);
      const pinned = pin(plan);
      const [drawn, again] = [run(plan), run(pinned)];
      expect(pinned.chance).toBeNull();
      if (digestOf(again) !== digestOf(drawn)) {
        const at = drawn.events.findIndex(
          (event, index) => canonical(event) !== canonical(again.events[index] ?? {}),
        );
        const texts = [drawn.events[at], again.events[at]].map((event) => canonical(event ?? {}));
        expect.unreachable(`seed ${seed}, event ${at}: ${texts.join(' became ')}`);
      }
      expect(again.ending).toEqual(drawn.ending);
      ordered += pinned.order.length > 0 ? 1 : 0;
    }
    expect(ordered).toBeGreaterThan(seeds.length / 4);
  });

  test('names nothing that its run lacks, except what its original named', () => {
    for (const seed of SEEDS) {
      const plan = planOf(seed);
      const known = new Set([
        ...run(plan).unmatched,
        ...plan.order,
        ...Object.keys(plan.decisions),
      ]);
      const left = run(pin(plan)).unmatched.filter((name) => !known.has(name));
      expect({ seed, left }).toEqual({ seed, left: [] });
    }
  });

  test('is not changed by pinning it again', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const pinned = pin(planOf(seed));
      expect(pin(pinned)).toEqual(pinned);
      const withSeed = { ...pinned, chance: { ...NOTHING, seed } };
      expect(pin(withSeed).decisions).toEqual(pinned.decisions);
      expect(pin(withSeed).faults).toEqual(pinned.faults);
    }
  });

  test('survives a JSON round trip', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const pinned = pin(planOf(seed));
      const read: Plan = JSON.parse(JSON.stringify(pinned));
      expect(digestOf(run(read))).toBe(digestOf(run(pinned)));
    }
  });
});

/** Draws nothing except ties. */
const NOTHING: ChancePlan = {
  seed: 0,
  latency: null,
  latencyStepUs: 1,
  delay: null,
  drop: NEVER,
  duplicate: null,
  lateTimer: null,
  jitter: null,
};

describe('a digest', () => {
  test('does not depend on the order of keys, or on the index of a fault in the plan', () => {
    const fault = { kind: 'fault', index: 3, atUs: 1 };
    expect(canonical(fault)).toBe('{"atUs":1,"kind":"fault"}');
    expect(canonical({ atUs: 1, kind: 'fault', index: null })).toBe(canonical(fault));
  });

  test('covers the complete content of a message', () => {
    const body = { index: 1, list: [{ b: 1, a: 2 }] };
    expect(canonical({ kind: 'send', body })).toBe(
      '{"body":{"index":1,"list":[{"a":2,"b":1}]},"kind":"send"}',
    );
  });

  test('differs for traces one microsecond apart, or with different endings', () => {
    const trace = run(planOf(1));
    const [first, ...rest] = trace.events;
    if (first === undefined) return expect.unreachable();
    const moved = { ...trace, events: [{ ...first, atUs: first.atUs + 1 }, ...rest] };
    const truncated = { ...trace, ending: { kind: 'cut', limit: 'end' } as const };
    expect(new Set([trace, moved, truncated].map(digestOf)).size).toBe(3);
    expect(digestOf(trace)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
