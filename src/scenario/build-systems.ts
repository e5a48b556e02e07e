/** Checks the systems of a scenario, or the system of a plan, against the vocabulary. */
import type { Draft, Json } from '../core/kernel/json.ts';
import { settingsOver } from '../core/plan/client-text.ts';
import { shown } from '../core/plan/fields.ts';
import { QUEUE } from '../core/plan/operation-names.ts';
import type { HostNames, Plan } from '../core/plan/plan.ts';
import { type PathStep, suggest, type UnplacedProblem } from '../text/problem.ts';
import { rangeIn } from './read-faults.ts';
import type { ClientScenario, SystemScenario } from './scenario.ts';
import type { ListedFile, ReadSystem } from './scenario-file.ts';
import { type LockWord, MEASURED_CLAIM, type OptionWord, type Vocabulary } from './vocabulary.ts';

interface Terms {
  readonly vocabulary: Vocabulary;
  readonly clients: readonly ClientScenario[];
  /** The stores that the clients access. */
  readonly stores: readonly string[];
}

export interface BuiltSystems {
  readonly systems: readonly SystemScenario[];
  /** The store processes of all systems. */
  readonly stores: readonly string[];
  readonly findings: readonly UnplacedProblem[];
}

/** Returns the systems in file order. Reports every unknown or ineffective word in them. */
export function buildSystems(
  file: ListedFile,
  { vocabulary, clients, stores }: Terms,
): BuiltSystems {
  const entries = Object.entries(file.systems);
  const findings = entries.flatMap(([name, system]) => [
    ...partFindings(system, path(name), vocabulary),
    ...idleFindings(name, system, { vocabulary, clients, stores }),
    ...claimFindings(name, system, { file, vocabulary }),
  ]);
  findings.push(...hostFindings(file, vocabulary));
  if (entries.length === 0) {
    findings.push({ path: ['systems'], isKey: false, what: 'needs at least one system' });
  }
  const replicas = new Map(
    Object.values(file.systems).map((system) => [system, replicasOf(system, stores, vocabulary)]),
  );
  const systems = entries.map(([name, system]) => ({
    name,
    lock: system.lock,
    store: system.store,
    options: system.options ?? {},
    ...listening(file.hosts, listenersOf(system, vocabulary)),
    servers: [...serversOf(system, vocabulary), ...(file.queue === undefined ? [] : [QUEUE])],
    ...absentFrom(system, replicas, stores),
    ...declarationsOf(vocabulary.locks.get(system.lock) ?? {}),
    clients: system.clients ?? {},
    expect: expectedOf(system),
  }));
  const servers = [...new Set([...replicas.values()].flatMap((names) => names ?? stores))];
  return { systems, stores: servers, findings };
}

function expectedOf({ expect = {} }: ReadSystem): SystemScenario['expect'] {
  const { holds = [], breaks = [], may = [] } = expect;
  return may.length === 0 ? { holds, breaks } : { holds, breaks, may };
}

type Parts = Pick<ReadSystem, 'lock' | 'store' | 'options'>;

function partFindings(
  system: Parts,
  at: readonly PathStep[],
  vocabulary: Vocabulary,
): readonly UnplacedProblem[] {
  const locks = [...vocabulary.locks.keys()];
  return [
    ...unknownWord(system.lock, { noun: 'lock', known: locks, path: [...at, 'lock'] }),
    ...unknownWord(system.store, {
      noun: 'store',
      known: vocabulary.stores,
      path: [...at, 'store'],
    }),
    ...optionFindings(system, at, vocabulary),
  ];
}

/** Reports the unknown words of a plan's system and expectation, in file order. */
export function planWordFindings(
  { system, expect }: Pick<Plan, 'system' | 'expect'>,
  vocabulary: Vocabulary,
): readonly UnplacedProblem[] {
  const path = ['expect', 'claim'];
  const known = vocabulary.claims;
  return [
    ...partFindings(system, ['system'], vocabulary),
    ...planHostFindings(system, vocabulary),
    ...(expect === undefined ? [] : unknownWord(expect.claim, { noun: 'claim', known, path })),
  ];
}

function planHostFindings(
  { hosts = {}, ...system }: Plan['system'],
  vocabulary: Vocabulary,
): readonly UnplacedProblem[] {
  if (isWrong(system, vocabulary)) return [];
  const known = listenersOf(system, vocabulary);
  return Object.entries(hosts).flatMap(([address, server]) =>
    unknownServer(server, known, ['system', 'hosts', address]),
  );
}

/** Returns no servers if an option is invalid. */
function serversOf(system: ReadSystem, vocabulary: Vocabulary): readonly string[] {
  const isWrong = optionFindings(system, [], vocabulary).length > 0;
  const options = lockOptionsOf(system, vocabulary);
  return isWrong ? [] : (vocabulary.locks.get(system.lock)?.servers(options) ?? []);
}

