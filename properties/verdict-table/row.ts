/**
 * A row of the verdict table, and its scenario: ordinary scenario text, so that every word in it is
 * checked.
 */
import type { Json } from '../../src/core/kernel/json.ts';
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { breathOf, type Letter } from './faults.ts';

export interface Row {
  readonly lock: string;
  /** One system per store. */
  readonly stores: readonly string[];
  readonly options?: Readonly<Record<string, Json>>;
  readonly work: Work;
  readonly faults: readonly Letter[];
  readonly holds?: readonly string[];
  readonly breaks?: readonly string[];
  /**
   * True if the lock prevents the hazard of its `holds` claims, so that they are never exercised;
   * another row shows that the hazard arises without this lock's precaution.
   */
  readonly prevents?: boolean;
  /** Client settings other than the default. */
  readonly clients?: Fields;
  /** The difference from the published table, and why that table is wrong. */
  readonly note?: string;
}

/** Fields of a scenario file. */
type Fields = Readonly<Record<string, Json>>;

/** The steps of each client under a grant, and their pace: faults are scaled by the ttl. */
export interface Work {
  readonly name: string;
  readonly ttlUs: number;
  readonly clients: Fields;
  readonly scenario: Fields;
}

/** Returns `lock-service × fenced · W1 · P D`, in the order of the table's columns. */
export function titleOf({ lock, stores, options = {}, work, faults }: Row): string {
  const chosen = Object.entries(options).map(([name, value]) => ` ${name}: ${value}`);
  const letters = faults.map(({ letter }) => letter).join(' ');
  return `${lock}${chosen.join()} × ${stores.join(', ')} · ${work.name} · ${letters || 'none'}`;
}

/** Returns the scenario of a row, without faults if `isCalm`. Throws for an unknown word. */
export function scenarioOf(row: Row, { isCalm }: { readonly isCalm: boolean }): Scenario {
  const { lock, stores, options = {}, work, faults, holds = [], breaks = [] } = row;
  const extent = breathOf(work.ttlUs);
  const file = {
    name: 'row',
    systems: Object.fromEntries(
      stores.map((store) => [store, { lock, store, options, expect: { holds, breaks } }]),
    ),
    clients: { count: 3, ttl: us(work.ttlUs), ...work.clients, ...row.clients },
    ...scenarioFields(row),
    faults: isCalm ? [] : faults.flatMap((letter) => letter.faults(extent)),
  };
  const title = titleOf(row);
  const read = loadScenario(JSON.stringify(file), title);
  if (read.kind === 'problems') throw new Error(`${title}: ${JSON.stringify(read.problems)}`);
  return read.scenario;
}

/** Only datagrams are duplicated; rates are drawn within the declared drift. */
function scenarioFields({ work, faults }: Row): Fields {
  const { network, ...others } = work.scenario;
  const link = faults.some(({ letter }) => letter === 'U') ? 'datagram' : 'connection';
  const latency = network ?? '1ms..2ms';
  const drift = faults.some(({ letter }) => letter === 'Q')
    ? { clocks: { drift: '10000ppm' } }
    : {};
  return { network: { link, latency }, ...drift, ...others };
}

function us(duration: number): string {
  return `${duration}us`;
}
