/**
 * Shrinks zombie writers in large random plans, on a small model of a lock with leases and an
 * unfenced store.
 */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import type { ClientPlan, Plan } from '../plan/plan.ts';
import { parametersOf } from './parameter.ts';
import { digitsOf } from './round.ts';
import type { ShrinkResult } from './shrink.ts';
import { shrinkWith } from './shrink-with.fixture.ts';
import { workOf } from './simpler.ts';

/** An event queue in time order: the smallest world in which a lease can expire. */
class Model {
  private readonly plan: Plan;
  private readonly queue: { atUs: number; act: () => void }[] = [];
  private readonly pausedUntil = new Map<string, number>();
  private readonly fired = new Set<Fault>();
  private nowUs = 0;
  private grants = 0;
  private holder = { name: '', untilUs: 0 };
  readonly writes: number[] = [];

  constructor(plan: Plan) {
    this.plan = plan;
  }

  run(): void {
    for (const client of this.plan.clients) this.begin(client, 0);
    for (const fault of this.plan.faults) {
      if (fault.kind !== 'pause' || fault.when.kind !== 'at') continue;
      this.after(fault.when.atUs, () => this.pause(fault.process, fault.forUs));
    }
    for (let steps = 0; this.queue.length > 0 && steps < 5000; steps += 1) {
      let first = 0;
      for (const [at, one] of this.queue.entries()) {
        if (one.atUs < (this.queue[first]?.atUs ?? 0)) first = at;
      }
      const [event] = this.queue.splice(first, 1);
      if (event === undefined) return;
      this.nowUs = event.atUs;
      event.act();
    }
  }

  private after(us: number, act: () => void): void {
    this.queue.push({ atUs: this.nowUs + us, act });
  }

  /** Runs `act` on a client after `us`, or when its pause ends. */
  private on(name: string, us: number, act: () => void): void {
    this.after(us, () => {
      const untilUs = this.pausedUntil.get(name) ?? 0;
      if (untilUs > this.nowUs) this.on(name, untilUs - this.nowUs, act);
      else act();
    });
  }

  private pause(name: string, forUs: number): void {
    this.pausedUntil.set(name, Math.max(this.pausedUntil.get(name) ?? 0, this.nowUs + forUs));
  }

  private latency(message: string): number {
    return this.plan.decisions[message] ?? this.plan.network.latencyUs;
  }

  private begin(client: ClientPlan, at: number): void {
    const section = client.sections[at];
    if (section !== undefined) this.on(client.name, section.thinkUs, () => this.try(client, at, 1));
  }

  private try(client: ClientPlan, at: number, attempt: number): void {
    const name = `${client.name}/${client.sections[at]?.id}/acquire/${attempt}`;
    this.after(this.latency(`${name}/request`), () => {
      const isFree = this.holder.untilUs <= this.nowUs || this.holder.name === client.name;
      if (isFree) {
        this.grants += 1;
        this.holder = { name: client.name, untilUs: this.nowUs + client.ttlUs };
      }
      const ordinal = this.grants;
      this.on(client.name, this.latency(`${name}/reply`), () => {
        if (isFree) this.work(client, at, { step: 0, ordinal });
        else if (attempt >= client.attempts) this.begin(client, at + 1);
        else this.on(client.name, client.backoffUs, () => this.try(client, at, attempt + 1));
      });
    });
  }

  private work(client: ClientPlan, at: number, grant: { step: number; ordinal: number }): void {
    const section = client.sections[at];
    const work = section?.work[grant.step];
    if (section === undefined || work === undefined) {
      if (client.releases && this.holder.name === client.name)
        this.holder = { name: '', untilUs: 0 };
      this.begin(client, at + 1);
      return;
    }
    const point = `${client.name}/${section.id}/${work.kind}${work.id === 1 ? '' : `-${work.id}`}`;
    for (const fault of this.plan.faults) {
      if (fault.kind !== 'pause' || fault.when.kind !== 'before') continue;
      if (fault.when.point !== point || this.fired.has(fault)) continue;
      this.fired.add(fault);
      this.pause(fault.process, fault.forUs);
    }
    this.on(client.name, 0, () => {
      this.after(this.latency(`${point}/1/request`), () => {
        if (work.kind === 'write') this.writes.push(grant.ordinal);
        this.on(client.name, this.latency(`${point}/1/reply`), () =>
          this.work(client, at, { ...grant, step: grant.step + 1 }),
        );
      });
    });
  }
}

/** Returns true if a write of an earlier grant arrives after one of a later grant. */
function hasZombie(plan: Plan): boolean {
  const model = new Model(plan);
  model.run();
  return model.writes.some((ordinal, at) => at > 0 && ordinal < (model.writes[at - 1] ?? 0));
}

