/**
 * Reads the scenarios and plans that people name, by file or by the name of one that ships with
 * fencepost, with the modules that they use; what is wrong with one is a `UserError` that says
 * where.
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

/** What helps where a plan lies elsewhere than the modules that it uses. */
const IF_MISSING =
  "; name the scenario's folder with --modules, or keep the plan beside the scenario";

/** A plan may be a stranger's, and what lies beside it too: who names the folder knows it. */
const IF_CHANGED = "; name the scenario's folder with --modules to run it as it is now";

export interface LoadedScenario extends Subject {
  readonly text: string;
  /** One line each. */
  readonly warnings: readonly string[];
}

/** Where the modules of users' systems may come from. */
export interface ModuleOptions {
  /** A folder that plans take theirs from; false for none at all; null for what is beside them. */
  readonly modules: string | false | null;
  /** Versions that are run anyway, by path: those of the scenario whose plans they are. */
  readonly known?: ModuleDigests;
}

/**
 * Reads scenarios by file or by shipped name, and loads what they need; the `UserError` has every
 * problem of every file.
 */
export async function loadScenarios(
  files: readonly string[],
  options: ModuleOptions,
): Promise<readonly LoadedScenario[]> {
  return await makeAll(files, (named) => {
    const meant = textMeant(named);
    if (!IS_PLAN.test(meant.text)) return loadScenarioText(meant, options);
    throw new UserError([`${meant.file}:1:1: this is a plan; \`fencepost replay\` takes it`]);
  });
}

/** A scenario from its text; the file need not be there, but its modules are looked for beside. */
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

/** Loads what stores need; a `UserError` says what to install for that. */
async function prepareStores(file: string, ...asked: Parameters<typeof prepare>): Promise<void> {
  try {
    await prepare(...asked);
  } catch (error) {
    if (!(error instanceof MissingSqlEngine)) throw error;
    throw new UserError([`${file}:1:1: ${error.message}`]);
  }
}

const MOST_OUTPUT = 10;

/** Writes to stderr what definitions printed as they were loaded. */
function noteLoadOutput(): void {
  for (const line of firstLines(takeLoadOutput(), MOST_OUTPUT)) {
    process.stderr.write(`${visible(line)}\n`);
  }
}

/** Faults that may be placed nowhere; a `UserError` names those that surely are. */
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

/** Systems whose parts do not go together, or cannot be built. */
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
  return { kind: 'refused', why: 'standard input lies in no folder; name one with --modules' };
}

/** Whether a file says that it is a plan (`fencepost: 1`) and not a scenario. */
export function isPlanFile(file: string): boolean {
  return IS_PLAN.test(textMeant(file).text);
}

/** The file that a person means by a path or a name, with its text. */
function textMeant(named: string): SourceFile {
  const file = fileMeant(named);
  return { file, text: readText(file) };
}

export interface LoadedPlan {
  readonly plan: Plan;
  /** What its words mean. */
  readonly catalogue: Catalogue;
  /** Modules that are no longer as they were when the plan was made. */
  readonly changedModules: readonly string[];
  /** The same for people, with what differs. */
  readonly moduleChanges: readonly string[];
}

/** A plan and the text that it was read from. */
export interface PlanFile extends LoadedPlan {
  readonly text: string;
}

/**
 * Reads one plan file, or one of fencepost by name, and loads what it needs. Of many, the thread
 * says in between that it is alive: to read 223 on a busy machine took longer than one that is
 * silent is waited for.
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
