/** Builds the clients of a scenario: their names, settings and work. */
import { settingsOver } from '../core/plan/client-text.ts';
import { isReserved } from '../core/plan/operation-names.ts';
import { CLIENT_DEFAULTS, SECTION_DEFAULTS, WORK_DEFAULTS } from '../core/plan/plan.ts';
import { memoizeFindings, toItself, usedTwice } from '../core/plan/plan-findings.ts';
import type { ReadStep } from '../core/plan/work-text.ts';
import { type PathStep, suggest, type UnplacedProblem } from '../text/problem.ts';
import type { ClientScenario, Workload } from './scenario.ts';
import type {
  ReadClient,
  ReadClientMap,
  ReadNames,
  ReadWorkload,
  ScenarioFile,
} from './scenario-file.ts';

const GROUPS: readonly string[] = ['clients', 'stores', 'locks'];

const SECTIONS = 3;
const THINK = { minUs: 0, maxUs: 5_000 };

export interface BuiltClients {
  readonly clients: readonly ClientScenario[];
  /** The stores that clients use. */
  readonly stores: readonly string[];
  readonly findings: readonly UnplacedProblem[];
}

/** Returns the clients, and the problems with their names and workloads. */
export function buildClients(file: ScenarioFile): BuiltClients {
  const shared = sharedOf(file);
  const names = namesGiven(shared);
  const base = settingsOver(CLIENT_DEFAULTS, shared);
  const clients = names.map((name, at): ClientScenario => {
    const settings: ReadClient = shared.each?.[name] ?? {};
    const concurrency = settings.concurrency ?? shared.concurrency ?? 1;
    return {
      name,
      number: at + 1,
      settings: settingsOver(base, settings),
      sections: settings.sections ?? shared.sections ?? Math.max(SECTIONS, concurrency),
      concurrency,
      think: settings.think ?? shared.think ?? THINK,
      workload: buildWorkload(settings.workload ?? shared.workload ?? file.workload ?? {}),
    };
  });
  const used = clients.flatMap(({ workload: { kind, steps, stores: usable } }) =>
    kind === 'steps' ? steps.flatMap((step) => stepStores(step, usable)) : usable,
  );
  const stores = [...new Set(used)];
  const findings = [
    ...nameFindings(file, names, stores),
    ...unknownClients(shared, names),
    ...clients.flatMap(({ name, sections, concurrency }): UnplacedProblem[] => {
      if (concurrency <= Math.max(1, sections)) return [];
      const what = `${name} cannot run ${concurrency} sections at once: it has ${sections}`;
      return [{ path: ['clients'], isKey: true, what }];
    }),
    ...workloadFindings(file.workload, ['workload']),
    ...workloadFindings(shared.workload, ['clients', 'workload']),
    ...Object.entries(shared.each ?? {}).flatMap(([name, { workload }]) =>
      workloadFindings(workload, ['clients', 'each', name, 'workload']),
    ),
  ];
  return { clients, stores, findings };
}

function sharedOf({ clients }: ScenarioFile): ReadClientMap {
  if (typeof clients === 'number') return { count: clients };
  if (clients === undefined) return {};
  return isList(clients) ? { names: clients } : clients;
}

function isList(clients: readonly string[] | ReadClientMap): clients is readonly string[] {
  return Array.isArray(clients);
}

/** Returns `names`, `count` default names, the keys of `each`, or two default names. */
function namesGiven({ count, names, each }: ReadClientMap): readonly string[] {
  if (names !== undefined) return names;
  const named = Object.keys(each ?? {});
  // Beyond the list of names, client 27 is `client-27`.
  return count === undefined && named.length > 0
    ? named
    : Array.from({ length: count ?? 2 }, (_, at) => CLIENTS[at] ?? `client-${at + 1}`);
}

const CLIENTS = `alice bob carol dave erin frank grace heidi ivan judy kim leo mallory nina olivia
  peggy quinn rupert sybil trent uma victor walter xena yuri zoe`.split(/\s+/);

/** Returns the given names. A count of 1 yields `base`; a higher count yields `base-1`, … */
function namesOf(read: ReadNames | undefined, base: string): readonly string[] {
  if (read === undefined || read === 1) return [base];
  if (typeof read !== 'number') return read;
  return Array.from({ length: read }, (_, at) => `${base}-${at + 1}`);
}

function buildWorkload(read: ReadWorkload): Workload {
  const kind = read.steps === undefined ? (read.kind ?? 'blind-writes') : 'steps';
  const pair = ['store-a', 'store-b'];
  return {
    kind,
    writesPerGrant: read.writesPerGrant ?? 1,
    awaits: read.awaits ?? WORK_DEFAULTS.awaits,
    locks: namesOf(read.locks, SECTION_DEFAULTS.lock),
    keys: namesOf(read.keys, WORK_DEFAULTS.key),
    stores:
      kind === 'transfer' ? namesOf(read.stores ?? pair, 'store') : namesOf(read.stores, 'store'),
    steps: read.steps ?? [],
  };
}

