/**
 * A row of the verdict table, and the scenario that it stands for: ordinary scenario text, so that
 * every word in it is checked.
 */
import type { Json } from '../../src/core/kernel/json.ts';
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { breathOf, type Letter } from './faults.ts';

export interface Row {
  readonly lock: string;
  /** One system for each. */
  readonly stores: readonly string[];
  readonly options?: Readonly<Record<string, Json>>;
  readonly work: Work;
  readonly faults: readonly Letter[];
  readonly holds?: readonly string[];
  readonly breaks?: readonly string[];
  /**
   * Whether the lock keeps the hazard of what holds from arising at all, so that it is exercised
   * never; another row shows that it arises without this lock's precaution.
   */
  readonly prevents?: boolean;
  /** What the clients do otherwise than usual. */
  readonly clients?: Fields;
  /** Where the published table says something else, and why that is wrong. */
  readonly note?: string;
}

/** Fields of a scenario file. */
type Fields = Readonly<Record<string, Json>>;

/** What each client does under a grant, and how fast: the time scale of the faults is its ttl. */
export interface Work {
  readonly name: string;
  readonly ttlUs: number;
  readonly clients: Fields;
  readonly scenario: Fields;
}

/** `lock-service × fenced · W1 · P D`, as the table's columns are. */
export function titleOf({ lock, stores, options = {}, work, faults }: Row): string {
  const chosen = Object.entries(options).map(([name, value]) => ` ${name}: ${value}`);
  const letters = faults.map(({ letter }) => letter).join(' ');
  return `${lock}${chosen.join()} × ${stores.join(', ')} · ${work.name} · ${letters || 'none'}`;
}

/** The scenario of a row; a second one leaves out what goes wrong. Throws on an unknown word. */
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

/** A datagram alone is doubled; rates are drawn inside the drift that is declared. */
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
