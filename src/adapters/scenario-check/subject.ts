/**
 * Builds the scenario of a test and its catalogue from the options. A scenario written as options
 * is parsed like the text of a file, so both report problems in the same words. The body of a test
 * becomes a lock that scenarios and plans can name. The names of its operations are learned from a
 * few runs without faults. Errors that the body throws are recorded, because a run keeps only their
 * messages.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Catalogue, extend, type SystemDefinition } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { parseFile, type SourceFile } from '../../core/plan/document.ts';
import { CLIENT_DEFAULTS, LIMIT_DEFAULTS, type Plan } from '../../core/plan/plan.ts';
import { readUse } from '../../core/plan/used-modules.ts';
import { World } from '../../core/world/world.ts';
import { defineSystem } from '../../define-system.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { loadCatalogue } from '../../host/modules/load-catalogue.ts';
import { loadScenario } from '../../load.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { placeFindings } from '../../search/points/places.ts';
import type { AsyncSection, BuildAsync, LockDefinition } from '../../systems/protocol.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { type Problem, renderProblem, suggest } from '../../text/problem.ts';
import type { BodyModules } from './body-modules.ts';
import { type Body, type BodyOptions, type CheckedOptions, SCENARIO_FIELDS } from './options.ts';
import { TestRefused } from './test-place.ts';

export interface TestSubject {
  readonly scenario: Scenario;
  /** The systems of the scenario that the test covers. */
  readonly systems: readonly SystemScenario[];
  /** True if the test names no claim, so that it checks the default claim. */
  readonly listsNothing: boolean;
  readonly catalogue: Catalogue;
  /** One line for each fault whose place might not exist. */
  readonly warnings: readonly string[];
}

interface SubjectSource {
  readonly folder: string;
  /** The name of a scenario written as options. */
  readonly slug: string;
  readonly mistakes: Mistakes;
}

/** Reads the subject. Throws a `TestRefused` with all problems. */
export async function readSubject(
  options: CheckedOptions,
  source: SubjectSource,
): Promise<TestSubject> {
  const text = textOf(options, source);
  const catalogue = await catalogueOf(text, options, source);
  const read = loadScenario(text.text, text.file, catalogue);
  if (read.kind === 'problems') throw new TestRefused(linesOf(read.problems, text));
  const { scenario } = read;
  const systems = chosen(scenario.systems, options, text);
  const refusals = systems.flatMap(({ name }) => {
    const why = whyRefused(expand(scenario, name, 0), catalogue);
    return why === null ? [] : [{ name, why }];
  });
  const [first] = refusals;
  if (first === undefined) {
    const warnings = await requirePlaces(text, scenario, catalogue);
    const { holds, breaks } = options.fields;
    const listsNothing = text.isWrittenHere && holds === undefined && breaks === undefined;
    return { scenario, systems, listsNothing, catalogue, warnings };
  }
  const lines = refusals.map(({ name, why }) =>
    text.isWrittenHere ? `lock: ${why}` : `${text.file}: systems.${name}: ${why}`,
  );
  throw new TestRefused(lines, source.mistakes.find(first.why));
}

/** Throws if the place of a fault does not exist. Returns warnings for doubtful places. */
async function requirePlaces(
  text: ScenarioText,
  scenario: Scenario,
  catalogue: Catalogue,
): Promise<readonly string[]> {
  const { problems, warnings } = await placeFindings(scenario, catalogue);
  const parsed = parseFile(text);
  if (parsed.kind === 'problems') throw new TestRefused(linesOf(parsed.problems, text));
  if (problems.length > 0) throw new TestRefused(linesOf(parsed.locate(problems), text));
  return linesOf(parsed.locate(warnings), text);
}

/** The text of a scenario. `isWrittenHere` is true if it was generated from options. */
interface ScenarioText extends SourceFile {
  readonly isWrittenHere: boolean;
  /** The folder of its modules. */
  readonly folder: string;
}

function textOf(options: CheckedOptions, source: SubjectSource): ScenarioText {
  const { scenario } = options;
  const { folder, slug } = source;
  if (scenario === null) {
    const text = JSON.stringify(documentOf(options, slug));
    return { file: 'options', text, isWrittenHere: true, folder };
  }
  if (scenario.includes('\n')) {
    return { file: 'scenario', text: scenario, isWrittenHere: false, folder };
  }
  const beside = resolve(folder, scenario);
  const file = existsSync(beside) ? beside : resolve(scenario);
  const text = readText(file, scenario);
  return { file: scenario, text, isWrittenHere: false, folder: dirname(file) };
}

function readText(file: string, path: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : String(error);
    const hint = 'name one beside the test or in the working directory, or give its text';
    throw new TestRefused([`scenario: ${path}: ${why}; ${hint}`]);
  }
}

