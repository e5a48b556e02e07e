/**
 * Small runs with every store in which calls are lost, late, duplicated, abandoned and retried: a
 * client then knows little about its calls, and the judges must not know more.
 */
import alea from 'seedrandom/lib/alea.js';
import type { Json } from '../../src/core/kernel/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { loadScenario } from '../../src/load.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { storeKinds } from '../../src/systems/store/store-kinds.ts';

export const STORES: readonly string[] = [...storeKinds.keys()];

/** A lost answer matters most if reads register tokens, so such stores are more frequent. */
const DRAWN: readonly string[] = [...STORES, ...Array.from({ length: 5 }, () => 'fenced-reads')];

const STEPS: readonly Json[] = [
  { steps: ['read', 'write', 'read'] },
  { steps: ['read', 'read', 'write'] },
  { steps: ['write', 'write'] },
  { steps: ['write', { compute: '1ms' }, 'write', 'read'], awaits: false },
  { kind: 'blind-writes' },
  { kind: 'read-modify-write' },
];

type Below = (limit: number) => number;

/** Number of plans per scenario, since loading a scenario takes longer than running a plan. */
const PER_SCENARIO = 10;

export interface DrawnPlan {
  readonly seed: number;
  readonly store: string;
  readonly plan: Plan;
}

/** Yields the plans numbered `from` up to, but not including, `to`; always the same ones. */
export function* drawnPlans(from: number, to: number): Iterable<DrawnPlan> {
  let scenario: Scenario | null = null;
  for (let seed = from; seed < to; seed++) {
    const group = Math.floor(seed / PER_SCENARIO);
    if (scenario === null || seed % PER_SCENARIO === 0) scenario = drawScenario(group);
    const store = storeOf(group);
    yield { seed, store, plan: expand(scenario, store, seed) };
  }
}

function storeOf(group: number): string {
  return DRAWN[group % DRAWN.length] ?? '';
}

function drawScenario(group: number): Scenario {
  const stream = alea(`opinion ${group}`);
  const below: Below = (limit) => Math.floor(stream() * limit);
  const store = storeOf(group);
  const hasVersions = storeKinds.get(store)?.requirements.hasVersions ?? false;
  const link = below(3) === 0 ? 'datagram' : 'connection';
  const steps = hasVersions ? { kind: 'read-modify-write' } : STEPS[below(STEPS.length)];
  const file = {
    name: 'opinion',
    systems: { [store]: { lock: hasVersions ? 'optimistic' : 'lock-service', store } },
    clients: {
      count: 2 + below(2),
      sections: 3 + below(4),
      ttl: `${4 + below(6)}ms`,
      think: `0ms..${1 + below(5)}ms`,
      checksLease: below(3) > 0,
      storeTimeout: `${5 + below(10)}ms`,
      tries: 1 + below(3),
    },
    workload: steps ?? {},
    network: { link, latency: `1ms..${1 + below(3)}ms` },
    faults: drawFaults(below, link),
  };
  const read = loadScenario(JSON.stringify(file), `opinion ${group}`);
  if (read.kind === 'problems') throw new Error(JSON.stringify([file, read.problems]));
  return read.scenario;
}

function drawFaults(below: Below, link: string): readonly Json[] {
  const late = `1ms..${5 + below(40)}ms`;
  const faults: Json[] = [
    { drop: { chance: `1/${3 + below(5)}` } },
    { delay: { by: late, chance: '1/4' } },
    { pause: { process: 'clients', before: 'write', for: late, chance: '1/4' } },
    { crash: { process: 'stores', after: 'write', restart: '1ms..5ms', chance: '1/6' } },
    link === 'datagram'
      ? { duplicate: { by: late, chance: '1/6' } }
      : { reset: { from: 'clients', to: 'stores', before: 'write', chance: '1/3' } },
  ];
  return faults.filter(() => below(3) > 0);
}
