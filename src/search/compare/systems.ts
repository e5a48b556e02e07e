/** Which systems are compared: those of the folklore, those that are named, or those of a file. */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { Options } from '../../systems/protocol.ts';
import { suggest } from '../../text/problem.ts';
import type { Roles } from './folklore.ts';

/** Compared where nothing is named; the first three are those of the folklore. */
export const FAMILIAR: readonly SystemScenario[] = [
  systemOf('pessimistic', { lock: 'pessimistic', store: 'unfenced' }),
  systemOf('optimistic', { lock: 'optimistic', store: 'versioned' }),
  systemOf('fenced-lease', { lock: 'lock-service', store: 'fenced-reads' }),
  systemOf('plain-lease', { lock: 'lock-service', store: 'unfenced' }),
];

function systemOf(
  name: string,
  { lock, store }: { readonly lock: string; readonly store: string },
  catalogue: Catalogue = builtIn,
): SystemScenario {
  const protocol = catalogue.locks.get(lock);
  const options = Options.read(protocol?.options ?? [], {});
  const system: SystemScenario = {
    ...{ name, lock, store, options: {} },
    servers: typeof options === 'string' ? [] : (protocol?.servers(options) ?? []),
    clients: {},
    expect: { holds: [], breaks: [] },
  };
  return patiently(system, catalogue);
}

/** The system with clients that wait in line for ever, where its lock has a line. */
export function patiently(system: SystemScenario, { locks }: Catalogue = builtIn): SystemScenario {
  if (locks.get(system.lock)?.waitsInLine !== true) return system;
  return { ...system, clients: { lockTimeout: null, checksLease: false, ...system.clients } };
}

export type Chosen =
  | { readonly kind: 'systems'; readonly systems: readonly SystemScenario[] }
  | { readonly kind: 'problem'; readonly what: string };

/**
 * The systems that `text` names, comma-separated: each one of `known` by its name, or any other as
 * `lock/store`. All of `known` where it is null.
 */
export function chooseSystems(
  text: string | null,
  known: readonly SystemScenario[],
  catalogue: Catalogue = builtIn,
): Chosen {
  if (text === null) return { kind: 'systems', systems: known };
  const systems: SystemScenario[] = [];
  for (const name of text.split(',').map((part) => part.trim())) {
    const system = known.find((one) => one.name === name) ?? composed(name, catalogue);
    if (typeof system === 'string') return { kind: 'problem', what: system };
    if (system === null) {
      const names = known.map((one) => one.name);
      const what = `unknown system "${name}"${suggest(name, names)}; name one as lock/store`;
      return { kind: 'problem', what };
    }
    if (systems.some((one) => one.name === system.name)) {
      return { kind: 'problem', what: `"${name}" stands here twice` };
    }
    systems.push(system);
  }
  return { kind: 'systems', systems };
}

/** `lock/store`; null where it is no such name, or in words what is wrong with it. */
function composed(name: string, catalogue: Catalogue): SystemScenario | string | null {
  const { locks, stores } = catalogue;
  const [lock, store, ...rest] = name.split('/');
  if (lock === undefined || store === undefined || rest.length > 0) return null;
  if (!locks.has(lock)) return unknown('lock', lock, [...locks.keys()]);
  if (!stores.has(store)) return unknown('store', store, [...stores.keys()]);
  return systemOf(name, { lock, store }, catalogue);
}

function unknown(noun: string, word: string, known: readonly string[]): string {
  return `unknown ${noun} "${word}"${suggest(word, known)}`;
}

/** Which of these stand for the systems of the folklore, the first of each kind. */
export function rolesOf(
  systems: readonly SystemScenario[],
  { stores }: Catalogue = builtIn,
): Roles {
  const first = (is: (system: SystemScenario) => boolean): SystemScenario | undefined =>
    systems.find(is);
  const isLease = ({ lock }: SystemScenario): boolean => !NO_LEASE.has(lock);
  const isFenced = ({ store }: SystemScenario): boolean => stores.get(store)?.isFenced === true;
  const fenced = first((system) => isLease(system) && isFenced(system));
  const unfenced = first((system) => system.lock === fenced?.lock && !isFenced(system));
  return {
    pessimistic: first(({ lock }) => lock === 'pessimistic')?.name ?? null,
    optimistic: first(({ lock }) => lock === 'optimistic')?.name ?? null,
    fenced: fenced?.name ?? null,
    unfenced: unfenced?.name ?? null,
  };
}

/** Locks that never end by themselves. */
const NO_LEASE: ReadonlySet<string> = new Set(['none', 'optimistic', 'pessimistic']);