function documentOf({ fields, isBody }: CheckedOptions, slug: string): unknown {
  const { lock, options, store = 'unfenced', holds, breaks, may } = fields;
  const name = isBody || typeof lock !== 'string' ? USER_LOCK : lock;
  const expected = lock === 'none' ? 'no-lost-update' : 'grant-order';
  const expects = holds === undefined && breaks === undefined ? [expected] : holds;
  const system = { lock: name, store, options, expect: { holds: expects, breaks, may } };
  const scenarioFields = Object.fromEntries(SCENARIO_FIELDS.map((field) => [field, fields[field]]));
  return { name: slug, systems: { [name]: system }, ...scenarioFields };
}

async function catalogueOf(
  text: ScenarioText,
  { userLock, isServedByHosts, use, modules: userModules }: CheckedOptions,
  { mistakes, folder }: SubjectSource,
): Promise<Catalogue> {
  await userModules?.open(folder);
  const named = readUse(text);
  if (named.kind === 'problems') throw new TestRefused(linesOf(named.problems, text));
  const modules = { kind: 'folder', folder: text.folder } as const;
  const loaded = await loadCatalogue(named.modules, modules);
  if (loaded.kind === 'findings') {
    throw new TestRefused(linesOf(named.locate(loaded.findings), text));
  }
  const used = use.reduce(extended, loaded.catalogue);
  if (userLock === null) return used;
  const served = isServedByHosts ? { ...userLock, servers: serversIn(text) } : userLock;
  const watched = mistakes.watch(served);
  const known = extended(used, definitionOf(watched));
  if (watched.buildAsync === undefined || watched.operations !== undefined) return known;
  const operations = await learnOperations(text, USER_LOCK, known);
  return extended(used, definitionOf({ ...watched, operations }));
}

/** Returns the servers named in `hosts` that can be servers of a lock. */
function serversIn(text: ScenarioText): readonly string[] {
  const parsed = parseFile(text);
  if (parsed.kind === 'problems' || !isObject(parsed.value)) return [];
  const hosts: unknown = Reflect.get(parsed.value, 'hosts');
  const names: readonly unknown[] = isObject(hosts) ? Object.values(hosts) : [];
  const servers = names.filter((name) => typeof name === 'string');
  return [...new Set(servers)].filter((name) => /^lock(?:-|$)/.test(name));
}

function extended(catalogue: Catalogue, definition: SystemDefinition): Catalogue {
  try {
    return extend(catalogue, definition);
  } catch (error) {
    throw new TestRefused([`use: ${messageOf(error)}`]);
  }
}

