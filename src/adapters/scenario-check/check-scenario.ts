/**
 * `checkScenario`: a check of a scenario for any test runner, and what `simTest` is a frame around.
 * What a runner does not say is taken from the process: the calling file from the stack, and from
 * the environment the command that runs it again.
 *
 * Globals stay replaced for as long as a test goes on, since replacing them for each run takes as
 * long as a run. Jest, and two pools of vitest, run test files in contexts of `node:vm`, in which
 * builtin modules cannot be replaced. There a test that is handed no function is run in the main
 * context, by another instance of this module, which has classes of its own: plain data goes in, a
 * text comes back.
 *
 * From here read on: `options.ts` (with `scenario-fields.ts`) is what a test is given, `subject.ts`
 * makes its scenario, `test-campaign.ts` goes through its seeds, `kept-plans.ts` judges what was
 * kept, and `failure-block.ts` says what broke. `sim-run.ts` is what each of them gets, and
 * `test-place.ts` where the test stands.
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
  readWishes,
  ScenarioCheckFailed,
  seedsOf,
  slugOf,
  standingAt,
  type TestPlace,
  TestRefused,
  typedPath,
  type Wishes,
} from './test-place.ts';
import { haveItWatched, namedInTest } from './watchdog.ts';

/**
 * Checks a scenario: replays its kept plans, then runs seeds until one breaks what should hold.
 * Resolves if every expectation is met and was exercised. Rejects with a `ScenarioCheckFailed`,
 * whose message has the shrunk counterexample, its seed and the command that runs it again, or with
 * another `Error` if the input is wrong: `zombie.yaml:5:7 faults[0].pausee: unknown fault …`.
 *
 * A file is looked for beside the calling file, then in the working directory. The environment
 * (`FENCEPOST_SEED`, `FENCEPOST_REPLAY` and so on) changes a check as it changes `simTest`.
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
 * A lock by its name or definition, or the systems of a scenario. Messages and the names of kept
 * plans contain `name`.
 */
export async function checkScenario(
  options: LockOptions & { readonly name: string },
): Promise<CheckedScenario>;
/** A lock whose client is `body`, with modules of which each process has its own instances. */
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
/** The same without. */
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
      throw new TestRefused(['a body is not for a file; say { name, scenario, … } before it']);
    }
    if (isFile) return checkedOptions<S, T, []>({ ...second, scenario: first }, undefined, []);
    if (typeof name !== 'string' || name === '') {
      const example = "name: 'two clients never lose an update'";
      throw new TestRefused([`name: is missing; say what the check is called, e.g. ${example}`]);
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

/** The file in a line of a stack: `at test (file:///home/me/lock.test.js:3:9)`. */
function fileOf(site: string): string {
  const [, at = ''] = /^\s+at (?:async )?(?:[^/\\]*? \()?(.+?):\d+:\d+\)?$/.exec(site) ?? [];
  return at.startsWith('file:') ? fileURLToPath(at) : resolve(at === '' ? 'test' : at);
}

/** The words that run a file as it is run now. */
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

/** What a frame around a check knows of it. */
interface Frame {
  /** The line of a stack at which its errors stand. */
  readonly site: string;
  readonly given: () => CheckedOptions;
  readonly signal: AbortSignal;
}

/** Runs the check of a place; null where `FENCEPOST_REPLAY` names a plan of another. */
export function checkAt(
  place: TestPlace,
  { site, given, signal }: Frame,
): Promise<CheckedScenario | null> {
  const print = (text: string): void => console.log(text);
  return standingAt(site, async () => {
    const wishes = readWishes(process.env);
    return await runAnywhere(given(), { place, wishes, signal, print });
  });
}

/** How a test ended in the other context. */
type Ended =
  | { readonly kind: 'checked'; readonly checked: CheckedScenario | null }
  | { readonly kind: 'failed' | 'refused'; readonly message: string };

/** This module, as the main context has it. */
interface Other {
  readonly runForContext: typeof runForContext;
}

/** As `runTest`, in whichever context. */
async function runAnywhere(
  options: CheckedOptions,
  setting: TestSetting,
): Promise<CheckedScenario | null> {
  const isData = options.ownLock === null && options.use.length === 0;
  if (!isData || runInThisContext('globalThis') === globalThis) return runTest(options, setting);
  const load: (url: string) => Promise<Other> = runInThisContext('(url) => import(url)', {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const { runForContext } = await load(new URL('./check-scenario.js', import.meta.url).href);
  const ended: Ended = JSON.parse(await runForContext(options, setting));
  if (ended.kind === 'checked') return ended.checked;
  throw new (ended.kind === 'failed' ? ScenarioCheckFailed : TestRefused)([ended.message]);
}

/** Runs a test that stands in another context; returns how it ended, as JSON. */
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

/** What its frame knows of a test. */
export interface TestSetting {
  readonly place: TestPlace;
  readonly wishes: Wishes;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** What may run before a seed does: what clients call is learned from a few. */
const FIRST = {
  what: 'seeds 0 to 2, run to learn its calls,',
  setting: 'FENCEPOST_SEED=0',
} as const;

/**
 * Throws a `ScenarioCheckFailed` where an expectation is not met, or nothing could be judged. Null:
 * the plan that was wished for is of another test.
 */
export async function runTest(
  options: CheckedOptions,
  setting: TestSetting,
): Promise<CheckedScenario | null> {
  const { place, wishes, signal, print } = setting;
  const { timeoutMs, budgetMs } = options;
  const seeds = seedsOf(options.seeds, wishes); // a mistake in them is told before all else
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
    const run: SimRun = { ...subject, scenario, place, slug, stopwatch, wishes, mistakes, print };
    if (wishes.planFile !== null) {
      return (await replayWished(wishes.planFile, run)) ? { systems: [] } : null;
    }
    const { seed } = wishes;
    const one = seed === null ? null : { from: seed, to: seed };
    return await runTestCampaign(run, one ?? (exhaust === null ? seeds : null));
  });
}

/** Runs `work`; whoever comes after it finds the globals as they were. */
async function withGlobals<R>(work: () => Promise<R>): Promise<R> {
  const restore = virtualizeGlobals();
  try {
    return await work();
  } finally {
    restore();
    await yieldToEventLoop(); // the last run gives them back in the next turn
  }
}

/** Throws a `TestRefused` in a context of `node:vm`, where imports of builtins stay real. */
function requireLiveBindings(): void {
  if (setTimeout === timers.setTimeout) return;
  throw new TestRefused([
    'asynchronous code cannot be simulated here: builtin modules cannot be replaced in node:vm;',
    "in vitest run this file with `pool: 'forks'` or `pool: 'threads'`; in Jest name the module of",
    'the lock with `use` in a scenario file, without a function in the test',
  ]);
}

/** Checks options, and makes a lock of a body; `args` follow its handles. */
export function checkedOptions<S extends object, T extends object, A extends readonly unknown[]>(
  options: BodyOptions<S, T> | LockOptions,
  body: Body<S, T, A> | TestOptions | undefined,
  args: A,
): CheckedOptions {
  if (body !== undefined && typeof body !== 'function') {
    throw new TestRefused([`body: expected a function, not ${typeof body}`]);
  }
  const given: unknown = options;
  const isObject = typeof given === 'object' && given !== null;
  const named: unknown = isObject ? Reflect.get(given, 'modules') : undefined;
  const modules = named === undefined ? null : new BodyModules(named);
  const lock = body === undefined || !isObject ? null : lockOfBody(options, body, args, modules);
  return checkOptions(options, lock, modules);
}
