import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { durationsOf, lengthIn } from '../core/plan/places.ts';
import { planFields, readPlan, renderPlan } from '../core/plan/plan-text.ts';
import { renderProblem } from '../text/problem.ts';
import { expand } from './expand.ts';
import { readScenario } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';

const vocabulary = {
  locks: new Map([['lock-service', { options: [], servers: () => ['lock'] }]]),
  stores: ['unfenced', 'fenced', 'fenced-open'],
  claims: ['grant-order'],
};

function scenarioOf(text: string): Scenario {
  const read = readScenario({ text, file: 'a.yaml', vocabulary });
  if (read.kind === 'problems') throw new Error(read.problems.map(renderProblem).join('\n'));
  return read.scenario;
}

const text = `name: mixed
systems:
  unfenced: { lock: lock-service, store: unfenced }
  fenced: { lock: lock-service, store: fenced, clients: { checksLease: false } }
  open: { lock: lock-service, store: fenced-open }
clients: { names: [alice, bob, carol, dave, erin], sections: 5 }
workload: { keys: [x, y], locks: 2, writesPerGrant: 2 }
network: { latency: 1ms..3ms }
clocks: { skew: 5ms, drift: 200ppm }
time: 500ms
faults:
  - pause: { before: write, for: 1ms..30ms, chance: 1/2 }
  - pause: { process: lock, after: acquire, for: 1ms..30ms, chance: 1/2 }
  - clock: { process: [clients, lock], chance: 1/2 }
  - crash: { process: stores, at: 0ms..50ms, restart: 1ms..3ms, chance: 1/2 }
  - partition: { from: clients, to: lock, for: 1ms..9ms, chance: 1/4 }
  - delay: { message: write, by: 1ms..9ms, chance: 1/2 }
  - delay: { by: 1ms..9ms, chance: 1/20 }
  - drop: { chance: 1/50 }
`;
const mixed = scenarioOf(text);
const without = (name: string): Scenario => scenarioOf(text.replace(`${name}, `, ''));
const seeds = Array.from({ length: 200 }, (_, seed) => seed);