function stepStores(step: ReadStep, stores: readonly string[]): readonly string[] {
  switch (step.kind) {
    case 'compute':
    case 'renew':
    case 'lock':
    case 'job':
    case 'transition':
      return [];
    case 'transfer':
      return transferStores(step, stores);
    default:
      return step.store === undefined ? stores : [step.store];
  }
}

/** Returns the source and target of a transfer. Default: the first two stores. */
export function transferStores(
  step: { readonly from?: string | undefined; readonly to?: string | undefined },
  stores: readonly string[],
): readonly [string, string] {
  const [first = 'store-a', second] = stores.length < 2 ? [] : stores;
  return [step.from ?? first, step.to ?? second ?? 'store-b'];
}

function isTakenName(name: string): boolean {
  return GROUPS.includes(name) || isReserved(name);
}

function nameFindings(
  file: ScenarioFile,
  names: readonly string[],
  stores: readonly string[],
): readonly UnplacedProblem[] {
  const pathOf = namePaths(file);
  const seen = new Set<string>();
  const findings: UnplacedProblem[] = [];
  for (const [at, name] of names.entries()) {
    const isTaken = isTakenName(name) || stores.includes(name);
    if (isTaken || seen.has(name)) {
      const what = isTaken
        ? `the name "${name}" is taken by another process or group`
        : `there is another client "${name}"`;
      findings.push({ ...pathOf(name, at), what });
    }
    seen.add(name);
  }
  for (const store of stores.filter(isTakenName)) {
    const what = `a store cannot be named "${store}"`;
    findings.push({ path: ['workload', 'stores'], isKey: false, what });
  }
  return findings;
}

function namePaths({
  clients,
}: ScenarioFile): (name: string, at: number) => Omit<UnplacedProblem, 'what'> {
  if (clients === undefined || typeof clients === 'number') {
    return () => ({ path: ['clients'], isKey: false });
  }
  if (isList(clients)) return (_, at) => ({ path: ['clients', at], isKey: false });
  return (name, at) =>
    clients.names === undefined
      ? { path: ['clients', 'each', name], isKey: true }
      : { path: ['clients', 'names', at], isKey: false };
}

function unknownClients(
  { each }: ReadClientMap,
  names: readonly string[],
): readonly UnplacedProblem[] {
  return Object.keys(each ?? {})
    .filter((name) => !names.includes(name))
    .map((name) => ({
      path: ['clients', 'each', name],
      isKey: true,
      what: `unknown client "${name}"${suggest(name, names)}`,
    }));
}

function workloadFindings(
  workload: ReadWorkload | undefined,
  path: readonly PathStep[],
): readonly UnplacedProblem[] {
  if (workload === undefined) return [];
  const findings: UnplacedProblem[] = [];
  const stores = workload.stores;
  if (workload.kind === 'transfer' && stores !== undefined) {
    const count = typeof stores === 'number' ? stores : stores.length;
    const what = 'a transfer needs exactly two stores';
    if (count !== 2) findings.push({ path: [...path, 'stores'], isKey: false, what });
  }
  for (const field of ['locks', 'keys', 'stores'] as const) {
    const value = workload[field];
    if (value === undefined || typeof value === 'number') continue;
    for (const [at, name] of value.entries()) {
      if (value.indexOf(name) === at) continue;
      const what = `"${name}" is listed twice`;
      findings.push({ path: [...path, field, at], isKey: false, what });
    }
  }
  const built = buildWorkload(workload);
  return [
    ...findings,
    ...stepFindings(built.steps, [...path, 'steps']),
    ...transferFindings(built, [...path, 'steps']),
  ];
}

function transferFindings(
  { steps, stores }: Workload,
  path: readonly PathStep[],
): readonly UnplacedProblem[] {
  return steps.flatMap((step, at) => {
    if (step.kind !== 'transfer') return [];
    const [from, to] = transferStores(step, stores);
    const field = step.to === undefined ? [] : ['to'];
    const place = [...path, at, 'transfer', ...field];
    return from === to ? [{ path: place, isKey: false, what: toItself(to) }] : [];
  });
}

function stepFindings(
  steps: readonly ReadStep[],
  path: readonly PathStep[],
): readonly UnplacedProblem[] {
  const pathOf = (at: number): readonly PathStep[] => [...path, at];
  const ids = steps.map(({ id }, at) => id ?? at + 1);
  return [...usedTwice(ids, pathOf, 'step'), ...memoizeFindings(steps, pathOf)];
}
