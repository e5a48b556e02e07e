/** On both sides of every edge, lengths one microsecond apart are tried. */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { breaks } from '../../harness.ts';
import { watchAsync } from '../../host/async/run-async.ts';
import { loadScenario } from '../../load.ts';
import { basePlan, narrowed } from './narrowed.ts';
import { departing, Placements } from './placements.ts';
import { amountingTo } from './slots.ts';

/** One fault in a lock whose lease ends at 11 ms, and its successor’s at 21 ms. */
function scenarioWith(fault: string): string {
  return `name: edge
systems:
  one: { lock: lock-service, store: unfenced, options: { clock: wall }, expect: { breaks: [grant-order] } }
clients: { names: [alice, bob], ttl: 10ms, sections: 1 }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [{ ${fault} }]
`;
}

function placementsOf(fault: string): { readonly base: Plan; readonly placements: Placements } {
  const read = loadScenario(scenarioWith(fault), 'edge.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const scenario = narrowed(read.scenario, { faults: 1, ties: 0, clients: null, sections: null });
  const base = basePlan(scenario, 'one');
  return {
    base,
    placements: new Placements(base, scenario.faults, { catalogue: builtIn, watch: watchAsync }),
  };
}

describe('the tried lengths', () => {
  test.each([
    ['pause: { process: clients, for: 1ms..60ms }', 'grant-order'],
    ['delay: { by: 0ms..60ms, chance: 1/2 }', 'grant-order'],
    ['clock: { process: lock, after: acquire, step: -20ms..20ms }', 'mutual-exclusion'],
    ['partition: { from: clients, to: stores, for: 1ms..60ms }', 'grant-order'],
  ])(
    '%s: are one microsecond apart if one breaks the claim and the next does not',
    async (fault, claim) => {
      const { base, placements } = placementsOf(fault);
      let edges = 0;
      for (const { next: least, amounts } of await placements.after([])) {
        if (least.kind === 'swap') throw new Error('no swap was asked for');
        const tried = (amounts ?? []).map((us) => {
          const plan = departing(base, [amountingTo(least, us)]);
          return { us, isBroken: breaks(plan, claim) };
        });
        for (const [at, { us, isBroken }] of tried.entries()) {
          const next = tried[at + 1];
          if (next === undefined || next.isBroken === isBroken) continue;
          expect(next.us - us, `${JSON.stringify(least)} from ${us} µs to ${next.us} µs`).toBe(1);
          edges += 1;
        }
      }
      expect(edges).toBeGreaterThanOrEqual(1);
    },
  );

  test('include the least and the largest that the scenario allows, and none beyond', async () => {
    const { placements } = placementsOf('delay: { by: 3ms..9ms, chance: 1/2 }');
    for (const { amounts } of await placements.after([])) {
      expect(amounts?.[0]).toBe(3_000);
      expect(amounts?.at(-1)).toBe(9_000);
    }
  });

  test('include none between two that are allowed alone', async () => {
    const { base } = placementsOf('delay: { by: 3ms..9ms, chance: 1/2 }');
    const templates = ['3ms', '9ms', '20ms..30ms'].flatMap((by) => {
      const read = loadScenario(scenarioWith(`delay: { by: ${by}, chance: 1/2 }`), 'edge.yaml');
      return read.kind === 'scenario' ? read.scenario.faults : [];
    });
    const placements = new Placements(base, templates, { catalogue: builtIn, watch: watchAsync });
    const tried = (await placements.after([])).flatMap(({ amounts }) => amounts ?? []);
    expect(tried).toContain(3_000);
    expect(tried).toContain(9_000);
    expect(tried.some((us) => us > 20_000 && us < 30_000)).toBe(true);
    const others = tried.filter((us) => us !== 3_000 && us !== 9_000);
    expect(others.filter((us) => us < 20_000 || us > 30_000)).toEqual([]);
  });
});
