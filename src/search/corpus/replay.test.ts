/** Tests the replay of a plan on its own system and on its twins. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan } from '../../core/plan/plan.ts';
import { loadScenario } from '../../load.ts';
import { clientOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { replay, runSiblings, type Sibling, UnknownClaim } from './replay.ts';

/** Bob is paused before his write for longer than his lease, and Carol writes meanwhile. */
function zombieOn(store: string, point = 'bob/1/write'): Plan {
  const when = { kind: 'before', point } as const;
  const pause: Fault = { kind: 'pause', process: 'bob', when, forUs: 60 * MS, clocks: 'run' };
  const late = { section: { thinkUs: 5 * MS }, attempts: 30 };
  const clients = [
    clientOf('bob', [writeOf(1)], { releases: false }),
    clientOf('carol', [writeOf(2)], { ...late, releases: false }),
  ];
  return { ...planOf({ store, clients, faults: [pause] }), scenario: 'zombie' };
}

describe('a claim of a plan', () => {
  const quiet = planOf({ clients: [clientOf('bob', [writeOf(1)])] });
  const nowhere = { kind: 'at', atUs: MS } as const;

  test.each<[string, string, Plan, string | null]>([
    ['reproduced', 'grant-order', zombieOn('unfenced'), null],
    ['fixed', 'grant-order', zombieOn('fenced'), null],
    ['inert', 'grant-order', quiet, null],
    ['inert', 'linearizable', { ...quiet, limits: { ...quiet.limits, maxEvents: 1 } }, null],
    ['diverged', 'grant-order', zombieOn('unfenced', 'bob/7/write'), 'bob/7/write'],
  ])('is %s: %s', async (outcome, claim, plan, divergedAt) => {
    const found = await replay(plan, claim);
    expect(found).toMatchObject({ claim, outcome, divergedAt, verdict: { claim } });
    expect(found.digest).toMatch(/^sha256:/);
    expect(found.trace.events.length).toBeGreaterThan(0);
  });

  test('is reproduced if it breaks, even if a name matched nothing', async () => {
    const { faults, ...plan } = zombieOn('unfenced');
    const [pause] = faults;
    if (pause === undefined) throw new Error('the plan has a pause');
    const crash: Fault = { kind: 'crash', process: 'bob', when: nowhere, restartAfterUs: null };
    const when = { kind: 'before', point: 'carol/9/write' } as const;
    const found = await replay({ ...plan, faults: [pause, { ...crash, when }] }, 'grant-order');
    expect(found).toMatchObject({ outcome: 'reproduced', divergedAt: 'carol/9/write' });
  });

  test('is the one that the plan expects to break, or `grant-order` if it names none', async () => {
    expect((await replay(quiet)).claim).toBe('grant-order');
    const expected = { claim: 'tokens-unique', outcome: 'fixed' } as const;
    const named: Plan = { ...zombieOn('fenced'), expect: expected };
    expect(await replay(named)).toMatchObject({ claim: 'tokens-unique', outcome: 'fixed' });
    expect((await replay(named, 'progress')).claim).toBe('progress');
  });
});

const text = `name: zombie
systems:
  tested:
    { lock: lock-service, store: unfenced, expect: { breaks: [grant-order, fence-monotone] } }
  alike: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
  fenced:
    lock: lock-service
    store: fenced
    clients: { checksLease: true }
    expect: { holds: [grant-order, tokens-unique] }
  optimistic: { lock: optimistic, store: versioned, expect: { holds: [tokens-unique] } }
clients: { names: [bob, carol], ttl: 20ms, sections: 1, checksLease: false }
workload: { steps: [write: {}] }
`;
const read = loadScenario(text, 'zombie.yaml');
if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
const { scenario } = read;

function fates(siblings: readonly Sibling[]): readonly string[] {
  return siblings.map(({ system, claim, fate }) => {
    return `${claim} of ${system}: ${fate.kind === 'ran' ? fate.replay.outcome : fate.why}`;
  });
}

describe('the twins of a plan that broke a claim', () => {
  test('are the systems that must hold the claim, and run the same plan', async () => {
    const plan = zombieOn('unfenced');
    const siblings = await runSiblings(scenario, { plan, claim: 'grant-order' });
    expect(fates(siblings)).toEqual(['grant-order of fenced: fixed']);
  });

  test('are empty if the claim should not break, or the scenario lacks the system', async () => {
    const plan = zombieOn('unfenced');
    expect(await runSiblings(scenario, { plan, claim: 'tokens-unique' })).toEqual([]);
    const otherSystem = { ...plan, system: { ...plan.system, name: 'foreign' } };
    expect(await runSiblings(scenario, { plan: otherSystem, claim: 'grant-order' })).toEqual([]);
  });

  test('report why they cannot run the plan', async () => {
    const renews = [{ kind: 'renew', id: 1, ttlUs: 20 * MS } as const, writeOf(1)];
    const plan = { ...zombieOn('unfenced'), clients: [clientOf('bob', renews)], faults: [] };
    const systems = scenario.systems.map((system) => {
      return system.name === 'tested' ? { ...system, expect: BREAKS } : system;
    });
    const siblings = await runSiblings({ ...scenario, systems }, { plan, claim: 'tokens-unique' });
    expect(fates(siblings)).toEqual([
      'tokens-unique of fenced: inert',
      'tokens-unique of optimistic: optimistic has no lease to renew',
    ]);
  });

  test('use their own settings, except those that the plan changed', async () => {
    const plan = zombieOn('unfenced');
    const zed: ClientPlan = clientOf('zed', [writeOf(3)], { attempts: 30, checksLease: false });
    const clients = plan.clients.map((client) => ({ ...client, checksLease: false }));
    const [sibling] = await runSiblings(scenario, {
      plan: { ...plan, clients: [...clients, zed], faults: [] },
      claim: 'grant-order',
    });
    if (sibling?.fate.kind !== 'ran') throw new Error('it runs');
    const { events } = sibling.fate.replay.trace;
    const tested = events.flatMap((event) => (event.kind === 'lease-test' ? [event.process] : []));
    expect([...new Set(tested)].sort()).toEqual(['bob', 'carol']);
    const released = events.flatMap((event) => (event.kind === 'release' ? [event.client] : []));
    expect(new Set(released)).toEqual(new Set(['zed']));
  });
});

const BREAKS = { holds: [], breaks: ['tokens-unique'] };

test('a claim that the catalogue lacks is a mistake of the caller', async () => {
  const plan = planOf({ clients: [clientOf('bob', [writeOf(1)])] });
  const asked = replay({ ...plan, expect: { claim: 'grant-ordre', outcome: 'reproduced' } });
  await expect(asked).rejects.toThrow(UnknownClaim);
  await expect(asked).rejects.toThrow('unknown claim "grant-ordre"; did you mean "grant-order"?');
});
