/**
 * Builds the faults of `faults: all`: every kind that can affect the systems of a scenario, with
 * low odds. Durations range from a tenth of the ttl to over twice the ttl, so that only some faults
 * outlast a lease.
 *
 * Lock servers may lose state, in a failover or an eviction. Stores may not, since no lock protects
 * data that the store itself loses.
 */

import type { RangeUs } from '../core/plan/duration.ts';
import type { ServerPlace } from '../core/plan/fault.ts';
import { FAULT_KINDS, type FaultKind } from '../core/plan/fault.ts';
import { isLockServer } from '../core/plan/operation-names.ts';
import { expand } from './expand.ts';
import type { ReadFault } from './read-faults.ts';
import type { Scenario, SystemScenario } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

interface Setting {
  readonly ttlUs: number;
  readonly isDatagram: boolean;
  /** True if the file bounds the clock error. Faults then stay within the bound. */
  readonly isBound: boolean;
  /** Servers of at least one system, in system order. */
  readonly servers: readonly string[];
  readonly failingOver: readonly string[];
  readonly forgetting: readonly string[];
  /** The names of the locks, which are also their keys on the servers. */
  readonly locks: readonly string[];
}

type Fields = ReadFault['fields'];

/** The faults of each kind, or none if the kind affects no system. */
const PALETTE: { readonly [Kind in FaultKind]: (setting: Setting) => readonly Fields[] } = {
  pause: ({ ttlUs, servers }) => [
    { process: ['clients'], for: lasting(ttlUs), chance: oneIn(4) },
    { process: ['clients'], for: lasting(ttlUs), clocks: 'freeze', chance: oneIn(10) },
    { process: servers, for: lasting(ttlUs), chance: oneIn(10) },
  ],
  delay: ({ ttlUs }) => [{ by: lasting(ttlUs), chance: oneIn(50) }],
  drop: () => [{ chance: oneIn(50) }],
  duplicate: ({ ttlUs, isDatagram }) =>
    isDatagram ? [{ by: lasting(ttlUs), chance: oneIn(50) }] : [],
  partition: ({ ttlUs, servers }) => [
    { from: ['clients'], to: servers, for: lasting(ttlUs), chance: oneIn(10) },
  ],
  clock: ({ ttlUs, isBound }) => {
    const at = { minUs: 0, maxUs: 5 * ttlUs };
    const step = { minUs: -2 * ttlUs, maxUs: 2 * ttlUs };
    return [{ process: ['clients'], at, ...(isBound ? {} : { step }), chance: oneIn(10) }];
  },
  crash: ({ ttlUs, servers }) => [
    { process: ['clients'], restart: lasting(ttlUs), chance: oneIn(10) },
    { process: servers, restart: lasting(ttlUs), chance: oneIn(10) },
  ],
  reset: ({ servers, isDatagram }) =>
    isDatagram ? [] : [{ from: ['clients'], to: servers, chance: oneIn(10) }],
  failover: ({ ttlUs, failingOver }) =>
    failingOver.length === 0
      ? []
      : [{ process: failingOver, lag: { minUs: 0, maxUs: ttlUs }, chance: oneIn(10) }],
  evict: ({ forgetting, locks }) =>
    forgetting.length === 0
      ? []
      : locks.map((key) => ({ process: forgetting, key, chance: oneIn(10) })),
  'late-timer': ({ ttlUs }) => [{ by: lasting(ttlUs), chance: oneIn(20) }],
};

function lasting(ttlUs: number): RangeUs {
  return { minUs: Math.ceil(ttlUs / 10), maxUs: Math.ceil(2.5 * ttlUs) };
}

function oneIn(denominator: number): NonNullable<ReadFault['fields'][string]> {
  return { numerator: 1, denominator };
}

export interface Palette {
  readonly faults: readonly ReadFault[];
  /** Servers that each kind cannot affect. One entry per system. */
  readonly spared: readonly NonNullable<SystemScenario['spared']>[];
}

/** Returns the palette of a scenario. `scenario` was built without faults. */
export function paletteOf(
  file: ScenarioFile,
  scenario: Scenario,
  { serversOf = () => [] }: Vocabulary,
): Palette {
  const perSystem = scenario.systems.map(({ name }) => serversOf(expand(scenario, name, 0)));
  const all = perSystem.flat();
  const locks = all.filter(({ name }) => isLockServer(name));
  const setting: Setting = {
    ttlUs: Math.max(...scenario.clients.map(({ settings }) => settings.ttlUs)),
    isDatagram: scenario.network.link === 'datagram',
    isBound: file.clocks !== undefined,
    servers: namesOf(all),
    failingOver: namesOf(locks.filter(({ canFailOver }) => canFailOver)),
    forgetting: namesOf(locks.filter(({ canForget }) => canForget)),
    locks: [...new Set(scenario.clients.flatMap(({ workload }) => workload.locks))],
  };
  return {
    faults: FAULT_KINDS.flatMap((kind) =>
      PALETTE[kind](setting).map((fields) => ({ kind, fields })),
    ),
    spared: perSystem.map((servers) => ({
      failover: namesOf(servers.filter(({ canFailOver }) => !canFailOver)),
      evict: namesOf(servers.filter(({ canForget }) => !canForget)),
    })),
  };
}

function namesOf(servers: readonly ServerPlace[]): readonly string[] {
  return [...new Set(servers.map(({ name }) => name))];
}