/** Returns the servers of replicated stores. Null if each store is a single server. */
function replicasOf(
  system: ReadSystem,
  stores: readonly string[],
  vocabulary: Vocabulary,
): readonly string[] | null {
  const namesOf = vocabulary.replicas?.get(system.store);
  if (namesOf === undefined || optionFindings(system, [], vocabulary).length > 0) return null;
  const storeOptions = optionsAmong(system, vocabulary.storeOptions?.get(system.store) ?? []);
  return stores.flatMap((store) => namesOf(store, storeOptions));
}

/** Returns the store processes that only other systems have. */
function absentFrom(
  system: ReadSystem,
  replicas: ReadonlyMap<ReadSystem, readonly string[] | null>,
  stores: readonly string[],
): Pick<SystemScenario, 'absent'> {
  const systemStores = replicas.get(system) ?? stores;
  const all = [...replicas.values()].flatMap((names) => names ?? []);
  const absent = [...new Set([...stores, ...all])].filter((name) => !systemStores.includes(name));
  return absent.length === 0 ? {} : { absent };
}

/** True if the clients are asynchronous code, which may use its own drivers. */
function isAsync({ lock }: Parts, { locks }: Vocabulary): boolean {
  return locks.get(lock)?.isAsync === true;
}

function listenersOf(system: ReadSystem, vocabulary: Vocabulary): readonly string[] {
  return isAsync(system, vocabulary) ? serversOf(system, vocabulary) : [];
}

function listening(
  hosts: HostNames = {},
  servers: readonly string[],
): Pick<SystemScenario, 'hosts'> {
  const addresses = Object.entries(hosts).filter(([, server]) => servers.includes(server));
  return addresses.length === 0 ? {} : { hosts: Object.fromEntries(addresses) };
}

function hostFindings(
  { hosts = {}, systems }: ListedFile,
  vocabulary: Vocabulary,
): readonly UnplacedProblem[] {
  const all = Object.values(systems);
  // Unknown locks and invalid options are reported elsewhere.
  if (all.some((system) => isWrong(system, vocabulary))) return [];
  if (Object.keys(hosts).length > 0 && !all.some((system) => isAsync(system, vocabulary))) {
    const what =
      'not used: only asynchronous code connects to hosts, and no system has such a lock';
    return [{ path: ['hosts'], isKey: true, what }];
  }
  const known = [...new Set(all.flatMap((system) => listenersOf(system, vocabulary)))];
  return Object.entries(hosts).flatMap(([address, server]) =>
    unknownServer(server, known, ['hosts', address]),
  );
}

function hintOn(server: string, known: readonly string[]): string {
  if (known.length === 0) return "; a lock's servers are called lock, or lock-1, lock-2, …";
  if (!server.startsWith('lock-')) return '';
  return "; `servers: ['lock-1', 'lock-2']` in a lock's definition gives it several";
}

function unknownServer(
  server: string,
  known: readonly string[],
  at: readonly PathStep[],
): readonly UnplacedProblem[] {
  const findings = unknownWord(server, { noun: 'server', known, path: at });
  const hint = hintOn(server, known);
  return findings.map((finding) => ({ ...finding, what: finding.what + hint }));
}

function isWrong(system: ReadSystem, vocabulary: Vocabulary): boolean {
  return partFindings(system, [], vocabulary).length > 0;
}

function lockOptionsOf({ lock, options }: Parts, { locks }: Vocabulary): Record<string, Json> {
  return optionsAmong({ options }, locks.get(lock)?.options ?? []);
}

function optionsAmong(
  { options }: Pick<Parts, 'options'>,
  known: readonly OptionWord[],
): Record<string, Json> {
  const names = new Set(known.map(({ name }) => name));
  return Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => names.has(name)));
}

type LockDeclarations = Pick<SystemScenario, 'operations' | 'jitter' | 'hasGrants'>;

function declarationsOf({
  operations,
  jitter,
  hasGrants,
}: Pick<LockWord, keyof LockDeclarations>): LockDeclarations {
  const ways: Draft<LockDeclarations> = {};
  if (operations !== undefined) ways.operations = operations;
  if (jitter !== undefined) ways.jitter = jitter;
  if (hasGrants === false) ways.hasGrants = hasGrants;
  return ways;
}

function path(system: string, ...rest: readonly PathStep[]): readonly PathStep[] {
  return ['systems', system, ...rest];
}

interface Word {
  readonly noun: string;
  readonly known: readonly string[];
  readonly path: readonly PathStep[];
}

function unknownWord(word: string, { noun, known, path: at }: Word): readonly UnplacedProblem[] {
  if (known.includes(word)) return [];
  return [{ path: at, isKey: false, what: `unknown ${noun} "${word}"${suggest(word, known)}` }];
}

function optionFindings(
  system: Parts,
  base: readonly PathStep[],
  { locks, storeOptions }: Vocabulary,
): UnplacedProblem[] {
  const ofLock = locks.get(system.lock)?.options;
  if (ofLock === undefined) return [];
  const ofStore = storeOptions?.get(system.store) ?? [];
  const options = [...ofLock, ...ofStore];
  return Object.entries(system.options ?? {}).flatMap(([key, value]): UnplacedProblem[] => {
    const at = [...base, 'options', key];
    const option = options.find((word) => word.name === key);
    if (option === undefined) {
      const known = options.map((word) => word.name);
      const names = ofStore.length === 0 ? system.lock : `${system.lock} before ${system.store}`;
      const what = `${names} has no option "${key}"${suggest(key, known)}`;
      return [{ path: at, isKey: true, what }];
    }
    const wrong = valueProblem(option, value);
    return wrong === null ? [] : [{ path: at, isKey: false, what: wrong }];
  });
}

