/**
 * A mutant is a system with one mistake, and its base is the same system without it. One scenario
 * contains both, so that they run with the same seeds, work and faults. The clients, networks and
 * faults at the end are shared by several rows.
 */
import { assert } from '../../src/core/kernel/assert.ts';
import type { Json } from '../../src/core/kernel/json.ts';
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { renderProblem } from '../../src/text/problem.ts';

export interface Mutant {
  readonly name: string;
  /** The mistake, in one line. */
  readonly change: string;
  /** The claim that must find it. */
  readonly caughtBy: string;
  readonly base: System;
  readonly mutant: System;
  /** The rest of the scenario, as in a scenario file: clients, work, network, faults. */
  readonly world: Fields;
}

/** A system of a scenario, as in a scenario file without expectations. */
interface System {
  readonly lock: string;
  readonly store: string;
  readonly options?: Fields;
  readonly clients?: Fields;
}

type Fields = Readonly<Record<string, Json>>;

/** The names of the two systems in the scenario. */
export const BASE = 'base';
export const MUTANT = 'mutant';

/** A row of the table: the base, and the fields in which the mutant differs. */
interface Row {
  readonly change: string;
  readonly caughtBy: string;
  readonly base?: Partial<System>;
  readonly mutant: Partial<System>;
}

/** Returns a row; default: the lock service, a fenced store. Other fields belong to the world. */
export function row(
  name: string,
  { change, caughtBy, base, mutant, ...world }: Row & Fields,
): Mutant {
  const system: System = { lock: 'lock-service', store: 'fenced', ...base };
  const mutated = { ...system, ...mutant };
  return { name, change, caughtBy, base: system, mutant: mutated, world };
}

/** Returns the scenario's text as JSON, which is a subset of YAML. */
function scenarioText({ name, change, caughtBy, base, mutant, world }: Mutant): string {
  const scenario = {
    name,
    description: change,
    systems: {
      [BASE]: { ...base, expect: { holds: [caughtBy] } },
      [MUTANT]: { ...mutant, expect: { breaks: [caughtBy] } },
    },
    ...world,
  };
  return JSON.stringify(scenario, null, 2);
}

/** Loads the scenario like any other scenario file. */
export function scenarioOf(mutant: Mutant): Scenario {
  const read = loadScenario(scenarioText(mutant), mutant.name);
  assert(
    read.kind !== 'problems',
    `the table is wrong: ${read.kind === 'problems' ? read.problems.map(renderProblem).join('\n') : ''}`,
  );
  return read.scenario;
}

/** Three clients that often request the lock at once. */
export const TRIO: Fields = { count: 3, ttl: '10ms', sections: 3, think: '0ms..20ms' };

/** Each writes one value per section. */
export const CROWD: Fields = {
  clients: TRIO,
  workload: { kind: 'blind-writes' },
  network: { latency: '1ms..2ms' },
};

/** Two clients with times in seconds, for locks that count in seconds. */
export const SLOW_PAIR: Fields = {
  count: 2,
  ttl: '2s',
  sections: 3,
  think: '0s..4s',
  backoff: '500ms',
};

export const SLOW_CROWD: Fields = {
  clients: SLOW_PAIR,
  workload: { kind: 'blind-writes' },
  network: { latency: '1ms..20ms' },
  slack: '10s',
};

/** Pauses a client before a step, sometimes past the end of its lease. */
export function pauseBefore(verb: string, chance: string): Fields {
  return { pause: { process: 'clients', before: verb, for: '1ms..40ms', chance } };
}

/** Delays a message of this kind. */
export function lateMessage(
  verb: string,
  leg: 'request' | 'reply',
  by: string,
  chance: string,
): Fields {
  return { delay: { message: verb, leg, by, chance } };
}
