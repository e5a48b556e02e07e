/**
 * Reads the scenarios and plans that a user names, by file or by shipped name, with the modules
 * that they use. Problems are thrown as a `UserError` that states the place.
 */
import { dirname } from 'node:path';
import type { Catalogue } from '../catalogue.ts';
import { parseFile, type SourceFile } from '../core/plan/document.ts';
import type { ModuleDigests, Plan } from '../core/plan/plan.ts';
import { yieldToEventLoop } from '../host/async/ambient.ts';
import type { ModuleSource } from '../host/modules/load-catalogue.ts';
import {
  readPlanSource,
  readScenarioSource,
  scenarioFolderOf,
} from '../host/modules/load-files.ts';
import { takeLoadOutput } from '../host/realm/load-apart.ts';
import { whyRefused } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { Subject } from '../search/campaign/setting.ts';
import { placeFindings } from '../search/points/places.ts';
import { MissingSqlEngine } from '../systems/store/sql-table.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { firstLines } from '../text/output-lines.ts';
import { type Problem, renderProblem } from '../text/problem.ts';
import { visible } from '../text/visible.ts';
import { makeAll, UserError } from './exit.ts';
import { readText } from './files.ts';
import { fileMeant } from './shipped.ts';

const IS_PLAN = /^[\uFEFF{\s]*["']?fencepost["']?\s*:/m;
const IS_SCENARIO = /^systems:/m;

/** The remedy if a plan is not stored near the modules that it uses. */
const IF_MISSING =
  "; name the scenario's folder with --modules, or keep the plan beside the scenario";

/** A plan and the modules beside it may be untrusted, so the user must name the folder. */
const IF_CHANGED = "; name the scenario's folder with --modules to run it as it is now";

export interface LoadedScenario extends Subject {
  readonly text: string;
  /** One line per warning. */
  readonly warnings: readonly string[];
}

/** The allowed sources of user modules. */
export interface ModuleOptions {
  /** The folder of the modules. False allows no modules; null means the folder of the scenario. */
  readonly modules: string | false | null;
  /**
   * Digests of the scenario's modules, by path. A plan may use these modules even if it was made
   * with other versions.
   */
  readonly known?: ModuleDigests;
}

/**
 * Reads scenarios by file or by shipped name, and loads their dependencies. Throws one `UserError`
 * with all problems of all files.
 */
export async function loadScenarios(
  files: readonly string[],
  options: ModuleOptions,
): Promise<readonly LoadedScenario[]> {
  return await makeAll(files, (named) => {
    const source = textMeant(named);
    if (!IS_PLAN.test(source.text)) return loadScenarioText(source, options);
    throw new UserError([`${source.file}:1:1: this is a plan; \`fencepost replay\` takes it`]);
  });
}

/** Loads a scenario from its text. `file` need not exist; modules are relative to `file`. */
export async function loadScenarioText(
  { file, text }: SourceFile,
  options: ModuleOptions,
): Promise<LoadedScenario> {
  const source = moduleSource(file, dirname(file), options);
  const read = await readScenarioSource({ file, text }, source);
  noteLoadOutput();
  if (read.kind === 'problems') throw new UserError(read.problems.map(renderProblem));
  const problems = refusals(file, read);
  if (problems.length > 0) throw new UserError(problems);
  const { scenario, catalogue } = read;
  await prepareStores(file, scenario.systems, catalogue);
  const warnings = [...read.warnings, ...(await misplaced({ file, text }, read))];
  return { file, text, scenario, catalogue, warnings: warnings.map(renderProblem) };
}

async function prepareStores(file: string, ...asked: Parameters<typeof prepare>): Promise<void> {
  try {
    await prepare(...asked);
  } catch (error) {
    if (!(error instanceof MissingSqlEngine)) throw error;
    throw new UserError([`${file}:1:1: ${error.message}`]);
  }
}

const MOST_OUTPUT = 10;

/** Prints to stderr what modules printed while they were loaded. */
function noteLoadOutput(): void {
  for (const line of firstLines(takeLoadOutput(), MOST_OUTPUT)) {
    process.stderr.write(`${visible(line)}\n`);
  }
}

/**
 * Returns warnings for faults that may match no place. Throws a `UserError` if a fault matches
 * none.
 */
async function misplaced(
  source: SourceFile,
  { scenario, catalogue }: Pick<LoadedScenario, 'scenario' | 'catalogue'>,
): Promise<readonly Problem[]> {
  const { problems, warnings } = await placeFindings(scenario, catalogue);
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') throw new UserError(parsed.problems.map(renderProblem));
  if (problems.length > 0) throw new UserError(parsed.locate(problems).map(renderProblem));
  return parsed.locate(warnings);
}

/** Returns the problems of systems whose parts are incompatible or cannot be built. */
function refusals(
  file: string,
  { scenario, catalogue }: Pick<LoadedScenario, 'scenario' | 'catalogue'>,
): readonly string[] {
  return scenario.systems.flatMap(({ name }) => {
    const refusal = whyRefused(expand(scenario, name, 0), catalogue);
    return refusal === null ? [] : [`${file}:1:1 systems.${name}: ${refusal}`];
  });
}

function moduleSource(file: string, folder: string, { modules }: ModuleOptions): ModuleSource {
  if (modules === false) return { kind: 'refused', why: '--no-modules' };
  if (modules !== null) return { kind: 'folder', folder: modules };
  if (file !== '-') return { kind: 'folder', folder };
  return { kind: 'refused', why: 'standard input has no folder; name one with --modules' };
}

/** Returns true if a file declares itself a plan (`fencepost: 1`). */
export function isPlanFile(file: string): boolean {
  return IS_PLAN.test(textMeant(file).text);
}

function textMeant(named: string): SourceFile {
  const file = fileMeant(named);
  return { file, text: readText(file) };
}

export interface LoadedPlan {
  readonly plan: Plan;
  /** Resolves the names in the plan. */
  readonly catalogue: Catalogue;
  /** Modules that have changed since the plan was made. */
  readonly changedModules: readonly string[];
  /** The same modules with their differences, as text for users. */
  readonly moduleChanges: readonly string[];
}

/** A plan and the text it was read from. */
export interface PlanFile extends LoadedPlan {
  readonly text: string;
}

/**
 * Reads a plan file, or a shipped plan by name, and loads its dependencies. Yields to the event
 * loop first: reading 223 plans on a busy machine exceeded the limit for a silent thread.
 */
export async function loadPlan(named: string, options: ModuleOptions): Promise<PlanFile> {
  await yieldToEventLoop();
  const { file, text } = textMeant(named);
  if (!IS_PLAN.test(text) && IS_SCENARIO.test(text)) {
    throw new UserError([`${file}:1:1: this is a scenario; \`fencepost run\` takes it`]);
  }
  const source = moduleSource(file, scenarioFolderOf(file), options);
  const { modules, known = {} } = options;
  const isNamed = typeof modules === 'string';
  const read = await readPlanSource({ file, text }, source, {
    ifMissing: IF_MISSING,
    ifChanged: IF_CHANGED,
    ...(isNamed ? {} : { accepted: known }),
  });
  noteLoadOutput();
  if (read.kind === 'problems') throw new UserError(read.problems.map(renderProblem));
  const { plan, catalogue } = read;
  const refusal = whyRefused(plan, catalogue);
  if (refusal !== null) throw new UserError([`${file}:1:1 system: ${refusal}`]);
  await prepareStores(file, [plan.system], catalogue);
  return { ...read, text };
}