/** A multiplicative generator, so that the plans below are the same on every platform. */
function numbers(seed: number): (minUs: number, maxUs: number) => number {
  let state = seed;
  return (minUs, maxUs) => {
    state = (state * 48_271) % 2_147_483_647;
    return minUs + (state % (maxUs - minUs + 1));
  };
}

const NAMES = ['alice', 'bob', 'carol', 'dave', 'erin'] as const;

function largePlan(seed: number): Plan {
  const draw = numbers(seed + 1);
  const ids = [1, 2, 3, 4, 5];
  const decisions: Record<string, number> = {};
  const clients = NAMES.map((name): ClientPlan => {
    for (const id of ids) {
      for (const call of ['acquire/1', 'acquire/2', 'acquire/3', 'write/1', 'write-2/1']) {
        decisions[`${name}/${id}/${call}/request`] = draw(100, 2000);
        decisions[`${name}/${id}/${call}/reply`] = draw(100, 2000);
      }
    }
    const sections = ids.map((id) => ({
      id,
      thinkUs: draw(0, 30_000),
      lock: 'db',
      work: [1, 2].map((step) => ({
        kind: 'write' as const,
        id: step,
        store: 'db',
        key: 'x',
        value: draw(1, 1000),
        awaits: true,
      })),
    }));
    return {
      name,
      ttlUs: 10_000,
      lockTimeoutUs: null,
      storeTimeoutUs: null,
      pool: 2,
      checksLease: false,
      countsLeaseFrom: 'sent',
      leaseEnds: 'at',
      tries: 2,
      backoffUs: 3000,
      attempts: 20,
      releases: true,
      sections,
    };
  });
  const faults = ids.map((): Fault => {
    const process = NAMES[draw(0, 4)] ?? 'alice';
    const forUs = draw(1000, 40_000);
    const when = { kind: 'at', atUs: draw(0, 200_000) } as const;
    return { kind: 'pause', process, when, forUs, clocks: 'run' };
  });
  return {
    fencepost: 1,
    scenario: 'zombie',
    system: { name: 'unfenced', lock: 'lock-service', store: 'unfenced', options: {} },
    clients,
    network: { link: 'connection', latencyUs: 734 },
    faults,
    chance: null,
    decisions,
    order: ['alice/1/acquire', 'bob/1/acquire', 'carol/1/acquire'],
    limits: { healAtUs: 500_000, probe: true, slackUs: 10_000, endUs: 1_000_000, maxEvents: 5000 },
    bounds: {
      latency: { minUs: 100, maxUs: 2000 },
      think: { minUs: 0, maxUs: 30_000 },
      durations: { pause: { minUs: 1000, maxUs: 40_000 } },
      skewUs: 0,
      driftPpm: 0,
    },
  };
}

describe('a zombie writer in a plan of 5 clients, 25 sections, 5 faults and 250 decisions', () => {
  const plans = Array.from({ length: 60 }, (_, seed) => largePlan(seed)).filter(hasZombie);
  const results = plans.map((plan): ShrinkResult => shrinkWith(plan, hasZombie));

  test('shrinks to two clients, one fault and two writes with nothing left to chance', () => {
    expect(results.length).toBeGreaterThan(10);
    for (const { plan, isMinimal } of results) {
      expect(isMinimal).toBe(true);
      expect(plan.clients.length).toBe(2);
      expect(plan.faults.length).toBe(1);
      expect(workOf(plan).map(({ kind }) => kind)).toEqual(['write', 'write']);
      expect(plan.decisions).toEqual({});
      expect(plan.order).toEqual([]);
    }
  });

  test('ends with round numbers, a fault at a named point, and plain clients', () => {
    for (const { plan } of results) {
      for (const { value } of parametersOf(plan)) expect(digitsOf(value)).toBeLessThanOrEqual(1);
      expect(plan.faults[0]).toMatchObject({ kind: 'pause', when: { kind: 'before' } });
      for (const client of plan.clients) {
        expect(client).toMatchObject({ pool: 1, tries: 1, attempts: 1, releases: false });
      }
    }
  });

  test('takes at most 400 runs', () => {
    expect(Math.max(...results.map(({ runs }) => runs))).toBeLessThanOrEqual(400);
  });

  test('has its boundary at the first pause longer than the lease', () => {
    for (const { plan, boundary } of results) {
      if (boundary === null) expect.fail('a pause of 1 ms harms nobody');
      expect(boundary.what).toMatch(/^pause of /);
      expect(boundary.breaksAtUs - boundary.holdsAtUs).toBe(1);
      expect(boundary.holdsAtUs).toBeGreaterThanOrEqual(10_000 - 2 * plan.network.latencyUs);
      expect(hasZombie(boundary.holdsPlan)).toBe(false);
    }
  });
});