describe('expand', () => {
  test('gives the same plan for the same seed, pinned', () => {
    expect(renderPlan(expand(mixed, 'unfenced', 39))).toMatchSnapshot();
    expect(expand(scenarioOf(text), 'unfenced', 39)).toEqual(expand(mixed, 'unfenced', 39));
  });

  test('gives plans that can be written and read back', () => {
    const seed = fc.maxSafeNat();
    fc.assert(
      fc.property(seed, fc.constantFrom('unfenced', 'fenced', 'open'), (at, system) => {
        const plan = expand(mixed, system, at);
        expect(readPlan({ text: renderPlan(plan), file: 'a' })).toEqual({ kind: 'plan', plan });
      }),
      { numRuns: runs(50) },
    );
  });

  test('gives all systems of a scenario the same draws', () => {
    for (const seed of seeds) {
      const one = expand(mixed, 'unfenced', seed);
      const other = expand(mixed, 'fenced', seed);
      expect(other.faults).toEqual(one.faults);
      expect(other.chance).toEqual(one.chance);
      expect(other.clients.map(({ sections }) => sections)).toEqual(
        one.clients.map(({ sections }) => sections),
      );
      expect(other.clients.map(({ checksLease }) => checksLease)).not.toContain(true);
    }
  });

  test.each(['alice', 'carol', 'dave'])('draws the same for the others without %s', (gone) => {
    const fewer = without(gone);
    for (const seed of seeds) {
      const full = expand(mixed, 'unfenced', seed);
      const rest = expand(fewer, 'unfenced', seed);
      const draws = (clients: typeof rest.clients): unknown =>
        clients
          .filter(({ name }) => name !== gone)
          .map(({ name, sections }) => [
            name,
            ...sections.map(({ thinkUs, lock, work }) => [thinkUs, lock, work.map(keyOf)]),
          ]);
      expect(draws(rest.clients)).toEqual(draws(full.clients));
      const ofOthers = full.faults.filter((fault) => !JSON.stringify(fault).includes(gone));
      const known = new Set(rest.faults.map((fault) => JSON.stringify(fault)));
      expect(ofOthers.filter((fault) => !known.has(JSON.stringify(fault)))).toEqual([]);
    }
  });

  test('draws whole milliseconds in half of the seeds', () => {
    const flags = seeds.map((seed) => {
      const { clients, chance } = expand(mixed, 'unfenced', seed);
      const thinks = clients.flatMap(({ sections }) => sections.map(({ thinkUs }) => thinkUs));
      const areMilliseconds = thinks.every((us) => us % 1_000 === 0);
      expect(chance?.latencyStepUs).toBe(areMilliseconds ? 1_000 : 1);
      return areMilliseconds;
    });
    const count = flags.filter((flag) => flag).length;
    expect(count).toBeGreaterThan(75);
    expect(count).toBeLessThan(125);
  });

  test('enables a different subset of the kinds per seed, and at least one', () => {
    const subsets = new Set(
      seeds.map((seed) => {
        const { faults, chance } = expand(mixed, 'unfenced', seed);
        const drop = chance?.drop == null ? [] : ['drop'];
        const kinds = new Set([...faults.map(({ kind }) => kind), ...drop]);
        return [...kinds].sort().join();
      }),
    );
    expect(subsets.size).toBeGreaterThan(30);
    const calm = scenarioOf(text.replace('name: mixed', 'name: mixed\nswarm: false'));
    expect(seeds.every((seed) => expand(calm, 'unfenced', seed).chance?.drop !== null)).toBe(true);
    const single = scenarioOf(text.replace(/faults:[\s\S]*/, 'faults: [drop: { chance: 1/2 }]\n'));
    expect(seeds.every((seed) => expand(single, 'unfenced', seed).chance?.drop !== null)).toBe(
      true,
    );
  });

  test('enables each kind independently: adding one does not affect the others', () => {
    const lines = [
      'pause: { process: bob, at: 1ms, for: 1ms, chance: 1/1 }',
      'crash: { process: store, at: 1ms, chance: 1/1 }',
      'reset: { from: bob, to: lock, at: 1ms, chance: 1/1 }',
      'evict: { process: store, key: x, at: 1ms, chance: 1/1 }',
    ];
    const of = (some: readonly string[]): Scenario =>
      scenarioOf(text.replace(/faults:[\s\S]*/, `faults: [${some.join(', ')}]\n`));
    const [three, four] = [of(lines.slice(1)), of(lines)];
    const kindsIn = (scenario: Scenario, seed: number): readonly string[] =>
      expand(scenario, 'unfenced', seed).faults.map(({ kind }) => kind);
    for (const seed of seeds) {
      const kinds = kindsIn(four, seed);
      const others = kinds.filter((kind) => kind !== 'pause');
      // A seed that enables none of them enables all.
      if (kinds.length < 4 && others.length > 0) expect(kindsIn(three, seed)).toEqual(others);
    }
  });

  test('places a fault without a place at a point as often as at a time', () => {
    const faults = `faults:
  - pause: { for: 1ms }
  - crash: { process: [lock, store], restart: 1ms }
`;
    const scenario = scenarioOf(text.replace(/faults:[\s\S]*/, faults));
    const servers = new Set(['lock', 'store']);
    const drawn = seeds.flatMap((seed) => {
      const plan = expand(scenario, 'unfenced', seed);
      for (const other of ['fenced', 'open']) {
        expect(expand(scenario, other, seed).faults).toEqual(plan.faults);
      }
      return plan.faults.flatMap((fault) => ('process' in fault ? [fault] : []));
    });
    const times = drawn.flatMap(({ when }) => (when.kind === 'at' ? [when.atUs] : []));
    expect(drawn).toHaveLength(7 * seeds.length);
    expect(Math.abs(times.length / drawn.length - 1 / 2)).toBeLessThan(1 / 20);
    expect(Math.max(...times)).toBeLessThanOrEqual(500_000 / 3);
    const places = drawn.flatMap(({ process, when }) => {
      if (when.kind === 'at') return [];
      const [client, , label] = when.point.split('/');
      if (!servers.has(process)) expect(client).toBe(process);
      return [`${when.kind} ${label}`];
    });
    expect([...new Set(places)].sort()).toEqual(
      ['after', 'before'].flatMap((side) =>
        ['acquire', 'release', 'write', 'write-2'].map((label) => `${side} ${label}`),
      ),
    );
  });

  test('stays within the scenario’s ranges and clock bounds', () => {
    for (const seed of seeds) {
      const plan = expand(mixed, 'unfenced', seed);
      for (const fault of plan.faults) {
        const lasts = 'forUs' in fault ? fault.forUs : 'byUs' in fault ? fault.byUs : null;
        if (lasts !== null)
          expect(lengthIn(durationsOf(plan.bounds, fault.kind), lasts)).toBe(lasts);
        if (fault.kind !== 'clock') continue;
        expect(Math.abs(fault.stepUs)).toBeLessThanOrEqual(5_000);
        expect(Math.abs(fault.ratePpm)).toBeLessThanOrEqual(200);
      }
    }
  });

  test('gives every write of a run its own value', () => {
    const { clients } = expand(mixed, 'unfenced', 1);
    const values = clients.flatMap(({ sections }) =>
      sections.flatMap(({ work }) => work.flatMap((step) => ('value' in step ? [step.value] : []))),
    );
    expect(new Set(values).size).toBe(50);
    expect(values).toContain(111);
    expect(values).toContain(552);
  });

  test('puts a fault without a chance into every plan, swarm or not', () => {
    const fixed = scenarioOf(
      text.replace('faults:', 'faults:\n  - pause: { process: bob, at: 1ms, for: 1ms }'),
    );
    for (const seed of seeds) {
      expect(expand(fixed, 'unfenced', seed).faults[0]).toEqual({
        kind: 'pause',
        process: 'bob',
        when: { kind: 'at', atUs: 1_000 },
        forUs: 1_000,
        clocks: 'run',
      });
    }
  });

  test.each([
    ['for: 6ms', 'for: 14ms', ['6ms', '14ms']],
    ['for: 9ms..20ms', 'for: 2ms', ['2ms', '9ms..20ms']],
    ['for: 6ms..9ms', 'for: 1ms..6ms', '1ms..9ms'],
    ['for: 1ms..20ms', 'for: 6ms', '1ms..20ms'],
  ])('allows pauses %s and %s, and none in between', (one, other, ranges) => {
    const faults = `faults: [pause: { ${one} }, crash: { process: lock }, pause: { ${other} }]\n`;
    const plan = expand(scenarioOf(text.replace(/faults:[\s\S]*/, faults)), 'fenced', 1);
    expect(planFields(plan)).toHaveProperty('bounds.durations', { pause: ranges, crash: '0ms' });
    expect(readPlan({ text: renderPlan(plan), file: 'a.yaml' })).toEqual({ kind: 'plan', plan });
  });

  test('names only operations that the system has', () => {
    const opening = text.replace(/faults:[\s\S]*/, 'faults: [pause: { before: open, for: 1ms }]\n');
    const points = (system: string, of = opening): unknown =>
      expand(scenarioOf(of), system, 1).faults.map((fault) => 'when' in fault && fault.when.kind);
    expect(points('unfenced')).toEqual([]);
    expect(points('open')).toEqual(['before', 'before', 'before', 'before', 'before']);
    const checked = opening.replace('before: open', 'after: checked');
    expect(points('fenced', checked)).toEqual([]);
    expect(points('open', checked)).toHaveLength(5);
  });

  test.each([
    ['read-modify-write', /^alice\/[1-5]\/write(-2)?$/],
    ['transfer', /^alice\/[1-5]\/write-(from|to)(-2)?$/],
  ])('names the operations of %s as in a run', (kind, name) => {
    const changed = text
      .replace('keys: [x, y]', `kind: ${kind}`)
      .replace(/faults:[\s\S]*/, 'faults: [pause: { process: alice, before: write, for: 1ms }]\n');
    for (const seed of seeds) {
      const [fault] = expand(scenarioOf(changed), 'unfenced', seed).faults;
      const point =
        fault !== undefined && 'when' in fault && 'point' in fault.when && fault.when.point;
      expect(point).toMatch(name);
    }
  });
});

function keyOf(work: { readonly kind: string; readonly key?: string }): string {
  return `${work.kind} ${work.key}`;
}