function definitionOf(lock: LockDefinition): SystemDefinition {
  try {
    return defineSystem({ locks: { [USER_LOCK]: lock } });
  } catch (error) {
    throw new TestRefused([messageOf(error).replace(`locks.${USER_LOCK}`, 'lock')]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Renders problems. For a scenario written as options, the paths refer to the options. */
function linesOf(problems: readonly Problem[], text: ScenarioText): readonly string[] {
  if (!text.isWrittenHere) return problems.map(renderProblem);
  return problems.map(({ path, what }) => {
    const field = path.replace(/^systems(\.[^.[\]]+|\["[^"]*"\])?\.?/, '').replace(/^expect\./, '');
    return field === '' ? what : `${field}: ${what}`;
  });
}

/** Returns the named system, or all systems by default. Refuses systems without expectations. */
function chosen(
  systems: readonly SystemScenario[],
  { system }: CheckedOptions,
  { file }: ScenarioText,
): readonly SystemScenario[] {
  const names = systems.map(({ name }) => name);
  if (system !== null && !names.includes(system)) {
    throw new TestRefused([`system: ${file} has no system "${system}"${suggest(system, names)}`]);
  }
  const found = system === null ? systems : systems.filter(({ name }) => name === system);
  const idle = found.filter(({ expect }) => expect.holds.length + expect.breaks.length === 0);
  if (idle.length === 0) return found;
  const list = idle.map(({ name }) => name).join(', ');
  throw new TestRefused([
    `scenario: ${file} has no expectations for ${list}; list claims under \`holds\``,
  ]);
}

const SEEDS: readonly number[] = [0, 1, 2];

/** Returns the operation names of the lock's clients, or none if no plan can be run. */
async function learnOperations(
  source: SourceFile,
  lock: string,
  catalogue: Catalogue,
): Promise<readonly string[]> {
  const scenario = calmScenario(source, catalogue);
  const system = scenario?.systems.find((candidate) => candidate.lock === lock);
  if (scenario === null || system === undefined) return [];
  const names = new Set<string>();
  for (const seed of SEEDS) {
    const plan = expand(scenario, system.name, seed);
    if (whyRefused(plan, catalogue) !== null) return [];
    await prepare([plan.system], catalogue);
    for (const name of namesIn(await runAsync(plan, catalogue))) names.add(name);
  }
  return [...names].filter((name) => !isRepeated(name, names)).sort();
}

function calmScenario({ text, file }: SourceFile, catalogue: Catalogue): Scenario | null {
  const parsed = parseFile({ text, file });
  if (parsed.kind === 'problems' || typeof parsed.value !== 'object') return null;
  const calm = JSON.stringify({ ...parsed.value, faults: [] });
  const read = loadScenario(calm, file, catalogue);
  return read.kind === 'problems' ? null : read.scenario;
}

/** Returns the names of calls to the lock and of marks: `acquire` for `alice/1/acquire`. */
function namesIn({ events }: Trace): readonly string[] {
  return events.flatMap((event) => {
    const isOfLock = event.kind === 'invoke' && 'lock' in event.call;
    const point = isOfLock ? event.operation : event.kind === 'mark' ? event.point : '';
    const [, section = '', name = '', ...rest] = point.split('/');
    return /^\d+$/.test(section) && name !== '' && rest.length === 0 ? [name] : [];
  });
}

/** Returns true for `acquire-2` if there is an `acquire`. */
function isRepeated(name: string, names: ReadonlySet<string>): boolean {
  const [, first = ''] = /^(.+)-\d+$/.exec(name) ?? [];
  return names.has(first);
}

/** The name of a test's own lock in scenarios and plans. */
export const USER_LOCK = 'own-lock';

/**
 * Turns the body of a test into a lock. `servers` is called here, to learn the names of the
 * servers, and again for each run.
 */
export function lockOfBody<S extends object, T extends object, A extends readonly unknown[]>(
  options: Pick<BodyOptions<S, T>, 'servers' | 'start' | 'operations'> & {
    readonly lock?: unknown;
  },
  body: Body<S, T, A>,
  args: A,
  modules: BodyModules | null = null,
): LockDefinition {
  const { servers, start, operations, lock } = options;
  const buildAsync: BuildAsync = (world) => {
    const added: unknown = servers === undefined ? {} : servers(world);
    if (!isObject<S>(added)) throw noObject('servers', added);
    return (client) => {
      const made: unknown = start === undefined ? {} : start(client, added);
      if (!isObject<T>(made)) throw noObject('start', made);
      const loaded = modules?.loadFor(client, world) ?? null;
      if (loaded instanceof Promise) {
        loaded.catch(() => {});
        return async (section: AsyncSection) => {
          const all = { client, modules: await loaded };
          await body(section, Object.assign({}, added, made, all), ...args);
        };
      }
      const handles = Object.assign({}, added, made, { client }, loaded && { modules: loaded });
      return (section: AsyncSection) => body(section, handles, ...args);
    };
  };
  const names = servers === undefined ? [] : namesOfServers(servers);
  const definition: Draft<LockDefinition> = {
    about: 'the body of a test',
    servers: names,
    buildAsync,
  };
  if (operations !== undefined) definition.operations = operations;
  if (lock === 'none') definition.lock = lock;
  return definition;
}

/** Checks the type of a user value as far as possible at run time. */
function isObject<T extends object>(value: unknown): value is T {
  return typeof value === 'object' && value !== null;
}

function noObject(where: string, value: unknown): TestRefused {
  const type = value === undefined ? 'nothing' : typeof value;
  return new TestRefused([`${where}: expected an object for the body, not ${type}`]);
}

function namesOfServers(servers: (world: World) => unknown): readonly string[] {
  const world = new World(EMPTY, null);
  servers(world);
  const { processes } = world.run(null);
  return processes.flatMap(({ name, role }) => (role === 'lock' ? [name] : []));
}

const EMPTY: Plan = {
  fencepost: 1,
  scenario: 'empty',
  system: { name: 'empty', lock: USER_LOCK, store: 'unfenced', options: {} },
  clients: [],
  network: { link: 'connection', latencyUs: 0 },
  faults: [],
  chance: null,
  decisions: {},
  order: [],
  limits: { ...LIMIT_DEFAULTS, probe: false, healAtUs: 0, endUs: 1, maxEvents: 1 },
  bounds: {
    latency: { minUs: 0, maxUs: 0 },
    think: { minUs: 0, maxUs: CLIENT_DEFAULTS.ttlUs },
    durations: {},
    skewUs: null,
    driftPpm: null,
  },
};

export class Mistakes {
  private last: unknown = null;

  /** Wraps a lock to record the errors of its clients. */
  watch(definition: LockDefinition): LockDefinition {
    const { buildAsync } = definition;
    if (typeof buildAsync !== 'function') return definition;
    return {
      ...definition,
      buildAsync: (world, options) => {
        const programOf = this.kept(() => buildAsync(world, options));
        return (client) => {
          const program = this.kept(() => programOf(client));
          return async (section) => {
            try {
              await program(section);
            } catch (error) {
              this.last = error;
              throw error;
            }
          };
        };
      },
    };
  }

  private kept<R>(code: () => R): R {
    try {
      return code();
    } catch (error) {
      this.last = error;
      throw error;
    }
  }

  /** Returns the last recorded error if it matches the message of a failed run. */
  find(message: string): Error | undefined {
    const { last } = this;
    return last instanceof Error && message.endsWith(last.message) ? last : undefined;
  }
}
