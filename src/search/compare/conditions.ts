/**
 * Under what systems are compared: how much they get in each other's way, and what goes wrong. A
 * level of contention is how many clients want how few rows how often; each section draws a row,
 * which has a lock of its own, reads its counter and writes it back one higher.
 */
import { assert } from '../../core/kernel/assert.ts';
import { loadScenario } from '../../load.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import type { Condition } from './comparison.ts';

interface Level {
  readonly contention: 'low' | 'medium' | 'high';
  readonly clients: number;
  readonly rows: number;
  readonly think: string;
}

export const LEVELS: readonly Level[] = [
  { contention: 'low', clients: 3, rows: 12, think: '0ms..60ms' },
  { contention: 'medium', clients: 6, rows: 4, think: '0ms..20ms' },
  { contention: 'high', clients: 8, rows: 1, think: '0ms..2ms' },
];

const SECTIONS = 6;

/** The same in words, for people. */
export const FAULTS_ABOUT: string =
  'a client paused for 5–60 ms before a write (1 in 2) or at some time (1 in 4), a message 5–30 ms ' +
  'late (1 in 100) or lost with its connection (1 in 200), a client that crashes and is back after ' +
  '10–50 ms (1 in 8)';

const FAULTS = [
  { pause: { process: 'clients', before: 'write', for: '5ms..60ms', chance: '1/2' } },
  { pause: { process: 'clients', at: '0ms..150ms', for: '5ms..60ms', chance: '1/4' } },
  { delay: { by: '5ms..30ms', chance: '1/100' } },
  { drop: { chance: '1/200' } },
  { crash: { process: 'clients', at: '0ms..150ms', restart: '10ms..50ms', chance: '1/8' } },
];

/** What holds under every level. */
export const TERMS_ABOUT: string = `${SECTIONS} sections a client, leases of 30 ms, 1–2 ms one way`;

/** A condition, and the scenario whose seeds are run under it. */
export interface Trial {
  readonly condition: Condition;
  readonly scenario: Scenario;
}

/** The levels without faults, then with them, for these systems. */
export function trialsFor(systems: readonly SystemScenario[]): readonly Trial[] {
  return [false, true].flatMap((hasFaults) =>
    LEVELS.map((level) => ({
      condition: { contention: level.contention, hasFaults, about: aboutLevel(level) },
      scenario: { ...scenarioOf(level, hasFaults), systems },
    })),
  );
}

/** The work and the faults of a scenario as it stands, and the same without its faults. */
export function trialsAsWritten(scenario: Scenario): readonly Trial[] {
  const limits = { ...scenario.limits, probe: false };
  const { length } = scenario.clients;
  const about = `${length} ${length === 1 ? 'client' : 'clients'} as in ${scenario.name}`;
  const condition = { contention: 'as written', about };
  const calm = { condition: { ...condition, hasFaults: false }, scenario: withoutFaults(scenario) };
  if (scenario.faults.length === 0) {
    return [{ ...calm, scenario: { ...calm.scenario, limits } }];
  }
  return [
    { ...calm, scenario: { ...calm.scenario, limits } },
    { condition: { ...condition, hasFaults: true }, scenario: { ...scenario, limits } },
  ];
}

function withoutFaults(scenario: Scenario): Scenario {
  return { ...scenario, faults: [] };
}

/** `6 clients, 4 rows, think time 0–20 ms`. */
function aboutLevel({ clients, rows, think }: Level): string {
  const range = think.replace('ms..', '–').replace('ms', ' ms');
  return `${clients} clients, ${rows === 1 ? '1 row' : `${rows} rows`}, think time ${range}`;
}

function scenarioOf({ contention, clients, rows, think }: Level, hasFaults: boolean): Scenario {
  const file = {
    name: `compare-${contention}`,
    systems: { any: { lock: 'none', store: 'unfenced' } },
    clients: { count: clients, ttl: '30ms', sections: SECTIONS, think },
    workload: { kind: 'read-modify-write', locks: rows },
    network: { latency: '1ms..2ms' },
    jitter: '1/2',
    faults: hasFaults ? FAULTS : [],
    swarm: false,
    probe: false,
  };
  const read = loadScenario(JSON.stringify(file), 'compare');
  assert(read.kind === 'scenario', 'the conditions are scenarios that load');
  return read.scenario;
}