/** Reports options and steps that the system would silently ignore. */
function idleFindings(
  name: string,
  system: ReadSystem,
  { vocabulary, clients }: Terms,
): UnplacedProblem[] {
  const word = vocabulary.locks.get(system.lock);
  if (word === undefined || optionFindings(system, [], vocabulary).length > 0) return [];
  const findings: UnplacedProblem[] = [];
  const settings = clients.map((client) => settingsOver(client.settings, system.clients ?? {}));
  const problem = word.problem?.(lockOptionsOf(system, vocabulary), settings) ?? null;
  if (problem !== null) {
    const at = path(name, 'options', problem.option);
    findings.push({ path: at, isKey: false, what: problem.what });
  }
  if (word.isAsync !== true && clients.some(({ concurrency }) => concurrency > 1)) {
    const what = `${system.lock} runs one section at a time; asynchronous code can run several`;
    findings.push({ path: path(name, 'lock'), isKey: false, what });
  }
  const renews = clients.some(
    ({ workload: { kind, steps } }) =>
      kind === 'steps' && steps.some((step) => step.kind === 'renew'),
  );
  if (word.canRenew === false && renews) {
    const what = `${system.lock} has no lease to renew, but a workload has a renew step`;
    findings.push({ path: path(name, 'lock'), isKey: false, what });
  }
  return findings;
}

function valueProblem({ values, range }: OptionWord, value: Json): string | null {
  if (values === null) {
    const [least, most] = range ?? [0, Number.MAX_SAFE_INTEGER];
    const isInteger = typeof value === 'number' && Number.isSafeInteger(value);
    if (isInteger && value >= least && value <= most) return null;
    const upTo = range === undefined ? '' : ` to ${most}`;
    return `expected a whole number from ${least}${upTo}, not ${shown(value)}`;
  }
  if (typeof value === 'string' && values.includes(value)) return null;
  const word = typeof value === 'string' ? value : '';
  return `unknown value ${shown(value)}${suggest(word, values)}`;
}

function claimFindings(
  name: string,
  system: ReadSystem,
  { file, vocabulary }: { readonly file: ListedFile; readonly vocabulary: Vocabulary },
): UnplacedProblem[] {
  const known = [...vocabulary.claims, MEASURED_CLAIM];
  const isFree = vocabulary.locks.get(system.lock)?.hasGrants === false;
  const findings: UnplacedProblem[] = [];
  for (const side of ['holds', 'breaks', 'may'] as const) {
    for (const [at, claim] of (system.expect?.[side] ?? []).entries()) {
      const here = path(name, 'expect', side, at);
      const why = claim === MEASURED_CLAIM ? whyMeasured(file) : null;
      if (why !== null) findings.push({ path: here, isKey: false, what: why });
      else if (isFree && vocabulary.grantClaims?.has(claim) === true) {
        const what = `${claim} applies to grants, but sections of ${system.lock} acquire nothing`;
        findings.push({ path: here, isKey: false, what });
      } else findings.push(...unknownWord(claim, { noun: 'claim', known, path: here }));
    }
  }
  return [...findings, ...contradictions(name, system)];
}

function contradictions(name: string, { expect = {} }: ReadSystem): UnplacedProblem[] {
  const { holds = [], breaks = [], may = [] } = expect;
  const sides = [
    ['breaks', breaks, holds, 'both to hold and to break'],
    ['may', may, holds, 'to hold and also be allowed to break'],
    ['may', may, breaks, 'to break and also only be allowed to'],
  ] as const;
  return sides.flatMap(([side, claims, others, how]) =>
    [...claims.entries()].flatMap(([at, claim]) => {
      if (!others.includes(claim)) return [];
      const what = `"${claim}" cannot be expected ${how}`;
      return [{ path: path(name, 'expect', side, at), isKey: false, what }];
    }),
  );
}

/**
 * Returns why this scenario can only measure `MEASURED_CLAIM`. Null if the claim may be expected.
 */
function whyMeasured({ faults }: ListedFile): string | null {
  const present = new Set<string>();
  for (const fault of faults) {
    if (fault.kind === 'pause') present.add('pauses');
    if (fault.kind === 'partition') present.add('partitions');
    if (fault.kind !== 'clock') continue;
    const { rate, step, at, before, after } = fault.fields;
    if (rate !== undefined || step === undefined) present.add('clock rates');
    const isOffset = at === undefined || rangeIn(fault, 'at')?.maxUs === 0;
    if (!isOffset || before !== undefined || after !== undefined) present.add('clock steps');
  }
  if (present.size === 0) return null;
  const has = [...present].join(' and ');
  return `${MEASURED_CLAIM} is measured, not claimed: this scenario has ${has}, with which no lease can guarantee that only one client believes it holds the lock; remove the claim from expect, or these faults`;
}
