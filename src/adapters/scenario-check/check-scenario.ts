/**
 * `checkScenario` checks a scenario in any test runner; `simTest` is a wrapper around it. Some
 * runners do not provide the calling file or the command that runs it again. Therefore the file is
 * taken from the stack, and the command is derived from the environment.
 *
 * Globals stay replaced throughout a test, because replacing them for each run takes as long as a
 * run. Jest and two of vitest's pools run test files in `node:vm` contexts, in which builtin
 * modules cannot be replaced. There, a test whose options contain no functions runs in the main
 * context, in a second instance of this module. The two instances have different classes, so they
 * exchange plain data: options go in, and JSON text comes back.
 *
 * Read on in this order: `options.ts` (with `scenario-fields.ts`) defines the options of a test,
 * `subject.ts` builds its scenario, `test-campaign.ts` runs its seeds, `kept-plans.ts` judges its
 * kept plans, and `failure-block.ts` reports failures. `sim-run.ts` defines the context of these
 * stages, and `test-place.ts` locates the test.
 */
import { basename, dirname, extname, resolve } from 'node:path';
import process from 'node:process';
import timers, { setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { constants, runInThisContext } from 'node:vm';
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { narrowed } from '../../search/exhaust/narrowed.ts';
import { isAsync } from '../../systems/assemble.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { BodyModules, requireCalmImports } from './body-modules.ts';
import { replayWished } from './kept-plans.ts';
import {
  type Body,
  type BodyOptions,
  type CheckedOptions,
  checkOptions,
  type LockOptions,
  type TestOptions,
} from './options.ts';
import { type SimRun, Stopwatch } from './sim-run.ts';
import { lockOfBody, Mistakes, readSubject } from './subject.ts';
import { type CheckedScenario, runTestCampaign } from './test-campaign.ts';
import {
  lineThatCalled,
  type RunRequests,
  readRequests,
  ScenarioCheckFailed,
  seedsOf,
  slugOf,
  standingAt,
  type TestPlace,
  TestRefused,
  typedPath,
} from './test-place.ts';
import { haveItWatched, namedInTest } from './watchdog.ts';

/**
 * Checks a scenario: replays its kept plans, then runs seeds until one breaks a claim that should
 * hold. Resolves if every expectation is met and was exercised. Rejects with a
 * `ScenarioCheckFailed`, whose message contains the shrunk counterexample, its seed and the command
 * that runs it again. Rejects with another `Error` if the input is invalid: `zombie.yaml:5:7
 * faults[0].pausee: unknown fault …`.
 *
 * A file is looked up beside the calling file, then in the working directory. The environment
 * (`FENCEPOST_SEED`, `FENCEPOST_REPLAY` and so on) affects a check in the same way as `simTest`.
 *
 * @example
 * import { test } from 'node:test';
 * import { checkScenario } from 'fencepost';
 *
 * test('the store keeps the order of grants', () => checkScenario('lock.yaml', { seeds: 50 }));
 *
 * test('a pause breaks the order of grants', () =>
 *   checkScenario({
 *     name: 'a pause before the write',
 *     lock: 'redlock',
 *     faults: [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }],
 *     breaks: ['grant-order'],
 *   }));
 */
export async function checkScenario(
  file: string,
  options?: TestOptions & { readonly system?: string },
): Promise<CheckedScenario>;
/**
 * Checks a lock by name or definition, or the systems of a scenario. `name` appears in messages and
 * in the names of kept plans.
 */
export async function checkScenario(
  options: LockOptions & { readonly name: string },
): Promise<CheckedScenario>;
/** Checks a lock whose client is `body`. Each process has its own instances of `modules`. */
export async function checkScenario<
  M extends object,
  S extends object = object,
  T extends object = object,
>(
  options: BodyOptions<S, T> & {
    readonly name: string;
    readonly modules: { readonly [Name in keyof M]: string };
  },
  body: Body<S, T & { readonly modules: M }>,
): Promise<CheckedScenario>;
/** Checks a lock whose client is `body`, without modules. */
export async function checkScenario<S extends object, T extends object>(
  options: BodyOptions<S, T> & { readonly name: string },
  body: Body<S, T>,
): Promise<CheckedScenario>;
export async function checkScenario<S extends object, T extends object>(
  first: string | ((BodyOptions<S, T> | LockOptions) & { readonly name: string }),
  second?: (TestOptions & { readonly system?: string }) | Body<S, T>,
): Promise<CheckedScenario> {
  const site = lineThatCalled(checkScenario);
  const isFile = typeof first === 'string';
  const name: unknown = isFile ? basename(first, extname(first)) : first?.name;
  const file = fileOf(site);
  const command = [...runner(), typedPath(file)];
  const place = { file, fullName: String(name), command, alone: [] };
  const given = (): CheckedOptions => {
    if (isFile && typeof second === 'function') {
      throw new TestRefused([
        'a scenario file takes no body; with a body, pass { name, scenario, … } first',
      ]);
    }
    if (isFile) return checkedOptions<S, T, []>({ ...second, scenario: first }, undefined, []);
    if (typeof name !== 'string' || name === '') {
      const example = "name: 'two clients never lose an update'";
      throw new TestRefused([`name: is missing; name the check, e.g. ${example}`]);
    }
    const options = { ...first };
    Reflect.deleteProperty(options, 'name');
    return checkedOptions<S, T, []>(options, second, []);
  };
  const checked = await checkAt(place, { site, given, signal: new AbortController().signal });
  if (checked !== null) return checked;
  console.log(`fencepost: ${place.fullName}: FENCEPOST_REPLAY names a plan of another check`);
  return { systems: [] };
}

/** Extracts the file from a stack line: `at test (file:///home/me/lock.test.js:3:9)`. */
function fileOf(site: string): string {
  const [, at = ''] = /^\s+at (?:async )?(?:[^/\\]*? \()?(.+?):\d+:\d+\)?$/.exec(site) ?? [];
  return at.startsWith('file:') ? fileURLToPath(at) : resolve(at === '' ? 'test' : at);
}

function runner(): readonly string[] {
  const { argv, env, execArgv } = process;
  if (env['VITEST'] !== undefined) return ['npx', 'vitest', 'run'];
  if (env['JEST_WORKER_ID'] !== undefined) {
    return ['NODE_OPTIONS=--experimental-vm-modules', 'npx', 'jest'];
  }
  if (/node_modules[\\/](?:\.bin[\\/])?mocha\b/.test(argv[1] ?? '')) return ['npx', 'mocha'];
  const isTest = env['NODE_TEST_CONTEXT'] !== undefined || execArgv.includes('--test');
  return isTest ? ['node', '--test'] : ['node'];
}

interface Frame {
  /** The stack line to which errors are attributed. */
  readonly site: string;
  readonly given: () => CheckedOptions;
  readonly signal: AbortSignal;
}

/** Runs a check. Resolves to null if `FENCEPOST_REPLAY` names a plan of another check. */
export function checkAt(
  place: TestPlace,
  { site, given, signal }: Frame,
): Promise<CheckedScenario | null> {
  const print = (text: string): void => console.log(text);
  return standingAt(site, async () => {
    const requests = readRequests(process.env);
    return await runAnywhere(given(), { place, requests, signal, print });
  });
}

/** The result of a test that ran in the main context. */
type Ended =
  | { readonly kind: 'checked'; readonly checked: CheckedScenario | null }
  | { readonly kind: 'failed' | 'refused'; readonly message: string };

interface Other {
  readonly runForContext: typeof runForContext;
}

/** Runs a test, in the main context if necessary and possible. */
async function runAnywhere(
  options: CheckedOptions,
  setting: TestSetting,
): Promise<CheckedScenario | null> {
  const isData = options.userLock === null && options.use.length === 0;
  if (!isData || runInThisContext('globalThis') === globalThis) return runTest(options, setting);
  const load: (url: string) => Promise<Other> = runInThisContext('(url) => import(url)', {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const { runForContext } = await load(new URL('./check-scenario.js', import.meta.url).href);
  const ended: Ended = JSON.parse(await runForContext(options, setting));
  if (ended.kind === 'checked') return ended.checked;
  throw new (ended.kind === 'failed' ? ScenarioCheckFailed : TestRefused)([ended.message]);
}

/** Runs a test for another context. Returns its result as JSON. */
export async function runForContext(
  options: CheckedOptions,
  setting: TestSetting,
): Promise<string> {
  return JSON.stringify(await endOf(structuredClone(options), setting));
}

async function endOf(options: CheckedOptions, setting: TestSetting): Promise<Ended> {
  try {
    return { kind: 'checked', checked: await runTest(options, setting) };
  } catch (error) {
    if (error instanceof ScenarioCheckFailed) return { kind: 'failed', message: error.message };
    if (error instanceof TestRefused) return { kind: 'refused', message: error.message };
    throw error;
  }
}

export interface TestSetting {
  readonly place: TestPlace;
  readonly requests: RunRequests;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** Labels the first runs, which learn the operation names of clients. */
const FIRST = {
  what: 'seeds 0 to 2, run to learn its calls,',
  setting: 'FENCEPOST_SEED=0',
} as const;

/**
 * Runs a test. Throws a `ScenarioCheckFailed` if an expectation is not met or nothing could be
 * judged. Returns null if the requested plan belongs to another test.
 */
export async function runTest(
  options: CheckedOptions,
  setting: TestSetting,
): Promise<CheckedScenario | null> {
  const { place, requests, signal, print } = setting;
  const { timeoutMs, budgetMs } = options;
  const seeds = seedsOf(options.seeds, requests); // report an invalid value before anything else
  const stopwatch = new Stopwatch({ timeoutMs, budgetMs, signal });
  const mistakes = new Mistakes();
  const slug = slugOf(place);
  haveItWatched();
  return withGlobals(async () => {
    if (options.isBody) await requireCalmImports(place.file);
    const where = { folder: dirname(place.file), slug, mistakes };
    const subject = await namedInTest(place, FIRST, () => readSubject(options, where));
    const { systems, catalogue } = subject;
    if (systems.some((system) => isAsync({ system }, catalogue))) requireLiveBindings();
    await prepare(systems, catalogue);
    for (const warning of subject.warnings) print(`fencepost: warning: ${warning}`);
    const { exhaust } = options;
    const scenario = exhaust === null ? subject.scenario : narrowed(subject.scenario, exhaust);
    const run: SimRun = { ...subject, scenario, place, slug, stopwatch, requests, mistakes, print };
    if (requests.planFile !== null) {
      return (await replayWished(requests.planFile, run)) ? { systems: [] } : null;
    }
    const { seed } = requests;
    const range = seed === null ? null : { from: seed, to: seed };
    return await runTestCampaign(run, range ?? (exhaust === null ? seeds : null));
  });
}

async function withGlobals<R>(work: () => Promise<R>): Promise<R> {
  const restore = virtualizeGlobals();
  try {
    return await work();
  } finally {
    restore();
    await yieldToEventLoop(); // the last run restores its globals in the next turn
  }
}

/** Throws a `TestRefused` in a `node:vm` context, where imports of builtins cannot be replaced. */
function requireLiveBindings(): void {
  if (setTimeout === timers.setTimeout) return;
  throw new TestRefused([
    'asynchronous code cannot be simulated here: builtin modules cannot be replaced in node:vm;',
    "in vitest run this file with `pool: 'forks'` or `pool: 'threads'`; in Jest name the module of",
    'the lock with `use` in a scenario file, without a function in the test',
  ]);
}

/** Checks the options, and turns a body into a lock. The body receives `args` after its handles. */
export function checkedOptions<S extends object, T extends object, A extends readonly unknown[]>(
  options: BodyOptions<S, T> | LockOptions,
  body: Body<S, T, A> | TestOptions | undefined,
  args: A,
): CheckedOptions {
  if (body !== undefined && typeof body !== 'function') {
    throw new TestRefused([`body: expected a function, not ${typeof body}`]);
  }
  const value: unknown = options;
  const isObject = typeof value === 'object' && value !== null;
  const named: unknown = isObject ? Reflect.get(value, 'modules') : undefined;
  const modules = named === undefined ? null : new BodyModules(named);
  const lock = body === undefined || !isObject ? null : lockOfBody(options, body, args, modules);
  return checkOptions(options, lock, modules);
}
